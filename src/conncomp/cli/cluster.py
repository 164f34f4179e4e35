"""``conncomp cluster``."""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal

import click
import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp._memory import peak_memory
from conncomp._optional import optional
from conncomp.cli import _report
from conncomp.cli._errors import say
from conncomp.cli._options import Common, Header, Positive, argument, numbers, option, values_of
from conncomp.cli._output import check_distinct, output_file, write_table
from conncomp.cli._rules import command, needs, no_effect
from conncomp.files.access import atomic_path
from conncomp.tables.clustering import Clustering
from conncomp.tables.files import reading
from conncomp.tables.files.memory import Budget
from conncomp.tables.files.pair_file import Batch, PairFile, Wanted, empty_column

PairFiles = list[PairFile]
THRESHOLDS = "no number, and no list of such as '0.9,0.95'"
OUTPUTS = [end for kind in ("parquet", "arrow", "csv", "tsv") for end in reading.SUFFIXES[kind]]


@dataclass(frozen=True, kw_only=True)
class Options(Common):
    """The options of the command.

    --left COLUMN  The column with the first id of each pair, or its number from 0 where CSV has no
        header. Give it several times if an id has several columns. Files of .dups do without.
    --right COLUMN  The column with the second id, likewise.
    --weight COLUMN  The column with the weight of each pair: how alike its ids are.
    --threshold T,T,...  Use only pairs whose weight is at least T. With several thresholds there
        are clusters for each of them.
    --max-size N  Divide clusters of more than N ids: the threshold is raised within them alone.
    --output FILE  Write a table with a row for each id: its cluster, and the size of the cluster.
        The name ends with .parquet, .pq, .parq, .arrow, .arrows, .feather, .ipc, .csv, .tsv.
    --cluster-ids  Name clusters by numbers, 0, 1, ... in the order of their first ids, or by the
        first ids themselves.
    --nodes FILE  A file of ids that come first in the output, in the order of the file. An id that
        no pair has is a cluster of its own.
    --node COLUMN  The column with the ids in the file of --nodes. Default: that of --left.
    --nulls  Rows without an id or a weight: end with an error, or leave them out.
    --format  The format of IN and of the file of --nodes. Default: each file's name tells.
    --integers  Read the ids in CSV and TSV as integers of 64 bits, which take less memory than
        text; entries such as 007, +7 and 1.0 are errors. Default: ids are text, as it stands.
    --header  Whether the first row of CSV and TSV has the names of columns. Without them, columns
        have numbers from 0. Default: what the rows look like; a guess is printed.
    --memory SIZE  The most memory that the command may take, such as 8G; if it needs more, it ends
        with an error. Default: what is free.
    --top K  How many of the largest clusters to list.
    """

    input: tuple[str, ...] = argument("IN...", nargs=-1, required=True)
    left: tuple[str, ...]
    right: tuple[str, ...]
    weights: str | None = option("--weight")
    threshold: Annotated[list[float], numbers(",", [float], THRESHOLDS)] | None
    max_size: Positive | None
    output: Path | None = option(type=output_file(*OUTPUTS))
    cluster_ids: Literal["number", "first"] = "number"
    nodes: str | None = option(type=click.Path(exists=True, dir_okay=False))
    node_columns: tuple[str, ...] = option("--node")
    nulls: Literal["raise", "drop"] = "raise"
    format: Annotated[str, click.Choice(list(reading.SUFFIXES))] | None
    integers: bool
    header: Header | None = None
    memory: str | None
    top: Positive = 5

    @property
    def files_of_nodes(self) -> tuple[str, ...]:
        """The names of files that hold nodes: one or none."""
        return (self.nodes,) if self.nodes else ()


