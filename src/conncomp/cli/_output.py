"""Files that are written: checked before long work, and complete or not there at all."""

from __future__ import annotations

import csv
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from numpy.typing import NDArray

from conncomp._optional import optional
from conncomp.files.access import atomic_path

if TYPE_CHECKING:
    from conncomp.components.statistics import ComponentStatistics

Columns = Sequence[NDArray[Any]]

BLOCK = 1 << 18  # rows that are Python objects at once


def output_file(*suffixes: str) -> Callable[[str], Path]:
    """Return a type of an option for a file to be written, of some kinds or any."""

    def check(name: str) -> Path:
        path = Path(name)
        try:
            mode = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            mode = None
        except OSError as error:
            raise click.BadParameter(f"{name!r}: {error.strerror}.") from error
        within = ".zarr" in suffixes and is_within_zarr(path)
        if suffixes and path.suffix.lower() not in suffixes and not within:
            problem = f"{name!r} does not end in {' or '.join(suffixes)}."
        elif mode is not None and stat.S_ISDIR(mode) and not Path(f"{name}.partial").is_dir():
            problem = f"{name!r} is a directory."
        elif mode is not None and not os.access(path, os.W_OK):
            problem = f"{name!r} cannot be written to."
        elif within or (mode is not None and not stat.S_ISREG(mode)):
            # The group of labels may be made. What is no file is a pipe or a device, beside which
            # nothing is made, or labels that were given their name as a command was killed.
            return path
        elif not path.parent.is_dir():
            problem = f"there is no directory {str(path.parent)!r}."
        elif not os.access(path.parent, os.W_OK | os.X_OK):
            problem = f"the directory {str(path.parent)!r} cannot be written to."
        else:
            return path
        raise click.BadParameter(problem)

    return check


def is_within_zarr(path: Path) -> bool:
    return path.parent.name == "labels" and path.parent.parent.suffix.lower() == ".zarr"


def check_distinct(paths: Iterable[Path | None]) -> None:
    """Raise if two of the files of a command are the same."""
    for earlier, path in combinations(filter(None, paths), 2):
        same = path.exists() and earlier.exists() and path.samefile(earlier)
        if same or os.path.realpath(path) == os.path.realpath(earlier):
            raise click.UsageError(f"{str(earlier)!r} and {str(path)!r} are the same file.")


def write_rows(path: Path, header: Sequence[str], columns: Columns, delimiter: str = ",") -> None:
    with rows_file(path, header, delimiter) as add:
        add(columns)


@contextmanager
def rows_file(
    path: Path, header: Sequence[str], delimiter: str = ","
) -> Iterator[Callable[[Columns], None]]:
    """Yield a function that adds columns of rows to a file of text."""
    with atomic_path(path) as temporary, temporary.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        if header:
            writer.writerow(header)

        def add(columns: Columns) -> None:
            for start in range(0, len(columns[0]), BLOCK):
                rows = slice(start, start + BLOCK)
                writer.writerows(zip(*(column[rows].tolist() for column in columns), strict=True))

        yield add


def write_table(file: Any, path: Path, table: Any) -> None:
    """Write a table of Arrow in the format of a name, in blocks, between which Ctrl-C ends it."""
    from conncomp.tables.files.reading import format_of  # slow, and for few commands

    kind = format_of(path)
    opened: Any
    if kind == "parquet":
        opened = optional("pyarrow.parquet").ParquetWriter(file, table.schema)
    elif kind == "arrow":
        ipc, is_stream = optional("pyarrow.ipc"), path.suffix.lower() == ".arrows"
        opened = (ipc.new_stream if is_stream else ipc.new_file)(file, table.schema)
    else:
        text = optional("pyarrow.csv")
        options = text.WriteOptions(delimiter="\t" if kind == "tsv" else ",")
        opened = text.CSVWriter(file, table.schema, write_options=options)
    with opened as writer:
        for begin in range(0, table.num_rows, BLOCK):
            writer.write_table(table.slice(begin, BLOCK))


def columns_of(statistics: ComponentStatistics, *names: str) -> dict[str, NDArray[Any]]:
    """Return the columns of properties, in their order."""
    table, wanted = statistics.columns(), dict.fromkeys(names)
    return {c: table[c] for name in wanted for c in table if c.partition("-")[0] == name}
