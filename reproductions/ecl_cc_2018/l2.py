"""Table 3: accesses to the L2 cache, by NVIDIA's profiler Nsight Compute (``ncu``).

`measure` runs the profiler on `l2_run`, which calls "ecl" with each way to jump on each graph, one
after another; so the launches of the profiler's table, in their order, are those of the kernels.
"""

import csv
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conncomp.bench.inputs import Input
from conncomp.bench.suites.graphs import ECL
from reproductions.claims import Claim
from reproductions.ecl_cc_2018.laboratory import Laboratory, graph_input, shares
from reproductions.ecl_cc_2018.pictures import cell, starred
from reproductions.ecl_cc_2018.published import (
    PUBLISHED,
    SOURCE,
    TABLE_3,
    claim,
    every,
    factor,
    geometric_mean,
)
from reproductions.laboratory import Row
from reproductions.paper import Findings, RefusalError
from reproductions.pictures import table

PROFILER = "ncu"
# Where CUDA puts it if it is not on the path of programs.
PLACES = ("/usr/local/cuda/bin", "/opt/nvidia/nsight-compute")
METRICS = {"reads": "lts__t_sectors_op_read.sum", "writes": "lts__t_sectors_op_write.sum"}
JUMPS = (1, 2, 3, 4)
KERNELS = ("ecl_init", "ecl_low", "ecl_mid", "ecl_high", "ecl_finish")
# Each graph is made once more, under the profiler, which has larger ones wait.
MOST_ARCS = {"small": 3000, "paper": 5_000_000, "today": 40_000_000}
SECONDS = {"small": 120.0, "paper": 180.0, "today": 900.0}


def inputs(size: str) -> list[Input]:
    """Return the graphs of Table 3, which are no larger than `MOST_ARCS`."""
    part = parts(size)
    return [graph_input(row, part[row.name]) for row in ECL]


def parts(size: str) -> dict[str, float]:
    """Return how many times as many vertices as published a graph has, by its name."""
    shared = shares(size, "cuda")
    return {row.name: min(shared[row.name], MOST_ARCS[size] / row.arcs, 1.0) for row in ECL}


def find_profiler() -> str:
    """Return the path of the profiler; raise `RefusalError` if it is not installed."""
    if path := shutil.which(PROFILER):
        return path
    for place in PLACES:
        for path in (place, *sorted(map(str, Path(place).glob("*")), reverse=True)):
            if program := shutil.which(PROFILER, path=path):
                return program
    raise RefusalError(
        f"it counts accesses by Nsight Compute, and there is no {PROFILER!r} on the path of "
        "programs; it is a part of the CUDA toolkit"
    )


def command(profiler: str, size: str) -> list[str]:
    return [
        profiler,
        *("--csv", "--page", "raw", "--print-units", "base"),
        *("--kernel-name", "regex:ecl_", "--metrics", ",".join(METRICS.values())),
        *(sys.executable, "-m", "reproductions.ecl_cc_2018.l2_run", size),
    ]


