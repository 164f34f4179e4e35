"""The runs of each component on the GPU: drives ``runs.cuh``."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property, partial
from typing import Any

import numpy as np

from conncomp.kernels.cuda.components.rows import label_rows
from conncomp.kernels.cuda.launcher import (
    COUNT,
    THREADS,
    DeviceArray,
    Gpu,
    Kernel,
    Templates,
    launch,
)
from conncomp.kernels.cuda.recordings import Recordings
from conncomp.kernels.cuda.structs import Struct

FILE = "cuda/components/runs.cuh"
ROWS = Templates(FILE, "begin_runs", "count_present", "list_present")
OF_LABELS = Templates(FILE, "count_runs", "list_runs", indices="label")
WORDS, LISTED_WORDS, RUNS_OF_THREAD = 4, 16, 8
MOST_BLOCKS = 256  # of kernels that go through rows
ENTRY = np.dtype(np.uint64)
STATE_WORDS = 3  # of RunState
LISTING = "runs"  # the purpose of the launch that lists runs
FEW_AXES = (2, 3)  # of items whose axes a kernel measures all at once

TABLE = Struct("RunTable", "counts present ends in_block state entries", ("items", COUNT))
RUNS = Struct("Runs", "entries ends state", ("elements", COUNT))


class ComponentRuns:
    """The runs of the components of labels, 8 bytes each, and launches on them.

    `elements` is the number of labels, `count` that of components, `total` that of runs; `fields`
    are those of ``RunTable`` but entries, filled by ``list_present``. Calls with one key share the
    recorded launches of `calls`. `sums` are `TileSums`, which have listed components, but no runs.
    """

    def __init__(
        self,
        gpu: Gpu,
        elements: int,
        fields: dict[str, Any],
        count: int,
        total: int,
        calls: Recordings | None = None,
        sums: Any = None,
    ) -> None:
        self.count, self.sums = count, sums
        self._gpu, self._fields, self._calls, self._elements = gpu, fields, calls, elements
        self.state = fields["state"]  # ``RunState``, as an array of int64
        self.by_row = gpu.grid(elements)  # of a kernel that goes through components
        self.new: Any = gpu.xp.ndarray if calls is None or sums is not None else calls.ahead.take
        self._entries = self.new(total, ENTRY)

    def list_from(self, labels: DeviceArray, background: int, rows: int, length: int) -> None:
        """List the runs of labels, as for `label_rows`, in lines of `length`."""

        def launches() -> None:
            gpu, (_, list_runs) = self._gpu, OF_LABELS.load(self._gpu, labels.dtype)
            described = label_rows(gpu, labels, background, rows)
            by_list = gpu.grid(labels.size, each=LISTED_WORDS)
            launch(list_runs, by_list, described, length, self.table)

        if len(self._entries):
            self.launch(LISTING, launches, labels)

    @cached_property
    def components(self) -> Any:
        """The rows that occur, ascending, as an array of int64."""
        return self._fields["present"][: self.count]

    @property
    def lists(self) -> tuple[Any, Any]:
        """The ends of the runs of each component, int64, and the runs, of `ENTRY`."""
        return self._fields["ends"][: self.count], self._entries

    @property
    def table(self) -> np.void:
        """``RunTable``."""
        return TABLE.of(self._gpu, entries=self._entries, **self._fields)

    @property
    def record(self) -> np.void:
        """``Runs``."""
        lists = {"ends": self._fields["ends"], "entries": self._entries, "state": self.state}
        return RUNS.of(self._gpu, **lists, elements=self._elements)

    def in_turns(self, turns: int) -> tuple[int, int]:
        """Return the grid of a kernel that walks through the runs in turns."""
        blocks, threads = self._gpu.grid(self._elements, each=RUNS_OF_THREAD)
        return turns * blocks, threads

    def in_few_turns(self, turns: int) -> tuple[int, int]:
        """Return the grid of a kernel of `in_turns` that mostly finds nothing to do."""
        blocks, threads = self.in_turns(1)
        return turns * min(blocks, self._gpu.multiprocessors), threads

    def launch(
        self, purpose: Hashable, launches: Callable[[], None], *arrays: Any, memory: Any = ()
    ) -> None:
        """Call `launches()`, or replay those of an earlier call.

        They depend on `purpose` and the call's key alone; their `arrays` may move, and replays also
        need `memory`. Kernels begin by ``follow_launch()``.
        """
        if self._calls is None:
            launches()
        else:
            self._calls.launch(purpose, (self._entries, *arrays), launches, memory)

    def launch_by_row(self, purpose: Hashable, kernel: Kernel, *arrays: Any) -> None:
        """Launch, or replay, a kernel that goes through components."""
        self.launch(purpose, partial(launch, kernel, self.by_row, self.state, *arrays), *arrays)


def find_runs(
    gpu: Gpu, labels: Any, background: int, rows: int, length: int, items: int = 1
) -> ComponentRuns:
    """Return the runs of the components of labels below `rows`.

    Labels are contiguous, int32 or int64, in lines of `length`; see `label_rows`. All items have
    equally many rows. It waits for the GPU.
    """
    xp = gpu.xp
    begin, count_present, list_present = ROWS.load(gpu)
    count, _ = OF_LABELS.load(gpu, labels.dtype)
    by_row = grid_of_rows(gpu, rows)
    counts = xp.empty(rows + 2 * MOST_BLOCKS + STATE_WORDS, COUNT)
    present = xp.empty(2 * min(rows, labels.size), COUNT)
    fields = {
        "counts": counts,
        "present": present,
        "ends": present[len(present) // 2 :],
        "in_block": counts[rows:],
        "state": counts[rows + 2 * MOST_BLOCKS :],
        "items": items,
    }
    table = TABLE.of(gpu, entries=None, **fields)
    described = label_rows(gpu, labels, background, rows)
    launch(begin, by_row, rows, rows // max(items, 1), table)
    launch(count, gpu.grid(labels.size, each=WORDS), described, length, table)
    launch(count_present, by_row, table)
    launch(list_present, by_row, table)
    components, total, _ = fields["state"].tolist()
    runs = ComponentRuns(gpu, labels.size, fields, components, total)
    runs.list_from(labels, background, rows, length)
    return runs


def grid_of_rows(gpu: Gpu, rows: int) -> tuple[int, int]:
    """Return the grid of a kernel that goes through up to `rows` rows."""
    return min(MOST_BLOCKS, gpu.blocks(rows, THREADS)), THREADS
