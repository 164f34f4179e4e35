"""Read files of pairs in batches of rows: Parquet, Arrow IPC, CSV, and datatrove's ``.dups``.

`open_file` reads the header of a file. `batches` then reads the wanted columns of one file after
another, while threads read and decode ahead. A forged length in a header allocates no memory: no
read asks for more bytes than the file has.
"""

from __future__ import annotations

import csv
import os
import stat
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from pathlib import PurePath
from typing import Any, NamedTuple, TypeVar

import numpy as np

from conncomp._arguments import check_choice, shown
from conncomp._core import native
from conncomp._optional import optional
from conncomp._text import printable
from conncomp.files.access import PACKINGS, Bounded, Source, StrPath, blaming, naming
from conncomp.files.csv_header import SAMPLE, FirstRow, judge_first_row, recurring, rows_of
from conncomp.tables.columns import Column, as_column, as_columns, as_weights, rows_without_nulls
from conncomp.tables.id_space import common_family
from conncomp.tables.values import buffers_of

PURPOSE = "a file of pairs"
# How names end; a suffix of a packing may follow for CSV.
SUFFIXES = {
    "parquet": (".parquet", ".pq", ".parq"),
    "arrow": (".arrow", ".arrows", ".feather", ".ipc"),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "dups": (".dups",),
}

# Rows per batch, bytes per batch of wide rows, and rows per part of a file that a thread reads.
ROWS, BYTES, PIECE_ROWS = 1 << 18, 1 << 24, 1 << 20
FEWEST_ROWS = 1 << 12
CSV_BLOCK = 1 << 22
# Bytes to read at once of a column in a Parquet row group larger than `LARGE_GROUP`. Columns of
# smaller groups are read as a whole, so a forged length of a page allocates no memory.
BUFFER, LARGE_GROUP = 1 << 20, 1 << 27
# More readers would decode faster than any machine clusters.
MOST_READERS = 8

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
            _side((f"column {name!r}", table.column(name)) for name in names)
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
            if any(group.num_rows < 0 for group in groups):
                raise ValueError("it is damaged: it promises fewer than no rows")
            self.rows = sum(group.num_rows for group in groups)
            self._parts = _parts_of([group.num_rows for group in groups])
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
    """Return ranges of row groups for one thread each, and their rows."""
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


