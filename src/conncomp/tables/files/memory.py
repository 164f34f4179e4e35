"""The memory that clusters of pairs need: estimated first, and watched while they grow."""

from __future__ import annotations

from collections.abc import Iterable

from conncomp._memory import free_memory, in_words, parse_bytes, resident_memory
from conncomp.tables.columns import Column, as_columns
from conncomp.tables.files.pair_file import Batch, PairFile, empty_column, width_of
from conncomp.tables.ids import family_of

# Bytes per distinct id: in the hash table, on average and at most; for its parent and its columns
# in the result, per threshold; for links that divide clusters.
SLOT, LARGEST_SLOT = 12, 15
PARENT, RESULT, LINKS = 4, 12, 130
LENGTH = 16  # bytes of a text, until the first batch
# Bytes for reading and writing files, beyond those of the process at the start.
READING = 150 * 10**6
# The share of free memory to use where no limit is given.
SHARE = 0.9


class Budget:
    """The memory that clusters may take: the `given` limit, or nearly all that is free.

    There are `levels` thresholds; `first` names clusters by ids, and `divides` stores links.
    """

    def __init__(self, given: str | None, levels: int, first: bool, divides: bool) -> None:
        self._start = now = resident_memory()
        self.limit = int(now + SHARE * free_memory()) if given is None else parse_bytes(given)
        free = f"{in_words(self.limit)} are free"
        self._limit = free if given is None else f"memory={given} is the limit"
        self._levels, self._first, self._divides = levels, first, divides
        self._parts: list[Column] = []
        self._bytes = self._rows = 0  # of ids of variable length that came
        if self.limit < now + READING:
            least = f"{in_words(now + READING)}; {self._limit}"
            raise ValueError(f"there is too little memory to begin, which takes {least}")

    def expect(self, files: Iterable[PairFile]) -> str | None:
        """Return a warning if ids may not fit, by the headers of files, or None."""
        most, widths = 0, set[int | None]()
        for file in files:
            kinds = [file.types[name] for name in file.wanted.ids]
            empty = [empty_column(file.types[name]) for name in file.wanted.left]
            self._parts = self._parts or [part for one in empty for part in as_columns(one, "")]
            if file.rows is None:
                return None
            most += file.rows * (2 if file.wanted.right else 1)
            widths.update(map(width_of, kinds))
        if len(self._parts) == 1 and None not in widths:
            most = min(most, 2 ** max(width for width in widths if width))
        needed = self._start + READING + most * self.bytes_an_id()
        if needed <= self.limit:
            return None
        fit = int((self.limit - self._start - READING) / self.bytes_an_id())
        return (
            f"up to {most:,} distinct ids would take {in_words(needed)}; {self._limit}, in which "
            f"about {fit:,} fit. The run ends with an error where there are more; {REMEDY}"
        )

    def bytes_an_id(self) -> float:
        """Return the most bytes that a distinct id takes, at the end or before."""
        several = self._parts if len(self._parts) > 1 else []
        key = 8 if several else self._width(self._parts[0])
        others = sum(self._width(part) + LARGEST_SLOT for part in several)
        while_growing = key + LARGEST_SLOT + PARENT * self._levels + others
        return max(while_growing, key + others + self._at_end()) + LINKS * self._divides

    def _width(self, part: Column) -> float:
        words = family_of(part.type, part).words
        mean = self._bytes / self._rows if self._rows else LENGTH
        return 8 * words if words else 8 + mean

    def _at_end(self) -> float:
        """Return the bytes per id that the results add."""
        ids = sum(self._width(part) for part in self._parts)
        return ids * (1 + self._first * self._levels) + RESULT * self._levels

    def note(self, batch: Batch) -> None:
        """Note the lengths of the ids in a batch."""
        self._bytes += sum(piece.nbytes for piece in batch.left)
        self._rows += len(batch.left[0])

    def check(self, ids: int, share: float | None) -> None:
        """Raise if `ids` distinct ids leave too little memory for the results."""
        coming = max(self._at_end() - SLOT - PARENT * self._levels, SLOT / 2)
        needed = resident_memory() + ids * (coming + LINKS * self._divides)
        if needed > self.limit:
            read = "" if share is None else f", after {100 * share:.0f} % of the input,"
            taken = f"{in_words(needed)} with the table of their clusters"
            raise MemoryError(f"{ids:,} distinct ids{read} take {taken}; {self._limit}; {REMEDY}")


REMEDY = (
    "give more where the machine has it, use integers as ids in place of text, or cluster parts of "
    "the input between which there is no pair"
)
