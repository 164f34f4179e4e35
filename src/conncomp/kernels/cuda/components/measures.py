"""The runs of labels, by recorded launches: drives ``measures.cuh``.

The first call with a key (labels of one shape and dtype on one stream) records the launches that
find runs and measure them; later calls replay both. The steps of a call, and what fields each sets:

                 tiles add up sums                  runs are found
    start        _adding = tiles                    _adding = None, _recording
    finish       tiles.counted, _unfit = 0          _known, _rows_met
      no count   start again, without sums ------>  likewise; _unfit + 1, if values did not fit
      presumed   _unfit = 0, without a wait
    holds        tiles.counted; True if presumed    True
      False      finish again, with counts; holds
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import prod
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from conncomp._arguments import INDEX_TYPES
from conncomp.kernels.cuda.components import runs, shapes
from conncomp.kernels.cuda.components.moments import LabelledComponents
from conncomp.kernels.cuda.components.rows import label_rows
from conncomp.kernels.cuda.components.runs import (
    LISTING,
    MOST_BLOCKS,
    WORDS,
    ComponentRuns,
    grid_of_rows,
)
from conncomp.kernels.cuda.components.shapes import Shapes
from conncomp.kernels.cuda.components.tile_sums import REAL, TileSums, are_added_in_tiles
from conncomp.kernels.cuda.launcher import (
    COUNT,
    THREADS,
    DeviceArray,
    Gpu,
    Templates,
    are_watched,
    launch,
)
from conncomp.kernels.cuda.recordings import Recording, Recordings, stream_key
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Fields, Workspace

FILE = "cuda/components/measures.cuh"
KERNELS = Templates(
    FILE, "find_range", "clear_rows<>", "copy_and_count", "count_allowed_runs", indices="label"
)
ROW = np.dtype(np.int32)

# The most labels of recorded launches, whose memory stays: 26 MB, and 67 MB more for a batch.
MOST_ELEMENTS = 1 << 24
# There is room for a row per `LABELS_OF_ROW` labels, and for `LEAST_ROWS` at least.
LABELS_OF_ROW, LEAST_ROWS = 16, 1 << 15
# With more kinds, or more labels in all kinds together, the memory of all kinds is freed.
MOST_KINDS, MOST_LABELS = 8, 1 << 25
# After so many images in turn that tiles could not add up, tiles are not tried.
MOST_UNFIT = 2

COUNTING = "count"  # the purpose of launches that count runs

MEMORY = Struct("MeasureMemory", "bounds copy", ("capacity blocks", COUNT))

Allowed = Callable[[tuple[int, ...], tuple[int, ...]], tuple[int, int]]
_recorded: dict[Hashable, RecordedRuns] = {}
turn = RLock()  # held by the one call that uses the memory of kinds


def start_runs(
    gpu: Gpu, labels: DeviceArray, batch_axes: Any, allowed: Allowed, sums: Sums | None = None
) -> RecordedRuns | None:
    """Launch what finds the runs of labels; the caller holds `turn` until all is launched.

    Return None, for the general way, if arrays are large or empty, or arguments are to be refused.
    ``allowed(batch, shape)`` returns the background, or -1, and the smallest label.
    """
    call_key = _key_of(gpu, labels, batch_axes, allowed)
    if call_key is None:
        return None
    repeated = _recorded.get(call_key)
    if repeated is None:
        background, lowest = call_key[-2:]
        in_all = sum(other.elements for other in _recorded.values()) + labels.size
        if len(_recorded) >= MOST_KINDS or in_all > MOST_LABELS:
            _recorded.clear()
        repeated = _recorded[call_key] = RecordedRuns(gpu, labels, batch_axes, background, lowest)
    repeated.start(labels, sums)
    return repeated


def measure_batch(
    gpu: Gpu, labels: DeviceArray, batch_axes: Any, allowed: Allowed, moments: bool
) -> Shapes | None:
    """Return the `Shapes` of labels in a batch by recorded launches, with little Python.

    Return None, for the general way, if no launches are recorded or there is no component.
    """
    call_key = _key_of(gpu, labels, batch_axes, allowed)
    repeated = None if call_key is None else _recorded.get(call_key)
    return None if repeated is None else repeated.measure_batch(labels, moments)


def _key_of(gpu: Gpu, labels: Any, batch_axes: Any, allowed: Allowed) -> tuple[Any, ...] | None:
    """Return the key of a call; None if its launches are not recorded."""
    stream = gpu.current_stream()
    if (
        type(batch_axes) is not int
        or not 0 <= batch_axes < labels.ndim
        or labels.dtype not in INDEX_TYPES
        or not 0 < labels.size <= MOST_ELEMENTS
        or not labels.flags.c_contiguous
        or are_watched()
        or not gpu.may_record(stream)
    ):
        return None
    batch, shape = labels.shape[:batch_axes], labels.shape[batch_axes:]
    return batch, shape, labels.dtype, gpu.device, stream_key(stream), *allowed(batch, shape)


class Sums(NamedTuple):
    """What to add up: coordinates, and the values of a contiguous image, or None."""

    image: DeviceArray | None


class RecordedRuns:
    """The recorded launches that find the runs of labels, for one key.

    Labels are contiguous, int32 or int64, not empty; `background` is no component, or -1, and
    `lowest` the smallest label that is allowed.
    """

    def __init__(
        self, gpu: Gpu, labels: DeviceArray, batch_axes: int, background: int, lowest: int
    ) -> None:
        batch, self._shape = labels.shape[:batch_axes], labels.shape[batch_axes:]
        self._gpu, self.elements = gpu, labels.size
        self._background, self._lowest, self._batched = background, lowest, bool(batch)
        self._batch_axes = batch_axes
        self._capacity = capacity = max(LEAST_ROWS, labels.size // LABELS_OF_ROW)
        places = {
            **dict.fromkeys(("counts", "present", "ends"), (capacity, COUNT)),
            "in_block": (2 * MOST_BLOCKS, COUNT),
            "state": (runs.STATE_WORDS, COUNT),
        }
        # A workspace of its own, so that its arrays stay valid.
        memory = Workspace().take_struct(
            gpu, runs.TABLE, {**places, "entries": None, "items": prod(batch)}
        )
        self._fields = {**{name: memory[name] for name in places}, "items": prod(batch)}
        self._table, self._state = memory.struct, gpu.address(memory["state"])
        if self._batched:
            blocks = gpu.blocks(labels.size, THREADS)
            pointed: Fields = {"bounds": (2 * blocks, COUNT), "copy": (labels.size, ROW)}
            numbers = {"capacity": capacity, "blocks": blocks}
            self._memory = Workspace().take_struct(gpu, MEMORY, {**pointed, **numbers})
            self._copy = self._memory["copy"].reshape(labels.shape)
        self._recording: Recording | None = None
        self._tiles: dict[bool, TileSums] = {}  # by whether values are real
        self._adding: TileSums | None = None
        self._unfit = 0  # images in turn that tiles could not add up
        self._rows_met = 0  # in the last call that looked for runs
        self._calls = Recordings(gpu)
        self._known = 0, 0  # components and runs of the last call

    def start(self, labels: DeviceArray, sums: Sums | None = None) -> None:
        """Launch what adds up `sums` in tiles, once rows are known, or counts runs."""
        self._adding = None
        if sums is not None and not self._batched:
            image = sums.image
            is_real = image is not None and image.dtype == REAL
            is_fit = not is_real or self._unfit < MOST_UNFIT
            if is_fit and are_added_in_tiles(self._shape, self._rows_met, image):
                tiles = self._tiles_of(labels, image, is_real)
                tiles.start(labels, image)
                self._adding = tiles
                return
        self._recording = self._calls.launch(COUNTING, (labels,), lambda: self._count(labels))

    def finish(self, labels: DeviceArray, presuming: bool = False) -> LabelledComponents | None:
        """Return the components of labels, whose rows are those of an item.

        Return None if there is no component, a label is not allowed, or rows exceed the room.
        Labels of a batch are a copy, numbered apart, valid until the next call. If `presuming`, the
        host does not wait for sums, but presumes the last calls' components and rows.
        """
        tiles = self._adding
        if tiles is not None:
            presumed = presuming and tiles.is_steady and not tiles.is_told
            count, rows = tiles.counted if presumed else tiles.read_counts(self._state)
            if count > 0:
                self._unfit = 0
                return self._components(labels, rows, count, 0, tiles)
            self.start(labels)
        assert self._recording is not None
        self._calls.ahead.allocate()
        count, total, rows = self._recording.read_all(self._state, runs.STATE_WORDS)
        if (count, total) != self._known:
            self._calls.ahead.forget()  # of other lengths
        self._known = count, total
        if rows > 0:
            self._rows_met = rows  # perhaps more than tiles had room for
        if count <= 0:
            return None  # no component, or a label that is not allowed
        if tiles is not None and rows <= tiles.rows:
            self._unfit += 1  # a value is no multiple of the unit of sums
            self._tiles.pop(True, None)
        return self._components(labels, rows, count, total)

    def _components(
        self, labels: DeviceArray, rows: int, count: int, total: int, sums: TileSums | None = None
    ) -> LabelledComponents:
        """Return `count` components, of `total` runs, or of sums instead."""
        array, background = (self._copy, -1) if self._batched else (labels, self._background)
        calls = self._calls if sums is None else sums.calls
        runs = ComponentRuns(self._gpu, self.elements, self._fields, count, total, calls, sums)
        runs.list_from(array, background, self._capacity, self._shape[-1])
        return LabelledComponents(array, background, rows, self._shape, runs)

    def measure_batch(self, labels: DeviceArray, moments: bool) -> Shapes | None:
        """Return the columns of labels in a batch; None if no launches are recorded for them.

        While the GPU counts, they are allocated for as many components as the last call had.
        """
        calls = self._calls
        counting, listing = self._recording, calls.get(LISTING)
        measuring = calls.get(shapes.purpose_of(moments))
        if not self._batched or counting is None or listing is None or measuring is None:
            return None
        presumed: tuple[int, int] | None = self._known
        if self._known[0] <= 0:
            return None
        self.start(labels)
        try:
            entries, table, columns = self._columns_of(*self._known, moments)
        except MemoryError:  # this call may need less
            presumed = None
        count, total, _ = counting.read_all(self._state, runs.STATE_WORDS)
        self._known = count, total
        if count <= 0:
            return None
        if self._known != presumed:
            entries, table, columns = self._columns_of(count, total, moments)
        address = self._gpu.address
        listing.run((address(entries), address(self._copy)))
        measuring.run(tuple(map(address, (entries, table, *columns))))
        return columns

    def _columns_of(self, count: int, total: int, moments: bool) -> tuple[Any, Any, Shapes]:
        """Allocate runs (uint64), sums (int64) and columns for some components and runs."""
        ndim, new = len(self._shape), self._gpu.xp.ndarray
        columns = Shapes.empty(new, count, ndim, self._batch_axes, moments)
        return new(total, runs.ENTRY), new(count * shapes.words_of(ndim), COUNT), columns

    def holds(self) -> bool:
        """Whether `finish` presumed the right number of components."""
        self._calls.ahead.forget()
        tiles = self._adding
        if tiles is None:
            return True
        presumed, _ = tiles.counted
        are_as_many = tiles.is_told or tiles.read_counts(self._state)[0] == presumed
        if are_as_many:
            tiles.cleared()
        return are_as_many

    def _tiles_of(self, labels: DeviceArray, image: DeviceArray | None, is_real: bool) -> TileSums:
        """Return sums with room for the rows of the last call, and for values of this kind."""
        tiles = self._tiles.get(is_real)
        if tiles is None or tiles.rows <= self._rows_met:
            allowed = self._background, self._lowest
            largest = image if is_real else None
            tiles = TileSums(self._gpu, labels, allowed, self._table, self._rows_met, largest)
            self._tiles[is_real] = tiles
        return tiles

    def _count(self, labels: DeviceArray) -> None:
        gpu, table, length = self._gpu, self._table, self._shape[-1]
        by_word = gpu.grid(labels.size, each=WORDS)
        by_row = grid_of_rows(gpu, self._capacity)
        listed = ROW if self._batched else labels.dtype
        kernels, of_labels = KERNELS.module(labels.dtype), runs.OF_LABELS.module(listed)
        modules = [kernels, runs.ROWS.module(), of_labels, shapes.module_of(self._shape)]
        gpu.load_together(FILE, modules)  # what every call needs
        find, clear, copy, count = gpu.load(*kernels)
        begin, *present = runs.ROWS.load(gpu)
        if self._batched:
            empty, memory = labels.dtype.type(self._background), self._memory.struct
            launch(find, gpu.grid(labels.size), labels.size, labels, memory)
            launch(clear, by_row, self._lowest, memory, table)
            item_size = prod(self._shape)
            launch(copy, by_word, labels.size, labels, item_size, length, empty, memory, table)
        else:
            rows = label_rows(gpu, labels, self._background, self._capacity)
            launch(begin, by_row, self._capacity, 0, table)
            launch(count, by_word, rows, self._lowest, length, table)
        for kernel in present:
            launch(kernel, by_row, table)
