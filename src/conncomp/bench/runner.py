"""Measuring: every answer is compared with a reference first, and only right ones are timed."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.bench.inputs import Input
from conncomp.bench.machine import commit, copy_rate, machine
from conncomp.bench.peers import Contender, Peer, sparse_matrix
from conncomp.bench.suites import Kind
from conncomp.graph import Graph
from conncomp.io import atomic_path

Labels = NDArray[Any]

# A contender runs until both are reached, or until it has run for long.
FEWEST_RUNS, SHORTEST = 5, 0.2
MOST_RUNS, LONGEST = 100, 1.0


@dataclass(frozen=True)
class Reference:
    """The right labels, found without this library, in the numbering that it promises."""

    labels: Labels
    components: int
    background: bool

    def disagreement(self, labels: Labels, exact: bool) -> str | None:
        """Say how `labels` are wrong, or return None.

        Parameters
        ----------
        labels : ndarray
        exact : bool
            Whether they must be equal; otherwise components may be numbered in any way, but 0 is
            background if the reference has that.
        """
        if labels.shape != self.labels.shape:
            return f"labels of shape {labels.shape} instead of {self.labels.shape}"
        expected = self.labels
        names = np.arange(self.components + self.background)
        if not exact and len(names) and labels.size:
            # Each component takes the name of one of its members. The names are to be different,
            # and those of all members.
            names = np.zeros(len(names), labels.dtype)
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


def reference(data: Graph | Labels, connectivity: int) -> Reference:
    """Find the components by SciPy or scikit-image."""
    if isinstance(data, Graph):
        from scipy.sparse.csgraph import connected_components

        count, labels = connected_components(sparse_matrix(data), directed=False)
        return Reference(labels, int(count), background=False)
    import skimage.measure

    label: Any = skimage.measure.label
    labels, count = label(data, background=0, return_num=True, connectivity=connectivity)
    return Reference(labels, int(count), background=True)


def measure(
    kind: Kind,
    inputs: Sequence[tuple[str, Input]],
    contenders: Sequence[Contender],
    *,
    size: str,
    threads: int,
    output: Path | None = None,
    notify: Callable[[str], object] = lambda step: None,
) -> Iterator[dict[str, Any]]:
    """Run all contenders on all inputs.

    Parameters
    ----------
    kind : {"graph", "grid"}
    inputs : sequence of (suite, input)
    contenders : sequence of Contender
    size : str
        Of the inputs, to be noted in the result.
    threads : int
        As many copy when the machine's rate is measured.
    output : pathlib.Path, optional
        The result is written there as JSON whenever a row is finished.
    notify : callable, optional
        Called at the begin of each of ``len(inputs) * (2 + len(contenders))`` steps.

    Yields
    ------
    dict
        The result so far: once without rows, then after each row.
    """
    versions = {"conncomp": version("conncomp"), "numpy": np.__version__}
    versions |= {peer.package: peer.version for peer in contenders if isinstance(peer, Peer)}
    revision, dirty = commit()
    result: dict[str, Any] = {
        "format": "conncomp-bench",
        "version": 1,
        "kind": kind,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": revision,
        "dirty": dirty,
        "machine": machine(),
        "versions": versions,
        "device": "cpu",
        "threads": threads,
        "size": size,
        "copy_bytes_per_second": copy_rate(threads),
        "rows": [],
    }
    yield result
    for suite, entry in inputs:
        result["rows"].append(_measure_input(suite, entry, contenders, notify))
        if output is not None:
            with atomic_path(output) as temporary:
                temporary.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")
        yield result


def _measure_input(
    suite: str, entry: Input, contenders: Sequence[Contender], notify: Callable[[str], object]
) -> dict[str, Any]:
    notify(f"{entry.name}: making")
    data = entry.make()
    row: dict[str, Any] = {
        "suite": suite,
        "input": entry.name,
        "description": entry.description,
        "stand_in": entry.stand_in,
    }
    if isinstance(data, Graph):
        # Without the list of arcs that it may have been made of.
        data = Graph(data.num_vertices, csr=(data.indptr, data.indices), symmetric=True)
        row |= {"vertices": data.num_vertices, "arcs": data.num_arcs}
        num_bytes = data.indptr.nbytes + data.indices.nbytes
    else:
        row |= {
            "elements": data.size,
            "shape": list(data.shape),
            "dtype": str(data.dtype),
            "connectivity": entry.connectivity,
        }
        num_bytes = data.nbytes
    notify(f"{entry.name}: reference")
    right = reference(data, entry.connectivity)
    row["components"] = right.components
    row["floor_bytes"] = num_bytes + right.labels.size * _label_bytes(right.labels.size)
    row["runs"] = runs = []
    for contender in contenders:
        notify(f"{entry.name}: {contender.name}")
        run = {"name": contender.name, "kind": contender.kind, "threads": contender.threads}
        try:
            prepared = contender.prepare(data, entry.connectivity)
            if prepared is None:
                continue
            # This run warms up, too.
            labels = contender.labels(contender.run(prepared))
            reason = right.disagreement(labels, exact=contender.kind == "ours")
            del labels
            status, seconds = "wrong", []
            if reason is None:
                status, seconds = "ok", _repeat(contender, prepared)
            del prepared
        except Exception as error:
            status, seconds = "failed", []
            reason = " ".join(f"{type(error).__name__}: {error}".split())
        runs.append(run | {"status": status, "reason": reason, "seconds": seconds})
    return row


def _label_bytes(largest: int) -> int:
    return 4 if largest <= np.iinfo(np.int32).max else 8


def _repeat(contender: Contender, prepared: Any) -> list[float]:
    """Return how long each of several runs took."""
    seconds: list[float] = []
    collects = gc.isenabled()
    gc.disable()  # as timeit does
    try:
        while True:
            start = perf_counter()
            result = contender.run(prepared)
            seconds.append(perf_counter() - start)
            del result
            total = sum(seconds)
            enough = len(seconds) >= FEWEST_RUNS and total >= SHORTEST
            if enough or len(seconds) == MOST_RUNS or (len(seconds) > 1 and total >= LONGEST):
                return seconds
    finally:
        if collects:
            gc.enable()