@command(
    Options,
    needs("--weight", "--threshold", "--max-size"),
    needs("--threshold --max-size", "--weight"),
    needs("--node", "--nodes"),
    no_effect(
        "is for one threshold, or --json: of several thresholds the largest alone is printed",
        lambda given: len(given["threshold"] or ()) > 1 and not given["as_json"],
        "--top",
    ),
)
def cluster(options: Options) -> None:
    """Find the clusters of ids that the pairs in the files IN connect.

    IN are names of files, or patterns such as 'pairs/*.parquet'. They can be Parquet, Arrow IPC
    (Feather and streams, too), CSV or TSV (which gzip or bzip2 may have packed), or .dups of
    datatrove. They are read in batches: memory holds the distinct ids, and not the pairs.

    The output has the ids in the order in which they first appear, file by file and row by row,
    left before right. An id of .dups is a file and a document; documents that match an index are
    paired with the id 4294967295, 4294967295, as in datatrove.
    """
    for module in ("pyarrow.parquet", "pyarrow.csv", "pyarrow.ipc"):
        optional(module, "this command")
    names = _files(options.input)
    _check_options(names, options)
    how = values_of(options, "threshold", "max_size", "nulls")
    clustering = Clustering(**how, weighed=options.weights is not None)
    optional("pyarrow").set_cpu_count(conncomp.get_num_threads())
    stage = _report.Stages()
    with stage("checking"):
        named, divided = options.cluster_ids == "first", options.max_size is not None
        budget = Budget(options.memory, len(options.threshold or [0]), named, divided)
        pair_files, node_files = _open(names, options)
        note = budget.expect([*pair_files, *node_files])
    for text in filter(None, (*reading.notes_of([*pair_files, *node_files]), note)):
        say(text)
    with stage("clustering", counts=True) as progress:
        total = sum(file.size for file in (*pair_files, *node_files))
        tally = _Tally(clustering, budget, progress, total)
        for files, add in ((node_files, tally.add_nodes), (pair_files, tally.add)):
            tally.read(files, options.nulls, add)
    stage.seconds["of it waiting for files"] = tally.waiting
    with stage("labelling"):
        table = clustering.table(options.cluster_ids, "pyarrow")
        results = _results(table, clustering.roots, options)
    if options.output is not None:
        output = options.output
        with stage("writing"), atomic_path(output) as temporary, temporary.open("wb") as file:
            write_table(file, output, table)
    report: dict[str, Any] = {
        "input": {"files": names, "bytes": sum(file.size for file in pair_files)},
        **{"pairs": tally.rows, "dropped": tally.dropped, "ids": table.num_rows},
        **{"results": results, "seconds": stage.seconds},
        "pairs_per_second": tally.rows / stage.seconds["clustering"],
        "threads": conncomp.get_num_threads(),
        "memory": {"peak": peak_memory(), "limit": budget.limit},
        "written": {"table": options.output},
    }
    tables = _summary(report), *_tables(results, table.num_rows)
    _report.show(report, *tables, as_json=options.as_json)


def _tables(results: list[dict[str, Any]], ids: int) -> list[list[_report.Row]]:
    if len(results) > 1:
        return [_table_of_thresholds(results, ids)]
    (only,) = results
    largest = _report.largest_table(only["largest"], ids, "ids")
    return [largest, _report.distribution_table(only, "ids", "clusters")]


def _open(names: list[str], options: Options) -> tuple[PairFiles, PairFiles]:
    columns = Wanted(options.left, options.right, options.weights)
    node_columns = Wanted(options.node_columns or options.left, argument="node_columns")
    form = values_of(options, "format", "integers", "header")
    pair_files = [reading.open_file(name, columns, **form) for name in names]
    node_files = [reading.open_file(name, node_columns, **form) for name in options.files_of_nodes]
    reading.check_types([*pair_files, *node_files])
    if options.output is not None:
        _check_output(options.output, pair_files[0])
    return pair_files, node_files


def _files(patterns: tuple[str, ...]) -> list[str]:
    found: dict[str, None] = {}
    for pattern in patterns:
        exists = os.path.lexists(pattern)
        names = [pattern] if exists else sorted(glob.glob(pattern, recursive=True))
        if not names:
            problem = "matches no file" if glob.has_magic(pattern) else "does not exist"
            raise click.UsageError(f"IN: {pattern!r} {problem}.")
        for name in names:
            if not os.path.isdir(name):
                found[name] = None
            elif name == pattern:
                raise click.UsageError(
                    f"IN: {name!r} is a directory; give a pattern of the files in it, such as "
                    f"'{name.rstrip('/')}/*.parquet'."
                )
    if not found:
        raise click.UsageError(f"IN: {patterns[0]!r} matches directories only.")
    return list(found)


def _check_options(names: list[str], options: Options) -> None:
    left, right = options.left, options.right
    files = *names, *options.files_of_nodes
    for name in files:
        check_distinct((Path(name), options.output))
    formats = {name: options.format or reading.format_of(name) for name in files}
    all_dups = all(formats[name] == "dups" for name in names)
    if not (left and right) and not (all_dups and not left and not right):
        raise click.UsageError("--left and --right must name the columns of ids.")
    if len(left) != len(right):
        raise click.UsageError(
            f"--left names {len(left)} columns and --right {len(right)}; an id has as many on both "
            "sides."
        )
    header = {True: "--header", False: "--no-header", None: ""}[options.header]
    of_text = header or "--integers" * options.integers
    if of_text and {"csv", "tsv", None}.isdisjoint(formats.values()):
        raise click.UsageError(f"{of_text} is for CSV and TSV; leave it out.")


