"""The report's table and its two plots: hooking against a serial program, by size and components.

Boost's connected components, the serial program of the report, is a search; SciPy's, and ours on
one thread, stand beside its published times.
"""

import math
import statistics
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from conncomp.bench.inputs import Input
from conncomp.bench.peers import Contender, Ours, OursOnGpu, algorithms, peers
from conncomp.bench.suites.graphs import charities, wang_graphs
from conncomp.bench.units import format_ratio, format_seconds
from reproductions.claims import Claim
from reproductions.laboratory import Laboratory, Row, all_right
from reproductions.paper import Findings
from reproductions.pictures import curve, groups, legend, log_axes, table
from reproductions.threads import OnThreads
from reproductions.wang_2013 import published
from reproductions.wang_2013.published import claim

SUITE = "wang"
HOOKING, ONE_JUMP, DEFAULT = "hooking", "hooking, one jump", "the default"
SERIAL, SCIPY = "bfs, one thread", "SciPy, one thread"

# Seconds after which an algorithm is given up for a graph.
LIMITS = {"small": math.inf, "paper": 2.0, "today": 4.0}
# Vertices for each million of the report, and the components of graphs of several sizes.
SCALES = {"small": (500, 5), "paper": (10**6, 5000), "today": (4 * 10**6, 5000)}


def generated(laboratory: Laboratory) -> list[Input]:
    return wang_graphs(*SCALES[laboratory.size])


def named(entries: Sequence[Input], prefix: str) -> list[Input]:
    return [entry for entry in entries if entry.name.startswith(prefix)]


def hooking(laboratory: Laboratory) -> dict[str, Contender]:
    """Return the report's algorithm, with pointers jumped after every sweep, and once."""
    if not laboratory.on_gpu:
        return {}
    return {HOOKING: OursOnGpu("graph", "soman"), ONE_JUMP: OursOnGpu("graph", "soman", jump="end")}


def ways(laboratory: Laboratory) -> dict[str, Contender]:
    """Return all that is measured of a graph, by the names in results."""
    device = laboratory.device
    measured = hooking(laboratory)
    for name, contender in algorithms("graph", device.name).items():
        if name not in ("soman", "afforest", "auto-consecutive", "auto-list"):
            measured[DEFAULT if name == "auto" else name] = contender
    measured[SERIAL] = OnThreads(Ours("graph", "bfs"), device)
    with suppress(ImportError):  # it is no requirement
        measured[SCIPY] = OnThreads(peers("graph", "cpu")["scipy"](1), device)
    return measured


def rows_of(laboratory: Laboratory, entry: Input) -> list[Row]:
    measured, limit = ways(laboratory), LIMITS[laboratory.size]
    row = laboratory.row(SUITE, entry, list(measured.values()), limit=limit)
    runs = {run["name"]: run for run in row["runs"]}
    sweeps = {
        name: laboratory.sweeps(entry, contender, limit)
        for name, contender in hooking(laboratory).items()
    }
    return [
        {
            "graph": entry.name,
            "vertices": row["vertices"],
            "edges": row["arcs"] // 2,
            "components": row["components"],
            "way": name,
            "seconds": statistics.median(run["seconds"]) if run["seconds"] else None,
            "sweeps": sweeps.get(name),
            "status": run["status"],
            "reason": run["reason"],
        }
        for name, contender in measured.items()
        if (run := runs.get(contender.name)) is not None
    ]


def by_way(rows: Sequence[Row], field: str = "seconds") -> dict[tuple[str, str], Any]:
    return {(row["graph"], row["way"]): row[field] for row in rows}


def ratios(rows: Sequence[Row], slow: str, fast: str) -> dict[str, float]:
    """Return how many times as long one way takes as another, by graph."""
    seconds = by_way(rows)
    return {
        graph: seconds[graph, slow] / seconds[graph, fast]
        for graph in dict.fromkeys(row["graph"] for row in rows)
        if seconds.get((graph, slow)) and seconds.get((graph, fast))
    }


