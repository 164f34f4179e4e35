"""The runs of each component on the GPU: drives ``runs.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.components.rows import label_rows
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, launch
from conncomp.kernels.cuda.structs import POINTER, Struct

FILE = "cuda/components/runs.cuh"
THREADS, WORDS, LISTED_WORDS, RUNS_OF_THREAD = 256, 4, 16, 8
MOST_BLOCKS = 256  # of kernels that go through rows
ENTRY = np.dtype(np.uint64)
STATE_WORDS = 3  # of RunState

TABLE = Struct(
    "RunTable",
    counts=POINTER,
    present=POINTER,
    ends=POINTER,
    in_block=POINTER,
    state=POINTER,
    entries=POINTER,
    items=COUNT,
)
RUNS = Struct("Runs", entries=POINTER, ends=POINTER, state=POINTER, elements=COUNT)


class ComponentRuns(NamedTuple):
    """The runs of the components of labels.

    Attributes
    ----------
    components : array of int64
        The labels that occur, ascending.
    total : int
        How many runs there are.
    table, record : struct
        ``RunTable`` and ``Runs``.
    state : array of int64
        ``RunState``.
    memory : tuple of array
        What the structs point to.
    """

    components: Any
    total: int
    table: np.void
    record: np.void
    state: Any
    memory: tuple[Any, ...]


def find_runs(gpu: Gpu, labels: Any, background: int, rows: int, length: int) -> ComponentRuns:
    """Return the runs of the components of labels below `rows`.

    It waits for the GPU, to learn how many there are; they take 8 bytes each, so no more than that
    for each label.

    Parameters
    ----------
    gpu : Gpu
    labels : contiguous array of int32 or int64
    background : int
        Another negative number than labels, if there is none.
    rows : int
    length : int
        Of the lines of the array.
    """
    xp = gpu.xp
    begin, count_present, list_present = gpu.load(FILE, NAMES)
    count, list_runs = gpu.load(FILE, names_of_labels(labels.dtype))
    by_row = min(MOST_BLOCKS, gpu.blocks(rows, THREADS)), THREADS
    by_label = gpu.blocks(-(-labels.size // WORDS), THREADS), THREADS
    counts = xp.empty(rows + 2 * MOST_BLOCKS + STATE_WORDS, COUNT)
    present = xp.empty(2 * min(rows, labels.size), COUNT)
    numbers = len(present) // 2
    in_block, state = counts[rows:], counts[rows + 2 * MOST_BLOCKS :]
    fields = {
        "counts": counts,
        "present": present,
        "ends": present[numbers:],
        "in_block": in_block,
        "state": state,
        "items": 1,
    }
    table = TABLE.of(gpu, entries=None, **fields)
    described = label_rows(gpu, labels, background, rows)
    launch(begin, by_row, rows, table)
    launch(count, by_label, described, length, table)
    launch(count_present, by_row, table)
    launch(list_present, by_row, table)
    components, runs, _ = state.tolist()
    entries = xp.empty(runs, ENTRY)
    table = TABLE.of(gpu, entries=entries, **fields)
    if runs:
        by_list = gpu.blocks(-(-labels.size // LISTED_WORDS), THREADS), THREADS
        launch(list_runs, by_list, described, length, table)
    record = RUNS.of(gpu, entries=entries, ends=fields["ends"], state=state, elements=labels.size)
    memory = counts, present, entries, labels
    return ComponentRuns(present[:components], runs, table, record, state, memory)


def grid_of_turns(gpu: Gpu, runs: int, turns: int) -> tuple[int, int]:
    """Return the grid of a kernel that walks through so many runs in turns."""
    return turns * gpu.blocks(-(-runs // RUNS_OF_THREAD), THREADS), THREADS


NAMES = "begin_runs<>", "count_present<>", "list_present<>"


@cache
def names_of_labels(label: np.dtype[Any]) -> tuple[str, ...]:
    """Return the names of the kernels that read labels."""
    return f"count_runs<{ctype(label)}>", f"list_runs<{ctype(label)}>"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that the functions here can load."""
    yield FILE, NAMES
    for label in INDEX_TYPES:
        yield FILE, names_of_labels(label)
