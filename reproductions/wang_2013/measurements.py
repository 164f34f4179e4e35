"""What is measured of a graph: hooking and other algorithms, and the CPU on one thread."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from conncomp.bench.inputs import Input
from conncomp.bench.peers import Contender, Ours, OursOnGpu, algorithms, peers
from conncomp.bench.suites.graphs import wang_graphs
from reproductions.laboratory import Laboratory, Row
from reproductions.threads import OnThreads

SUITE = "wang"
HOOKING, ONE_JUMP, DEFAULT = "hooking", "hooking, one jump", "the default"
SERIAL, SCIPY = "bfs, one thread", "SciPy, one thread"

# Seconds after which an algorithm is given up for a graph.
LIMITS = {"small": math.inf, "paper": 2.0, "today": 4.0}
# Vertices for each million of the report, and the components of graphs of several sizes.
SCALES = {"small": (500, 5), "paper": (10**6, 5000), "today": (4 * 10**6, 5000)}


def generated(laboratory: Laboratory) -> list[Input]:
    """Return the graphs that the report made."""
    return wang_graphs(*SCALES[laboratory.size])


def named(entries: Sequence[Input], prefix: str) -> list[Input]:
    """Return the graphs whose names begin so."""
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
    """Measure a graph in all ways, and return a row for each."""
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
    """Return a field of rows by graph and way."""
    return {(row["graph"], row["way"]): row[field] for row in rows}


def ratios(rows: Sequence[Row], slow: str, fast: str) -> dict[str, float]:
    """Return how many times as long one way takes as another, by graph."""
    seconds = by_way(rows)
    return {
        graph: seconds[graph, slow] / seconds[graph, fast]
        for graph in dict.fromkeys(row["graph"] for row in rows)
        if seconds.get((graph, slow)) and seconds.get((graph, fast))
    }
