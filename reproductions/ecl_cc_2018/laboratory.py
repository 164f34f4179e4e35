"""What the figures and tables share: all that is measured of a graph, while it is there."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import count, takewhile
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

import conncomp
from conncomp.bench.devices import DeviceName
from conncomp.bench.inputs import Input, check_memory
from conncomp.bench.peers import TABLES, Contender, Ours, OursOnGpu, algorithms, peers, variants
from conncomp.bench.runner import measure_input
from conncomp.bench.suites.graphs import (
    ECL,
    Published,
    find_published,
    graph_of_file,
    published_graph,
)
from conncomp.graph import Graph
from conncomp.io import atomic_path
from conncomp.kernels.cuda import launcher
from conncomp.kernels.cuda.graph import ecl
from reproductions.laboratory import Laboratory as CommonLaboratory
from reproductions.laboratory import Row
from reproductions.threads import OnThreads

SUITE = "ecl-18"
KEPT = "measured-graphs.checkpoint"  # beside the results
DEFAULTS = {name: choices[0] for name, choices in ecl.OPTIONS.items()}
# Three on one thread, and one on all; others take minutes or hold each edge as an object.
CPU_LIBRARIES = ("scipy", "igraph", "networkit-serial", "networkit")
# An algorithm that sweeps until nothing changes is given up after so many seconds.
LIMITS = {"cpu": 30.0, "cuda": 0.1}
KERNEL_RUNS = 9

# What is made as its generator's authors made it can be made larger, too.
GROWTH = {"2d-2e20.sym": 16, "r4-2e23.sym": 4, "rmat22.sym": 4}
FEW_ARCS = 3000
# At size paper on a CPU, where all libraries and variants would take an hour otherwise.
MOST_ARCS_ON_CPU = 5_000_000


def shares(size: str, device: DeviceName, data: Path | None = None) -> dict[str, float]:
    """Return how many times as many vertices as published a graph has, by its name.

    Those that are read from files in `data` are those published.
    """
    made = _shares_of_made(size, device)
    return {name: 1 if find_published(data, name) else share for name, share in made.items()}


def _shares_of_made(size: str, device: DeviceName) -> dict[str, float]:
    if size == "small" or (size == "paper" and device == "cpu"):
        most = FEW_ARCS if size == "small" else MOST_ARCS_ON_CPU
        return {row.name: min(1, most / row.arcs) for row in ECL}
    return {row.name: GROWTH.get(row.name, 1) if size == "today" else 1 for row in ECL}


def graph_input(row: Published, share: float, data: Path | None = None) -> Input:
    """Return a graph of Table 2 with a share of its vertices, which its description tells.

    It is read from a file in `data`, if there is one.
    """
    if path := find_published(data, row.name):
        return graph_of_file(row, path)
    made = published_graph(row, share)
    if share == 1:
        return made
    return replace(made, description=f"{made.description}, {share:.3g} times those published")


def thread_counts() -> list[int]:
    """Return the powers of two below the number of threads, and that number."""
    most = conncomp.get_num_threads()
    return [*takewhile(lambda threads: threads < most, (2**k for k in count())), most]


def on_threads(algorithm: str, threads: int) -> str:
    """Return what an algorithm on so many threads of the CPU is called."""
    return f"{algorithm} on {threads} thread{'s' if threads > 1 else ''}"


def variant(option: str, choice: int) -> str:
    """Return what "ecl" is called with a choice for an option."""
    return "ecl" if choice == DEFAULTS[option] else f"ecl, {option}={choice}"


@dataclass
class Measured:
    """The graphs of Table 2 that were measured, and why others were left out.

    `rows` are the runner's, with ``seconds``, medians by contender, and ``failures``, reasons; on a
    GPU ``captured``, ``paths`` and ``kernels``, too. `created` is when the first one was measured;
    `shares` is how many times as many vertices as published each graph has.
    """

    rows: list[Row] = field(default_factory=list)
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    left_out: dict[str, str] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)

    def described(self) -> dict[str, Any]:
        return {"left_out": self.left_out, "graphs_measured": self.created, "shares": self.shares}


class Laboratory(CommonLaboratory):
    """Measures all that is shown of a graph while it is there, as making it takes longest."""

    def __init__(self, *arguments: Any, data: Path | None = None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.published_files = data
        self._measured: Measured | None = None

    def graphs(self, checkpoint: Path | None = None) -> Measured:
        """Return the graphs of Table 2; those in `KEPT` by `checkpoint` are not measured anew."""
        if self._measured is None:
            kept = checkpoint.with_name(KEPT) if checkpoint else None
            files = self.published_files
            shared = shares(self.size, self.device.name, files)
            entries = [graph_input(row, shared[row.name], files) for row in ECL]
            measured = self._read(kept)
            measured.shares = shared
            done = {row["input"] for row in measured.rows}
            for entry in entries:
                if entry.name in done:
                    continue
                try:
                    check_memory([entry], self.device.free_memory())
                except MemoryError as error:
                    measured.left_out[entry.name] = str(error).partition(";")[0]
                    continue
                measured.rows.append(self.measure(entry, self._contenders()))
                self._write(kept, measured)
            self._measured = measured
        return self._measured

    def measure(self, entry: Input, contenders: Sequence[Contender]) -> Row:
        """Return what is measured of a graph; on a GPU also its paths and kernels."""
        with self.device.current():
            data = self.data(entry)
        assert isinstance(data, Graph)
        degrees = np.diff(data.indptr)
        with self.device.current():
            row = measure_input(
                SUITE,
                entry,
                data,
                contenders,
                device=self.device,
                limit=inf if self.size == "small" else LIMITS[self.device.name],
                notify=self.notify,
            )
        runs = row.pop("runs")
        row |= {
            "d_min": int(degrees.min()),
            "d_avg": float(degrees.mean()),
            "d_max": int(degrees.max()),
            "seconds": {
                run["name"]: statistics.median(run["seconds"]) for run in runs if run["seconds"]
            },
            "captured": {
                run["name"]: statistics.median(run["captured"])
                for run in runs
                if run.get("captured")
            },
            "failures": {run["name"]: run["reason"] for run in runs if not run["seconds"]},
        }
        if self.on_gpu:
            self.notify(f"{entry.name}: paths and kernels")
            with self.device.current():
                graph = self.device.place(data)
                row["paths"] = _paths(graph)
                row["kernels"] = _kernels(graph)
        else:  # which is what the plain name stands for
            for algorithm in ("ecl", "auto"):
                if algorithm in row["seconds"]:
                    name = on_threads(algorithm, conncomp.get_num_threads())
                    row["seconds"].setdefault(name, row["seconds"][algorithm])
        return row

    def variants(self, *options: str) -> list[Contender]:
        """Return "ecl" with all choices for options, each time one that is not the default."""
        device: DeviceName = self.device.name
        made = variants("graph", device, "ecl", {})
        for option in options:
            others = [n for n in sorted(ecl.OPTIONS[option]) if n != DEFAULTS[option]]
            made += variants("graph", device, "ecl", {option: others})
        return made

    def _contenders(self) -> list[Contender]:
        device, most = self.device.name, conncomp.get_num_threads()
        named = {contender.name: contender for contender in self.variants(*DEFAULTS)}
        # "afforest" is another name of "auto"; numbers are no part of what the paper measures.
        named |= {
            name: contender
            for name, contender in algorithms("graph", device).items()
            if name in TABLES["graph"][device] and name not in ("afforest", "ecl")
        }
        libraries = [
            peer
            for name, peer in peers("graph", device).items()
            if device == "cuda" or name in CPU_LIBRARIES
        ]
        for library in libraries:
            try:
                named[library.name] = library(most)
            except ImportError:
                self.notify(f"{library.name} is not installed")
        if self.on_gpu:
            chosen = [("ecl", most), ("auto", most), ("ecl", 1)]
        else:
            fewer = [threads for threads in thread_counts() if threads < most]
            chosen = [(name, threads) for name in ("ecl", "auto") for threads in fewer]
        for algorithm, threads in chosen:
            name = on_threads(algorithm, threads)
            named[name] = OnThreads(Ours("graph", algorithm), self.device, threads, name)
        return list(named.values())

    def _kind(self) -> dict[str, Any]:
        return {
            "device": self.device.name,
            "size": self.size,
            "threads": conncomp.get_num_threads(),
            "data": str(self.published_files) if self.published_files else None,
        }

    def _read(self, kept: Path | None) -> Measured:
        if kept is None or not kept.exists():
            return Measured()
        try:
            held = json.loads(kept.read_text())
            kind, measured = held["kind"], Measured(held["rows"], held["created"])
        except (ValueError, LookupError, TypeError, RecursionError):
            raise ValueError(f"{kept} holds no measured graphs; --force replaces it") from None
        if kind != self._kind():
            values = " instead of ".join(str(list(of.values())) for of in (kind, self._kind()))
            raise ValueError(f"{kept} is of {values}; --force replaces it")
        return measured

    def _write(self, kept: Path | None, measured: Measured) -> None:
        if kept is not None:
            held = {"kind": self._kind(), **asdict(measured)}
            with atomic_path(kept) as temporary:
                temporary.write_text(json.dumps(held, allow_nan=False) + "\n")


def _paths(graph: Graph) -> Row:
    """Return the lengths of the paths to roots of a graph on a GPU, for each way to jump.

    They depend on the order in which threads come to work, so they vary from call to call.
    """
    counted = {}
    for jump in sorted(ecl.OPTIONS["jump"]):
        found = ecl.count_paths(launcher.current_gpu(), graph._parts, jump=jump)
        counted[str(jump)] = {
            "paths": found.paths,
            "walked": found.walked,
            "average": found.steps / max(found.paths, 1),
            "average_walked": found.steps / max(found.walked, 1),
            "maximum": found.longest,
        }
    return counted


def _kernels(graph: Any) -> dict[str, float]:
    """Return the seconds of each kernel, the median of some runs."""
    contender = OursOnGpu("graph", "ecl")
    prepared = contender.prepare(graph, 0)
    contender.run(prepared)  # compiles them
    timed = []
    for _ in range(KERNEL_RUNS):
        with conncomp.diagnostics.kernel_times() as times:
            contender.run(prepared)
        timed.append(times)
    return {
        name.partition("<")[0]: statistics.median(run[name] for run in timed) for name in timed[0]
    }
