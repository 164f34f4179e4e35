"""Fig. 17: what each operation around Kernel 2 takes: allocations, copies, kernels."""

import statistics
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

from conncomp.bench.units import format_seconds
from conncomp.kernels.cuda.launcher import import_cupy
from reproductions.claims import Claim, share
from reproductions.hawick_2010.graphs import graphs_of
from reproductions.hawick_2010.laboratory import (
    GRAPH_KERNELS,
    MACHINE,
    PUBLISHED,
    Laboratory,
    claim,
)
from reproductions.paper import Findings, Show
from reproductions.pictures import groups, legend

_, KERNEL, _ = GRAPH_KERNELS.values()
REPEATS = {"small": 2, "paper": 10, "today": 10}

ALLOCATIONS = tuple(PUBLISHED["figure-17"]["varies"])
OPERATIONS = (*ALLOCATIONS, "copy to the device", "kernels", "copy to the host", "free")


def split(laboratory: Laboratory) -> Findings:
    """Measure each operation around Kernel 2 on small worlds of p = 1, by itself."""
    rows = []
    for entry in graphs_of("W-S, p = 1", laboratory.size):
        graph = laboratory.graph(entry)
        (kernel,) = (row for row in graph if row["way"] == KERNEL)
        n, m = kernel["vertices"], kernel["edges"]
        # Where rows begin, in 64 bits, arcs, labels and two frontiers; labels come back.
        rows_bytes, labels_bytes = 8 * (n + 1) + 8 * m, 4 * n
        timed = [
            _operations(rows_bytes, labels_bytes, 2 * n) for _ in range(REPEATS[laboratory.size])
        ]
        for operation in OPERATIONS:
            seconds = [of.get(operation, 0) for of in timed]
            mean, deviation = statistics.mean(seconds), statistics.stdev(seconds)
            if operation == "kernels":
                mean, deviation = kernel["seconds"], kernel["deviation"]
            known = {"graph": entry.name, "vertices": n, "way": operation}
            rows.append({**known, "seconds": mean, "deviation": deviation})
    return {"rows": rows, "fits": {}, "published": {**PUBLISHED["figure-17"], "machine": MACHINE}}


def _operations(rows_bytes: int, labels_bytes: int, frontier_bytes: int) -> dict[str, float]:
    """Return the seconds of each operation but the kernels, by the clock of the host."""
    runtime: Any = import_cupy().cuda.runtime
    device_bytes = rows_bytes + labels_bytes + frontier_bytes
    seconds: dict[str, float] = {}

    def timed(operation: str, call: Callable[[], Any]) -> Any:
        runtime.deviceSynchronize()
        start = perf_counter()
        result = call()
        runtime.deviceSynchronize()
        seconds[operation] = perf_counter() - start
        return result

    def free() -> None:
        runtime.free(device)
        runtime.freeHost(host)

    host = timed("cudaMallocHost", partial(runtime.hostAlloc, rows_bytes + labels_bytes, 0))
    device = timed("cudaMalloc", partial(runtime.malloc, device_bytes))
    there = partial(runtime.memcpy, device, host, rows_bytes, runtime.memcpyHostToDevice)
    timed("copy to the device", there)
    back = partial(runtime.memcpy, host, device, labels_bytes, runtime.memcpyDeviceToHost)
    timed("copy to the host", back)
    timed("free", free)
    return seconds


def draw_split(findings: Findings, canvas: Any) -> None:
    axes = canvas.subplots()
    for operation, rows in groups(findings["rows"], "way").items():
        x, y = ([row[name] for row in rows] for name in ("vertices", "seconds"))
        errors = [row["deviation"] or 0 for row in rows]
        axes.errorbar(x, y, errors, marker="o", capsize=2, label=operation)
    axes.set(xlabel="|V|", ylabel="seconds")
    axes.grid(alpha=0.3)
    legend(axes)


def claims_of_split(findings: Findings) -> list[Claim]:
    rows = findings["rows"]
    last = max(row["vertices"] for row in rows)
    deviations = {row["way"]: row["deviation"] or 0.0 for row in rows if row["vertices"] == last}
    shares = {row["way"]: row["seconds"] or 0.0 for row in rows if row["vertices"] == last}
    varies = max(deviations, key=lambda way: deviations[way])
    whole = sum(shares.values()) or 1.0
    longest = max(shares, key=lambda way: shares[way])
    return [
        claim(
            "figure-17.allocations",
            f"{varies} varies most, by {format_seconds(max(deviations[varies], 1e-9))}",
            share([varies in ALLOCATIONS]),
        ),
        claim(
            "figure-17.kernels",
            f"{shares['kernels'] / whole:.0%} of it; {longest} takes longest, "
            f"{format_seconds(max(shares[longest], 1e-9))}",
            shares["kernels"] / whole,
        ),
    ]


FIGURE_17 = Show(split, draw_split, claims_of_split)
