"""A file of pairs, or of nodes: the wanted columns, read as batches of rows.

Those that are not text are here: Parquet, Arrow IPC, and datatrove's ``.dups``.
"""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from conncomp._arguments import shown
from conncomp._optional import optional
from conncomp._terminal import printable
from conncomp.files.access import Bounded, StrPath, blaming, naming
from conncomp.tables.columns import Column, as_column, as_columns, rows_without_nulls

PURPOSE = "a file of pairs"
# Rows per batch, bytes per batch of wide rows, and rows per part of a file that a thread reads.
ROWS, BYTES, PIECE_ROWS = 1 << 18, 1 << 24, 1 << 20
FEWEST_ROWS = 1 << 12
# Bytes to read at once of a column in a Parquet row group above `LARGE_GROUP`. Columns of smaller
# ones are read whole, so a forged length of a page allocates no memory.
BUFFER, LARGE_GROUP = 1 << 20, 1 << 27

DUPS_RECORD = 16
DUPS_COLUMNS = ("file_1", "document_1", "file_2", "document_2")

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
        """Yield the first row of each part, and a function that reads the part."""

    def pieces(self, nulls: str) -> Iterator[Callable[[], Batches]]:
        """Yield a function for each part, which reads it as batches."""
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
                told = f"{argument}={shown(name)}: it has {problem} of that name"
                raise ValueError(f"{told}, but {have}")
            self.types[name] = types(name)

    @contextmanager
    def _opened(self) -> Iterator[Bounded]:
        """Open the file; raise if it has changed since `_look`, or does meanwhile."""
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
    """Return the columns of one side, given by their names in errors and their values."""
    return [column for name, values in given for column in as_columns(values, name)]


def empty_column(kind: Any) -> Any:
    """Return a column without rows."""
    return optional("pyarrow", PURPOSE).chunked_array([], kind)


class ParquetFile(PairFile):
    """A file of Parquet."""

    def _look(self) -> None:
        parquet = optional("pyarrow.parquet", PURPOSE)
        with self._opened() as bytes_, parquet.ParquetFile(bytes_) as file:
            metadata, schema = file.metadata, file.schema_arrow
            self._choose(schema.names, lambda name: schema.field(name).type)
            # Do not read what the footer says of columns in a row group: if that is damaged, Arrow
            # 26 aborts the process.
            groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
            rows = [group.num_rows for group in groups]
            if min(rows, default=0) < 0:
                raise ValueError("it is damaged: it promises fewer than no rows")
            self.rows, self._parts = sum(rows), _parts_of(rows)
            sizes = [group.total_byte_size for group in groups]
            self._buffer = BUFFER if max(sizes, default=0) > LARGE_GROUP else 0
            wide = any(width_of(kind) is None for kind in self.types.values())
            self._batch_rows = _rows_of_a_batch(sum(sizes), self.rows) if wide else ROWS

    def _pieces(self) -> Iterator[tuple[int, Callable[[], Tables]]]:
        parquet = optional("pyarrow.parquet", PURPOSE)
        with self._opened() as bytes_, parquet.ParquetFile(bytes_) as file:
            metadata = file.metadata
        row = 0
        for groups, rows in self._parts:
            yield row, partial(self._read, metadata, groups, rows)
            row += rows

    def _read(self, metadata: Any, groups: range, rows: int) -> Tables:
        parquet = optional("pyarrow.parquet", PURPOSE)
        options = {"metadata": metadata, "pre_buffer": False, "buffer_size": self._buffer}
        found = 0
        with self._opened() as bytes_, parquet.ParquetFile(bytes_, **options) as file:
            for batch in file.iter_batches(self._batch_rows, [*groups], [*self.types]):
                batch.validate(full=True)
                found += batch.num_rows
                yield batch, self.size * batch.num_rows / max(self.rows or 0, 1)
        if found != rows:
            raise ValueError(f"it is damaged: it promises {rows} rows, but has {found}")


def _parts_of(group_rows: list[int]) -> list[tuple[range, int]]:
    """Return ranges of row groups for a thread each, and their rows."""
    parts, begin, rows = [], 0, 0
    for end, count in enumerate(group_rows, 1):
        rows += count
        if rows >= PIECE_ROWS or end == len(group_rows):
            parts.append((range(begin, end), rows))
            begin, rows = end, 0
    return parts


def _rows_of_a_batch(size: int, rows: int) -> int:
    return int(np.clip(BYTES * max(rows, 1) // max(size, 1), FEWEST_ROWS, ROWS))


def width_of(kind: Any) -> int | None:
    """Return the number of bits of a value, or None if it varies."""
    try:
        return int(kind.bit_width)
    except ValueError:  # of text, lists and others
        return None


class ArrowFile(PairFile):
    """A file of Arrow IPC: with random access (Feather), or a stream."""

    def _look(self) -> None:
        with self._opened() as bytes_:
            self._in_any_order = bytes_.read(6) == b"ARROW1"
            bytes_.seek(0)
            reader = self._reader(bytes_)
            self._choose(reader.schema.names, lambda name: reader.schema.field(name).type)
            self._fields = [reader.schema.get_field_index(name) for name in self.types]

    def _reader(self, bytes_: Bounded, fields: list[int] | None = None) -> Any:
        ipc = optional("pyarrow.ipc", PURPOSE)
        options = ipc.IpcReadOptions(included_fields=fields)
        opened = ipc.open_file if self._in_any_order else ipc.open_stream
        return opened(bytes_, options=options)

    def _pieces(self) -> Iterator[tuple[int, Callable[[], Tables]]]:
        yield 0, self._read

    def _read(self) -> Tables:
        before = 0
        with self._opened() as bytes_:
            found = self._reader(bytes_, self._fields)
            if self._in_any_order:
                found = map(found.get_batch, range(found.num_record_batches))
            for batch in found:
                yield from _sliced(batch, bytes_.tell() - before)
                before = bytes_.tell()


def _sliced(batch: Any, size: float) -> Tables:
    """Check a batch of any size, and yield it in parts."""
    batch.validate(full=True)
    rows = _rows_of_a_batch(batch.nbytes, batch.num_rows)
    for begin in range(0, batch.num_rows, rows):
        part = batch.slice(begin, rows)
        yield part, size * part.num_rows / batch.num_rows


class DupsFile(PairFile):
    """A file of datatrove's MinhashDedupBuckets: pairs of documents, each with its file."""

    def _look(self) -> None:
        if self.size % DUPS_RECORD:
            raise ValueError(f"its {self.size} bytes are no multiple of {DUPS_RECORD}; is it cut?")
        self._choose(DUPS_COLUMNS, lambda _: optional("pyarrow", PURPOSE).uint32())
        self.rows = self.size // DUPS_RECORD

    def _pieces(self) -> Iterator[tuple[int, Callable[[], Tables]]]:
        for begin in range(0, self.rows or 0, PIECE_ROWS):
            rows = range(begin, min(begin + PIECE_ROWS, self.rows or 0), ROWS)
            yield begin, partial(self._read, rows)

    def _read(self, rows: range) -> Tables:
        with self._opened() as bytes_:
            for begin in rows:
                size = min(rows.step, rows.stop - begin) * DUPS_RECORD
                bytes_.seek(begin * DUPS_RECORD)
                block = bytes_.read(size)
                if len(block) != size:
                    raise ValueError("it was cut short while it was read")
                columns = np.ascontiguousarray(np.frombuffer(block, "<u4").reshape(-1, 4).T)
                yield optional("pyarrow").table([*columns], DUPS_COLUMNS), len(block)
