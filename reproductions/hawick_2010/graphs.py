"""Figs. 11 to 16 and Table 3: what Kernels 1 to 3 and Algorithm 1 take for graphs of all kinds.

The paper draws curves and gives no table of times: its text has the ranges of Kernel 3, slopes and
crossovers. Beyond its kernels stand our default and, on a CPU, two other serial codes.
"""

import statistics
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from conncomp import generate
from conncomp.bench.inputs import ARC_BYTES, GPU_MADE_ARC_BYTES, Input
from conncomp.bench.runner import make_input
from conncomp.bench.suites.graphs import scaled_hawick
from conncomp.graph import Graph
from reproductions.claims import Claim
from reproductions.fits import power_law
from reproductions.hawick_2010 import graphs_in_words as in_words
from reproductions.hawick_2010.laboratory import (
    CPU,
    DEFAULT,
    GRAPH_KERNELS,
    LIMIT,
    MACHINE,
    PUBLISHED,
    SMALL_WORLDS,
    Kernel,
    Laboratory,
    Serial,
    claim,
    times,
)
from reproductions.laboratory import Row
from reproductions.paper import Findings, Show, no_claims
from reproductions.pictures import groups, legend

*_, THIRD = GRAPH_KERNELS.values()
MILLION = 10**6

# How many vertices or edges stand for each published million, in lines and in other graphs.
SCALES = {"small": (200, 200), "paper": (MILLION, MILLION), "today": (2 * MILLION, 4 * MILLION)}
TENTHS_OF_LINE = 2, 5, 10
# All kernels take many rounds for a long path: a minute for a million vertices.
LIMIT_OF_LINES = 100.0
# A linear axis shows times that differ by no more.
MOST_LINEAR = 30
# Of the families of a panel.
STYLES = "o-", "x--", "+:"


class Family(NamedTuple):
    """Graphs of a kind."""

    prefix: str  # how the names of its graphs begin
    x: str  # the field of rows that differs


FAMILIES = {
    "Disjoint 1": Family("disjoint1-", "vertices"),
    "Disjoint 2": Family("disjoint2-", "edges"),
    "Disjoint 3": Family("disjoint3-", "components"),
    "Line": Family("line-", "vertices"),
    "Scale-free": Family("scale-free-", "vertices"),
    "W-S, p = 0.01": Family("watts-strogatz-0.01-", "vertices"),
    "W-S, p = 0.1": Family("watts-strogatz-0.1-", "vertices"),
    "W-S, p = 1": Family("watts-strogatz-1-", "vertices"),
}


def graphs_of(family: str, size: str) -> list[Input]:
    """Return the graphs of a family, ascending; small ones are the first and the last."""
    million_of_line, million = SCALES[size]
    if family == "Line":
        listed = [_line(tenths, million_of_line) for tenths in TENTHS_OF_LINE]
    else:
        listed = scaled_hawick(million, million_of_line)
    of_family = [entry for entry in listed if entry.name.startswith(FAMILIES[family].prefix)]
    return [of_family[0], of_family[-1]] if size == "small" else of_family


def _line(tenths: int, million: int) -> Input:
    n = tenths * million // 10
    text = f"a line of {n:,} vertices"
    sizes = 2 * n * ARC_BYTES, 2 * n * GPU_MADE_ARC_BYTES
    make = partial(generate.line, n)
    return Input(f"line-{tenths / 10:g}m", text, sizes[0], make, gpu_bytes=sizes[1])


def measure(laboratory: Laboratory, families: Sequence[str]) -> list[Row]:
    rows = []
    for family in families:
        limit = LIMIT_OF_LINES if family == "Line" else LIMIT
        for entry in graphs_of(family, laboratory.size):
            rows += [{"family": family, **row} for row in laboratory.graph(entry, limit=limit)]
    return rows


def curves(laboratory: Laboratory, families: Sequence[str]) -> Findings:
    """Measure families, and fit a power of x to what each way takes for each."""
    rows = measure(laboratory, families)
    fits = {}
    for family in families:
        of_family = [row for row in rows if row["family"] == family]
        for way in groups(of_family, "way"):
            points = times(of_family, way, FAMILIES[family].x)
            law = power_law(list(points), list(points.values()))
            fits[f"{family}, {way}"] = law and law.exponent
    kernel_3 = {family: PUBLISHED["kernel-3"].get(family) for family in families}
    published = {"machine": MACHINE, "seconds of kernel 3, from and to": kernel_3}
    return {"rows": rows, "fits": {"exponents": fits}, "published": published}


