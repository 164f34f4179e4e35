"""`ClusterPairs`: clusters of ids that grow by tables of pairs."""

from __future__ import annotations

import json
import math
import os
import zipfile
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from threading import Lock
from typing import Any, cast

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
    as_table,
    as_weights,
    by_part,
    check_lengths,
    library_of_side,
    pieces_of,
    weight_type,
)
from conncomp.tables.forests import GrowingLeastForest
from conncomp.tables.id_space import IdSpace, common_family, taken
from conncomp.tables.ids import Family

FORMAT = 1  # of files


class ClusterPairs:
    """Clusters of ids linked by pairs that come in batches.

    Unlike `cluster_pairs`, which takes one table, this object can grow. It stores the distinct ids,
    and 4 bytes per id and threshold, but no pairs.

    Parameters
    ----------
    threshold : float or sequence of float, optional
        Use only pairs whose weight is at least this. Each of several thresholds has its own
        clusters.
    nulls : {"raise", "drop"}, optional
        What to do with pairs in which an id or the weight is null or not a number.
    device : {None, "cpu", "cuda"}, optional
        Where to store the clusters; by default where the first batch lies. ``"cuda"`` moves columns
        in main memory to the current GPU, and results back. It raises ImportError if CuPy is not
        installed, and RuntimeError if there is no GPU.

    Examples
    --------
    >>> import conncomp
    >>> clusters = conncomp.ClusterPairs()
    >>> clusters.add([10, 30], [20, 40])
    >>> clusters.add([20], [30])
    >>> clusters.add_nodes([50])
    >>> clusters.labels()["cluster"]
    array([0, 0, 0, 0, 1], dtype=int32)
    >>> len(clusters)
    5
    """

    def __init__(
        self, *, threshold: Any = None, nulls: str = "raise", device: str | None = None
    ) -> None:
        check_choice("nulls", nulls, ("raise", "drop"))
        check_choice("device", device, (None, "cpu", "cuda"))
        self._device = device
        self._stays_on_gpu = False  # what is returned
        self._gpu_number = 0
        self._nulls = nulls
        self._given_thresholds = as_thresholds(threshold)
        self._weight_type: np.dtype[Any] | None = None
        self._columns = 0  # that an id has; those that come first say it, and what ids are
        self._space = IdSpace([Family("integer")], self._native_thresholds(), False)
        self._library = "numpy"
        self._lock = Lock()

    def __len__(self) -> int:
        """Return the number of distinct ids."""
        return self._space.size

    def add(self, left: Any, right: Any, weights: Any = None) -> None:
        """Add pairs.

        Parameters
        ----------
        left, right : column, or tuple of columns
            As in `cluster_pairs`. Later batches may have other types if values compare exactly.
            After a TypeError or ValueError, the pairs before the wrong one may have been added.
        weights : column, optional
            Needed if there are thresholds.

        Examples
        --------
        >>> import conncomp
        >>> clusters = conncomp.ClusterPairs(threshold=0.5)
        >>> clusters.add(["a", "c"], ["b", "d"], [0.9, 0.1])
        >>> clusters.labels()["size"]
        array([2, 2, 1, 1], dtype=int32)
        """
        with self._lock:
            sides = [as_columns(left, "left"), as_columns(right, "right")]
            weighed = [] if weights is None else [as_weights(weights)]
            if self._given_thresholds and not weighed:
                raise ValueError("threshold needs weights, one for each pair")
            columns = [*sides[0], *sides[1], *weighed]
            check_lengths(columns)
            with _stream_of(sides[0], left):
                self._prepare(sides, left, weighed)
                for pieces in pieces_of(columns, self._nulls, self._space.clusters.on_gpu):
                    weight = as_doubles(pieces.pop()) if weighed else None
                    self._unite(pieces, sides, weight)

    def add_nodes(self, nodes: Any) -> None:
        """Add ids that may have no pair.

        Parameters
        ----------
        nodes : column, or tuple of columns
        """
        with self._lock:
            columns = as_columns(nodes, "nodes")
            with _stream_of(columns, nodes):
                self._prepare([columns], nodes, [])
                for pieces in pieces_of(columns, self._nulls, self._space.clusters.on_gpu):
                    self._space.add_ids(pieces, columns)

    def labels(self) -> Any:
        """Return the table of `cluster_pairs`, in the library of the first batch."""
        with self._lock, self._stream():
            return self._table("number", self._roots())

    def _unite(
        self, pieces: list[Any], sides: list[list[Column]], weights: Any, numbered: bool = False
    ) -> Any:
        reached = weights if self._given_thresholds else None
        return self._space.add_pairs(pieces, sides, reached, numbered)

    @property
    def _levels(self) -> int:
        return max(len(self._given_thresholds or ()), 1)

    def _prepare(self, sides: list[list[Column]], given: Any, weights: list[Column]) -> None:
        """Check types; create the clusters when the first columns come."""
        if len({*map(len, sides), self._columns or len(sides[0])}) > 1:
            raise ValueError("ids on both sides, and of all batches, must have as many columns")
        for column in weights:
            kind = weight_type(column)
            if self._weight_type not in (None, kind) and self._given_thresholds:
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
            self._space = IdSpace(families, self._native_thresholds(), on_gpu)
            self._gpu_number, self._columns = gpu_of(first) if first.on_gpu else 0, len(parts)
        self._space.admit(parts)

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
            if first.on_gpu and not self._space.clusters.on_gpu:
                raise TypeError(
                    f"{first.name} lies in GPU memory, but the clusters in main memory; copy it"
                )
            if self._space.clusters.on_gpu and not first.on_gpu and self._device != "cuda":
                raise TypeError(
                    f"{first.name} lies in main memory, but the clusters on a GPU; move it there, "
                    "for example by cupy.asarray, or begin with device='cuda'"
                )
        for column in columns:
            if column.on_gpu and gpu_of(column) != gpu:
                where = f"{column.name} lies on GPU {gpu_of(column)}"
                raise ValueError(f"{where}, but {other} on GPU {gpu}; copy it there")

    def _stream(self) -> AbstractContextManager[object]:
        """Work on the GPU of the clusters, on the current stream of the library of the results."""
        if not self._space.clusters.on_gpu:
            return nullcontext()
        return caller_stream(self._library, self._gpu_number)

    def _native_thresholds(self) -> list[float]:
        if not self._given_thresholds:
            return [-math.inf]
        kind = self._weight_type or np.dtype(np.float64)
        return sorted(float(kind.type(value)) for value in self._given_thresholds)

    def _roots(self) -> list[Any]:
        """Return the first id of each id's cluster, for each threshold in the order given."""
        given = self._given_thresholds or [0.0]
        order = sorted(range(len(given)), key=given.__getitem__)
        return [self._space.clusters.roots(order.index(k)) for k in range(len(given))]

    def _table(self, cluster_ids: str, roots: list[Any], divided: Any = None) -> Any:
        thresholds = self._given_thresholds or []
        suffixes = [f"_{value:g}" for value in thresholds] if len(roots) > 1 else [""]
        if len(set(suffixes)) < len(suffixes):
            suffixes = [f"_{value!r}" for value in thresholds]
        clusters: dict[str, Any] = {}
        for suffix, root in zip(suffixes, roots, strict=True):
            numbers, sizes = self._space.clusters.numbered(root)
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save ids and clusters to a file, completely or not at all.

        Parameters
        ----------
        path : str or path-like
            The file, in NumPy's npz format. OSError is raised if it cannot be written.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import conncomp
        >>> clusters = conncomp.ClusterPairs()
        >>> clusters.add([1], [2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "clusters.npz")
        ...     clusters.save(path)
        ...     len(conncomp.ClusterPairs.load(path))
        2
        """
        from conncomp.files.access import atomic_path

        with self._lock:
            facts: dict[str, Any] = {"format": FORMAT, "nulls": self._nulls}
            facts |= {"thresholds": self._given_thresholds, "library": self._library}
            weights = None if self._weight_type is None else self._weight_type.name
            facts |= {"weights": weights, "on_gpu": self._stays_on_gpu}
            arrays: dict[str, Any] = {}
            if self._columns:
                with self._stream():
                    facts["parts"], arrays = self._space.state()
                    roots = (on_host(self._space.clusters.roots(k)) for k in range(self._levels))
                    arrays |= {f"roots{k}": array for k, array in enumerate(roots)}
            text = np.frombuffer(json.dumps(facts).encode(), np.uint8)
            size = sum(array.nbytes for array in arrays.values())
            with atomic_path(path, size) as temporary, temporary.open("wb") as file:
                np.savez(file, facts=text, **cast(Any, arrays))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, device: str | None = None) -> ClusterPairs:
        """Load a file of `save`; see there for an example.

        Parameters
        ----------
        path : str or path-like
            OSError is raised if there is no such file, ValueError if `save` did not write it or
            it is damaged.
        device : {None, "cpu", "cuda"}, optional
            Where to store the clusters; by default in main memory. Clusters on a GPU take later
            batches from either memory.
        """
        from conncomp.files.images import read_npz

        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path={shown(path)} must be the name of a file")
        try:
            with open(path, "rb") as file:
                with zipfile.ZipFile(file) as archive:
                    names = [name.removesuffix(".npy") for name in archive.namelist()]
                arrays: dict[str, Any] = {name: read_npz(file, name)[0] for name in names}
            facts = json.loads(bytes(arrays.pop("facts")))
            if facts["format"] != FORMAT:
                raise ValueError(f"its format is {facts['format']}, not {FORMAT}")
            loaded = cls(threshold=facts["thresholds"], nulls=facts["nulls"], device=device)
            loaded._library = facts["library"]
            loaded._stays_on_gpu = facts["on_gpu"] and device == "cuda"
            if facts["on_gpu"] and not loaded._stays_on_gpu:
                loaded._library = "numpy"
            loaded._weight_type = None if facts["weights"] is None else np.dtype(facts["weights"])
            if "parts" in facts:
                loaded._columns = len(facts["parts"])
                loaded._space = IdSpace.from_state(
                    facts["parts"], arrays, loaded._native_thresholds(), loaded._device == "cuda"
                )
            return loaded
        except (OSError, MemoryError):
            raise
        except Exception as error:  # of what is no archive, or another one
            raise ValueError(f"{path} is no file of ClusterPairs.save: {error}") from error


class Clustering(ClusterPairs):
    """Does `cluster_pairs` batch by batch; `table` also sets `roots`, an array per threshold."""

    def __init__(self, *, threshold: Any, max_size: int | None, weighed: bool, **how: Any) -> None:
        super().__init__(threshold=threshold, **how)
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
            if self._levels > 1:
                raise ValueError("max_size takes one threshold; call once for each of several")
        if threshold is not None and not weighed:
            raise ValueError("threshold needs weights, one for each pair")

    def _prepare(self, sides: list[list[Column]], given: Any, weights: list[Column]) -> None:
        super()._prepare(sides, given, weights)
        if self._strongest is not None and weights and self._space.clusters.on_gpu:
            raise ValueError("max_size is not for a GPU; copy the columns, or omit device")

    def _unite(
        self, pieces: list[Any], sides: list[list[Column]], weights: Any, numbered: bool = False
    ) -> None:
        u, v = super()._unite(pieces, sides, weights, numbered=self._strongest is not None)
        if self._strongest is not None:
            kept = (weights >= self._native_thresholds()[0]) & (u != v)
            self._strongest.add(u[kept], v[kept], -weights[kept], len(self) - 1)

    def table(self, cluster_ids: str, library: str) -> Any:
        """Return the clusters as a table of `library`; after that, no pair can be added."""
        self._library = library
        divided = None
        with self._stream():
            if self._strongest is None or self._weight_type is None:  # or no pair has come
                self.roots = self._roots()
            else:
                root, divided = self._divide(self._strongest)
                self.roots = [root]
            self._space.clusters.keep_ids_only()
            return self._table(cluster_ids, self.roots, divided)

    def _divide(self, links: GrowingLeastForest) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the first node of each node's cluster, and the weight that divided it or NaN."""
        _, u, v, opposite = links.edges()
        order = np.argsort(opposite, kind="stable")
        roots, divided = np.empty(len(self), np.int32), np.full(len(self), np.nan)
        native.divide_clusters(u[order], v[order], -opposite[order], self._most, roots, divided)
        return roots, divided


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
    """Return the number of the GPU that a column lies on."""
    return int(column.values.device.id)


def _stream_of(columns: list[Column], given: Any) -> AbstractContextManager[object]:
    """Work on the GPU of the columns, on the current stream of the library that made them."""
    if not columns[0].on_gpu:
        return nullcontext()
    return caller_stream(library_of_side(given), gpu_of(columns[0]))