class CsvFile(PairFile):
    """A file of text, perhaps packed. Without a header, numbers are the names of its columns."""

    def __init__(
        self, path: StrPath, wanted: Wanted, delimiter: str, integers: bool, header: bool | None
    ) -> None:
        self._delimiter, self._integers, self._has_header = delimiter, integers, header
        super().__init__(path, wanted)

    def _look(self) -> None:
        pa = optional("pyarrow", PURPOSE)
        with Source(self.path) as source:
            rows, _ = rows_of(bytes(source.peek(SAMPLE)), self._delimiter)
            if self._has_header is None:
                self._has_header = self._judge(rows) if rows else True
            self._names = self._first_row(source)
        if not self._has_header:
            self._number_columns()
        if self.wanted.weights in self.wanted.ids:
            raise ValueError(f"weights={shown(self.wanted.weights)} is a column of ids, too")
        ids = pa.int64() if self._integers else pa.string()
        self._choose(self._names, lambda name: pa.float64() if name == self.wanted.weights else ids)

    def _judge(self, rows: list[list[str]]) -> bool:
        """Return whether the first row names the columns, judged by `wanted` and the rows below."""
        first, names = rows[0], [name for _, name in self.wanted.by_argument()]
        are_there = set(names) <= set(first)
        are_numbers = all(name.isascii() and name.isdecimal() for name in names)
        if are_there:
            ids = [first.index(name) for name in self.wanted.ids]
        elif are_numbers:
            ids = [k for k in map(int, self.wanted.ids) if k < len(first)]
        else:
            ids = [*range(min(len(self.wanted.ids), len(first)))]
        found = judge_first_row(rows, ids)
        if are_there and not are_numbers:
            if (again := recurring(rows, ids)) is not None:
                raise ValueError(
                    f"its first row may be data, as {shown(again)} is an id below, too; header=True"
                    " takes it as names of columns, header=False as data, with columns 0, 1, ..."
                )
            return True
        if are_numbers:
            of_edges = self.wanted.argument == "src"
            is_header = found.is_header and (found.is_clear or are_there)
            found = FirstRow(is_header, found.is_clear and of_edges and not is_header)
        elif not (found.is_header or self.wanted.are_default):
            raise ValueError(
                f"its first row, {', '.join(map(shown, first[:4]))}, is taken as data and has no "
                f"{names[0]!r}; give numbers of columns, from 0, or header=True"
            )
        if not found.is_clear:
            self.note = found.note(self.path, first)
        return found.is_header

    def _number_columns(self) -> None:
        """Name columns by numbers; the default is 0 and 1 for edges, and 2 for weights."""
        self._names = [str(k) for k in range(len(self._names))]
        if self.wanted.are_default:
            weights = "2" if self.wanted.weights == "weight" else self.wanted.weights
            self.wanted = Wanted(("0",), ("1",), weights, self.wanted.argument)
        for argument, name in self.wanted.by_argument():
            if name not in self._names:
                told = f"columns have the numbers 0 to {len(self._names) - 1}"
                raise ValueError(f"{argument}={shown(name)}: without a header, {told}")

    def _first_row(self, source: Source) -> list[str]:
        try:
            row = next(csv.reader(_lines(source), delimiter=self._delimiter, strict=True), None)
        except csv.Error as error:
            raise ValueError(f"its first line has no names of columns: {error}") from error
        if row is None:
            raise ValueError("it is empty; its first line must have the names of the columns")
        return row

    def _pieces(self) -> Iterator[tuple[int, Callable[[], Tables]]]:
        yield 0, self._read

    def _read(self) -> Tables:
        table, text = optional("pyarrow.csv", PURPOSE), optional("pyarrow", PURPOSE).string()
        done = 0
        with self._opened(), Source(self.path) as source:
            if self._has_header:
                self._first_row(source)
            if not source.peek(1):
                return
            file, stream = self._stream(source.packing)
            reader = table.open_csv(
                stream,
                table.ReadOptions(
                    column_names=self._names, skip_rows=source.line, block_size=CSV_BLOCK
                ),
                table.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
                table.ConvertOptions(
                    # As integers, Arrow would accept blanks, leading zeros and base 16.
                    column_types=self.types | dict.fromkeys(self.wanted.ids, text),
                    include_columns=[*self.types],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    null_values=[""],
                ),
            )
            for batch in reader:
                yield batch, file.tell() - done
                done = file.tell()

    def _batch(self, table: Any, size: float, row: int, nulls: str) -> Batch:
        if self._integers and table.num_rows:
            columns = {name: table.column(name) for name in self.types}
            for name in self.wanted.ids:
                columns[name] = self._as_integers(columns[name], name, row)
            table = optional("pyarrow").table(columns)
        return super()._batch(table, size, row, nulls)

    def _as_integers(self, column: Any, name: str, row: int) -> Any:
        """Convert text to integers; raise unless each is written as Python prints it."""
        pa = optional("pyarrow", PURPOSE)
        missing = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
        text = (column if missing is None else column.fill_null("0")).cast(pa.large_string())
        integers = np.empty(len(column), np.int64)
        wrong = native.integers_of_text(*buffers_of(text), integers)
        if wrong >= 0:
            remedy = "without integers=True ids are text"
            if self.wanted.argument == "src":
                remedy = "vertices are numbered from 0, and cluster_pairs takes other ids"
            raise ValueError(
                f"{self.path}:{self._line_of(row + wrong)}: column {name!r}: expected an integer "
                "of 64 bits without leading zeros, plus signs, blanks or fractions, found "
                f"{shown(column[wrong].as_py())}; {remedy}"
            )
        return pa.array(integers, mask=missing)

    def _line_of(self, row: int) -> int:
        with Source(self.path) as source:
            rows = filter(None, csv.reader(_lines(source), delimiter=self._delimiter))
            next(islice(rows, row + bool(self._has_header), None), None)
            return source.line

    def _stream(self, packing: str) -> tuple[Any, Any]:
        """Open the file by Arrow, and the stream that unpacks it.

        A Python file would be unsafe: nobody waits for Arrow's own threads, which abort the process
        if they run Python code when it ends.
        """
        pa = optional("pyarrow", PURPOSE)
        if packing == "xz":
            raise ValueError("it is packed by xz, which tables are not read from; unpack it first")
        file = pa.OSFile(self.path)
        if not packing:
            return file, file
        return file, pa.CompressedInputStream(file, {"gzip": "gzip", "bzip2": "bz2"}[packing])


def _lines(source: Source) -> Iterator[str]:
    while (line := source.read_line()) is not None:
        yield line.decode("utf-8-sig" if source.line == 1 else "utf-8") + "\n"


class DupsFile(PairFile):
    """A file of datatrove's MinhashDedupBuckets: pairs of documents, each a file and a document."""

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
                count = min(rows.step, rows.stop - begin)
                bytes_.seek(begin * DUPS_RECORD)
                block = bytes_.read(count * DUPS_RECORD)
                if len(block) != count * DUPS_RECORD:
                    raise ValueError("it was cut short while it was read")
                columns = np.ascontiguousarray(np.frombuffer(block, "<u4").reshape(-1, 4).T)
                yield optional("pyarrow").table([*columns], DUPS_COLUMNS), len(block)


def format_of(path: StrPath) -> str | None:
    """Return the format by the suffix of a name, or None."""
    name = PurePath(path)
    if name.suffix.lower() in PACKINGS:
        inner = format_of(name.with_suffix(""))
        return inner if inner in ("csv", "tsv") else None
    return next((known for known in SUFFIXES if name.suffix.lower() in SUFFIXES[known]), None)