def measure(laboratory: Laboratory) -> Findings:
    """Count the sectors read and written in the L2 cache by each way to jump."""
    entries = inputs(laboratory.size)
    graphs = [entry.name for entry in entries]
    arguments = command(find_profiler(), laboratory.size)
    laboratory.notify(f"{PROFILER}: {len(graphs)} graphs")
    try:
        done = subprocess.run(
            arguments,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS[laboratory.size],
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RefusalError(f"{PROFILER} took longer than {SECONDS[laboratory.size]:g} s") from None
    except OSError as error:
        raise RefusalError(f"{PROFILER} cannot be run: {error.strerror}") from None
    launches = parse(done.stdout)
    expected = len(graphs) * len(JUMPS) * len(KERNELS)
    if done.returncode != 0 or len(launches) != expected:
        raise RefusalError(
            f"{PROFILER} ended with status {done.returncode} and told of {len(launches)} launches "
            f"instead of {expected}: {_complaint(done.stdout, done.stderr)}"
        )
    stand_ins = {entry.name: entry.stand_in for entry in entries}
    rows = [{**row, "stand_in": stand_ins[row["input"]]} for row in _rows(graphs, launches)]
    return {
        "rows": rows,
        "fits": {
            "geometric_means": {
                f"{kind} {jump}": geometric_mean(
                    row[f"{kind}_relative"] for row in rows if row["jump"] == jump
                )
                for kind in METRICS
                for jump in JUMPS[:-1]
            },
            "reads_over_writes": {
                str(jump): geometric_mean(
                    row["reads"] / row["writes"]
                    for row in rows
                    if row["jump"] == jump and row["writes"]
                )
                for jump in JUMPS
            },
        },
        "published": {
            "table": TABLE_3,
            "reads_over_writes": PUBLISHED["table-3"]["reads_over_writes"],
            "machine": PUBLISHED["table-3"]["machine"],
            "source": SOURCE,
        },
        "metrics": METRICS,
        "most_arcs": MOST_ARCS[laboratory.size],
        "shares": parts(laboratory.size),
    }


def parse(text: str) -> list[Row]:
    """Return the kernel and the values of each launch, of the profiler's table on pages "raw".

    Lines before it, of the profiler and of the program, are passed over, and so is its second
    line, of units.
    """
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    launches = []
    for line in csv.DictReader(lines[start:]):
        values = [str(line.get(metric) or "").replace(",", "") for metric in METRICS.values()]
        if line["ID"].isdigit() and all(map(_is_number, values)):
            numbers = dict(zip(METRICS, map(float, values), strict=True))
            launches.append({"kernel": str(line.get("Kernel Name")), **numbers})
    return launches


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _complaint(*outputs: str) -> str:
    """Return the first line that tells of an error, or the last one that there is."""
    lines = [line.strip() for output in outputs for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "ERR" in line or "Error" in line]
    return (errors or lines[-1:] or ["it said nothing"])[0][:200]


def _rows(graphs: Sequence[str], launches: Sequence[Row]) -> list[Row]:
    """Return a row for each graph and way to jump, with the sums over its kernels."""
    rows: list[Row] = []
    remaining = iter(launches)
    for graph in graphs:
        of_graph: list[Row] = []
        for jump in JUMPS:
            kernels = [next(remaining) for _ in KERNELS]
            for name, launch in zip(KERNELS, kernels, strict=True):
                if name not in launch["kernel"]:
                    raise RefusalError(
                        f"{PROFILER} told of {launch['kernel']!r} instead of {name!r}"
                    )
            of_graph.append(
                {
                    "input": graph,
                    "jump": jump,
                    **{kind: sum(launch[kind] for launch in kernels) for kind in METRICS},
                }
            )
        base = of_graph[-1]
        for row in of_graph:
            for kind in METRICS:
                row[f"{kind}_relative"] = row[kind] / base[kind] if base[kind] else None
        rows += of_graph
    return rows


def draw(findings: Findings, canvas: Any) -> None:
    relative = {
        (row["input"], f"{kind} {row['jump']}"): row[f"{kind}_relative"]
        for row in findings["rows"]
        for kind in METRICS
    }
    lines = [
        (
            name,
            *(
                text
                for column, of_paper in TABLE_3.items()
                for text in (cell(relative.get((graph, column))), cell(of_paper[graph]))
            ),
        )
        for graph, name in starred(findings["rows"], findings.get("shares")).items()
    ]
    means = findings["fits"]["geometric_means"]
    lines.append(
        (
            "geometric mean",
            *(
                text
                for column, of_paper in TABLE_3.items()
                for text in (cell(means[column]), cell(geometric_mean(of_paper.values())))
            ),
        )
    )
    names = (
        f"{kind[:-1]}s {jump},\n{when}"
        for kind in METRICS
        for jump in JUMPS[:-1]
        for when in ("here", "2018")
    )
    table(canvas, ("over Jump4; * stands in", *names), lines)


def claims(findings: Findings) -> list[Claim]:
    means, of_jumps = (findings["fits"][name] for name in ("geometric_means", "reads_over_writes"))
    of_paper = findings["published"]["reads_over_writes"]
    reads = {
        (row["input"], row["jump"]): row["reads_relative"]
        for row in findings["rows"]
        if row["reads_relative"] is not None
    }
    graphs = list(dict.fromkeys(graph for graph, _ in reads))
    return [
        *(
            factor("table-3.reads-over-writes", of_jumps[jump], jump=jump, said=said)
            for jump, said in of_paper.items()
        ),
        *(
            factor(
                "table-3.mean",
                means[name],
                jump=name[-1],
                said=geometric_mean(column.values()),
                kind=name[:-2],
            )
            for name, column in TABLE_3.items()
        ),
        every(
            "table-3.fewest",
            {
                graph: all(reads[graph, jump] >= 1 for jump in JUMPS[:-1])
                for graph in graphs
                if graph != "as-skitter"
            },
        ),
        claim(
            "table-3.writes",
            f"{cell(means['writes 1'])} and {cell(means['writes 2'])} times",
            min(means["writes 1"], means["writes 2"])
            if means["writes 1"] and means["writes 2"]
            else None,
        ),
    ]
