"""Measuring: every answer is compared with a reference first, and only right ones are timed."""

from __future__ import annotations

import gc
import json
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp._optional import optional
from conncomp.bench import peers
from conncomp.bench.devices import Call, Cpu, Cuda, commit
from conncomp.bench.inputs import Input
from conncomp.bench.suites import Problem
from conncomp.files.access import atomic_path
from conncomp.graph import Graph
from conncomp.kernels import time_limit

Labels = NDArray[Any]

# A contender runs until both are reached, or until it has run for long, which may be once.
FEWEST_RUNS, SHORTEST = 5, 0.2
MOST_RUNS, LONGEST = 100, 1.0

# On a GPU, smaller or faster inputs are measured as CUDA graphs, too: kernels without launches.
SMALL_SIZE, SMALL_SECONDS = 10**6, 1e-4

UNWRITTEN = -2  # which is no label


@dataclass(frozen=True)
class Reference:
    """The right labels, found without this library, in the numbering that it promises."""

    labels: Labels
    components: int
    background: bool

    @cached_property
    def roots(self) -> Labels:
        """The smallest index of each element's component; -1 for background."""
        first = _first_members(self.labels.reshape(-1), self.components + self.background)
        if self.background:
            first[0] = -1
        roots: Labels = first[self.labels]
        return roots

    def disagreement(self, labels: Labels, numbering: peers.Numbering = "any") -> str | None:
        """Say how `labels` are wrong, or return None; in "any" numbering only background is 0."""
        if labels.shape != self.labels.shape:
            return f"labels of shape {labels.shape} instead of {self.labels.shape}"
        expected = self.roots if numbering == "roots" else self.labels
        count = self.components + self.background
        if numbering == "any" and count and labels.size:
            # All members are to have the name of one, which no other component has.
            names = np.zeros(count, labels.dtype)
            names[self.labels] = labels
            if self.background and names[0] != 0:
                return f"background labelled {names[0]}"
            if len(np.unique(names)) < len(names):
                return "different components have the same label"
            expected = names[self.labels]
        differ = expected != labels
        if not differ.any():
            return None
        at = np.unravel_index(int(differ.argmax()), labels.shape)
        place = at[0] if len(at) == 1 else tuple(map(int, at))
        return f"label {labels[at]} instead of {expected[at]} at {place}"


def reference(data: Graph | Labels, connectivity: int, kind: Problem = "graph") -> Reference:
    """Find the components by SciPy or scikit-image."""
    if isinstance(data, Graph):
        from scipy.sparse.csgraph import connected_components

        if kind == "strong":
            count, labels = connected_components(peers.simple_matrix(data), connection="strong")
            labels = _numbered_by_root(labels, count)
        else:
            count, labels = connected_components(peers.sparse_matrix(data), directed=False)
        return Reference(labels, int(count), background=False)
    label: Any = optional("skimage.measure", "a check of labels", "bench").label
    labels, count = label(data, background=0, return_num=True, connectivity=connectivity)
    return Reference(labels, int(count), background=True)


def _first_members(labels: Labels, count: int) -> Labels:
    first = np.empty(count, np.int64)
    first[labels[::-1]] = np.arange(len(labels))[::-1]  # the last one written is the smallest
    return first


def _numbered_by_root(labels: Labels, count: int) -> Labels:
    """Renumber components in the order of their smallest members."""
    number = np.empty(count, labels.dtype)
    number[np.argsort(_first_members(labels, count))] = np.arange(count)
    renumbered: Labels = number[labels]
    return renumbered


def measure(
    kind: Problem,
    inputs: Sequence[tuple[str, Input]],
    contenders: Sequence[peers.Contender],
    *,
    size: str,
    threads: int,
    device: Cpu | None = None,
    transfers: bool = False,
    limit: float = math.inf,
    output: Path | None = None,
    notify: Callable[[str], object] = lambda step: None,
) -> Iterator[dict[str, Any]]:
    """Run all contenders on all inputs, each with its suite; yield the result so far.

    That is once without rows, then after each row, when `output` gets it as JSON, too. `threads`
    copy to measure the machine's rate. `limit`, in seconds, is for what sweeps until nothing
    changes; on a GPU, if it waits now and then. `notify` is called at the begin of each of
    ``len(inputs) * (2 + len(contenders))`` steps.
    """
    device = device or Cpu()
    result: dict[str, Any] = {"format": "conncomp-bench", "version": 1, "kind": kind}
    result |= {**describe(device, threads, size), "rows": []}
    for peer in contenders:
        if isinstance(peer, peers.Peer):
            result["versions"][peer.package] = peer.version
    yield result
    for suite, entry in inputs:
        notify(f"{entry.name}: making")
        with device.current():  # of its own: what making leaves is freed before timing
            data = make_input(entry, device)
        with device.current():
            how: dict[str, Any] = {"device": device, "kind": kind, "notify": notify}
            how |= {"transfers": transfers, "limit": limit}
            row = measure_input(suite, entry, data, contenders, **how)
        del data  # before the next one is made
        result["rows"].append(row)
        if output is not None:
            with atomic_path(output) as temporary:
                temporary.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")
        yield result


