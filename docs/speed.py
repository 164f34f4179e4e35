"""The measured tables and plots of the page about speed, from the results in ``benchmarks``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figures import drawing
from matplotlib.figure import Figure
from papers_page import list_table

from conncomp.bench.compare import geometric_mean
from conncomp.bench.results import GridRow, Result, Row, load
from conncomp.bench.units import format_ratio, format_seconds
from conncomp.graph import algorithms as graph_algorithms
from conncomp.grid import algorithms as grid_algorithms

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
MARKERS = "osD^vPX*"
# The algorithms of papers, by the names that they have here.
REPRODUCED = {
    name
    for table in (*graph_algorithms.ALGORITHMS.values(), *grid_algorithms.ALGORITHMS.values())
    for name in table
    if name not in ("auto", "afforest", "runs")
}
POWERS = "", "²", "³"
STRONG = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#555555"


@dataclass(frozen=True)
class Exhibit:
    """A file of results, and what it was made by.

    Attributes
    ----------
    name : str
        Of the files that are written.
    results : str
        In ``benchmarks``.
    beside : tuple of str
        Which runs are compared with the default, in the order of columns.
    command : str
    """

    name: str
    results: str
    beside: tuple[str, ...]
    command: str


CPU_GRID = (
    "conncomp bench grid --suite images --suite volumes --suite hard --size medium --algorithm auto"
    " --peers -o cpu-grid.json"
)
GPU_GRID = (
    "conncomp bench grid --suite images --suite volumes --size medium --device cuda --limit 0.2"
    " --peers --transfers -o gpu-grid.json"
)
EXHIBITS = (
    Exhibit("cpu-grid", "cpu-grid.json", ("cv2", "cc3d", "scipy", "scikit-image"), CPU_GRID),
    Exhibit(
        "cpu-graph",
        "cpu-graph-medium.json",
        ("networkit", "networkit-serial", "networkit-uncontracted", "igraph", "scipy", "rustworkx"),
        "conncomp bench graph --suite ecl-18 --size medium --algorithm auto --algorithm ecl --peers"
        " -o cpu-graph-medium.json",
    ),
    Exhibit(
        "gpu-grid",
        "gpu-grid.json",
        ("cupyx", "tiles", "label-equivalence", "local-propagation", "directional-propagation"),
        GPU_GRID,
    ),
    Exhibit(
        "gpu-graph",
        "gpu-graph.json",
        ("ecl", "soman", "edge-propagation"),
        "conncomp bench graph --suite ecl-18 --size full --device cuda --limit 0.1 --algorithm auto"
        " --algorithm ecl --algorithm soman --algorithm edge-propagation --input 2d-2e20.sym ..."
        " -o gpu-graph.json",
    ),
)


@dataclass(frozen=True)
class Line:
    """A row of results: our time, that over a copy's, and what the others take over it."""

    row: Row
    ours: float
    copies: float | None
    ratios: dict[str, float | None]


def _lines(result: Result, exhibit: Exhibit) -> list[Line]:
    lines = []
    for row in result.rows:
        runs = {run.name: run.median for run in row.runs}
        ours, floor = runs["auto"], result.floor(row)
        if ours is None:
            continue
        times = {name: runs.get(name) for name in exhibit.beside}
        ratios = {name: time / ours if time else None for name, time in times.items()}
        lines.append(Line(row, ours, ours / floor if floor else None, ratios))
    return lines


