"""Graphs of thirty seeds: means and standard deviations, as of the points of Figs. 11 to 17."""

from __future__ import annotations

import statistics
from dataclasses import replace
from functools import partial
from typing import Any

from conncomp.bench.inputs import Input
from conncomp.bench.runner import make_input
from conncomp.graph import Graph
from reproductions.claims import Claim
from reproductions.hawick_2010.graphs import graphs_of
from reproductions.hawick_2010.laboratory import (
    CPU,
    DEFAULT,
    GRAPH_KERNELS,
    Kernel,
    Laboratory,
    Serial,
)
from reproductions.hawick_2010.words import claim
from reproductions.laboratory import Row
from reproductions.paper import Findings, Show
from reproductions.pictures import groups, legend

FAMILIES = "Disjoint 2", "W-S, p = 1"  # the first graph of each
SEEDS = {"small": 3, "paper": 30, "today": 30}


def thirty_graphs(laboratory: Laboratory) -> Findings:
    """Measure graphs of other seeds: the mean and the standard deviation of each way's seconds."""
    rows: list[Row] = []
    for family in FAMILIES:
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
    """Draw means and deviations."""
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
    """Return what the figures show of error bars."""
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
