"""Values of images within components on the GPU: drives ``intensities.cuh``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from conncomp.kernels.cuda.components.rows import extent_of, lengths_on
from conncomp.kernels.cuda.components.runs import FEW_AXES, ComponentRuns
from conncomp.kernels.cuda.launcher import COUNT, Gpu, ctype, launch
from conncomp.kernels.cuda.structs import POINTER, Struct

FILE = "cuda/components/intensities.cuh"
SUM_BITS = 63  # of what sums are given as, without the sign

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
    *columns: Any,
    table: Any = None,
) -> tuple[bool, Any]:
    """Fill columns of the values of an image; return whether all sums fit into theirs.

    And, of `are_small` ones, standard deviations, minima and maxima, as an array of float64 of
    shape (3, n); None of others.

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
    *columns : contiguous array
        Sums, means, minima, maxima and centroids, as `ComponentStatistics` has them, with sums of
        int64, uint64 or float64.
    table : tuple of array and int, optional
        Which `measure_shapes` has filled of such values, and how many words are ahead of these.
    """
    if are_small(values.dtype, shape):
        return True, _measure_small(gpu, runs, shape, (values, table), sizes, boxes, *columns)
    xp, ndim, rows = gpu.xp, len(shape), runs.count
    find, add, write = gpu.load(FILE, _names(values.dtype))
    lengths, words = lengths_on(gpu, *shape), 2 * (1 + ndim)

    def launches(lost: Any, extremes: Any, table: Any, values: Any, *given: Any) -> None:
        ranges = RANGES.of(gpu, extremes=extremes, bits=bits)
        launch(find, runs.in_turns(1), runs.record, values, extremes)
        described = runs.record, extent_of(gpu, lengths), values, ranges
        launch(add, runs.in_turns(ndim), *described, given[1], table)
        written = columns_at(gpu, given[2:]), lost
        launch(write, runs.by_row, runs.state, ndim, *given[:2], ranges, table, *written)

    memory = xp.zeros((words + 2) * rows + 1, COUNT)
    lost, extremes, table = memory[:1], memory[1 : 1 + 2 * rows], memory[1 + 2 * rows :]
    arrays = lost, extremes, table, values, sizes, boxes, *columns
    runs.launch(("values", values.dtype), launches, *arrays, memory=lengths)
    if values.dtype.kind == "f" or 8 * values.itemsize + prod(shape).bit_length() < SUM_BITS:
        return True, None
    return not int(lost[0]), None


def are_small(value: np.dtype[Any], shape: tuple[int, ...]) -> bool:
    """Whether there is a kernel that measures values of items of a shape in one pass."""
    bits = 8 * value.itemsize
    room = prod(shape) * max(max(shape), 1 << bits)
    return value.kind != "f" and bits <= 16 and len(shape) in FEW_AXES and room << bits < 2**63


def words_of_small(axes: int) -> int:
    """Return how many words there are about `are_small` values of a component."""
    return 4 + axes


def names_with_shapes(value: np.dtype[Any], axes: int) -> tuple[str, ...]:
    """Return the name of the kernel that measures `are_small` values and shapes."""
    return (f"measure_runs_and_values<{value_type(value)}, {axes}>",)


def _measure_small(
    gpu: Gpu,
    runs: ComponentRuns,
    shape: tuple[int, ...],
    known: tuple[Any, Any],
    *columns: Any,
) -> Any:
    """As `measure_intensities`, of small values, and the table if there is one."""
    ndim, (values, filled) = len(shape), known
    add, write = gpu.load(FILE, _names_of_small(values.dtype, ndim))
    lengths = lengths_on(gpu, *shape)
    if filled is None:
        filled = gpu.xp.zeros(runs.count * words_of_small(ndim), COUNT), 0

        def launches(values: Any, table: Any) -> None:
            launch(add, runs.in_turns(1), runs.record, extent_of(gpu, lengths), values, table)

        runs.launch(("small values", values.dtype), launches, values, filled[0], memory=lengths)
    table, ahead = filled

    def writes(table: Any, reals: Any, *given: Any) -> None:
        record = columns_at(gpu, given[2:])
        launch(write, runs.by_row, runs.state, ahead, *given[:2], table, record, reals)

    reals = gpu.xp.empty((3, runs.count))
    runs.launch(("small columns", values.dtype, ahead), writes, table, reals, *columns)
    return reals


def columns_at(gpu: Gpu, columns: Sequence[Any]) -> np.void:
    """Return ``IntensityColumns`` of arrays in its order, or of none."""
    names = COLUMNS.dtype.names or ()
    places = map(gpu.address, columns) if columns else (0 for _ in names)
    return COLUMNS.pack(dict(zip(names, places, strict=True)))


def value_type(value: np.dtype[Any]) -> str:
    """Return the C++ name of one of `VALUE_TYPES`."""
    return {4: "float", 8: "double"}[value.itemsize] if value.kind == "f" else ctype(value)


@cache
def _names(value: np.dtype[Any]) -> tuple[str, ...]:
    name = value_type(value)
    return f"find_extremes<{name}>", f"add_values<{name}>", f"write_intensities<{name}>"


@cache
def _names_of_small(value: np.dtype[Any], axes: int) -> tuple[str, ...]:
    name = f"{value_type(value)}, {axes}"
    return f"add_small_values<{name}>", f"write_small_intensities<{name}>"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that the functions here can load."""
    for value in VALUE_TYPES:
        yield FILE, _names(value)
        if value.kind != "f" and value.itemsize <= 2:
            for axes in FEW_AXES:
                yield FILE, _names_of_small(value, axes)
                yield FILE, names_with_shapes(value, axes)
