"""Values of images within components on the GPU: drives ``intensities.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from conncomp.kernels.cuda.components.rows import extent_of, label_rows
from conncomp.kernels.cuda.components.tables import places_of
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, WARP, Gpu, ctype, launch
from conncomp.kernels.cuda.structs import POINTER, Struct

FILE = "cuda/components/intensities.cuh"
THREADS, SPAN = 256, 1024

VALUE_TYPES = tuple(map(np.dtype, ("u1", "u2", "i2", "i4", "i8", "u8", "f4", "f8")))
RANGES = Struct("ValueRanges<float>", extremes=POINTER, bits=COUNT)
COLUMNS = Struct(
    "IntensityColumns<float>",
    sums=POINTER,
    means=POINTER,
    minima=POINTER,
    maxima=POINTER,
    centroids=POINTER,
)


def measure_intensities(
    gpu: Gpu,
    labels: Any,
    background: int,
    rows: int,
    shape: tuple[int, ...],
    values: Any,
    bits: int,
    components: Any,
    sizes: Any,
    boxes: Any,
    sums: Any,
    means: Any,
    minima: Any,
    maxima: Any,
    centroids: Any,
) -> bool:
    """Fill columns of the values of an image; return whether all sums fit into theirs.

    Parameters
    ----------
    gpu, labels, background, rows, shape
        As for `conncomp.kernels.cuda.components.tables.measure_labels`.
    values : contiguous array of one of `VALUE_TYPES`
        Of as many elements as `labels`.
    bits : int
        Of the units of floating-point values: see core/fixed_point.h.
    components, sizes, boxes : contiguous array of int64
        The labels that occur, ascending, at least one; and what `ComponentStatistics` has of them.
    sums, means, minima, maxima, centroids : contiguous array
        As `ComponentStatistics` has them, with sums of int64, uint64 or float64.
    """
    xp, ndim = gpu.xp, len(shape)
    find, add, write = gpu.load(FILE, _names(labels.dtype, values.dtype))
    places, lengths = places_of(gpu, components, rows), xp.asarray(np.array(shape, COUNT))
    extremes = xp.zeros((len(components), 2), np.uint64)
    table = xp.zeros((len(components), 1 + ndim, 2), COUNT)
    lost = xp.zeros(1, np.int32)
    labelled = labels.size, labels, labels.dtype.type(background)
    grid = gpu.blocks(labels.size, THREADS), THREADS
    launch(find, grid, *labelled, rows, places, values, extremes)
    grid = gpu.blocks(-(-labels.size // SPAN) * WARP, THREADS), THREADS
    ranges = RANGES.of(gpu, extremes=extremes, bits=bits)
    described = label_rows(gpu, labels, background, rows), extent_of(gpu, lengths), places, values
    for first in range(0, 1 + ndim, WARP):
        launch(add, grid, *described, ranges, boxes, first, table)
    grid = gpu.blocks(len(components), THREADS), THREADS
    columns = COLUMNS.of(
        gpu, sums=sums, means=means, minima=minima, maxima=maxima, centroids=centroids
    )
    known = len(components), ndim, sizes, boxes
    launch(write, grid, *known, ranges, table, columns, lost)
    return not int(lost[0])


@cache
def _names(label: np.dtype[Any], value: np.dtype[Any]) -> tuple[str, ...]:
    real = {4: "float", 8: "double"}
    name = real[value.itemsize] if value.kind == "f" else ctype(value)
    return (
        f"find_extremes<{ctype(label)}, {name}>",
        f"add_values<{ctype(label)}, {name}>",
        f"write_intensities<{name}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that the functions here can load."""
    for label, value in product(INDEX_TYPES, VALUE_TYPES):
        yield FILE, _names(label, value)