def measure_charities(laboratory: Laboratory) -> Findings:
    rows = [row for entry in charities() for row in rows_of(laboratory, entry)]
    return {
        "rows": rows,
        "fits": {f"{slow} over {HOOKING}": ratios(rows, slow, HOOKING) for slow in (SERIAL, SCIPY)},
        "published": {
            "machine": published.MACHINE,
            "graphs": {
                graph: dict(zip(published.COLUMNS, values, strict=True))
                for graph, values in published.CHARITIES.items()
            },
        },
    }


def draw_charities(findings: Findings, canvas: Any) -> None:
    named_ways = groups(findings["rows"], "way")
    seconds = by_way(findings["rows"])
    graphs = list(published.CHARITIES)
    facts = {row["graph"]: row for row in findings["rows"]}
    header = [
        "",
        *(
            f"{graph}:\n{facts[graph]['vertices']:,} vertices,\n{facts[graph]['edges']:,} edges"
            for graph in graphs
        ),
    ]
    said = published.CHARITIES
    lines = [
        ["GPU, GeForce 540M", *(f"{said[graph][0]:g} ms" for graph in graphs)],
        [published.CPU, *(f"{said[graph][1]:g} ms" for graph in graphs)],
        ["speed-up, published", *(f"{said[graph][2]:g}" for graph in graphs)],
    ]
    for way in named_ways:
        lines.append([way, *(_time(seconds.get((graph, way))) for graph in graphs)])
    for pair, of_graph in findings["fits"].items():
        if of_graph:
            lines.append([pair, *(format_ratio(of_graph.get(graph)) for graph in graphs)])
    table(canvas, header, lines)


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else format_seconds(seconds)


def claims_of_charities(findings: Findings) -> list[Claim]:
    right = all_right(findings["rows"], "labels are those of SciPy")
    claims = [claim("charities.components", *right)]
    fits, seconds = findings["fits"], by_way(findings["rows"])
    faster, of_scipy = fits[f"{SERIAL} over {HOOKING}"], fits[f"{SCIPY} over {HOOKING}"]
    for graph, about in (("charity-2k", 20), ("charity-4k", 50)):
        if graph not in faster:
            continue
        beside = f", and SciPy's {of_scipy[graph]:.2g}" if graph in of_scipy else ""
        gpu, cpu, speedup = published.CHARITIES[graph]
        claims.append(
            claim(
                "charities.speed-up",
                f"the serial search takes {faster[graph]:.2g} times as long as hooking{beside}",
                faster[graph],
                said=about,
                graph=graph,
                gpu=gpu,
                cpu=cpu,
                speedup=speedup,
                serial=_time(seconds[graph, SERIAL]),
                hooking=_time(seconds[graph, HOOKING]),
            )
        )
    if len(faster) == len(published.CHARITIES):
        small, large = (faster[graph] for graph in published.CHARITIES)
        search = [seconds[graph, SERIAL] for graph in published.CHARITIES]
        grown = large / small
        told = f"by a factor of {grown:.2g}"
        claims.append(claim("charities.growth", told, grown, search=search[1] / search[0]))
    return claims


def measure_sizes(laboratory: Laboratory) -> Findings:
    """Measure graphs of one number of components and several sizes."""
    return _sweep(laboratory, "vertices-")


def measure_components(laboratory: Laboratory) -> Findings:
    """Measure graphs of one size and several numbers of components."""
    return _sweep(laboratory, "components-")


def _sweep(laboratory: Laboratory, prefix: str) -> Findings:
    graphs = named(generated(laboratory), prefix)
    rows = [row for entry in graphs for row in rows_of(laboratory, entry)]
    fast = HOOKING if laboratory.on_gpu else DEFAULT
    return {
        "rows": rows,
        "fits": {f"{slow} over {fast}": ratios(rows, slow, fast) for slow in (SERIAL, SCIPY)},
        "published": {"machine": published.MACHINE, **published.PUBLISHED["plots"]},
    }


