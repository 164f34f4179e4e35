"""Files of pairs that are text: CSV and TSV."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from conncomp._arguments import shown
from conncomp._core import native
from conncomp._optional import optional
from conncomp.files.access import Source, StrPath
from conncomp.files.csv_header import SAMPLE, FirstRow, judge_first_row, recurring, rows_of
from conncomp.tables.files.pair_file import PURPOSE, Batch, PairFile, Tables, Wanted
from conncomp.tables.values import buffers_of

CSV_BLOCK = 1 << 22  # bytes that Arrow parses at once


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
        """Return whether the first row names the columns, by `wanted` and the rows below."""
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
                told = f"without a header, columns have the numbers 0 to {len(self._names) - 1}"
                raise ValueError(f"{argument}={shown(name)}: {told}")

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
            rows = {"column_names": self._names, "skip_rows": source.line}
            reader = table.open_csv(
                stream,
                table.ReadOptions(block_size=CSV_BLOCK, **rows),
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
        """Convert text to integers; raise unless each looks as Python prints it."""
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
