"""Ids to numbers on the GPU, in the order in which ids first come: drives ``interning.cuh``."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from conncomp.kernels import layout
from conncomp.kernels.cuda.components.rows import FACTOR
from conncomp.kernels.cuda.core.numbering import number_roots
from conncomp.kernels.cuda.launcher import COUNT, Gpu, Templates, first_entry, launch
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace

KERNELS = Templates(
    "cuda/tables/interning.cuh", "take_slots", "list_firsts", "number_ids", "fill_table"
)
KEYS, WORDS, NUMBERS = np.dtype(np.uint64), np.dtype(np.uint32), np.dtype(np.int32)

FEWEST_BITS, MOST_BITS = 12, 31
NO_WORD = 0xFFFFFFFF
MOST_IDS = np.iinfo(np.int32).max
# Rows of the first batch, whose ids may all be new, and of later ones, for which the table has room
# as if new ids came MARGIN times as often as in the batch before.
FIRST_ROWS, MOST_ROWS, MARGIN = 1 << 20, 1 << 24, 1.25

SLOTS = layout(("key", KEYS), ("word", WORDS))
ROWS = Struct("IdRows", "left right")
TABLE = Struct("IdTable", ("drawn factor", KEYS), ("bits", COUNT), "slots")


class IdNumbers:
    """Distinct ids, uint64, by their numbers, and their hash table.

    The first batch has at most `first_rows`. Adding ids waits for the GPU.
    """

    def __init__(self, gpu: Gpu, first_rows: int = FIRST_ROWS) -> None:
        self.ids = gpu.xp.empty(0, KEYS)
        self._first_rows = first_rows
        self._slots: Any = None  # an array of SLOTS as bytes; None until it is made
        self._drawn = 0
        self._bits = FEWEST_BITS
        self._new_share = 1.0  # of the places of the last batch

    @property
    def size(self) -> int:
        """The number of distinct ids."""
        return len(self.ids)

    def batch_rows(self) -> int:
        """Return how many rows may be numbered at once."""
        return self._first_rows if self.size == 0 else MOST_ROWS

    def forget_table(self) -> None:
        """Give the hash table back; it is made anew when ids are added."""
        self._slots = None

    def number(self, gpu: Gpu, left: Any, right: Any, workspace: Workspace) -> Any:
        """Return the numbers of the ids of rows, int32; new ones get numbers, the left one first.

        The shape is (2, rows), or (rows,) if `right` is None.
        """
        sides = 1 if right is None else 2
        rows, xp = len(left), gpu.xp
        places = sides * rows
        take_slots, list_firsts, number_ids, _ = KERNELS.load(gpu)
        grid, ids = gpu.grid(places), ROWS.of(gpu, left=left, right=right)
        found, counts = xp.empty(places, WORDS), xp.empty(places, NUMBERS)
        # Half of the slots stay free when as many ids have come.
        room = self.size + int(places * min(1.0, MARGIN * self._new_share)) + 1
        bits = min(max((2 * room - 1).bit_length(), FEWEST_BITS), MOST_BITS)
        if bits > self._bits:
            self._bits, self._slots = bits, None
        while True:
            slots = self._take_slots(gpu)
            full = xp.zeros(1, COUNT)
            launch(take_slots, grid, places, ids, self._table(gpu, slots), found, full)
            if not first_entry(full):
                break
            self._enlarge()
        launch(list_firsts, grid, places, found, slots, counts)
        with workspace as memory:
            new = first_entry(number_roots(gpu, counts, 1, memory))
        if self.size + new > MOST_IDS:
            raise ValueError(f"there are more than {MOST_IDS:,} distinct ids")
        numbers, new_ids = xp.empty((sides, rows), NUMBERS), xp.empty(new, KEYS)
        launch(number_ids, grid, places, ids, self.size, found, slots, counts, numbers, new_ids)
        self.ids = xp.concatenate([self.ids, new_ids])
        self._new_share, self._slots = new / max(places, 1), slots
        return numbers[0] if right is None else numbers

    def _enlarge(self) -> None:
        if self._bits == MOST_BITS:
            raise ValueError(f"there are too many distinct ids for a table of 2**{MOST_BITS} slots")
        self._bits += 1

    def _take_slots(self, gpu: Gpu) -> Any:
        """Take the slots, which have all ids; the caller returns them at the end.

        An interrupted call leaves places of its batch in them, so the next makes new ones.
        """
        slots, self._slots = self._slots, None
        while slots is None:
            slots = gpu.xp.zeros((1 << self._bits, SLOTS.itemsize), np.uint8)
            slots.view(WORDS)[:, 2] = NO_WORD
            self._drawn = secrets.randbits(64)
            if self.size:
                *_, fill_table = KERNELS.load(gpu)
                full, grid = gpu.xp.zeros(1, COUNT), gpu.grid(self.size)
                launch(fill_table, grid, self.size, self.ids, self._table(gpu, slots), full)
                if first_entry(full):
                    self._enlarge()
                    slots = None
        return slots

    def _table(self, gpu: Gpu, slots: Any) -> Any:
        numbers = {"drawn": self._drawn, "factor": FACTOR % 2**64, "bits": self._bits}
        return TABLE.of(gpu, **numbers, slots=slots)
