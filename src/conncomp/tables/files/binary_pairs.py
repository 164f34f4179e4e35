"""Files of pairs that are not text: Parquet, Arrow IPC, and datatrove's ``.dups``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from conncomp._optional import optional
from conncomp.files.access import Bounded
from conncomp.tables.files.pair_file import PURPOSE, PairFile, Tables

# Rows per batch, bytes per batch of wide rows, and rows per part of a file that a thread reads.
ROWS, BYTES, PIECE_ROWS = 1 << 18, 1 << 24, 1 << 20
FEWEST_ROWS = 1 << 12
# Bytes to read at once of a column in a Parquet row group larger than `LARGE_GROUP`. Columns of
# smaller groups are read as a whole, so a forged length of a page allocates no memory.
BUFFER, LARGE_GROUP = 1 << 20, 1 << 27

DUPS_RECORD = 16
DUPS_COLUMNS = ("file_1", "document_1", "file_2", "document_2")


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
