"""Values of images within components on the GPU: drives ``intensities.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from conncomp.kernels.cuda.components.rows import extent_of, lengths_on
from conncomp.kernels.cuda.components.runs import ComponentRuns, grid_of_turns
from conncomp.kernels.cuda.launcher import COUNT, Gpu, ctype, launch
from conncomp.kernels.cuda.structs import POINTER, Struct

FILE = "cuda/components/intensities.cuh"
THREADS = 256

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
    runs: ComponentRuns,
    shape: tuple[int, ...],
    values: Any,
    bits: int,
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
    gpu : Gpu
    runs : ComponentRuns
        Of one component at least.
    shape : tuple of int
        Of an item.
    values : contiguous array of one of `VALUE_TYPES`
        Of as many elements as labels.
    bits : int
        Of the units of floating-point values: see core/fixed_point.h.
    sizes, boxes : contiguous array of int64
        What `ComponentStatistics` has of the components.
    sums, means, minima, maxima, centroids : contiguous array
        As `ComponentStatistics` has them, with sums of int64, uint64 or float64.
    """
    xp, ndim, rows = gpu.xp, len(shape), len(runs.components)
    find, add, write = gpu.load(FILE, _names(values.dtype))
    extent_memory = lengths_on(gpu, *shape)
    memory = xp.zeros((2 + 2 * (1 + ndim)) * rows + 1, COUNT)
    extremes, table, lost = memory[: 2 * rows], memory[2 * rows :], memory[-1:]
    launch(find, grid_of_turns(gpu, runs.total, 1), runs.record, values, extremes)
    ranges = RANGES.of(gpu, extremes=extremes, bits=bits)
    described = runs.record, extent_of(gpu, extent_memory), values
    grid = grid_of_turns(gpu, runs.total, ndim)
    launch(add, grid, *described, ranges, boxes, table)
    grid = gpu.blocks(rows, THREADS), THREADS
    columns = COLUMNS.of(
        gpu, sums=sums, means=means, minima=minima, maxima=maxima, centroids=centroids
    )
    launch(write, grid, rows, ndim, sizes, boxes, ranges, table, columns, lost)
    return not int(lost[0])


def value_type(value: np.dtype[Any]) -> str:
    """Return the C++ name of one of `VALUE_TYPES`."""
    return {4: "float", 8: "double"}[value.itemsize] if value.kind == "f" else ctype(value)


@cache
def _names(value: np.dtype[Any]) -> tuple[str, ...]:
    name = value_type(value)
    return f"find_extremes<{name}>", f"add_values<{name}>", f"write_intensities<{name}>"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that the functions here can load."""
    for value in VALUE_TYPES:
        yield FILE, _names(value)
