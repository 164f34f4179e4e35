"""``conncomp graph``."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import click
import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp._optional import optional
from conncomp.cli import _report
from conncomp.cli._errors import say
from conncomp.cli._options import Common, Device, Header, Positive, argument, option, values_of
from conncomp.cli._output import check_distinct, output_file, write_rows
from conncomp.cli._picture import plot_sizes
from conncomp.cli._report import Stages
from conncomp.cli._rules import command, no_effect
from conncomp.files.access import atomic_path
from conncomp.graph.algorithms import ALGORITHMS, STRONG_ALGORITHMS
from conncomp.graph.graph import count_without_arcs, read_graph
from conncomp.graph.inputs.formats import FORMATS, Asked

# Endings of the names of files whose rows are edges.
EDGE_FILES = (".parquet", ".pq", ".parq", ".arrow", ".arrows", ".feather", ".ipc")


class FileOrPattern(click.Path):
    """A file, or a pattern of files of Parquet or Arrow."""

    def convert(self, value: Any, option: click.Parameter | None, context: Any) -> Any:
        """Return a path, which exists unless it is a pattern."""
        if glob.has_magic(str(value)) and not os.path.lexists(value):
            return Path(value)
        return super().convert(value, option, context)


@dataclass(frozen=True, kw_only=True)
class Options(Common):
    """The options of the command.

    --output FILE  Write the labels: .npy, .npz or .parquet in the order of the vertices, .txt or
        .csv with a vertex and its label on each line.
    --src COLUMN  Of edges in Parquet or Arrow: the column of their first ends. Default: src.
    --dst COLUMN  That of their second ends. Default: dst.
    --strong  Vertices are connected if arcs lead from each to the other.
    --algorithm NAME  The name of an algorithm of connected_components for this device; with
        --strong, for strong components.
    --compact-ids  Only ids that occur in the file are vertices. In edge lists and CSV they are text
        as it stands, in the order in which they first appear. A .npz file then holds them as ids.
    --integers  Read the ids in edge lists and CSV as integers; entries such as 007, +7 and 1.0 are
        errors.
    --header  Whether the first row of CSV and TSV has the names of columns. Without them, arcs are
        in the first two columns. Default: what the rows look like; a guess is printed.
    --format  The format of IN. Default: its name tells, or else its content.
    --top K  How many of the largest components to list.
    --histogram FILE.png  Plot how many components there are of each size.
    """

    input: Path = argument("IN", type=FileOrPattern(exists=True, dir_okay=False, path_type=Path))
    output: Path | None = option(type=output_file(".npy", ".npz", ".txt", ".csv", ".parquet"))
    src: str | None
    dst: str | None
    strong: bool
    algorithm: str = "auto"
    compact_ids: bool
    integers: bool
    header: Header | None = None
    format: Annotated[str, click.Choice(list(FORMATS))] | None
    top: Positive = 5
    histogram: Path | None = option(type=output_file(".png"))
    device: Device = "cpu"

    @property
    def has_edge_files(self) -> bool:
        """Whether edges are rows of tables."""
        return self.input.suffix.lower() in EDGE_FILES or not os.path.lexists(self.input)

    @property
    def connection(self) -> Literal["weak", "strong"]:
        """The kind of the components."""
        return "strong" if self.strong else "weak"

    @property
    def writes_npy(self) -> bool:
        """Whether labels go to a file that holds nothing else."""
        return self.output is not None and self.output.suffix.lower() == ".npy"


RULES = (
    no_effect(
        "is for edges in Parquet or Arrow files; leave it out",
        lambda given: not Options(**given).has_edge_files,
        *("--src", "--dst"),
    ),
    no_effect(
        "is not for edges in Parquet or Arrow files; leave it out",
        lambda given: Options(**given).has_edge_files,
        *("--strong", "--compact-ids", "--integers", "--format", "--algorithm", "--device cuda"),
    ),
)


@command(Options, *RULES)
def graph(options: Options) -> None:
    """Label the connected components of the graph in the file IN.

    The format is that of the name or else of the content: edge list (SNAP and others), CSV or TSV,
    Matrix Market, METIS, DIMACS, GraphML, ECL or a matrix of SciPy (.npz); each may
    be packed by gzip, bzip2 or xz. IN may be /dev/stdin or another pipe. Vertices that have names
    are written with them.

    IN may also be a file of Parquet or Arrow IPC, or a pattern of such, as 'edges/*.parquet': a
    table with a row for each edge, whose ends are integers. It is read in batches: memory holds
    the vertices, and not the edges.
    """
    _check_options(options)
    stage = Stages()
    edges = _read_edges(options, stage) if options.has_edge_files else _read_graph(options, stage)
    count, labels, ids = edges.components, edges.labels, edges.ids
    with stage("measuring"):
        sizes = conncomp.component_sizes(labels, background=None)
    if options.output is not None:
        with stage("writing"):
            _write_labels(options.output, labels, ids)
    if options.histogram is not None:
        title = f"{options.input.name}: {count:,} {options.connection} components"
        with stage("histogram"):
            plot_sizes(options.histogram, sizes, title)
    report: dict[str, Any] = {
        "input": {"path": options.input},
        **{"vertices": len(labels), "arcs": edges.arcs},
        **{"connection": options.connection, "components": count},
        "without_arcs": edges.count_without_arcs() if (sizes == 1).any() else 0,
        "largest": _report.largest(sizes, options.top),
        "sizes": _report.describe_sizes(sizes),
        "seconds": stage.seconds,
        "arcs_per_second": edges.arcs / stage.seconds["labelling"],
        **{"device": options.device, "threads": conncomp.get_num_threads()},
        "written": {"labels": options.output, "histogram": options.histogram},
    }
    facts = _summary(report, numbered=ids is None)
    largest = _report.largest_table(report["largest"], len(labels), "vertices")
    sizes_of = _report.distribution_table(report, "vertices")
    _report.show(report, facts, largest, sizes_of, as_json=options.as_json)


@dataclass(frozen=True)
class Labelled:
    """The labels of a graph's vertices, and other facts for the report."""

    components: int
    labels: NDArray[Any]
    ids: NDArray[Any] | None
    arcs: int
    count_without_arcs: Callable[[], int | None]


