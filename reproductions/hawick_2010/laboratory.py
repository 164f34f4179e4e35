"""What exhibits measure with: the kernels, which tell their rounds, and the serial codes."""

import math
import statistics
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from conncomp import Workspace, connected_components
from conncomp._algorithms import Task
from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp.bench.devices import Cpu
from conncomp.bench.inputs import Input
from conncomp.bench.peers import TABLES, Contender, Numbering, Ours
from conncomp.bench.runner import Reference, reference
from conncomp.bench.suites import Problem
from conncomp.bench.units import format_ratio
from conncomp.graph import Graph
from conncomp.kernels.cuda.core.sweeps import counted_sweeps
from conncomp.kernels.cuda.graph.edges import list_edges, memory_for_edges
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import Gpu, current_gpu, first_entry
from conncomp.kernels.links import equal_values
from conncomp.kernels.neighbourhood import Neighbourhood
from reproductions import laboratory
from reproductions.claims import Words
from reproductions.laboratory import Row
from reproductions.published import read
from reproductions.threads import one_thread_seconds

OF_PAPER = "Hawick 2010"
PUBLISHED = read(__file__)
words = Words(__file__)
claim = words.claim
MACHINE = PUBLISHED["machine"]
DEFAULT = "the default"
CPU = "CPU"  # Algorithm 1
CPU_BFS, CPU_ECL = "CPU, breadth-first", "CPU, ECL"
CPU_I, CPU_II = "CPU I", "CPU II"

# The paper's names of algorithms on a GPU, and on a CPU.
GRAPH_KERNELS = {
    "edge-propagation": "kernel 1",
    "vertex-propagation": "kernel 2",
    "bfs": "kernel 3",
}
ARRAY_KERNELS = {
    "neighbour-propagation": "kernel A",
    "local-propagation": "kernel B",
    "directional-propagation": "kernel C",
    "label-equivalence": "kernel D",
}
# Families of graphs, by the probability that an edge is rewired.
SMALL_WORLDS = "W-S, p = 0.01", "W-S, p = 0.1", "W-S, p = 1"
ARRAY_CODES = {"raster-scan": CPU_I, "label-equivalence": CPU_II}

# Graphs of no more arcs are labelled by another library, too.
CHECKED_ARCS = 10**6
# A kernel that takes more seconds for a graph is given up.
LIMIT = 10.0
# The serial code is timed so often, or once it took so many seconds no more.
SERIAL_CALLS, SERIAL_SECONDS = 5, 0.5


class Kernel(Contender):
    """An algorithm of a table on the GPU, which tells its rounds; a run allocates nothing.

    `name` is what the paper calls it. ``rounds`` are those of the last run, with the last one,
    which changes nothing; None of what has no rounds.
    """

    kind = "ours"
    numbering: Numbering = "roots"
    threads = 1

    def __init__(self, measured: Problem, algorithm: str, name: str, **options: Any) -> None:
        self.name, self._options = name, options
        self._record = TABLES[measured]["cuda"][algorithm]
        self._is_on_edges = algorithm == "edge-propagation"
        self.rounds: int | None = None

    def prepare(self, data: Any, connectivity: int) -> Any:
        """Return the call and the array that it writes to, of the shape of the labels."""
        gpu = current_gpu()
        if isinstance(data, Graph):
            shape: tuple[int, ...] = (data.num_vertices,)
            problem: Any = (edge_list(gpu, data) if self._is_on_edges else data)._parts
        else:
            shape = data.shape
            axes = (False,) * data.ndim
            neighbourhood = Neighbourhood(connectivity, None, axes)
            problem = Image(data, equal_values("u1", b"\0"), neighbourhood)
        roots = gpu.xp.empty(shape, INDEX_TYPES[math.prod(shape) > INT32_MAX])
        task = Task(gpu, roots, Workspace(), consecutive=False, counted=False)
        return partial(self._record.fill, problem, task, **self._options), roots

    def run(self, prepared: Any) -> Any:
        call, roots = prepared
        with counted_sweeps() as sweeps:
            call()
        self.rounds = sum(sweeps) + 1 if sweeps else None
        return roots


