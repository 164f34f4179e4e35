"""Values of images within components on the GPU: drives ``intensities.cuh``."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from conncomp.kernels.cuda.components.rows import extent_of, lengths_on
from conncomp.kernels.cuda.components.runs import FEW_AXES, ComponentRuns
from conncomp.kernels.cuda.launcher import COUNT, DeviceArray, DType, Gpu, Templates, launch
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.neighbourhood import Shape

FILE = "cuda/components/intensities.cuh"
SUM_BITS = 63  # of an int64, without the sign

VALUE_TYPES = tuple(map(np.dtype, ("u1", "u2", "i2", "i4", "i8", "u8", "f4", "f8")))
SMALL_TYPES = tuple(kind for kind in VALUE_TYPES if kind.kind != "f" and kind.itemsize <= 2)
KERNELS = Templates(FILE, "find_extremes", "add_values", "write_intensities", value=VALUE_TYPES)
_SMALL: dict[str, Any] = {"value": SMALL_TYPES, "axes": FEW_AXES}
OF_SMALL = Templates(FILE, "add_small_values write_small_intensities", **_SMALL)
WITH_SHAPES = Templates(FILE, "measure_runs_and_values", **_SMALL)
QUANTILES = Templates(FILE, "list_keys", "write_quantiles", value=VALUE_TYPES)
KEY = np.dtype(np.uint64)

RANGES = Struct("ValueRanges<float>", "extremes", ("bits", COUNT))
COLUMNS = Struct("IntensityColumns<float>", "sums means minima maxima centroids")


def measure_intensities(
    gpu: Gpu,
    runs: ComponentRuns,
    shape: Shape,
    values: DeviceArray,
    bits: int,
    sizes: DeviceArray,
    boxes: DeviceArray,
    *columns: Any,
    table: tuple[DeviceArray, int] | None = None,
) -> tuple[bool, Any]:
    """Fill columns of the values of an image; return whether all sums fit into their dtype.

    Also return, for `are_small` values, standard deviations, minima and maxima, float64, (3, n);
    else None. There is at least one component. Values are contiguous, one of `VALUE_TYPES`, as many
    as labels; `bits` are of the units of floating-point values (core/fixed_point.h). Columns are
    those of ``IntensityColumns``. `table` is one that `measure_shapes` filled, and its words ahead
    of those of values.
    """
    if are_small(values.dtype, shape):
        return True, _measure_small(gpu, runs, shape, values, table, sizes, boxes, *columns)
    xp, ndim, rows = gpu.xp, len(shape), runs.count
    find, add, write = KERNELS.load(gpu, values.dtype)
    lengths, words = lengths_on(gpu, *shape), 2 * (1 + ndim)

    memory = xp.zeros((words + 2) * rows + 1, COUNT)
    lost, extremes, sums = memory[:1], memory[1 : 1 + 2 * rows], memory[1 + 2 * rows :]

    def launches() -> None:
        ranges = RANGES.of(gpu, extremes=extremes, bits=bits)
        launch(find, runs.in_turns(1), runs.record, values, extremes)
        extent, record = extent_of(gpu, lengths), columns_at(gpu, columns)
        launch(add, runs.in_turns(ndim), runs.record, extent, values, ranges, boxes, sums)
        launch(write, runs.by_row, runs.state, ndim, sizes, boxes, ranges, sums, record, lost)

    arrays = lost, extremes, sums, values, sizes, boxes, *columns
    runs.launch(("values", values.dtype), launches, *arrays, memory=lengths)
    if values.dtype.kind == "f" or 8 * values.dtype.itemsize + prod(shape).bit_length() < SUM_BITS:
        return True, None
    return not int(lost[0]), None


def are_small(value: DType, shape: Shape) -> bool:
    """Whether a kernel measures values of items of a shape in one pass."""
    bits = 8 * value.itemsize
    room = prod(shape) * max(max(shape), 1 << bits)
    return value.kind != "f" and bits <= 16 and len(shape) in FEW_AXES and room << bits < 2**63


def words_of_small(axes: int) -> int:
    """Return the number of words about `are_small` values of a component."""
    return 4 + axes


def _measure_small(
    gpu: Gpu,
    runs: ComponentRuns,
    shape: Shape,
    values: DeviceArray,
    filled: tuple[DeviceArray, int] | None,
    sizes: DeviceArray,
    boxes: DeviceArray,
    *columns: Any,
) -> Any:
    """Measure `are_small` values as `measure_intensities` does; return float64, (3, n)."""
    ndim = len(shape)
    add, write = OF_SMALL.load(gpu, values.dtype, ndim)
    lengths = lengths_on(gpu, *shape)
    if filled is None:
        sums = gpu.xp.zeros(runs.count * words_of_small(ndim), COUNT)
        filled = sums, 0

        def launches() -> None:
            launch(add, runs.in_turns(1), runs.record, extent_of(gpu, lengths), values, sums)

        runs.launch(("small values", values.dtype), launches, values, sums, memory=lengths)
    table, ahead = filled
    reals = gpu.xp.empty((3, runs.count))

    def writes() -> None:
        record = columns_at(gpu, columns)
        launch(write, runs.by_row, runs.state, ahead, sizes, boxes, table, record, reals)

    purpose = "small columns", values.dtype, ahead
    runs.launch(purpose, writes, table, reals, sizes, boxes, *columns)
    return reals


def columns_at(gpu: Gpu, columns: Sequence[Any]) -> np.void:
    """Return ``IntensityColumns`` of arrays in its order, null without any."""
    names = COLUMNS.dtype.names or ()
    return COLUMNS.of(gpu, **dict(zip(names, columns or [None] * len(names), strict=True)))


class SortedValues:
    """The sorted values of an image within each component, of which there is at least one.

    `values` are contiguous, one of `VALUE_TYPES`, as many as labels.
    """

    def __init__(self, gpu: Gpu, runs: ComponentRuns, values: DeviceArray, sizes: Any) -> None:
        xp = gpu.xp
        self._gpu, self._runs, self._sizes = gpu, runs, sizes
        add, self._write = QUANTILES.load(gpu, values.dtype)
        self._ends = xp.cumsum(sizes) - sizes
        is_packed = values.dtype.itemsize < KEY.itemsize
        keys = xp.empty((1 if is_packed else 2, int(sizes.sum())), KEY)
        owners = None if is_packed else keys[1]
        launch(add, runs.in_turns(1), runs.record, values, self._ends, keys[0], owners)
        if is_packed:
            keys[0].sort()
        self._keys = keys[0] if is_packed else keys[0][xp.lexsort(keys)]

    def quantiles(self, fraction: float) -> Any:
        """Return the value below which a fraction of each component's values lie, as float64."""
        quantiles = self._gpu.xp.empty(len(self._sizes))
        runs, arrays = self._runs, (self._sizes, self._ends, self._keys)
        launch(self._write, runs.by_row, runs.state, *arrays, np.float64(fraction), quantiles)
        return quantiles
