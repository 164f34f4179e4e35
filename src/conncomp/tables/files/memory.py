"""What clusters of pairs take of memory: said before it is begun, and watched while it is done."""

from __future__ import annotations

from collections.abc import Iterable

from conncomp._memory import free_memory, in_words, parse_bytes, resident_memory
from conncomp.tables.columns import Column, as_columns
from conncomp.tables.files.reading import Batch, PairFile, empty_column, width_of
from conncomp.tables.ids import family_of

# Bytes of a distinct id in the table that finds it, on average and while that grows; of its place
# among the clusters of a threshold, and of its columns there; of the links that divide clusters.
SLOT, LARGEST_SLOT = 12, 15
PARENT, RESULT, LINKS = 4, 12, 130
LENGTH = 16  # of text, before any has come
# Files that are read and written, beyond what the process has at first.
READING = 150 * 10**6
# Of memory that is free, what is left to others where no limit is given.
SHARE = 0.9


class Budget:
    """How much memory clusters may take: what is `given`, or nearly all that is free.

    There are `levels` of thresholds; `first` names clusters by ids, and with `divides` links are
    kept.
    """

    def __init__(self, given: str | None, levels: int, first: bool, divides: bool) -> None:
        self._given = given
        now = resident_memory()
        self.limit = int(now + SHARE * free_memory()) if given is None else parse_bytes(given)
        self._start = now
        self._levels, self._first, self._divides = levels, first, divides
        self._parts: list[Column] = []
        self._bytes = self._rows = 0  # of ids of variable length that came
        if self.limit < now + READING:
            least = f"{in_words(now + READING)}; {self._limit()}"
            raise ValueError(f"there is too little memory to begin, which takes {least}")

    def expect(self, files: Iterable[PairFile]) -> str | None:
        """Return in words what may not fit, as far as headers of files tell; None if all will."""
        most = 0
        widths: set[int | None] = set()
        for file in files:
            kinds = [file.types[name] for name in (*file.wanted.left, *file.wanted.right)]
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
            f"up to {most:,} distinct ids would take {in_words(needed)}; {self._limit()}, in which "
            f"about {fit:,} fit. The run ends with an error where there are more; {REMEDY}"
        )

    def _limit(self) -> str:
        if self._given is None:
            return f"{in_words(self.limit)} are free"
        return f"memory={self._given} is the limit"

    def bytes_an_id(self) -> float:
        """Return how many bytes a distinct id takes at most, at the end or before."""
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
        """Return how many bytes of an id are added when its results are made."""
        ids = sum(self._width(part) for part in self._parts)
        return ids * (1 + self._first * self._levels) + RESULT * self._levels

    def note(self, batch: Batch) -> None:
        """Take the length of ids from a batch."""
        self._bytes += sum(piece.nbytes for piece in batch.left)
        self._rows += len(batch.left[0])

    def check(self, ids: int, share: float | None) -> None:
        """Raise if so many distinct ids leave too little memory for what is to come."""
        coming = max(self._at_end() - SLOT - PARENT * self._levels, SLOT / 2)
        needed = resident_memory() + ids * (coming + LINKS * self._divides)
        if needed > self.limit:
            read = "" if share is None else f", after {100 * share:.0f} % of the input,"
            raise MemoryError(
                f"{ids:,} distinct ids{read} take {in_words(needed)} with the table of their "
                f"clusters; {self._limit()}; {REMEDY}"
            )


REMEDY = (
    "give more where the machine has it, use integers as ids in place of text, or cluster parts of "
    "the input between which there is no pair"
)