def draw_sizes(findings: Findings, canvas: Any) -> None:
    _draw_seconds(findings, canvas, "vertices", "vertices, and as many edges")


def draw_components(findings: Findings, canvas: Any) -> None:
    _draw_seconds(findings, canvas, "components", "components")


def _draw_seconds(findings: Findings, canvas: Any, field: str, name: str) -> None:
    axes = log_axes(canvas, name, "seconds")
    if field == "vertices":
        axes.set_xscale("linear")
    for way, rows in groups(findings["rows"], "way").items():
        timed = [row for row in rows if row["seconds"] is not None]
        style = "--" if way.endswith("one thread") else "-"
        curve(axes, timed, field, "seconds", label=way, linestyle=style)
    legend(axes, beside=True)


def claims_of_sweeps(findings: Findings) -> list[Claim]:
    right = all_right(findings["rows"], "labels are those of SciPy")
    claims = [claim("plots.same-result", *right)]
    for pair, of_graph in findings["fits"].items():
        if of_graph and HOOKING in pair:
            low, high = min(of_graph.values()), max(of_graph.values())
            slower = ", ".join(graph for graph, ratio in of_graph.items() if ratio <= 1)
            claims.append(
                claim(
                    "plots.advantage",
                    f"{pair}: {format_ratio(low)} to {format_ratio(high)} times",
                    low,
                    slower=slower,
                )
            )
    return claims


def measure_rounds(laboratory: Laboratory) -> Findings:
    """Measure how often hooking goes over edges, and what jumping once changes."""
    graphs = [*charities(), *generated(laboratory)]
    rows = [
        row
        for entry in graphs
        for row in rows_of(laboratory, entry)
        if row["way"] in (HOOKING, ONE_JUMP)
    ]
    return {
        "rows": rows,
        "fits": {f"{ONE_JUMP} over {HOOKING}": ratios(rows, ONE_JUMP, HOOKING)},
        "published": {"jumping": "once, after all edges are marked", "rounds": "not given"},
    }


def draw_rounds(findings: Findings, canvas: Any) -> None:
    canvas.set_size_inches(9, 7)
    graphs = list(dict.fromkeys(row["graph"] for row in findings["rows"]))
    for axes, field, name in zip(
        canvas.subplots(2, sharex=True), ("sweeps", "seconds"), ("sweeps", "seconds"), strict=True
    ):
        for way, rows in groups(findings["rows"], "way").items():
            there = [row for row in rows if row[field] is not None]
            curve(axes, there, "graph", field, label=way, linestyle="")
        axes.set(ylabel=name)
        axes.grid(alpha=0.3)
        if field == "seconds":
            axes.set(yscale="log")
            axes.set_xticks(range(len(graphs)), graphs, rotation=90, fontsize="x-small")
        else:
            axes.set_ylim(bottom=0)
            axes.legend(fontsize="x-small")


def claims_of_rounds(findings: Findings) -> list[Claim]:
    of_way = groups([row for row in findings["rows"] if row["sweeps"] is not None], "way")
    spans = {
        way: f"{min(row['sweeps'] for row in rows)} to {max(row['sweeps'] for row in rows)}"
        for way, rows in of_way.items()
    }
    of_graph = findings["fits"][f"{ONE_JUMP} over {HOOKING}"]
    ratio = (
        f"; jumping once takes {format_ratio(min(of_graph.values()))} to "
        f"{format_ratio(max(of_graph.values()))} times as long"
        if of_graph
        else ""
    )
    return [
        claim(
            "rounds.approach",
            "sweeps that hook: "
            + ", ".join(f"{way} {span}" for way, span in spans.items())
            + ratio,
        ),
        claim(
            "rounds.atomics",
            "hooking and jumping store without any; atomic minima at the end find the smallest "
            "vertex of each tree, which the report does not ask for",
        ),
    ]