def _read_graph(options: Options, stage: Stages) -> Labelled:
    with stage("reading", counts=True) as progress:
        asked = Asked(options.compact_ids, options.integers, options.header, notes=[])
        remedy = "--compact-ids"
        arcs, ids = read_graph(options.input, asked, options.format, progress, remedy=remedy)
    for note in asked.notes:
        say(note)
    if ids is not None and options.writes_npy:
        raise click.UsageError("vertices have names, for which .npy has no place; write .npz.")
    label = partial(conncomp.connected_components, **values_of(options, "connection", "algorithm"))
    _, labels, count = _report.labelled_on(
        options.device, stage, arcs, methodcaller("to", "cuda"), lambda there: label(there)[::-1]
    )
    return Labelled(count, labels, ids, arcs.num_arcs, lambda: count_without_arcs(arcs))


def _read_edges(options: Options, stage: Stages) -> Labelled:
    """Label vertices while edges are read in batches."""
    from conncomp.tables.files.edges import EdgeFiles, label_edges  # slow, and not for the help

    optional("pyarrow").set_cpu_count(conncomp.get_num_threads())
    columns = options.src or "src", options.dst or "dst"
    files = EdgeFiles(options.input, columns, None, None, options.header)
    for note in files.notes:
        say(note)
    with stage("labelling", counts=True) as progress:
        count, labels = label_edges(files, progress)
    return Labelled(count, labels, None, files.count, lambda: None)


def _check_options(options: Options) -> None:
    check_distinct((options.input, options.output, options.histogram))
    if options.compact_ids and options.writes_npy:
        raise click.UsageError("--compact-ids: a .npy file has no place for the ids; write .npz.")
    names = (STRONG_ALGORITHMS if options.strong else ALGORITHMS)[options.device]
    if options.algorithm not in names:
        problem = f"{options.algorithm!r} is not one of {', '.join(names)}"
        raise click.UsageError(f"--algorithm: {problem}.")
    if options.histogram is not None:
        optional("matplotlib.figure")


def _write_labels(path: Path, labels: NDArray[Any], ids: NDArray[Any] | None) -> None:
    suffix = path.suffix.lower()
    if suffix in (".txt", ".csv"):
        vertices = np.arange(len(labels)) if ids is None else ids
        header, delimiter = ((), " ") if suffix == ".txt" else (("vertex", "label"), ",")
        write_rows(path, header, (vertices, labels), delimiter)
        return
    size = labels.nbytes if suffix == ".npy" else 0
    with atomic_path(path, size) as temporary, temporary.open("wb") as file:
        if suffix == ".parquet":
            columns = {"label": labels} | ({} if ids is None else {"id": ids})
            optional("pyarrow.parquet").write_table(optional("pyarrow").table(columns), file)
        elif suffix == ".npy":
            # Not to the file itself, to which NumPy writes without a reason where it fails.
            np.save(SimpleNamespace(write=file.write), labels)
        else:
            arrays = {"labels": labels} if ids is None else {"labels": labels, "ids": ids}
            np.savez_compressed(file, allow_pickle=False, **arrays)


def _summary(report: dict[str, Any], numbered: bool) -> list[_report.Row]:
    rows: list[_report.Row] = [
        ("input", str(report["input"]["path"])),
        ("vertices", f"{report['vertices']:,}"),
        ("arcs", f"{report['arcs']:,}"),
        ("components", f"{report['components']:,} ({report['connection']})"),
    ]
    if report["without_arcs"]:
        hint = "; if ids have gaps, --compact-ids leaves them out" if numbered else ""
        rows.append(("", f"{report['without_arcs']:,} of them are vertices without arcs{hint}"))
    rows.append(_report.largest_row(report["largest"], report["vertices"], "vertices", "all"))
    return rows + _report.closing_rows(report, report["arcs_per_second"], "arcs")
