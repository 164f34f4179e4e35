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

from conncomp.kernels.cuda.components import runs, shapes
from conncomp.kernels.cuda.components.rows import extent_of, label_rows
from conncomp.kernels.cuda.components.runs import LISTED_WORDS, MOST_BLOCKS, THREADS, WORDS
from conncomp.kernels.cuda.components.shapes import Shapes, turns_of, words_of
from conncomp.kernels.cuda.launcher import (
    COUNT,
    INDEX_TYPES,
    Again,
    Gpu,
    are_watched,
    ctype,
    kept_launches,
    launch,
)
from conncomp.kernels.cuda.structs import POINTER, Struct
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/components/measures.cuh"
ROW = np.dtype(np.int32)

# So many labels are measured by kept launches, as the memory that these use is kept too.
MOST_ELEMENTS = 1 << 23
# There is room for one row of each so many labels, and for so many rows at least.
LABELS_OF_ROW, LEAST_ROWS = 16, 1 << 15
# When there are more kinds, the memory of all is given back.
MOST_KINDS = 8

MEMORY = Struct("MeasureMemory", bounds=POINTER, copy=POINTER, capacity=COUNT, blocks=COUNT)

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
        count, blocks = labels.size, gpu.blocks(labels.size, THREADS)
        # Their memory is no other kind's, so what is kept here stays as it is.
        self._memory = Workspace().take_struct(
            gpu,
            MEMORY,
            {
                "bounds": (2 * blocks, COUNT),
                "copy": (count, ROW),
                "capacity": capacity,
                "blocks": blocks,
            },
        )
        self._rows = Workspace().take_struct(
            gpu,
            runs.TABLE,
            {
                "counts": (capacity, COUNT),
                "present": (capacity, COUNT),
                "ends": (capacity, COUNT),
                "in_block": (2 * MOST_BLOCKS, COUNT),
                "state": (runs.STATE_WORDS, COUNT),
                "entries": (count, runs.ENTRY),
                "room": count,
                "items": prod(batch),
            },
            beside={"table": (capacity * words_of(len(shape)), COUNT)},
        )
        self._state = gpu.address(self._rows["state"])
        self._lengths = gpu.xp.asarray(np.array((*batch, *shape), COUNT))
        with kept_launches() as launches:
            self._measure(labels, background, lowest, shape)
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

    def _measure(self, labels: Any, background: int, lowest: int, shape: tuple[int, ...]) -> None:
        gpu, memory, rows, ndim = self._gpu, self._memory, self._rows, self._ndim
        find, clear, copy = gpu.load(FILE, _names(labels.dtype))
        _, count_present, list_present = gpu.load(runs.FILE, runs.NAMES)
        _, list_runs = gpu.load(runs.FILE, runs.names_of_labels(ROW))
        begin, measure, _ = gpu.load(shapes.FILE, shapes.NAMES)
        by_label = gpu.blocks(labels.size, THREADS), THREADS
        by_word = gpu.blocks(-(-labels.size // WORDS), THREADS), THREADS
        by_list = gpu.blocks(-(-labels.size // LISTED_WORDS), THREADS), THREADS
        both = memory.struct, rows.struct
        launch(find, by_label, labels.size, labels, memory.struct)
        launch(clear, self._by_row, lowest, *both)
        empty = labels.dtype.type(background)
        launch(copy, by_word, labels.size, labels, prod(shape), shape[-1], empty, *both)
        launch(count_present, self._by_row, rows.struct)
        launch(list_present, self._by_row, rows.struct)
        copies = label_rows(gpu, memory["copy"], -1, len(rows["counts"]))
        launch(list_runs, by_list, copies, shape[-1], rows.struct)
        launch(begin, self._by_row, ndim, rows["state"], rows["table"])
        extent = extent_of(gpu, self._lengths[self._batch_axes :])
        pointers = {name: rows[name] for name in ("entries", "ends", "state")}
        walked = runs.RUNS.of(gpu, elements=labels.size, **pointers)
        grid = runs.grid_of_turns(gpu, len(rows["entries"]), turns_of(ndim))
        launch(measure, grid, walked, extent, rows["table"])

    def _columns(self, components: int) -> tuple[Any, ...]:
        """Return the columns, of so many rows."""
        gpu, ndim, axes = self._gpu, self._ndim, self._batch_axes
        columns = Shapes.empty(gpu.xp, components, ndim, axes, self._moments)
        places = columns.places(gpu)
        if self._writing is not None:
            self._writing.run(self._stream, places)
        else:
            *_, write = gpu.load(shapes.FILE, shapes.NAMES)
            record = np.array(places, shapes.COLUMNS.dtype)[()]
            extent = extent_of(gpu, self._lengths[:axes])
            with kept_launches() as launches:
                launch(
                    write,
                    self._by_row,
                    ndim,
                    extent,
                    self._rows.struct,
                    self._rows["table"],
                    record,
                )
            self._writing = gpu.repeat(
                launches, tuple(column if column.size else None for column in columns)
            )
        labels, sizes, boxes, batch, centroids, moments = columns
        return labels, sizes, boxes, centroids, moments, batch


@cache
def _names(label: np.dtype[Any]) -> tuple[str, ...]:
    return f"find_range<{ctype(label)}>", "clear_rows<>", f"copy_and_count<{ctype(label)}>"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that is loaded for `RepeatedMeasures` alone."""
    for label in INDEX_TYPES:
        yield FILE, _names(label)