class _Tally:
    def __init__(
        self, clustering: Clustering, budget: Budget, progress: _report.Counter, total: int
    ) -> None:
        self._clustering, self._budget, self._progress = clustering, budget, progress
        self._total, self._done = total, 0.0
        self.rows = self.dropped = 0
        self.waiting = 0.0

    def read(self, files: PairFiles, nulls: str, add: Callable[[Batch], None]) -> None:
        with closing(reading.batches(files, nulls, conncomp.get_num_threads())) as ahead:
            begin = perf_counter()
            for batch in ahead:
                self.waiting += perf_counter() - begin
                try:
                    add(batch)
                except (TypeError, ValueError) as error:
                    raise ValueError(f"{batch.path}: {error}") from error
                self._done += batch.bytes
                self._budget.note(batch)
                self._budget.check(len(self._clustering), min(self._done / max(self._total, 1), 1))
                counts = f"{self.rows:,} pairs, {len(self._clustering):,} ids"
                self._progress(int(self._done), self._total, counts)
                begin = perf_counter()

    def add_nodes(self, batch: Batch) -> None:
        self._clustering.add_nodes(_side(batch.left))

    def add(self, batch: Batch) -> None:
        self._clustering.add(_side(batch.left), _side(batch.right), batch.weights)
        self.rows += batch.rows
        self.dropped += batch.rows - len(batch.left[0])


def _side(columns: tuple[Any, ...]) -> Any:
    return columns if len(columns) > 1 else columns[0]


def _results(table: Any, roots: list[NDArray[np.int32]], options: Options) -> list[dict[str, Any]]:
    results = []
    columns = [name for name in table.column_names if name.startswith("size")]
    nodes = [name for name in table.column_names if name.startswith("node")]
    thresholds: Any = options.threshold or [None]
    for root, name, value in zip(roots, columns, thresholds, strict=True):
        first = np.flatnonzero(root == np.arange(len(root), dtype=np.int32))
        sizes = table.column(name).to_numpy()[first].astype(np.int64)
        listed: list[dict[str, Any]] = [*_report.largest(sizes, options.top)]
        if options.cluster_ids == "first":
            for one in listed:
                place = int(first[one["label"]])
                one["label"] = ", ".join(str(table.column(node)[place]) for node in nodes)
        alone = int(np.count_nonzero(sizes == 1))
        clusters = {"threshold": value, "clusters": len(sizes), "alone": alone, "largest": listed}
        results.append(clusters | {"sizes": _report.describe_sizes(sizes)})
    return results


def _check_output(path: Path, file: PairFile) -> None:
    """Raise before long work if ids of a file cannot be written."""
    pa = optional("pyarrow")
    fields = {name: empty_column(file.types[name]) for name in file.wanted.left}
    try:
        write_table(io.BytesIO(), path, pa.table(fields))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"{path}: {error}; write .parquet or .arrow") from error


def _table_of_thresholds(results: list[dict[str, Any]], ids: int) -> list[_report.Row]:
    rows: list[_report.Row] = [("threshold", "clusters", "of one id", "largest", "share of ids")]
    for one in results:
        most = one["largest"][0]["size"] if one["largest"] else 0
        counts = (f"{count:,}" for count in (one["clusters"], one["alone"], most))
        rows.append((f"{one['threshold']:g}", *counts, _report.percent(most, ids)))
    return rows


def _summary(report: dict[str, Any]) -> list[_report.Row]:
    names, results = report["input"]["files"], report["results"]
    several = "" if len(names) == 1 else f" and {len(names) - 1:,} more"
    dropped = f", {report['dropped']:,} of them dropped for nulls" if report["dropped"] else ""
    rows: list[_report.Row] = [("input", f"{names[0]}{several}")]
    rows += [("pairs", f"{report['pairs']:,}{dropped}"), ("ids", f"{report['ids']:,}")]
    if len(results) == 1:
        found = results[0]
        if found["threshold"] is not None:
            rows.append(("threshold", f"{found['threshold']:g}"))
        count = f"{found['clusters']:,}, {found['alone']:,} of them of one id"
        largest = _report.largest_row(found["largest"], report["ids"], "ids", "all")
        rows += [("clusters", count), largest]
    return rows + _report.closing_rows(report, report["pairs_per_second"], "pairs")