def open_file(
    path: StrPath,
    wanted: Wanted,
    format: str | None = None,
    integers: bool = False,
    header: bool | None = None,
) -> PairFile:
    """Open a file of pairs or nodes; the default of ``.dups`` is all columns.

    Ids in CSV are text unless `integers`. `PairFile.note` is set if `header` had to be guessed.
    """
    check_choice("format", format, (None, *SUFFIXES))
    chosen = format or format_of(path)
    if chosen is None:
        raise ValueError(
            f"{path}: its name does not say what it is; give format=, one of {', '.join(SUFFIXES)}"
        )
    if chosen in ("csv", "tsv"):
        return CsvFile(path, wanted, "," if chosen == "csv" else "\t", integers, header)
    if chosen == "dups" and not wanted.left:
        wanted = Wanted(DUPS_COLUMNS[:2], DUPS_COLUMNS[2:], wanted.weights)
    of_bytes: dict[str, Callable[[StrPath, Wanted], PairFile]] = {"dups": DupsFile}
    of_bytes |= {"parquet": ParquetFile, "arrow": ArrowFile}
    return of_bytes[chosen](path, wanted)


def notes_of(files: Iterable[PairFile]) -> list[str]:
    """Return the notes of files: one for all with a header, and one for all without."""
    found: dict[str, list[str]] = {}
    for file in files:
        if file.note is not None:
            found.setdefault(file.note.partition("is taken as")[2], []).append(file.note)
    more = "; so it is in {:,} files more"
    return [first + more.format(len(others)) * bool(others) for first, *others in found.values()]


def check_types(files: Iterable[PairFile]) -> None:
    """Raise unless the ids of all files are comparable, and weights are numbers of one type."""
    first: list[Column] | None = None
    weighed: dict[str, str] = {}
    for file in files:
        for names in filter(None, (file.wanted.left, file.wanted.right)):
            told = [f"column {name!r} of {file.path}" for name in names]
            side = _side(zip(told, (empty_column(file.types[name]) for name in names), strict=True))
            first = first or side
            if len(side) != len(first):
                raise ValueError(
                    f"ids of {file.path} are of {len(side)} columns ({', '.join(names)}), but "
                    f"{first[0].name} belongs to ids of {len(first)}; give as many for each"
                )
            for pair in zip(first, side, strict=True):
                common_family(pair)
        if file.wanted.weights is not None:
            try:
                kind = str(as_weights(empty_column(file.types[file.wanted.weights])).type)
            except TypeError as error:
                weights = f"{file.path}: column {file.wanted.weights!r}"
                raise TypeError(f"{weights}: {error}") from error
            weighed.setdefault(kind if kind in ("float", "halffloat") else "double", file.path)
            if len(weighed) > 1:
                (one, path), (other, place) = weighed.items()
                raise TypeError(f"weights are {one} in {path}, but {other} in {place}; cast one")


def _side(given: Iterable[tuple[str, Any]]) -> list[Column]:
    return [column for name, values in given for column in as_columns(values, name)]


def empty_column(kind: Any) -> Any:
    """Return a column without rows."""
    return optional("pyarrow", PURPOSE).chunked_array([], kind)


def batches(files: Sequence[PairFile], nulls: str, readers: int) -> Batches:
    """Read files one by one, with threads ahead; the first batch has no rows, only types."""
    pieces = (piece for file in files for piece in file.pieces(nulls))
    for file in files[:1]:
        yield file.empty_batch()
    yield from in_order(pieces, min(readers, MOST_READERS))


# Seconds to wait at the end for threads that read: a disk may not answer.
PATIENCE = 0.2


def in_order(pieces: Iterator[Callable[[], Items[T]]], workers: int) -> Items[T]:
    """Yield the items of one generator after another; threads compute the next items ahead.

    >>> pieces = [lambda: (x for x in "ab"), lambda: (x for x in "c")]
    >>> list(in_order(iter(pieces), 2))
    ['a', 'b', 'c']
    """
    # Python joins the threads of a pool at its end; with a daemon in Arrow, it would abort.
    pool = ThreadPoolExecutor(workers)
    running: deque[tuple[Items[T], Future[T | None]]] = deque()
    try:
        while True:
            while len(running) < workers and (piece := next(pieces, None)) is not None:
                made = piece()
                running.append((made, pool.submit(next, made, None)))
            if not running:
                return
            made, ahead = running[0]
            if (item := ahead.result()) is None:
                running.popleft()
                continue
            running[0] = made, pool.submit(next, made, None)
            yield item
    finally:
        late = wait([ahead for _, ahead in running], PATIENCE).not_done
        pool.shutdown(wait=not late, cancel_futures=True)
        for made, ahead in running:
            if ahead not in late:
                made.close()