def draw_curves(findings: Findings, canvas: Any, panels: Sequence[tuple[str, bool, bool]]) -> None:
    """Draw what graphs take against what differs.

    Of each panel: how the names of its families begin; whether copies to the device and back are
    counted; whether axes are logarithmic. The second one is so, too, where ways differ so much that
    the fastest would lie on the first axis.
    """
    lines = len(panels) // 2
    canvas.set_size_inches(10, 4.5 * lines)
    for axes, (begin, copies, logarithmic) in zip(
        canvas.subplots(lines, 2).flat, panels, strict=True
    ):
        shown = [row for row in findings["rows"] if row["family"].startswith(begin)]
        _draw_panel(axes, groups(shown, "family"), copies, logarithmic)


def _draw_panel(axes: Any, families: dict[str, list[Row]], copies: bool, logarithmic: bool) -> None:
    """Draw families, which differ in the same field, into one panel."""
    (x,) = {FAMILIES[family].x for family in families}
    for number, (family, rows) in enumerate(families.items()):
        for k, way in enumerate(groups(rows, "way")):
            points = times(rows, way, x, copies=copies)
            errors = times(rows, way, x, field="deviation")
            axes.errorbar(
                list(points),
                list(points.values()),
                [errors.get(place, 0) for place in points],
                fmt=STYLES[number],
                color=f"C{k}",
                label=f"{way}, {family[5:]}" if len(families) > 1 else way,
                markersize=5,
                capsize=2,
            )
        if said := PUBLISHED["kernel-3"].get(family):
            ends = min(row[x] for row in rows), max(row[x] for row in rows)
            style = {"linestyle": ":", "marker": "x", "color": "k"}
            axes.plot(ends, said, label=f"{THIRD}, Hawick 2010 (caption)", **style)
    shown = [row for rows in families.values() for row in rows]
    seconds = [row["seconds"] for row in shown if row["seconds"] is not None]
    if logarithmic or max(seconds) > MOST_LINEAR * min(seconds):
        axes.set_yscale("log")
    if logarithmic or x == "components":
        axes.set_xscale("log")
    else:
        axes.ticklabel_format(axis="x", style="sci", scilimits=(0, 0))
    axes.set(xlabel={"vertices": "|V|", "edges": "|E|"}.get(x, x), ylabel="seconds")
    axes.grid(alpha=0.3)
    copied = copies and any(row["copies"] for row in shown)
    title = "with copies to the device and back" if copied else "without copies"
    if len(families) == 1:
        axes.set_title(f"{family}: {title}", fontsize="small")
        legend(axes)
    else:
        axes.set_title(title, fontsize="small")
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.12)}
        axes.legend(fontsize="xx-small", ncols=len(families), **below)


# ----------------------------------------------------------------------------------------- exhibits


def _show(
    families: Sequence[str],
    panels: Sequence[tuple[str, bool, bool]],
    claims: in_words.Say,
    of_cpu: in_words.Say = no_claims,
) -> Show:
    return Show(
        partial(curves, families=families),
        partial(draw_curves, panels=panels),
        partial(in_words.claims_of_figure, of_cpu=of_cpu, of_kernels=claims),
    )


FIGURES = {
    "figure-11": _show(
        ["Disjoint 1"],
        [("Disjoint 1", False, False), ("Disjoint 1", True, False)],
        in_words.claims_of_disjoint_1,
    ),
    "figure-12": _show(
        ["Disjoint 2"],
        [("Disjoint 2", False, False), ("Disjoint 2", True, False)],
        in_words.claims_of_disjoint_2,
    ),
    "figure-13": _show(
        ["Disjoint 3"],
        [("Disjoint 3", False, False), ("Disjoint 3", True, False)],
        in_words.claims_of_disjoint_3,
    ),
    "figure-14": _show(
        ["Line"],
        [("Line", False, False), ("Line", False, True)],
        in_words.claims_of_lines,
        in_words.claims_of_lines_on_the_cpu,
    ),
    "figure-15": _show(
        ["Scale-free"],
        [("Scale-free", False, False), ("Scale-free", True, True)],
        in_words.claims_of_scale_free,
        partial(in_words.claims_of_slopes, family="Scale-free", ways=[CPU]),
    ),
    "figure-16": _show(
        SMALL_WORLDS,
        [("W-S", False, False), *((name, True, False) for name in SMALL_WORLDS)],
        in_words.claims_of_small_worlds,
        in_words.claims_of_small_worlds_on_the_cpu,
    ),
}


