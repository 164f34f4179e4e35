"""Read files of pairs in batches of rows: Parquet, Arrow IPC, CSV, and datatrove's ``.dups``.

`open_file` reads the header of a file. `batches` then reads the wanted columns file by file, while
threads read and decode ahead. A forged length in a header allocates no memory: no read asks for
more bytes than the file has.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import PurePath

from conncomp._arguments import check_choice
from conncomp.files.access import PACKINGS, StrPath
from conncomp.tables.columns import Column, as_weights
from conncomp.tables.files.csv_pairs import CsvFile
from conncomp.tables.files.pair_file import (
    DUPS_COLUMNS,
    ArrowFile,
    Batch,
    DupsFile,
    Items,
    PairFile,
    ParquetFile,
    T,
    Wanted,
    as_side,
    empty_column,
)
from conncomp.tables.id_space import common_family

# How names end; a suffix of a packing may follow for CSV.
SUFFIXES = {
    "parquet": (".parquet", ".pq", ".parq"),
    "arrow": (".arrow", ".arrows", ".feather", ".ipc"),
    **{name: (f".{name}",) for name in ("csv", "tsv", "dups")},
}

# More readers would decode faster than any machine clusters.
MOST_READERS = 8


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
        remedy = f"give format=, one of {', '.join(SUFFIXES)}"
        raise ValueError(f"{path}: its name does not say what it is; {remedy}")
    if chosen in ("csv", "tsv"):
        return CsvFile(path, wanted, "," if chosen == "csv" else "\t", integers, header)
    if chosen == "dups" and not wanted.left:
        wanted = Wanted(DUPS_COLUMNS[:2], DUPS_COLUMNS[2:], wanted.weights)
    of_bytes: dict[str, Callable[[StrPath, Wanted], PairFile]] = {"dups": DupsFile}
    of_bytes |= {"parquet": ParquetFile, "arrow": ArrowFile}
    return of_bytes[chosen](path, wanted)


def notes_of(files: Iterable[PairFile]) -> list[str]:
    """Return the notes of files: one for those with a header, and one for the others."""
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
            types = ((f"column {name!r} of {file.path}", file.types[name]) for name in names)
            side = as_side((called, empty_column(kind)) for called, kind in types)
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


def batches(files: Sequence[PairFile], nulls: str, readers: int) -> Items[Batch]:
    """Read files one by one, with threads ahead; the first batch has no rows, only types."""
    pieces = (piece for file in files for piece in file.pieces(nulls))
    for file in files[:1]:
        yield file.empty_batch()
    yield from in_order(pieces, min(readers, MOST_READERS))


# Seconds to wait at the end for threads that read: a disk may not answer.
PATIENCE = 0.2


def in_order(pieces: Iterator[Callable[[], Items[T]]], workers: int) -> Items[T]:
    """Yield the items of one generator after another; threads compute ahead.

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
