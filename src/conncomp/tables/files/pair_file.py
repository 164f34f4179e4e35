"""A file of pairs, or of nodes: the wanted columns, read as batches of rows."""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

from conncomp._arguments import shown
from conncomp._optional import optional
from conncomp._terminal import printable
from conncomp.files.access import Bounded, StrPath, blaming, naming
from conncomp.tables.columns import Column, as_column, as_columns, rows_without_nulls

PURPOSE = "a file of pairs"

T = TypeVar("T")
Items = Generator[T, None, None]
# Tables of the wanted columns, each with its number of bytes in the file.
Tables = Items[tuple[Any, float]]


class Wanted(NamedTuple):
    """The names of the columns to read."""

    left: tuple[str, ...]
    right: tuple[str, ...] = ()
    weights: str | None = None
    argument: str = "left"  # the name of the argument `left`; "src" if ids are vertices of edges

    @property
    def ids(self) -> tuple[str, ...]:
        """The columns of ids."""
        return self.left + self.right

    @property
    def are_default(self) -> bool:
        """Whether these are the default columns of edges."""
        return self[:2] == (("src",), ("dst",)) and self.argument == "src"

    def by_argument(self) -> Iterator[tuple[str, str]]:
        """Yield each argument's name and column."""
        for argument, names in ((self.argument, self.left), ("right", self.right)):
            yield from ((argument, name) for name in names)
        if self.weights is not None:
            yield "weights", self.weights


class Batch(NamedTuple):
    """Rows of a file, without nulls."""

    left: tuple[Any, ...]
    right: tuple[Any, ...]
    weights: Any
    rows: int  # with those that have nulls
    bytes: float  # of the file, about
    path: str


Batches = Items[Batch]


class PairFile(ABC):
    """A file of pairs, or of nodes."""

    note: str | None = None

    def __init__(self, path: StrPath, wanted: Wanted) -> None:
        self.path, self.wanted = os.fspath(path), wanted
        self.types: dict[str, Any] = {}
        self.rows: int | None = None
        state = os.stat(self.path)
        if not stat.S_ISREG(state.st_mode):
            raise ValueError(f"{self.path}: is no regular file; copy what it gives to one first")
        self.size = state.st_size
        self._identity = state.st_ino, state.st_size, state.st_mtime_ns
        with _reading(self.path):
            self._look()

    @abstractmethod
    def _look(self) -> None:
        """Read the header."""

    @abstractmethod
    def _pieces(self) -> Iterator[tuple[int, Callable[[], Tables]]]:
        """Yield the first row of each part of the file, and a function that reads the part."""

    def pieces(self, nulls: str) -> Iterator[Callable[[], Batches]]:
        """Yield a function for each part of the file, which reads it as batches."""
        with _reading(self.path):
            for row, piece in self._pieces():
                yield partial(self._batches, piece, row, nulls)

    def _batches(self, piece: Callable[[], Tables], row: int, nulls: str) -> Batches:
        with closing(self._tables(piece)) as tables:
            for table, size in tables:
                yield self._batch(table, size, row, nulls)
                row += table.num_rows

    def _tables(self, piece: Callable[[], Tables]) -> Tables:
        with _reading(self.path), closing(piece()) as tables:
            yield from tables

    def empty_batch(self) -> Batch:
        """Return a batch without rows, with the types of the columns."""
        columns = {name: empty_column(kind) for name, kind in self.types.items()}
        return self._batch(optional("pyarrow", PURPOSE).table(columns), 0, 0, "raise")

    def _batch(self, table: Any, size: float, row: int, nulls: str) -> Batch:
        left, right = (
            as_side((f"column {name!r}", table.column(name)) for name in names)
            for names in (self.wanted.left, self.wanted.right)
        )
        names = [] if self.wanted.weights is None else [self.wanted.weights]
        weighed = [as_column(table.column(name), f"column {name!r}") for name in names]
        try:
            pieces = rows_without_nulls([*left, *right, *weighed], 0, table.num_rows, nulls, row)
        except ValueError as error:
            raise ValueError(f"{self.path}: {error}") from error
        weights, of_left = pieces.pop() if weighed else None, len(left)
        sides = tuple(pieces[:of_left]), tuple(pieces[of_left:])
        return Batch(*sides, weights, table.num_rows, size, self.path)

    def _choose(self, names: Sequence[str], types: Callable[[str], Any]) -> None:
        """Set the types of the wanted columns; raise if one is missing."""
        for argument, name in self.wanted.by_argument():
            if names.count(name) != 1:
                problem = "more than one column" if name in names else "no column"
                have = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
                raise ValueError(
                    f"{argument}={shown(name)}: it has {problem} of that name, but {have}"
                )
            self.types[name] = types(name)

    @contextmanager
    def _opened(self) -> Iterator[Bounded]:
        """Open the file; raise if it has changed since it was first opened, or does meanwhile."""
        with Bounded(self.path) as file:
            self._check_identity(file)
            yield file
            self._check_identity(file)

    def _check_identity(self, file: Bounded) -> None:
        state = os.fstat(file.fileno())
        if (state.st_ino, state.st_size, state.st_mtime_ns) != self._identity:
            raise ValueError("it was changed while it was read")


@contextmanager
def _reading(path: str) -> Iterator[None]:
    try:
        with blaming(path), naming(path):
            yield
    except MemoryError as error:  # Arrow allocates as much as a header claims
        reason = printable(str(error))
        raise ValueError(f"{path}: damaged, or of rows that are too long: {reason}") from error


def as_side(given: Iterable[tuple[str, Any]]) -> list[Column]:
    """Return the columns of one side, given by what errors call them, and their values."""
    return [column for name, values in given for column in as_columns(values, name)]


def empty_column(kind: Any) -> Any:
    """Return a column without rows."""
    return optional("pyarrow", PURPOSE).chunked_array([], kind)