OF_SEEDS = "Disjoint 2", "W-S, p = 1"  # the first graph of each
SEEDS = {"small": 3, "paper": 30, "today": 30}


def thirty_graphs(laboratory: Laboratory) -> Findings:
    """Measure graphs of other seeds: the mean and the standard deviation of each way's seconds."""
    rows: list[Row] = []
    for family in OF_SEEDS:
        entry = graphs_of(family, laboratory.size)[0]
        seconds: dict[str, list[float]] = {}
        for seed in range(SEEDS[laboratory.size]):
            laboratory.notify(f"{entry.name}: seed {seed}")
            drawn = replace(entry, make=partial(entry.make, seed=seed))
            for way, timed in _once(laboratory, drawn).items():
                seconds.setdefault(way, []).append(timed)
        for way, timed_ways in seconds.items():
            mean, deviation = statistics.mean(timed_ways), statistics.stdev(timed_ways)
            of_way = {"way": way, "runs": len(timed_ways), "seconds": mean}
            rows.append({"graph": entry.name, **of_way, "deviation": deviation})
    fits = {f"{row['graph']}, {row['way']}": row["deviation"] / row["seconds"] for row in rows}
    return {"rows": rows, "fits": {"relative": fits}, "published": {"measurements": 30}}


def _once(laboratory: Laboratory, entry: Input) -> dict[str, float]:
    """Return the seconds of a run of each way, with the labels of Algorithm 1, all of them."""
    device, serial = laboratory.device, Serial([], calls=1)
    data = make_input(entry, device)
    assert isinstance(data, Graph)
    right = serial.label(data)
    seconds = {CPU: statistics.mean(serial.seconds)}
    if not laboratory.on_gpu:
        return seconds
    placed = device.place(data)
    ways = {name: algorithm for algorithm, name in GRAPH_KERNELS.items()} | {DEFAULT: "auto"}
    for name, algorithm in ways.items():
        kernel = Kernel("graph", algorithm, name)
        prepared = kernel.prepare(placed, 0)
        labels = device.fetch(kernel.run(prepared))
        if reason := right.disagreement(labels, "roots"):
            raise RuntimeError(f"{name} on {entry.name}: {reason}")
        seconds[name] = device.seconds(partial(kernel.run, prepared))
    return seconds


def draw_thirty_graphs(findings: Findings, canvas: Any) -> None:
    axes, by_way = canvas.subplots(), groups(findings["rows"], "way")
    graphs = list(dict.fromkeys(row["graph"] for row in findings["rows"]))
    for k, (way, rows) in enumerate(by_way.items()):
        places = [graphs.index(row["graph"]) + 0.1 * (k - len(by_way) / 2) for row in rows]
        mean, deviation = ([row[name] for row in rows] for name in ("seconds", "deviation"))
        axes.errorbar(places, mean, deviation, fmt="o", capsize=3, label=way)
    axes.set_xticks(range(len(graphs)), graphs)
    axes.set(yscale="log", ylabel="seconds, mean and standard deviation")
    axes.margins(x=0.2)
    axes.grid(alpha=0.3)
    legend(axes)


def claims_of_thirty_graphs(findings: Findings) -> list[Claim]:
    largest = max(findings["fits"]["relative"].values())
    count = max(row["runs"] for row in findings["rows"])
    return [
        claim(
            "thirty-graphs.errors",
            f"of {count} graphs the deviation is at most {100 * largest:.3g} % of the mean",
            largest,
        )
    ]


THIRTY_GRAPHS = Show(thirty_graphs, draw_thirty_graphs, claims_of_thirty_graphs)
