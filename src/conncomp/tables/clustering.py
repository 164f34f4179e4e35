"""`Clustering`, what `cluster_pairs`, `ClusterPairs` and the command ``cluster`` use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import INT32_MAX, as_integer, as_number, as_sequence, check_choice, shown
from conncomp._array_storage import on_host
from conncomp._arrays import caller_stream, choose_device
from conncomp._core import native
from conncomp.tables.columns import (
    Column,
    as_columns,
    as_doubles,
    as_weights,
    check_lengths,
    pieces_of,
    weight_type,
)
from conncomp.tables.forests import GrowingLeastForest
from conncomp.tables.frames import as_table, by_part, library_of_side
from conncomp.tables.id_space import IdSpace, common_family, taken
from conncomp.tables.ids import Family
from conncomp.tables.pair_clusters import ClustersInMemory

Sides = Sequence[list[Column]]


class Clustering:
    """Clusters of ids that grow by batches of pairs, and tables of them.

    `weighed` is whether pairs may have weights. With `max_size`, the strongest links divide larger
    clusters at the end. `table` sets `roots`, an array per threshold.
    """

    def __init__(
        self,
        *,
        threshold: Any = None,
        nulls: str = "raise",
        device: str | None = None,
        max_size: int | None = None,
        weighed: bool = True,
    ) -> None:
        check_choice("nulls", nulls, ("raise", "drop"))
        check_choice("device", device, (None, "cpu", "cuda"))
        self._device = device
        self._stays_on_gpu = False  # whether results do
        self._gpu_number = 0
        self._nulls = nulls
        self._thresholds = as_thresholds(threshold)
        self._weight_type: np.dtype[Any] | None = None
        self._columns = 0  # per id, as in the first batch
        # Until `_prepare` knows their type: a table without ids has a column of integers.
        self._keep_in(IdSpace([Family("integer")], self._lowest_weights(), False))
        self._library = "numpy"
        self.roots: list[Any] = []
        self._strongest: GrowingLeastForest | None = None  # links, by their negative weights
        if max_size is not None:
            self._strongest = GrowingLeastForest(np.float64, numbered=False)
            # There are no more ids than fit into 32 bits.
            self._most = min(as_integer("max_size", max_size), INT32_MAX)
            if self._most < 1:
                raise ValueError(f"max_size={shown(max_size)} must be 1 or more")
            if not weighed:
                raise ValueError("max_size needs weights, which say where to divide clusters")
            if len(self._lowest_weights()) > 1:
                raise ValueError("max_size takes one threshold; call once for each of several")
        if threshold is not None and not weighed:
            raise ValueError("threshold needs weights, one for each pair")

    def __len__(self) -> int:
        """Return the number of distinct ids."""
        return self._space.size

    def add(self, left: Any, right: Any, weights: Any = None) -> None:
        """Add pairs, given by columns or tuples of columns of any library."""
        sides = as_columns(left, "left"), as_columns(right, "right")
        weighed = [] if weights is None else [as_weights(weights)]
        if self._thresholds and not weighed:
            raise ValueError("threshold needs weights, one for each pair")
        columns = [*sides[0], *sides[1], *weighed]
        check_lengths(columns)
        with _stream_of(sides[0], left):
            self._prepare(sides, left, weighed)
            for pieces in pieces_of(columns, self._nulls, self._clusters.on_gpu):
                self._unite(pieces, sides, as_doubles(pieces.pop()) if weighed else None)

    def add_nodes(self, nodes: Any) -> None:
        """Add ids that may have no pair."""
        columns = as_columns(nodes, "nodes")
        with _stream_of(columns, nodes):
            self._prepare([columns], nodes, [])
            for pieces in pieces_of(columns, self._nulls, self._clusters.on_gpu):
                self._space.add_ids(pieces, columns)

    def labels(self) -> Any:
        """Return the table of `ClusterPairs.labels`."""
        with self._stream():
            return self._table("number", self._roots())

    def table(self, cluster_ids: str, library: str) -> Any:
        """Return a table of `library`; after that, no pair can be added."""
        self._library = library
        divided = None
        with self._stream():
            if self._strongest is None or self._weight_type is None:  # or no pair has come
                self.roots = self._roots()
            else:
                root, divided = self._divide(self._strongest)
                self.roots = [root]
            self._clusters.keep_ids_only()
            return self._table(cluster_ids, self.roots, divided)

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return facts for JSON, and arrays, for `from_state`."""
        facts: dict[str, Any] = {
            "nulls": self._nulls,
            "thresholds": self._thresholds,
            "library": self._library,
            "weights": None if self._weight_type is None else self._weight_type.name,
            "on_gpu": self._stays_on_gpu,
        }
        arrays: dict[str, Any] = {}
        if self._columns:
            with self._stream():
                facts["parts"], arrays = self._space.state()
                for level in range(len(self._lowest_weights())):
                    arrays[f"roots{level}"] = on_host(self._clusters.roots(level))
        return facts, arrays

    @classmethod
    def from_state(
        cls, facts: dict[str, Any], arrays: dict[str, Any], device: str | None
    ) -> Clustering:
        """Return the clusters that `state` described, on a device."""
        made = cls(threshold=facts["thresholds"], nulls=facts["nulls"], device=device)
        made._stays_on_gpu = facts["on_gpu"] and device == "cuda"
        was_moved = facts["on_gpu"] and not made._stays_on_gpu
        made._library = "numpy" if was_moved else facts["library"]
        made._weight_type = None if facts["weights"] is None else np.dtype(facts["weights"])
        if "parts" in facts:
            made._columns, lowest = len(facts["parts"]), made._lowest_weights()
            made._keep_in(IdSpace.from_state(facts["parts"], arrays, lowest, device == "cuda"))
        return made

    def _keep_in(self, space: IdSpace) -> None:
        self._space, self._clusters = space, space.clusters

    def _unite(self, pieces: list[Any], sides: Sides, weights: Any) -> None:
        reached = weights if self._thresholds else None
        left, right = self._space.keys_of_pairs(pieces, sides)
        if self._strongest is None:
            return self._clusters.add_pairs(left, right, self._space.placed(reached))
        assert isinstance(self._clusters, ClustersInMemory)
        u, v = self._clusters.add_numbered_pairs(left, right, reached)
        kept = (weights >= self._lowest_weights()[0]) & (u != v)
        self._strongest.add(u[kept], v[kept], -weights[kept], len(self) - 1)

    def _prepare(self, sides: Sides, given: Any, weights: list[Column]) -> None:
        """Check types; create the clusters when the first columns come."""
        if len({*map(len, sides), self._columns or len(sides[0])}) > 1:
            raise ValueError("ids on both sides, and of all batches, must have as many columns")
        for column in weights:
            kind = weight_type(column)
            if self._weight_type not in (None, kind) and self._thresholds:
                raise TypeError(f"weights are {kind}, and were {self._weight_type}; cast them")
            self._weight_type = kind
        parts = list(zip(*sides, strict=True))
        # Empty weights may lie anywhere.
        self._check_places([*chain.from_iterable(sides), *filter(None, weights)])
        if self._space.size == 0:  # there is no type to keep to yet
            first = sides[0][0]
            self._library = library_of_side(given)
            self._stays_on_gpu = first.on_gpu
            on_gpu = choose_device(self._device, first.on_gpu, first.name) == "cuda"
            families = [common_family(columns) for columns in parts]
            self._keep_in(IdSpace(families, self._lowest_weights(), on_gpu))
            self._gpu_number, self._columns = gpu_of(first) if first.on_gpu else 0, len(parts)
        self._space.admit(parts)
        if self._strongest is not None and weights and self._clusters.on_gpu:
            raise ValueError("max_size is not for a GPU; copy the columns, or omit device")

    def _check_places(self, columns: list[Column]) -> None:
        """Raise unless all columns lie in one memory, where the clusters are."""
        first = columns[0]
        for column in columns:
            if column.on_gpu != first.on_gpu:
                far, here = (first, column) if first.on_gpu else (column, first)
                raise TypeError(f"{far.name} lies in GPU memory, but {here.name} does not; copy it")
        other, gpu = first.name, gpu_of(first) if first.on_gpu else 0
        if len(self):
            other, gpu = "the clusters", self._gpu_number
            if first.on_gpu and not self._clusters.on_gpu:
                lies = f"{first.name} lies in GPU memory"
                raise TypeError(f"{lies}, but the clusters in main memory; copy it")
            if self._clusters.on_gpu and not first.on_gpu and self._device != "cuda":
                raise TypeError(
                    f"{first.name} lies in main memory, but the clusters on a GPU; move it there, "
                    "for example by cupy.asarray, or begin with device='cuda'"
                )
        for column in columns:
            if column.on_gpu and gpu_of(column) != gpu:
                where = f"{column.name} lies on GPU {gpu_of(column)}"
                raise ValueError(f"{where}, but {other} on GPU {gpu}; copy it there")

    def _stream(self) -> AbstractContextManager[object]:
        """Work on the GPU of the clusters, on the current stream of the results' library."""
        if not self._clusters.on_gpu:
            return nullcontext()
        return caller_stream(self._library, self._gpu_number)

    def _lowest_weights(self) -> list[float]:
        """Return the weights that pairs need at each threshold, ascending."""
        kind = self._weight_type or np.dtype(np.float64)
        return sorted(float(kind.type(value)) for value in self._thresholds or [-math.inf])

    def _roots(self) -> list[Any]:
        """Return the first id of each id's cluster, for each threshold in the order given."""
        thresholds, roots = self._thresholds or [0.0], self._clusters.roots
        return [roots(sorted(thresholds).index(value)) for value in thresholds]

    def _divide(self, forest: GrowingLeastForest) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the first node of each node's cluster, and the weight that divided it, or NaN."""
        links = forest.edges()
        links = links.take(np.argsort(links.weights, kind="stable"))
        roots, divided = np.empty(len(self), np.int32), np.full(len(self), np.nan)
        native.divide_clusters(*links.ends, -links.weights, self._most, roots, divided)
        return roots, divided

    def _table(self, cluster_ids: str, roots: list[Any], divided: Any = None) -> Any:
        thresholds = self._thresholds or []
        suffixes = [f"_{value:g}" for value in thresholds] if len(roots) > 1 else [""]
        if len(set(suffixes)) < len(suffixes):
            suffixes = [f"_{value!r}" for value in thresholds]
        clusters: dict[str, Any] = {}
        for suffix, root in zip(suffixes, roots, strict=True):
            numbers, sizes = self._clusters.numbered(root)
            clusters[f"cluster{suffix}"] = root if cluster_ids == "first" else numbers
            clusters[f"size{suffix}"] = sizes
            if divided is not None:
                clusters[f"divided{suffix}"] = divided[root]
        if not self._stays_on_gpu:
            clusters = {name: on_host(column) for name, column in clusters.items()}
        nodes = by_part("node", self._space.values(self._library, self._stays_on_gpu))
        columns = dict(nodes)
        for name, column in clusters.items():
            if cluster_ids == "first" and name.startswith("cluster"):
                for node, values in nodes.items():
                    columns[node.replace("node", name, 1)] = taken(values, column)
            else:
                columns[name] = column
        return as_table(columns, self._library)


def as_thresholds(given: Any) -> list[float] | None:
    """Return thresholds as a list; None if there is none."""
    if given is None:
        return None
    several = hasattr(given, "__len__") or hasattr(given, "__iter__")
    listed = as_sequence("threshold", given) if several else [given]
    values = [as_number("threshold", value) for value in listed]
    if not values:
        raise ValueError("threshold=[] must have a threshold")
    if any(math.isnan(value) for value in values) or len(set(values)) < len(values):
        raise ValueError(f"threshold={shown(given)} must be different numbers, none of them NaN")
    return values


def gpu_of(column: Column) -> int:
    """Return the number of a column's GPU."""
    return int(column.values.device.id)


def _stream_of(columns: list[Column], given: Any) -> AbstractContextManager[object]:
    """Work on the GPU of the columns, on the current stream of their library."""
    if not columns[0].on_gpu:
        return nullcontext()
    return caller_stream(library_of_side(given), gpu_of(columns[0]))