def _page(exhibit: Exhibit, result: Result, lines: Sequence[Line]) -> Iterator[str]:
    """Yield the machine, the command, the picture, the table, and where others are faster."""
    yield from (f"{_machine(result)}. Made by", "", "::", "", f"   {exhibit.command}", "")
    names = ", ".join(exhibit.beside)
    yield from (
        f".. figure:: /generated/figures/{exhibit.name}.svg",
        f"   :alt: How many times as long as conncomp others take, a row for each input: {names}.",
        "",
        "   Times of others over ours, for each input; to the left of the line they are faster.",
        "",
    )
    header = "input", "conncomp", "copies", *map(_beside, exhibit.beside)
    cells = [
        (
            _name(line.row) + (" \\*" if line.row.stand_in else ""),
            format_seconds(line.ours),
            "" if line.copies is None else format_ratio(line.copies),
            *(_ratio(line.ratios[name]) for name in exhibit.beside),
        )
        for line in lines
    ]
    means = [_mean([line.ratios[name] for line in lines]) for name in exhibit.beside]
    yield from list_table([header, *cells, ("geometric mean", "", "", *means)])
    yield ""
    if any(name in REPRODUCED for name in exhibit.beside):
        yield from (
            "† A reproduction of ours of a paper's algorithm, not its authors' program.",
            "",
        )
    yield _missed(lines)


def _name(row: Row) -> str:
    """Return the input's name and, of an array, its shape."""
    if not isinstance(row, GridRow):
        return row.input
    side, *others = row.shape
    cube = all(length == side for length in others) and len(others) < len(POWERS)
    shape = f"{side}{POWERS[len(others)]}" if cube else " x ".join(map(str, row.shape))
    return f"{row.input}, {shape}"


def _beside(name: str) -> str:
    """Return the header of a column, with a mark for what was written anew after a paper."""
    return f"{name} †" if name in REPRODUCED else name


def _ratio(ratio: float | None) -> str:
    text = "" if ratio is None else format_ratio(ratio)
    return f"**{text}**" if ratio is not None and ratio < 1 else text


def _mean(ratios: Sequence[float | None]) -> str:
    return format_ratio(geometric_mean(ratios)) if any(ratios) else ""


def _missed(lines: Sequence[Line]) -> str:
    """Return which inputs another one is faster on, in words."""
    missed = [
        f"{_name(line.row)} ({name}: {format_ratio(ratio)})"
        for line in lines
        for name, ratio in line.ratios.items()
        if ratio is not None and ratio < 1
    ]
    return f"Another one is faster on {', '.join(missed)}." if missed else "No other one is faster."


def _machine(result: Result) -> str:
    machine = result.machine
    where = (
        f"One {machine.gpu.name}"
        if machine.gpu
        else f"{result.threads} threads of {machine.cores} cores of a shared {machine.cpu}"
    )
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    commit = f", commit {result.commit[:7]}" if result.commit else ""
    return f"{where}; {versions}{commit}, {result.created:%Y-%m-%d}"


def _draw(exhibit: Exhibit, lines: Sequence[Line]) -> Figure:
    figure = Figure(figsize=(drawing.WIDTH, 0.19 * len(lines) + 1.0), layout="constrained")
    axes = figure.subplots()
    for k, name in enumerate(exhibit.beside):
        points = [(line.ratios[name], y) for y, line in enumerate(lines) if line.ratios[name]]
        axes.plot(
            [ratio for ratio, _ in points],
            [y for _, y in points],
            MARKERS[k],
            color=STRONG[k],
            ms=4,
            label=name,
        )
    axes.axvline(1, color=drawing.INK, lw=1)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_yticks(range(len(lines)), [_name(line.row) for line in lines])
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.grid(color=drawing.PALE)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, handletextpad=0.1)
    return figure


def _write(app: Any) -> None:
    generated = Path(app.srcdir) / "generated"
    for folder in ("speed", "figures"):
        (generated / folder).mkdir(parents=True, exist_ok=True)
    for exhibit in EXHIBITS:
        result = load(BENCHMARKS / exhibit.results)
        lines = _lines(result, exhibit)
        text = "\n".join(_page(exhibit, result, lines)) + "\n"
        (generated / "speed" / f"{exhibit.name}.inc").write_text(text)
        with drawing.style():
            drawing.save(_draw(exhibit, lines), generated / "figures" / f"{exhibit.name}.svg")


def setup(app: Any) -> dict[str, bool]:
    """Let Sphinx write them before it reads the page."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True}
