"""Sizes, bounding boxes, centroids and second moments on the GPU: drives ``shapes.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.components.rows import extent_of
from conncomp.kernels.cuda.components.runs import (
    THREADS,
    ComponentRuns,
    grid_of_turns,
)
from conncomp.kernels.cuda.launcher import COUNT, Gpu, launch
from conncomp.kernels.cuda.structs import POINTER, Struct

FILE = "cuda/components/shapes.cuh"

COLUMNS = Struct(
    "ShapeColumns",
    labels=POINTER,
    sizes=POINTER,
    boxes=POINTER,
    batch=POINTER,
    centroids=POINTER,
    moments=POINTER,
)


class Shapes(NamedTuple):
    """What `measure_shapes` returns: arrays with a row for each component."""

    labels: Any
    sizes: Any
    boxes: Any
    batch: Any
    centroids: Any
    moments: Any

    @classmethod
    def empty(cls, xp: Any, rows: int, ndim: int, batch_axes: int, moments: bool) -> Shapes:
        """Return columns that are yet to be written; moments, if wanted."""
        return cls(
            xp.empty(rows, COUNT),
            xp.empty(rows, COUNT),
            xp.empty((rows, ndim, 2), COUNT),
            xp.empty((rows, batch_axes), COUNT),
            xp.empty((rows, ndim), np.float64),
            xp.empty((rows if moments else 0, ndim, ndim), np.float64),
        )

    def places(self, gpu: Gpu) -> tuple[int, ...]:
        """Return the address of each column, 0 of one without entries."""
        return tuple(gpu.address(column) if column.size else 0 for column in self)


def words_of(ndim: int) -> int:
    """Return how many words there are about a component, as ``ShapeWords``."""
    return 3 * ndim + ndim * (ndim + 1) + 1


def turns_of(ndim: int) -> int:
    """Return how many turns ``measure_runs`` takes."""
    return ndim * (ndim + 1) // 2


def measure_shapes(gpu: Gpu, runs: ComponentRuns, shape: tuple[int, ...], moments: bool) -> Shapes:
    """Measure components, without an axis for items.

    Parameters
    ----------
    gpu : Gpu
    runs : ComponentRuns
    shape : tuple of int
        Of an item, within which coordinates are counted: one length or more.
    moments : bool
        Whether to return second moments.
    """
    xp, ndim, rows = gpu.xp, len(shape), len(runs.components)
    begin, measure, write = gpu.load(FILE, NAMES)
    columns = Shapes.empty(xp, rows, ndim, 0, moments)
    if not rows:
        return columns
    table = xp.empty(rows * words_of(ndim), COUNT)
    extent_memory = xp.asarray(np.array(shape, COUNT))
    extent, no_batch = extent_of(gpu, extent_memory), extent_of(gpu, extent_memory[:0])
    by_row = gpu.blocks(rows, THREADS), THREADS
    launch(begin, (gpu.blocks(table.size, THREADS), THREADS), ndim, runs.state, table)
    launch(measure, grid_of_turns(gpu, runs.total, turns_of(ndim)), runs.record, extent, table)
    record = np.array(columns.places(gpu), COLUMNS.dtype)[()]
    launch(write, by_row, ndim, no_batch, runs.table, table, record)
    return columns


NAMES = "begin_shapes<>", "measure_runs<>", "write_columns<>"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that the functions here can load."""
    yield FILE, NAMES