def edge_list(gpu: Gpu, graph: Graph) -> Graph:
    """Return a symmetric graph as Kernel 1 takes it: as the ends of its edges, each listed once."""
    src, dst, edges = (gpu.xp.empty(*part) for part in memory_for_edges(graph._parts))
    src, dst = list_edges(gpu, graph._parts, src, dst, edges)
    count = first_entry(edges)
    return Graph._of_checked(graph.num_vertices, arcs=(src[:count], dst[:count]))


class Serial(NamedTuple):
    """The times of the serial code on one thread, of so many calls unless they take long."""

    seconds: list[float]
    calls: int = SERIAL_CALLS

    def label(self, graph: Graph) -> Reference:
        """Return the labels that Algorithm 1 finds, which other ways are held against, and time it.

        RuntimeError: another library, which is asked for small graphs, has other components.
        """
        answers: list[tuple[int, Any]] = []

        def call() -> None:
            answers[:] = [connected_components(graph, algorithm="recolouring")]

        while not answers or (
            len(self.seconds) < self.calls and sum(self.seconds) < SERIAL_SECONDS
        ):
            self.seconds.append(one_thread_seconds(call))
        components, labels = answers[0]
        if graph.num_arcs <= CHECKED_ARCS:
            reason = reference(graph, 0).disagreement(labels, "consecutive")
            if reason:
                raise RuntimeError(f"wrong labels by Algorithm 1: {reason}")
        return Reference(labels, components, background=False)


class Laboratory(laboratory.Laboratory):
    """What was measured already, of graphs and of arrays, on a device and on the CPU beside it."""

    def __init__(self, device: Cpu, size: str, notify: Any = lambda step: None) -> None:
        super().__init__(device, size, notify)
        self._cpu = laboratory.Laboratory(Cpu(), size, notify)
        self._serial: dict[str, Serial] = {}

    def graph(self, entry: Input, *, limit: float = math.inf) -> list[Row]:
        """Return a row for each way to label a graph; a kernel that exceeds `limit` is given up.

        A row has ``seconds`` and ``deviation``, the mean and the standard deviation of ``runs``,
        with ``copies`` to the device and back, ``rounds``, and what else the graph is. `CPU`, on
        one thread, is first.
        """
        if self.on_gpu:
            ways: list[Contender] = [Kernel("graph", *pair) for pair in GRAPH_KERNELS.items()]
            ways.append(Kernel("graph", "auto", DEFAULT))
        else:
            ways = [Ours("graph", name) for name in ("bfs", "ecl", "auto")]
            for way, name in zip(ways, (CPU_BFS, CPU_ECL, DEFAULT), strict=True):
                way.name = name
        serial = self._serial.setdefault(entry.name, Serial([]))
        measured = self.row(
            "hawick-graphs", entry, ways, transfers=self.on_gpu, limit=limit, known=serial.label
        )
        self._keep_rounds(measured, ways)
        transfers: list[list[float]] = list(measured.get("transfers", {}).values())
        copies = sum(map(statistics.mean, transfers))
        graph = {
            "graph": entry.name,
            "vertices": measured["vertices"],
            "edges": measured["arcs"] // 2,
            "degree": measured["arcs"] / measured["vertices"],
            "components": measured["components"],
        }
        by_serial = {"way": CPU, **_timed(serial.seconds), "copies": 0.0, "rounds": None}
        rows = [{**graph, **by_serial, "reason": None}]
        for run in measured["runs"]:
            of_way = {"way": run["name"], **_timed(run["seconds"]), "copies": copies}
            rows.append({**graph, **of_way, **_told(run)})
        return rows

    def variants(self, entry: Input, kernels: Sequence[Kernel]) -> list[Row]:
        """Return how long kernels take for a graph: rows with ``way``, ``seconds`` and so on."""
        serial = self._serial.setdefault(entry.name, Serial([]))
        measured = self.row("hawick-graphs", entry, kernels, limit=LIMIT, known=serial.label)
        self._keep_rounds(measured, kernels)
        return [
            {"graph": entry.name, "way": run["name"], **_timed(run["seconds"]), **_told(run)}
            for run in measured["runs"]
        ]

    def array(self, entry: Input, kernels: Sequence[str], *, limit: float = math.inf) -> list[Row]:
        """Return a row for each way to label an array: the serial codes, kernels, the default.

        `kernels` are names of `ARRAY_KERNELS` and `ARRAY_CODES`; what takes more than `limit`
        seconds is given up.
        """
        codes = [(name, code) for name, code in ARRAY_CODES.items() if code in kernels]
        on_cpu: list[Contender] = [Ours("grid", name) for name, _ in codes]
        for way, (_, code) in zip(on_cpu, codes, strict=True):
            way.name = code
        rows = []
        if not self.on_gpu:
            on_cpu.append(Ours("grid", "auto"))
            on_cpu[-1].name = DEFAULT
        for run in self._cpu.row("hawick-arrays", entry, on_cpu, limit=limit)["runs"]:
            rows.append(run)
        if self.on_gpu:
            chosen = [pair for pair in ARRAY_KERNELS.items() if pair[1] in kernels]
            ways = [Kernel("grid", *pair) for pair in (*chosen, ("auto", DEFAULT))]
            measured = self.row("hawick-arrays", entry, ways, limit=limit)
            self._keep_rounds(measured, ways)
            rows += measured["runs"]
        return [
            {"array": entry.name, "way": run["name"], **_timed(run["seconds"]), **_told(run)}
            for run in rows
        ]

    def _keep_rounds(self, measured: Row, ways: Sequence[Contender]) -> None:
        """Note the rounds of kernels that have just run beside their times."""
        rounds = {way.name: way.rounds for way in ways if isinstance(way, Kernel)}
        for run in measured["runs"]:
            # None of those that were measured before.
            if run["status"] == "ok" and rounds.get(run["name"]):
                run["rounds"] = rounds[run["name"]]


