"""Ids to numbers on the GPU, in the order in which ids first come: drives ``interning.cuh``."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np

from conncomp.gpu import Workspace
from conncomp.kernels.cuda.core.key_table import FACTOR
from conncomp.kernels.cuda.core.numbering import number_roots
from conncomp.kernels.cuda.launcher import COUNT, Gpu, first_entry, launch

FILE = "cuda/tables/interning.cuh"
NAMES = ("take_slots", "list_firsts", "number_ids", "fill_table")
THREADS = 256
KEYS, WORDS, NUMBERS = np.dtype(np.uint64), np.dtype(np.uint32), np.dtype(np.int32)

# Drawn for each process, as is FACTOR.
DRAWN = secrets.randbits(64)

FEWEST_BITS, MOST_BITS = 12, 31
MOST_IDS = np.iinfo(np.int32).max
# Rows of a batch: of the first, whose ids may all be new, and of later ones, for which the table
# has room as if new ids came MARGIN times as often as in the batch before.
FIRST_ROWS, MOST_ROWS, MARGIN = 1 << 20, 1 << 24, 1.25

_ROWS = np.dtype([("left", np.uint64), ("right", np.uint64)])
_TABLE = np.dtype(
    [
        ("drawn", np.uint64),
        ("factor", np.uint64),
        ("bits", np.int64),
        ("keys", np.uint64),
        ("words", np.uint64),
    ]
)


class IdNumbers:
    """Distinct ids by their numbers, and their hash table. Whatever adds ids waits for the GPU.

    Attributes
    ----------
    ids : array of uint64, shape (size,)

    Parameters
    ----------
    gpu : Gpu
    first_rows : int, optional
        How many rows the first batch has at most.
    """

    def __init__(self, gpu: Gpu, first_rows: int = FIRST_ROWS) -> None:
        self.ids = gpu.xp.empty(0, KEYS)
        self._first_rows = first_rows
        self._slots: tuple[Any, Any] | None = None  # keys and words; None until they are made
        self._bits = FEWEST_BITS
        self._new_share = 1.0  # of the places of the last batch

    @property
    def size(self) -> int:
        """How many distinct ids there are."""
        return len(self.ids)

    def batch_rows(self) -> int:
        """Return how many rows may be numbered at once."""
        return self._first_rows if self.size == 0 else MOST_ROWS

    def forget_table(self) -> None:
        """Give the hash table back; it is made anew when ids are added."""
        self._slots = None

    def number(self, gpu: Gpu, left: Any, right: Any, workspace: Workspace) -> Any:
        """Return the numbers of the ids of rows; those that have none get one.

        Parameters
        ----------
        gpu : Gpu
        left : array of uint64, shape (rows,)
        right : array of uint64, shape (rows,), or None
            Ids of one row that come after the left one.
        workspace : Workspace

        Returns
        -------
        array of int32
            Of shape (2, rows), or (rows,) if `right` is None.
        """
        sides = 1 if right is None else 2
        rows, xp = len(left), gpu.xp
        places = sides * rows
        take_slots, list_firsts, number_ids, _ = gpu.load(FILE, NAMES)
        grid = gpu.blocks(places, THREADS), THREADS
        ids = np.zeros((), _ROWS)
        ids["left"] = gpu.address(left)
        ids["right"] = 0 if right is None else gpu.address(right)
        slots, counts = xp.empty(places, WORDS), xp.empty(places, NUMBERS)
        self._make_room(gpu, int(places * min(1.0, MARGIN * self._new_share)) + 1)
        while True:
            table = self._take_table(gpu)
            full = xp.zeros(1, COUNT)
            launch(take_slots, grid, places, ids[()], table[0], slots, full)
            if not first_entry(full):
                break
            self._enlarge()
        _, words = table[1]
        launch(list_firsts, grid, places, slots, words, counts)
        with workspace as memory:
            new = first_entry(number_roots(gpu, counts, 1, memory))
        if self.size + new > MOST_IDS:
            raise ValueError(f"there are more than {MOST_IDS:,} distinct ids")
        numbers, new_ids = xp.empty((sides, rows), NUMBERS), xp.empty(new, KEYS)
        launch(number_ids, grid, places, ids[()], self.size, slots, words, counts, numbers, new_ids)
        self.ids = xp.concatenate([self.ids, new_ids])
        self._new_share = new / max(places, 1)
        self._slots = table[1]
        return numbers[0] if right is None else numbers

    def _make_room(self, gpu: Gpu, count: int) -> None:
        """Let half of the slots be free when so many ids have come."""
        bits = min(max((2 * (self.size + count) - 1).bit_length(), FEWEST_BITS), MOST_BITS)
        if bits > self._bits:
            self._bits, self._slots = bits, None

    def _enlarge(self) -> None:
        """Let the next table be twice as large."""
        if self._bits == MOST_BITS:
            raise ValueError(f"there are too many distinct ids for a table of 2**{MOST_BITS} slots")
        self._bits += 1

    def _take_table(self, gpu: Gpu) -> tuple[Any, tuple[Any, Any]]:
        """Return the struct ``IdTable`` and its arrays, which are not kept until all is well.

        A call that is ended leaves places of its batch in the table, so the next makes a new one.
        """
        arrays, self._slots = self._slots, None
        while arrays is None:
            slots = 1 << self._bits
            arrays = gpu.xp.zeros(slots, KEYS), gpu.xp.full(slots + 1, 0xFFFFFFFF, WORDS)
            if self.size:
                *_, fill_table = gpu.load(FILE, NAMES)
                full = gpu.xp.zeros(1, COUNT)
                grid = gpu.blocks(self.size, THREADS), THREADS
                launch(fill_table, grid, self.size, self.ids, self._struct(gpu, arrays), full)
                if first_entry(full):
                    self._enlarge()
                    arrays = None
        return self._struct(gpu, arrays), arrays

    def _struct(self, gpu: Gpu, arrays: tuple[Any, Any]) -> Any:
        table = np.zeros((), _TABLE)
        table["drawn"], table["factor"] = DRAWN, FACTOR % 2**64
        table["bits"] = self._bits
        table["keys"], table["words"] = map(gpu.address, arrays)
        return table[()]


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `IdNumbers` can load."""
    yield FILE, NAMES
