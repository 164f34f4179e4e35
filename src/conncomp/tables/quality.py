"""`cluster_quality` measures clusters, to find those that need a check."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_number, check_choice
from conncomp._core import native
from conncomp.tables.columns import (
    Column,
    arrow,
    as_columns,
    as_doubles,
    as_weights,
    check_lengths,
    pieces_of,
    weight_type,
)
from conncomp.tables.forests import GrowingLeastForest
from conncomp.tables.frames import Table, as_table, by_part, library_of_table
from conncomp.tables.id_space import IdSpace, common_family, taken
from conncomp.tables.pairs import columns_of


def cluster_quality(
    clusters: Any,
    pairs: Any,
    left: Any,
    right: Any = None,
    *,
    weights: Any = None,
    threshold: float | None = None,
    node: Any = "node",
    cluster: Any = "cluster",
    nulls: str = "raise",
) -> Any:
    """Return how large, how dense and how well connected clusters are.

    Parameters
    ----------
    clusters : table
        The table of `cluster_pairs`, with one row per node.
    pairs, left, right, weights
        As in `cluster_pairs`. Pairs between clusters and repeated pairs do not count.
    threshold : float, optional
        The threshold of the clusters: use only pairs whose weight is at least this.
    node, cluster : str or tuple of str
        The names of the columns of `clusters`, such as ``"cluster_0.8"`` or ``("node_0",
        "node_1")``.
    nulls : {"raise", "drop"}, optional
        What to do with rows of either table that have a null.

    Returns
    -------
    table
        Of the library of `clusters`, with a row for each cluster, in the order of appearance there:

        ``cluster``, ``size``
            Its name and how many nodes it has.
        ``pairs``, ``density``
            How many different pairs it has, and their share of the possible ones; 1 for one node.
        ``bridges``
            How many of its pairs are bridges, each of which alone holds two parts together.
        ``cut_off``, ``bridge_left``, ``bridge_right``
            Of the bridge that divides most evenly: the size of the smaller part, and its ends; 0
            and null without one.
        ``weakest``, ``weakest_left``, ``weakest_right``
            With `weights`: the weight of the lightest link of the maximum spanning tree, above
            which the cluster falls apart, and its ends; NaN and null for one node.

    Raises
    ------
    TypeError, ValueError, ImportError
        As of `cluster_pairs`, and if a pair's id is not among the nodes, or a node has two rows.

    Notes
    -----
    A large cluster of low density, with a bridge between two large parts, is probably two that one
    wrong pair has united. Bridges are found in linear time (R. E. Tarjan, "A note on finding the
    bridges of a graph", Information Processing Letters 2, 1974). ``numpy.unique(quality["size"],
    return_counts=True)`` counts the clusters of each size.

    Examples
    --------
    Two triangles that one pair unites:

    >>> import conncomp
    >>> pairs = {"l": [1, 2, 1, 3, 4, 5, 4], "r": [2, 3, 3, 4, 5, 6, 6]}
    >>> pairs["score"] = [0.9, 0.9, 0.8, 0.5, 0.9, 0.8, 0.9]
    >>> table = conncomp.cluster_pairs(pairs, "l", "r")
    >>> quality = conncomp.cluster_quality(table, pairs, "l", "r", weights="score")
    >>> for name, values in quality.items():
    ...     print(name, *values)
    cluster 0
    size 6
    pairs 7
    density 0.4666666666666667
    bridges 1
    cut_off 3
    bridge_left 3
    bridge_right 4
    weakest 0.5
    weakest_left 3
    weakest_right 4
    """
    check_choice("nulls", nulls, ("raise", "drop"))
    table = Table(clusters, "clusters")
    named = table.columns(node, "node"), table.columns(cluster, "cluster")
    names = (f"clusters, column {name!r}" for name in (node, cluster))
    nodes, labels = map(as_columns, named, names)
    given = columns_of(pairs, left, right, weights)
    sides = as_columns(given.left, "left"), as_columns(given.right, "right")
    weighed = [] if given.weights is None else [as_weights(given.weights)]
    lowest = -np.inf
    if threshold is not None:
        if not weighed:
            raise ValueError("threshold needs weights, one for each pair")
        lowest = float(weight_type(weighed[0]).type(as_number("threshold", threshold)))
    columns = [*sides[0], *sides[1], *weighed]
    check_lengths(columns)
    for column in (*nodes, *labels, *columns):
        if column.on_gpu:
            raise TypeError(f"{column.name} lies in GPU memory; copy it to main memory first")

    space, cluster_space = _space_of(nodes, *sides), _space_of(labels)
    check_lengths([*nodes, *labels])
    found = [np.empty(0, np.int32)]
    for pieces in pieces_of([*nodes, *labels], nulls):
        space.add_ids(pieces[: len(nodes)], nodes)
        found.append(cluster_space.add_ids(pieces[len(nodes) :], labels))
    node_clusters = np.concatenate(found)  # by node number
    if space.size != len(node_clusters):
        raise ValueError("clusters: a node has more than one row")
    links = _Links(node_clusters, lowest)
    for pieces in pieces_of(columns, nulls):
        weight = as_doubles(pieces.pop()) if weighed else None
        u = space.add_ids(pieces[: len(nodes)], sides[0])
        v = space.add_ids(pieces[len(nodes) :], sides[1])
        if space.size > (first := len(node_clusters)):
            extra = ", ".join(f"{values[first]}" for values in space.values("numpy"))
            raise ValueError(f"pairs have the id {extra}, which is not among the nodes of clusters")
        links.add(u, v, weight)

    library = library_of_table(clusters, named[0])
    ids, names_of_clusters = space.values(library), cluster_space.values(library)
    measures = by_part("cluster", names_of_clusters) | links.measures() | links.bridges(ids)
    return as_table(measures | (links.weakest(ids) if weighed else {}), library)


def _space_of(*sides: list[Column]) -> IdSpace:
    if len({len(side) for side in sides}) > 1:
        raise ValueError("nodes, and ids on the left and on the right, must be of as many columns")
    parts = list(zip(*sides, strict=True))
    space = IdSpace([common_family(columns) for columns in parts], [], False)
    space.admit(parts)
    return space


class _Links:
    """The different links within clusters, and the strongest."""

    def __init__(self, node_clusters: NDArray[np.int32], lowest: float) -> None:
        self._node_clusters, self._lowest = node_clusters, lowest
        self._sizes = np.bincount(node_clusters)
        self._keys = [np.empty(0, np.int64)]
        self._strongest = GrowingLeastForest(np.float64, numbered=False)  # negative weights

    def add(self, u: Any, v: Any, weights: NDArray[np.float64] | None) -> None:
        inside = (u != v) & (self._node_clusters[u] == self._node_clusters[v])
        if weights is not None:
            inside &= weights >= self._lowest
            largest = len(self._node_clusters) - 1
            self._strongest.add(u[inside], v[inside], -weights[inside], largest)
        u, v = u[inside].astype(np.int64), v[inside].astype(np.int64)
        # Whether the left end comes after the right one is the last bit.
        keys = np.minimum(u, v) << 32 | np.maximum(u, v) << 1 | (u > v)
        self._keys.append(_distinct(keys))

    def _links(self) -> NDArray[np.int64]:
        """Return a key of each different link, ascending."""
        if len(self._keys) > 1:
            self._keys = [_distinct(np.concatenate(self._keys))]
        return self._keys[0]

    def measures(self) -> dict[str, Any]:
        sizes = self._sizes
        count = np.bincount(self._node_clusters[self._links() >> 32], minlength=len(sizes))
        possible = sizes * (sizes - 1.0) / 2
        density = np.divide(count, possible, out=np.ones(len(sizes)), where=possible > 0)
        return {"size": sizes, "pairs": count, "density": density}

    def bridges(self, ids: list[Any]) -> dict[str, Any]:
        """Return each cluster's number of bridges, and the one that divides it most evenly."""
        keys = self._links()
        low, high, nodes = keys >> 32, (keys & 0xFFFFFFFF) >> 1, len(self._node_clusters)
        arcs = np.concatenate([low << 32 | high, high << 32 | low])
        arcs.sort()
        indptr = np.zeros(nodes + 1, np.int64)
        np.cumsum(np.bincount(arcs >> 32, minlength=nodes), out=indptr[1:])
        targets = (arcs & 0xFFFFFFFF).astype(np.int32)
        parents, cut = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
        native.bridges_of_csr(indptr, targets, parents, cut)
        ends = np.flatnonzero(cut)
        sides, bridge_clusters = cut[ends], self._node_clusters[ends]
        low, high = np.minimum(ends, parents[ends]), np.maximum(ends, parents[ends])
        most = self._last(bridge_clusters, np.lexsort((-high, -low, sides)))
        place = np.searchsorted(keys, low << 32 | high << 1)
        swapped = (keys[place] & 1).astype(np.bool_)
        return {
            "bridges": np.bincount(bridge_clusters, minlength=len(self._sizes)),
            "cut_off": np.append(sides, 0)[most],
            **_ends("bridge_left", ids, np.where(swapped, high, low), most),
            **_ends("bridge_right", ids, np.where(swapped, low, high), most),
        }

    def weakest(self, ids: list[Any]) -> dict[str, Any]:
        links = self._strongest.edges()
        u, v = links.ends
        last = self._last(self._node_clusters[u], np.argsort(links.weights, kind="stable"))
        return {
            "weakest": np.append(-links.weights, np.nan)[last],
            **_ends("weakest_left", ids, u, last),
            **_ends("weakest_right", ids, v, last),
        }

    def _last(self, link_clusters: NDArray[np.int32], order: NDArray[Any]) -> NDArray[np.int64]:
        """Return the last link of each cluster in an order, or -1."""
        last = np.full(len(self._sizes), -1)
        last[link_clusters[order]] = order
        return last


def _distinct(keys: NDArray[np.int64]) -> Any:
    """Sort keys of links in place; return the first key of each link."""
    keys.sort()  # faster than `numpy.unique`, which hashes
    return keys[np.diff(keys >> 1, prepend=-1) != 0]


def _ends(name: str, ids: list[Any], ends: NDArray[Any], rows: NDArray[np.int64]) -> dict[str, Any]:
    """Return the ids at the ends of links; without a link, null, or masked in NumPy."""
    missing = rows < 0
    places = np.append(ends, 0)[rows].astype(np.int64)
    if isinstance(ids[0], np.ndarray):
        return by_part(name, [np.ma.MaskedArray(part[places], missing) for part in ids])
    places = arrow().array(places, mask=missing)
    return by_part(name, [taken(part, places) for part in ids])