def _timed(seconds: Sequence[float]) -> Row:
    """Return the mean and the standard deviation of times; None if there are too few."""
    return {
        "seconds": statistics.mean(seconds) if seconds else None,
        "deviation": statistics.stdev(seconds) if len(seconds) > 1 else None,
        "runs": len(seconds),
    }


def _told(run: Row) -> Row:
    return {"rounds": run.get("rounds"), "reason": run["reason"]}


def times(
    rows: Sequence[Row], way: str, x: str, *, copies: bool = False, field: str = "seconds"
) -> dict[float, float]:
    """Return what a way takes by a field of the rows, where it is known, ascending.

    With `copies`, those to the device and back are added.
    """
    return {
        row[x]: row[field] + (row["copies"] if copies else 0)
        for row in sorted(rows, key=lambda row: float(row[x]))
        if row["way"] == way and row[field] is not None
    }


def crossover(x: Sequence[float], first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return where `first` goes above `second` the first time, between points; None if it does not.

    All are above 0, and x ascends; straight lines through logarithms cross there.

    >>> round(crossover([1, 4], [1, 4], [2, 2]), 6)
    2.0
    """
    gaps = np.log(np.asarray(first, float)) - np.log(np.asarray(second, float))
    for k in range(len(x) - 1):
        if gaps[k] <= 0 < gaps[k + 1]:
            share = -gaps[k] / (gaps[k + 1] - gaps[k])
            return float(x[k] * (x[k + 1] / x[k]) ** share)
    return None


def compare(values: dict[str, float | None]) -> str:
    """Return values by name as a text, such as ``"kernel 1 2.00, kernel 2 -"``."""
    return ", ".join(f"{name} {format_ratio(value)}" for name, value in values.items())