def describe(device: Cpu, threads: int, size: str) -> dict[str, Any]:
    """Return when, by what and on which machine a result is measured."""
    revision, dirty = commit()
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        **{"commit": revision, "dirty": dirty, "machine": device.describe()},
        "versions": {"conncomp": version("conncomp"), "numpy": np.__version__} | device.versions(),
        **{"device": device.name, "threads": threads, "size": size},
        "copy_bytes_per_second": device.copy_rate(threads),
    }


def make_input(entry: Input, device: Cpu) -> Graph | Labels:
    """Make an input on a device, which may be faster, and return it in the main memory."""
    data = entry.make(device=device.name)
    if isinstance(data, Graph):
        # Without the list of arcs that it may have been made of; a GPU's indptr may be of int32.
        indptr = device.fetch(data.indptr).astype(np.int64, copy=False)
        csr = indptr, device.fetch(data.indices)
        return Graph._of_checked(data.num_vertices, csr=csr, symmetric=data._parts.symmetric)
    array: Labels = device.fetch(data)
    return array


def measure_input(
    suite: str,
    entry: Input,
    data: Any,
    contenders: Sequence[peers.Contender],
    *,
    device: Cpu,
    transfers: bool = False,
    limit: float = math.inf,
    kind: Problem = "graph",
    right: Reference | None = None,
    notify: Callable[[str], object] = lambda step: None,
) -> dict[str, Any]:
    """Run contenders on an input in the main memory; `right` are known labels."""
    row: dict[str, Any] = {"suite": suite, "input": entry.name}
    row |= {"description": entry.description, "stand_in": entry.stand_in}
    if isinstance(data, Graph):
        size = data.num_arcs
        row |= {"vertices": data.num_vertices, "arcs": size}
        num_bytes = data.indptr.nbytes + data.indices.nbytes
    else:
        size = data.size
        row |= {"elements": size, "shape": list(data.shape)}
        row |= {"dtype": str(data.dtype), "connectivity": entry.connectivity}
        num_bytes = data.nbytes
    if right is None:
        notify(f"{entry.name}: reference")
        right = reference(data, entry.connectivity, kind)
    row["components"] = right.components
    labels = np.zeros(right.labels.shape, INDEX_TYPES[right.labels.size > INT32_MAX])
    row["floor_bytes"] = num_bytes + labels.nbytes
    if transfers:
        row["transfers"] = _time_transfers(device, data, labels)
    del labels
    data = device.place(data)
    row["runs"] = runs = []
    for contender in contenders:
        notify(f"{entry.name}: {contender.name}")
        run = {"name": contender.name, "kind": contender.kind, "threads": contender.threads}
        try:
            prepared = contender.prepare(data, entry.connectivity)
            if prepared is None:
                continue
            run |= _time(contender, partial(contender.run, prepared), right, device, size, limit)
            del prepared
        except Exception as error:
            late = isinstance(error, TimeoutError)
            reason = f"given up after {limit:g} s" if late else _in_one_line(error)
            run |= {"status": "failed", "reason": reason, "seconds": []}
        runs.append(run)
    return row


def _time_transfers(device: Cpu, data: Any, labels: Labels) -> dict[str, list[float]]:
    placed = device.place(labels)
    ways = {"to_device": partial(device.place, data), "to_host": partial(device.fetch, placed)}
    return {name: repeat(partial(device.seconds, way)) for name, way in ways.items()}


def _time(
    contender: peers.Contender, call: Call, right: Reference, device: Cpu, size: int, limit: float
) -> dict[str, Any]:
    """Return a run's status, and its times if its answer is right."""
    with time_limit(limit):
        result = call()
    labels = device.fetch(contender.labels(result))
    if reason := right.disagreement(labels, contender.numbering):
        return {"status": "wrong", "reason": reason, "seconds": []}
    del result, labels
    seconds = [device.seconds(call)]
    if seconds[0] < LONGEST:
        device.warm_up(call)
        seconds = repeat(partial(device.seconds, call))
    outcome: dict[str, Any] = {"status": "ok", "reason": None, "seconds": seconds}
    small = size < SMALL_SIZE or statistics.median(seconds) < SMALL_SECONDS
    if not (isinstance(device, Cuda) and contender.captures and small):
        return outcome
    labels = contender.labels(call())
    try:
        replay = device.capture(call)
    except Exception as error:
        return outcome | {"reason": f"not captured: {_in_one_line(error)}", "captured": []}
    labels.fill(UNWRITTEN)
    replay()
    if reason := right.disagreement(device.fetch(labels), contender.numbering):
        return {"status": "wrong", "reason": f"as a CUDA graph: {reason}", "seconds": []}
    device.warm_up(replay)
    return outcome | {"captured": repeat(partial(device.seconds, replay))}


def _in_one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def repeat(seconds_once: Callable[[], float]) -> list[float]:
    """Return how long each of several runs took."""
    seconds: list[float] = []
    collects = gc.isenabled()
    gc.disable()  # as timeit does
    try:
        while True:
            seconds.append(seconds_once())
            total = sum(seconds)
            enough = len(seconds) >= FEWEST_RUNS and total >= SHORTEST
            if enough or len(seconds) == MOST_RUNS or total >= LONGEST:
                return seconds
    finally:
        if collects:
            gc.enable()
