"""`cluster_quality`: which clusters to look at again."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp._arrays import library_of
from conncomp.tables.columns import Table, as_columns
from conncomp.tables.growing import ClusterPairs
from conncomp.tables.id_space import taken
from conncomp.tables.links import StrongestLinks
from conncomp.tables.pairs import _columns
from conncomp.tables.results import as_table


def cluster_quality(
    clusters: Any, pairs: Any, left: Any, right: Any = None, *, weights: Any = None
) -> Any:
    """Say how large, how dense and how well connected clusters are.

    Parameters
    ----------
    clusters : table
        With columns ``node`` and ``cluster``, as of `cluster_pairs`.
    pairs, left, right, weights
        As of `cluster_pairs`. Pairs between clusters do not count.

    Returns
    -------
    table
        Of the library of `clusters`, with a row for each cluster, in the order in which they first
        appear there: ``cluster``, ``size``, ``pairs`` (how many different), ``density`` (of
        all that there could be; 1 for a cluster of one), and with `weights` the weakest link, which
        is the lightest of the maximum spanning tree: ``weakest``, its weight, and its ends
        ``weakest_left`` and ``weakest_right``; NaN and null for a cluster of one. Without it the
        cluster falls apart at any higher threshold.

    Raises
    ------
    TypeError, ValueError, ImportError
        As of `cluster_pairs`, and if an id of a pair is not in the table.

    Examples
    --------
    >>> import conncomp
    >>> pairs = {"l": [1, 1, 2, 3], "r": [2, 3, 3, 4], "score": [0.9, 0.8, 0.9, 0.2]}
    >>> table = conncomp.cluster_pairs(pairs, "l", "r")
    >>> quality = conncomp.cluster_quality(table, pairs, "l", "r", weights="score")
    >>> quality["density"], quality["weakest"]
    (array([0.66666667]), array([0.2]))
    """
    table = Table(clusters, "clusters")
    nodes, labels = table.column("node", "clusters"), table.column("cluster", "clusters")
    left, right, weights, _ = _columns(pairs, left, right, weights)
    known = ClusterPairs()
    known.add_nodes(nodes)
    count = len(as_columns(nodes, "clusters")[0])
    if len(known) != count:
        raise ValueError("clusters: a node has more than one row")
    named = ClusterPairs()
    named.add_nodes(labels)
    assert known._space is not None
    of_node = _numbers_of(named, labels)
    links = _Pairs(of_node, weights is not None)
    known._add(left, right, weights, links)
    if len(known) > count:
        extra = known._space.values("numpy")[0][count]
        raise ValueError(f"pairs have the id {extra}, which is not among the nodes of clusters")
    sizes = np.bincount(of_node, minlength=len(named))
    number = links.counts(len(named))
    possible = sizes * (sizes - 1.0) / 2
    density = np.divide(number, possible, out=np.ones(len(named)), where=possible > 0)
    library = library_of(clusters)
    library = library_of(nodes) if library == "builtins" else library
    assert named._space is not None
    columns = {
        "cluster": named._space.values(library)[0],
        "size": sizes,
        "pairs": number,
        "density": density,
    }
    if weights is not None:
        u, v, strength = links.strongest.forest(count)
        order = np.argsort(-strength, kind="stable")  # of each cluster the lightest comes last
        last = np.full(len(named), -1)
        last[of_node[u[order]]] = order
        ids = known._space.values(library)[0]
        has = last >= 0
        columns["weakest"] = np.full(len(named), np.nan)
        columns["weakest"][has] = strength[last[has]]
        for name, ends in (("weakest_left", u), ("weakest_right", v)):
            columns[name] = _ends(ids, ends, last)
    return as_table(columns, library)


def _ends(ids: Any, ends: Any, last: Any) -> Any:
    """Return ids of ends, null where there is no link; of NumPy these are masked."""
    has = last >= 0
    if isinstance(ids, np.ndarray):
        if not len(ids) or not len(ends):
            return np.ma.MaskedArray(np.zeros(len(last), ids.dtype), True)
        return np.ma.MaskedArray(ids[np.where(has, ends[last], 0)], ~has)
    import pyarrow as pa

    places = np.zeros(len(last), np.int64)
    places[has] = ends[last[has]]
    return taken(ids, pa.array(places, mask=~has))


def _numbers_of(named: ClusterPairs, labels: Any) -> Any:
    """Return the number of each row's label among the distinct ones."""
    columns = as_columns(labels, "clusters")
    assert named._space is not None
    kinds = [column.type for column in columns]
    return named._space.add_ids([column.piece(0, len(column)) for column in columns], kinds)


class _Pairs:
    """Pairs within clusters: different ones, and the strongest."""

    def __init__(self, of_node: Any, weighed: bool) -> None:
        self._of_node = of_node
        self._keys: list[Any] = []
        self.strongest = StrongestLinks()
        self._weighed = weighed

    def add(self, u: Any, v: Any, weights: Any, nodes: int) -> None:
        known = len(self._of_node)
        inside = (u < known) & (v < known) & (u != v)
        inside[inside] = self._of_node[u[inside]] == self._of_node[v[inside]]
        u, v = u[inside], v[inside]
        low, high = np.minimum(u, v).astype(np.int64), np.maximum(u, v).astype(np.int64)
        self._keys.append(np.unique(low << 32 | high))
        if self._weighed:
            self.strongest.add(u, v, weights[inside], nodes)

    def counts(self, clusters: int) -> Any:
        keys = np.unique(np.concatenate([np.empty(0, np.int64), *self._keys]))
        return np.bincount(self._of_node[keys >> 32], minlength=clusters)
