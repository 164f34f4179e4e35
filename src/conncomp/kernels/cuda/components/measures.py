"""Measures of labels without a word from the host: drives ``measures.cuh``.

The first call of a kind, that is of labels of one shape and dtype on one stream, decides which
launches there are, and later ones make them again. The host waits once, to learn how many rows
there are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cache
from math import prod
from threading import RLock
from typing import Any

import numpy as np

from conncomp.kernels.cuda.components import tables
from conncomp.kernels.cuda.components.rows import extent_of, label_rows
from conncomp.kernels.cuda.launcher import (
    COUNT,
    INDEX_TYPES,
    WARP,
    Again,
    Gpu,
    are_watched,
    ctype,
    kept_launches,
    launch,
)
from conncomp.kernels.cuda.structs import POINTER, Struct
from conncomp.kernels.cuda.workspace import Part, Workspace

FILE = "cuda/components/measures.cuh"
THREADS, MOST_BLOCKS = tables.THREADS, 256
ROW = np.dtype(np.int32)

# So many labels are measured by kept launches, as the memory that these use is kept too.
MOST_ELEMENTS = 1 << 23
# There is room for one row of each so many labels, and for so many rows at least.
LABELS_OF_ROW, LEAST_ROWS = 16, 1 << 15
# When there are more kinds, the memory of all is given back.
MOST_KINDS = 8

MEMORY = Struct(
    "MeasureMemory",
    bounds=POINTER,
    copy=POINTER,
    sizes=POINTER,
    ends=POINTER,
    in_block=POINTER,
    present=POINTER,
    table=POINTER,
    state=POINTER,
    capacity=COUNT,
    words=COUNT,
    blocks=COUNT,
    items=COUNT,
)
COLUMNS = Struct(
    "MeasureColumns",
    labels=POINTER,
    sizes=POINTER,
    boxes=POINTER,
    batch=POINTER,
    centroids=POINTER,
    moments=POINTER,
)


_kept: dict[Hashable, RepeatedMeasures] = {}
_turn = RLock()  # the memory of a kind is one call's at a time


def measure_again(
    gpu: Gpu,
    labels: Any,
    batch_axes: Any,
    allowed: Callable[[tuple[int, ...], tuple[int, ...]], tuple[int, int]],
    moments: bool,
) -> tuple[Any, ...] | None:
    """Return all columns of `component_statistics`, those of an image and faces without rows.

    None for the general way: of large or empty arrays, and where something is to be refused.

    Parameters
    ----------
    gpu : Gpu
    labels : array
    batch_axes : object
        What the caller gave as that.
    allowed : callable
        ``allowed(batch, shape)`` returns the background, or -1, and the smallest label.
    moments : bool
    """
    if (
        type(batch_axes) is not int
        or not 0 <= batch_axes < labels.ndim
        or labels.dtype not in INDEX_TYPES
        or not 0 < labels.size <= MOST_ELEMENTS
        or not labels.flags.c_contiguous
        or are_watched()
        or not gpu.keeps_launches_of(gpu.current_stream())
    ):
        return None
    axes = labels.shape[:batch_axes], labels.shape[batch_axes:]
    columns = _measured(gpu, labels, axes, allowed(*axes), moments)
    return None if columns is None else (*columns, *_without_rows(gpu, len(axes[1])))


def _measured(
    gpu: Gpu, labels: Any, axes: Any, allowed: tuple[int, int], moments: bool
) -> tuple[Any, ...] | None:
    kind = axes, labels.dtype, gpu.device, gpu.current_stream(), allowed, moments
    with _turn:
        repeated = _kept.get(kind)
        if repeated is not None:
            return repeated(labels)
        if len(_kept) >= MOST_KINDS:
            _kept.clear()
        capacity = max(LEAST_ROWS, labels.size // LABELS_OF_ROW)
        repeated = RepeatedMeasures(gpu, labels, *allowed, axes, moments, capacity)
        _kept[kind] = repeated
        return repeated()


@cache
def _without_rows(gpu: Gpu, ndim: int) -> list[Any]:
    """Return the columns that were not asked for: of an image, and faces."""
    scalars, vectors = gpu.xp.empty(0, np.float64), gpu.xp.empty((0, ndim), np.float64)
    return [*(scalars,) * 4, vectors, gpu.xp.empty((0, ndim), np.int64)]


class RepeatedMeasures:
    """The launches that measure labels of one kind on one stream, which can be made again.

    Parameters
    ----------
    gpu : Gpu
    labels : contiguous array of int32 or int64
        The first of the kind, not empty.
    background, lowest : int
        The label that is no component, or -1; and the smallest that is allowed.
    axes : tuple of two tuple of int
        The lengths of the batch axes, and of those of an item, of which there is one at least.
    moments : bool
        Whether there is a column of them.
    capacity : int
        For how many rows there is room: one for each number up to the largest label, of each item.
    """

    def __init__(
        self,
        gpu: Gpu,
        labels: Any,
        background: int,
        lowest: int,
        axes: tuple[tuple[int, ...], tuple[int, ...]],
        moments: bool,
        capacity: int,
    ) -> None:
        batch, shape = axes
        self._gpu, self._stream = gpu, gpu.current_stream()
        self._batch_axes, self._ndim, self._moments = len(batch), len(shape), moments
        self._by_row = min(MOST_BLOCKS, gpu.blocks(MOST_BLOCKS * THREADS, THREADS)), THREADS
        pairs = len(shape) * (len(shape) + 1) // 2
        self._cells = 3 * len(shape) + pairs
        self._words = self._cells + pairs
        count, blocks = labels.size, gpu.blocks(labels.size, THREADS)
        fields: dict[str, Part | int | None] = {
            "bounds": (2 * blocks, COUNT),
            "copy": (count, ROW),
            "sizes": (capacity, COUNT),
            "ends": (capacity, COUNT),
            "in_block": (MOST_BLOCKS, COUNT),
            "present": (capacity, COUNT),
            "table": (capacity * self._words, COUNT),
            "state": (2, COUNT),
            "capacity": capacity,
            "words": self._words,
            "blocks": blocks,
            "items": prod(batch),
        }
        # Its memory is no other kind's, so what is kept here stays as it is.
        self._placed = Workspace().take_struct(gpu, MEMORY, fields)
        self._state = gpu.address(self._placed["state"])
        self._lengths = gpu.xp.asarray(np.array((*batch, *shape), COUNT))
        with kept_launches() as launches:
            self._measure(labels, background, lowest, prod(shape))
        self._again = gpu.repeat(launches, (labels,))
        self._writing: Again | None = None

    def __call__(self, labels: Any = None) -> tuple[Any, ...] | None:
        """Measure labels of the kind, by default those of the first call, which has measured them.

        Returns
        -------
        tuple of array
            Labels, sizes, bounding boxes, centroids, moments and items along the batch axes, as
            `component_statistics` has them. None if there are none, a label is not allowed, or
            there are more rows than room.
        """
        if labels is not None:
            self._again.run(self._stream, (self._gpu.address(labels),))
        components = self._again.read(self._stream, self._state)
        return self._columns(components) if components > 0 else None

    def _measure(self, labels: Any, background: int, lowest: int, length: int) -> None:
        gpu, memory, placed, ndim = self._gpu, self._placed.struct, self._placed, self._ndim
        find, clear, copy, count_present, list_present, _ = gpu.load(FILE, _names(labels.dtype))
        (measure,) = gpu.load(tables.FILE, NAMES_OF_COPIES)
        by_label = gpu.blocks(labels.size, THREADS), THREADS
        by_rows = gpu.blocks(-(-labels.size // tables.ROWS), THREADS), THREADS
        launch(find, by_label, labels.size, labels, memory)
        launch(clear, self._by_row, lowest, memory)
        empty = labels.dtype.type(background)
        launch(copy, by_rows, labels.size, labels, length, empty, memory)
        launch(count_present, self._by_row, memory)
        launch(list_present, self._by_row, ndim, memory)
        copies = label_rows(gpu, placed["copy"], -1, len(placed["sizes"]))
        extent = extent_of(gpu, self._lengths[self._batch_axes :])
        spans = -(-labels.size // tables.span_of(labels.size))
        by_span = gpu.blocks(spans * WARP, THREADS), THREADS
        for first in range(0, self._cells, WARP):
            of_cells = first, self._words, placed["table"]
            launch(measure, by_span, copies, extent, placed["ends"], *of_cells)

    def _columns(self, components: int) -> tuple[Any, ...]:
        """Return the columns, of so many rows."""
        gpu, ndim, axes = self._gpu, self._ndim, self._batch_axes
        empty = gpu.xp.empty
        columns = (
            empty(components, COUNT),
            empty(components, COUNT),
            empty((components, ndim, 2), COUNT),
            empty((components, axes), COUNT),
            empty((components, ndim), np.float64),
            empty((components if self._moments else 0, ndim, ndim), np.float64),
        )
        labels, sizes, boxes, batch, centroids, moments = columns
        places = tuple(gpu.address(column) if column.size else 0 for column in columns)
        if self._writing is not None:
            self._writing.run(self._stream, places)
        else:
            *_, write = gpu.load(FILE, _names(INDEX_TYPES[0]))
            record = np.array(places, COLUMNS.dtype)[()]
            extent = extent_of(gpu, self._lengths[:axes])
            with kept_launches() as launches:
                launch(write, self._by_row, ndim, extent, self._placed.struct, record)
            self._writing = gpu.repeat(
                launches, tuple(column if column.size else None for column in columns)
            )
        return labels, sizes, boxes, centroids, moments, batch


NAMES_OF_COPIES = (f"measure_labels<{ctype(ROW)}>",)


@cache
def _names(label: np.dtype[Any]) -> tuple[str, ...]:
    return (
        f"find_range<{ctype(label)}>",
        "clear_rows<>",
        f"copy_and_count<{ctype(label)}>",
        "count_present<>",
        "list_present<>",
        "write_columns<>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `RepeatedMeasures` loads."""
    yield tables.FILE, NAMES_OF_COPIES
    for label in INDEX_TYPES:
        yield FILE, _names(label)
