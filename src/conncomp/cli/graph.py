"""``conncomp graph``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import click
import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp._arrays import move_from_gpu
from conncomp._optional import optional
from conncomp.cli._device import stages_on
from conncomp.cli._options import (
    device_option,
    input_argument,
    json_option,
    threads_option,
    top_option,
)
from conncomp.cli._output import check_distinct, output_file, write_rows
from conncomp.cli._picture import plot_sizes
from conncomp.cli._report import (
    Row,
    Stages,
    describe_sizes,
    distribution_table,
    largest,
    largest_row,
    largest_table,
    show,
    speed_row,
    timing_row,
)
from conncomp.files.access import atomic_path
from conncomp.graph.algorithms import ALGORITHMS, STRONG_ALGORITHMS
from conncomp.graph.graph import count_without_arcs, read_graph
from conncomp.graph.inputs.reading import FORMATS
from conncomp.kernels.cuda import launcher


@dataclass(frozen=True)
class Options:
    """What the command is given."""

    input: Path
    output: Path | None
    strong: bool
    algorithm: str
    compact_ids: bool
    format: str | None
    top: int
    histogram: Path | None
    device: Literal["cpu", "cuda"]
    as_json: bool

    @property
    def connection(self) -> Literal["weak", "strong"]:
        """Which components are asked for."""
        return "strong" if self.strong else "weak"

    @property
    def writes_npy(self) -> bool:
        """Whether labels are written to a file that has no place for anything else."""
        return self.output is not None and self.output.suffix.lower() == ".npy"


@click.command()
@input_argument
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=output_file(".npy", ".npz", ".txt", ".csv"),
    help="Write the labels: .npy or .npz in the order of the vertices, .txt or .csv with a vertex "
    "and its label on each line.",
)
@click.option(
    "--strong", is_flag=True, help="Vertices are connected if arcs lead from each to the other."
)
@click.option(
    "--algorithm",
    metavar="NAME",
    default="auto",
    show_default=True,
    help="The name of an algorithm of connected_components for this device; with --strong, for "
    "strong components.",
)
@click.option(
    "--compact-ids",
    is_flag=True,
    help="Only numbers that occur in the file are vertices. A .npz file then holds them as ids.",
)
@click.option(
    "--format",
    type=click.Choice(list(FORMATS)),
    help="The format of IN. Default: its name tells, or else its content.",
)
@top_option("components")
@click.option(
    "--histogram",
    metavar="FILE.png",
    callback=output_file(".png"),
    help="Plot how many components there are of each size.",
)
@device_option
@threads_option
@json_option
def graph(**given: Any) -> None:
    """Label the connected components of the graph in the file IN.

    The format is that of the name or else of the content: edge list (SNAP and others), CSV or TSV
    with a header, Matrix Market, METIS, DIMACS, GraphML, ECL or a matrix of SciPy (.npz); each may
    be packed by gzip, bzip2 or xz. IN may be /dev/stdin or another pipe. Vertices that have names
    are written with them.
    """
    options = Options(**given)
    _check_options(options)
    stage = Stages()
    with stage("reading", counts=True) as progress:
        arcs, ids = read_graph(
            options.input, options.compact_ids, options.format, progress, remedy="--compact-ids"
        )
    if ids is not None and options.writes_npy:
        raise click.UsageError("vertices have names, for which .npy has no place; write .npz.")
    count, labels = _label(arcs, options, stage)
    with stage("measuring"):
        sizes = conncomp.component_sizes(labels, background=None)
        without_arcs = count_without_arcs(arcs) if (sizes == 1).any() else 0
    if options.output is not None:
        with stage("writing"):
            _write_labels(options.output, labels, ids)
    if options.histogram is not None:
        title = f"{options.input.name}: {count:,} {options.connection} components"
        with stage("histogram"):
            plot_sizes(options.histogram, sizes, title)
    report: dict[str, Any] = {
        "input": {"path": options.input},
        "vertices": arcs.num_vertices,
        "arcs": arcs.num_arcs,
        "connection": options.connection,
        "components": count,
        "without_arcs": without_arcs,
        "largest": largest(sizes, options.top),
        "sizes": describe_sizes(sizes),
        "seconds": stage.seconds,
        "arcs_per_second": arcs.num_arcs / stage.seconds["labelling"],
        "device": options.device,
        "threads": conncomp.get_num_threads(),
        "written": {"labels": options.output, "histogram": options.histogram},
    }
    tables = (
        _summary(report, numbered=ids is None),
        largest_table(report["largest"], arcs.num_vertices, "vertices"),
        distribution_table(report, "vertices"),
    )
    show(report, *tables, as_json=options.as_json)


def _check_options(options: Options) -> None:
    """Raise where options of the command do not go together, or what they need is missing."""
    check_distinct((options.input, options.output, options.histogram))
    if options.compact_ids and options.writes_npy:
        raise click.UsageError("--compact-ids: a .npy file has no place for the ids; write .npz.")
    known = (STRONG_ALGORITHMS if options.strong else ALGORITHMS)[options.device]
    if options.algorithm not in known:
        raise click.UsageError(
            f"--algorithm: {options.algorithm!r} is not one of {', '.join(known)}."
        )
    if options.histogram is not None:
        optional("matplotlib.figure")


def _label(arcs: conncomp.Graph, options: Options, stage: Stages) -> tuple[int, NDArray[Any]]:
    """Return the number of components, and the labels in main memory."""
    placed, on_device = arcs, stages_on(options.device, stage)
    if options.device == "cuda":
        with on_device("starting the GPU"):
            launcher.import_cupy()
        with on_device("moving there"):
            placed = arcs.to("cuda")
    labels: Any
    with on_device("labelling"):
        count, labels = conncomp.connected_components(
            placed, connection=options.connection, algorithm=options.algorithm
        )
    if options.device == "cuda":
        with on_device("moving back"):
            labels = move_from_gpu(labels)
    return count, labels


def _write_labels(path: Path, labels: NDArray[Any], ids: NDArray[Any] | None) -> None:
    suffix = path.suffix.lower()
    if suffix in (".txt", ".csv"):
        vertices = np.arange(len(labels)) if ids is None else ids
        header, delimiter = ((), " ") if suffix == ".txt" else (("vertex", "label"), ",")
        write_rows(path, header, (vertices, labels), delimiter)
        return
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        if suffix == ".npy":
            # Not to the file itself, to which NumPy writes without a reason where it fails.
            np.save(SimpleNamespace(write=file.write), labels)
        else:
            arrays = {"labels": labels} if ids is None else {"labels": labels, "ids": ids}
            np.savez_compressed(file, allow_pickle=False, **arrays)


def _summary(report: dict[str, Any], numbered: bool) -> list[Row]:
    rows: list[Row] = [
        ("input", str(report["input"]["path"])),
        ("vertices", f"{report['vertices']:,}"),
        ("arcs", f"{report['arcs']:,}"),
        ("components", f"{report['components']:,} ({report['connection']})"),
    ]
    if report["without_arcs"]:
        hint = "; if ids have gaps, --compact-ids leaves them out" if numbered else ""
        rows.append(("", f"{report['without_arcs']:,} of them are vertices without arcs{hint}"))
    rows += [
        largest_row(report["largest"], report["vertices"], "vertices", "all"),
        timing_row(report["seconds"]),
        speed_row(report["arcs_per_second"], "arcs", report["threads"], report["device"]),
    ]
    return rows + [(name, str(path)) for name, path in report["written"].items() if path]
