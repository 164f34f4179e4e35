"""Sizes, bounding boxes, centroids and second moments on the GPU: drives ``shapes.cuh``."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.components.intensities import WITH_SHAPES, words_of_small
from conncomp.kernels.cuda.components.rows import extent_of, lengths_on
from conncomp.kernels.cuda.components.runs import FEW_AXES, ComponentRuns
from conncomp.kernels.cuda.launcher import COUNT, DType, Gpu, Module, Templates, launch
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.neighbourhood import Shape

FILE = "cuda/components/shapes.cuh"
REAL = np.dtype(np.float64)
KERNELS = Templates(
    FILE,
    "begin_shapes<>",
    "{measure}",
    "write_columns<>",
    measure={
        None: "measure_runs<>",
        **{axes: f"measure_runs_at_once<{axes}>" for axes in FEW_AXES},
    },
)

COLUMNS = Struct("ShapeColumns", "labels sizes boxes batch centroids moments")


class Shapes(NamedTuple):
    """Columns of `measure_shapes`: arrays with a row for each component."""

    labels: Any
    sizes: Any
    boxes: Any
    batch: Any
    centroids: Any
    moments: Any

    @classmethod
    def empty(
        cls, new: Callable[[Any, Any], Any], rows: int, ndim: int, batch_axes: int, moments: bool
    ) -> Shapes:
        """Return columns that ``new(shape, dtype)`` makes, with moments if wanted."""
        return cls(
            new(rows, COUNT),
            new(rows, COUNT),
            new((rows, ndim, 2), COUNT),
            new((rows, batch_axes), COUNT),
            new((rows, ndim), REAL),
            new((rows if moments else 0, ndim, ndim), REAL),
        )

    def struct(self, gpu: Gpu) -> np.void:
        """Return ``ShapeColumns``, null for columns without entries."""
        columns = self._asdict().items()
        return COLUMNS.of(gpu, **{name: each if each.size else None for name, each in columns})


def words_of(ndim: int) -> int:
    """Return the number of words about a component, as ``ShapeWords``."""
    return 3 * ndim + ndim * (ndim + 1) + 1


def measure_shapes(
    gpu: Gpu, runs: ComponentRuns, shape: Shape, moments: bool, batch: Shape = (), image: Any = None
) -> tuple[Shapes, Any]:
    """Measure components; return their `Shapes`, and the table that columns are made of.

    The table, int64, has a row for each component, followed by words of an image, whose values
    `are_small`, in items of shapes that `are_few`. Coordinates count within an item of `shape`;
    `batch` has the lengths of the axes for items.
    """
    ndim, rows = len(shape), runs.count
    columns = Shapes.empty(runs.new, rows, ndim, len(batch), moments)
    if not rows:
        return columns, None
    begin, measure, write = gpu.load(*module_of(shape))
    lengths, items = lengths_on(gpu, *shape), lengths_on(gpu, *batch)
    turns = 1 if are_few(shape) else ndim * (ndim + 1) // 2  # of ``measure_runs``
    beside: tuple[Any, ...] = ()
    further = 0
    if image is not None:
        measure = WITH_SHAPES.one(gpu, image.dtype, ndim)
        beside, further = (image,), words_of_small(ndim)

    table, kept = runs.new(rows * (words_of(ndim) + further), COUNT), (lengths, items)

    def launches() -> None:
        launch(begin, runs.by_row, ndim, further, runs.state, table)
        launch(measure, runs.in_turns(turns), runs.record, extent_of(gpu, lengths), *beside, table)
        record = columns.struct(gpu)
        launch(write, runs.by_row, ndim, extent_of(gpu, items), runs.table, table, record)

    purpose = purpose_of(moments, None if image is None else image.dtype)
    runs.launch(purpose, launches, table, *columns, *beside, memory=kept)
    return columns, table


def purpose_of(moments: bool, image: DType | None = None) -> Hashable:
    """Return the purpose of launches of `measure_shapes`, for an image of a dtype or none."""
    return "shapes", moments, image


def are_few(shape: Shape) -> bool:
    """Whether a kernel measures all axes of an item at once."""
    return len(shape) in FEW_AXES and prod(shape) * max(shape) ** 2 < 2**63


def module_of(shape: Shape) -> Module:
    """Return the kernels for items of a shape."""
    return KERNELS.module(len(shape) if are_few(shape) else None)
