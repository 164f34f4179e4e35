"""NetworkX's functions for spanning trees, of converted graphs.

Of edges of equal weight Kruskal's algorithm takes the one that NetworkX lists first. Edges are
numbered in that order here, so the least forest by weight and number is the same, in the same
order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, compress
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from conncomp.graph import Graph, minimum_spanning_forest
from conncomp.networkx.conversion import ConvertedGraph, in_blocks, paused_collector

# Integers up to it are floats, too.
EXACT_FLOATS = 1 << 53


class Edges(NamedTuple):
    """The edges of a graph in the order in which NetworkX lists them."""

    ends: tuple[NDArray[Any], NDArray[Any]]  # the one whose row has the edge first, and the other
    keys: list[Any] | None  # of each edge of a multigraph, among those of the same ends
    data: list[dict[Any, Any]]


def list_edges(graph: ConvertedGraph) -> Edges:
    """List the edges of an undirected graph, each by that row of the two which comes first."""
    indptr, targets = graph.csr
    sources = np.repeat(np.arange(len(graph), dtype=targets.dtype), np.diff(indptr))
    first = sources <= targets
    src, dst = sources[first], targets[first]
    data = list(compress(chain.from_iterable(map(dict.values, graph.rows)), first.tolist()))
    if len(data) != len(src):
        raise RuntimeError("the graph was changed since it was converted; convert it again")
    if not graph.is_multigraph():
        return Edges((src, dst), None, data)
    many = np.fromiter(map(len, data), np.int64, len(data))
    keys = list(chain.from_iterable(data))
    data = list(chain.from_iterable(map(dict.values, data)))
    return Edges((np.repeat(src, many), np.repeat(dst, many)), keys, data)


def weights_of(edges: Edges, weight: Any) -> NDArray[Any]:
    """Return weights, 1 by default, as integers or floats; raise if they are not exact."""
    weights = [data.get(weight, 1) for data in edges.data]
    kinds = set(map(type, weights))
    if not all(issubclass(kind, int | float | np.integer | np.floating) for kind in kinds):
        raise NotImplementedError("weights must be integers and floats")
    if not kinds:
        return np.empty(0)
    if kinds == {float}:
        return np.fromiter(weights, np.float64, len(weights))
    if any(issubclass(kind, float | np.floating) for kind in kinds):
        integers = (int(value) for value in weights if isinstance(value, int | np.integer))
        if max(map(abs, integers), default=0) > EXACT_FLOATS:
            raise NotImplementedError("integers among floats must not exceed 2⁵³")
    array = np.array(weights)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise NotImplementedError("integers must be of 64 bits")
    return array.astype(np.uint8) if array.dtype.kind == "b" else array


def _generate(
    graph: ConvertedGraph, edges: Edges, weights: Any, *, ignore_nan: bool, keys: bool, data: bool
) -> Iterator[tuple[Any, ...]]:
    """Generate the edges of the forest of least weight, perhaps with keys and data."""
    is_nan = np.isnan(weights)
    if is_nan.any() and not ignore_nan:
        (edge,) = _tuples(graph, edges, np.flatnonzero(is_nan)[:1], keys=True, data=True)
        raise ValueError(f"NaN found as an edge weight. Edge {edge}")
    numbers = np.flatnonzero(~is_nan)
    src, dst = (ends[numbers] for ends in edges.ends)
    weights = weights[numbers]
    arcs = minimum_spanning_forest(Graph.from_edges(src, dst, len(graph)), weights)
    by_weight = arcs[np.argsort(weights[arcs], kind="stable")]
    yield from in_blocks(_tuples(graph, edges, numbers[by_weight], keys=keys, data=data))


def _tuples(
    graph: ConvertedGraph, edges: Edges, numbers: NDArray[np.intp], *, keys: bool, data: bool
) -> Iterator[tuple[Any, ...]]:
    """Return edges as NetworkX has them: nodes, then a key, then attributes."""
    columns = [map(graph.nodes.__getitem__, ends[numbers].tolist()) for ends in edges.ends]
    listed = numbers.tolist()
    if keys and edges.keys is not None:
        columns.append(map(edges.keys.__getitem__, listed))
    if data:
        columns.append(map(edges.data.__getitem__, listed))
    return zip(*columns, strict=True)


def _spanning_functions(minimum: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions for the edges, and the tree, of least or greatest weight."""

    def spanning_edges(
        G: ConvertedGraph,
        algorithm: str = "kruskal",
        weight: Any = "weight",
        keys: bool = True,
        data: bool = True,
        ignore_nan: bool = False,
    ) -> Iterator[tuple[Any, ...]]:
        """Generate the edges of a forest; `algorithm` is "kruskal"."""
        if G.is_directed():
            raise nx.NetworkXNotImplemented("not implemented for directed type")
        edges = list_edges(G)
        weights = weights_of(edges, weight)  # refused before anything is generated
        if weights.dtype.kind == "f":
            weights = (weights if minimum else -weights) + 0.0  # turns -0.0 into 0.0
        elif not minimum:
            weights = ~weights  # reverses the order, never overflows
        return _generate(G, edges, weights, ignore_nan=ignore_nan, keys=keys, data=data)

    def spanning_tree(
        G: ConvertedGraph,
        weight: Any = "weight",
        algorithm: str = "kruskal",
        ignore_nan: bool = False,
    ) -> Any:
        """Return a forest as a graph; `algorithm` is "kruskal"."""
        edges = spanning_edges(G, weight=weight, ignore_nan=ignore_nan)
        tree = G.graph_class()
        tree.graph.update(G.attributes)
        with paused_collector():
            tree.add_nodes_from(G.node_attributes.items())
            tree.add_edges_from(edges)
        return tree

    return spanning_edges, spanning_tree


minimum_spanning_edges, minimum_spanning_tree = _spanning_functions(minimum=True)
maximum_spanning_edges, maximum_spanning_tree = _spanning_functions(minimum=False)
