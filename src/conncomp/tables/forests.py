"""The edges of a graph that are left of many: forests of parts, and of what is left of parts.

What: an edge that closes a circle in a part of a graph closes one in the whole, so that the forest
of all is that of the forests of all parts. With weights, the heaviest edge of a circle is left out,
of equal ones the last. How: `spanning_forest` and `minimum_spanning_forest` of a part's edges in
their order, among vertices that are renumbered if they are few of many. Cost: that of these for
each part, and for the fewer edges that are left. Source: A. Karger, P. Klein, R. Tarjan, "A
randomized linear-time algorithm to find minimum spanning trees", Journal of the ACM 42, 1995.
"""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.graph.forests import minimum_spanning_forest, spanning_forest
from conncomp.graph.graph import Graph

# How many times as many vertices as edges may be, so that vertices keep their numbers.
SPARSE = 4


class Edges(NamedTuple):
    """Edges that are left of consecutive ones."""

    numbers: NDArray[np.int64]  # which they are of these, ascending
    ends: tuple[NDArray[Any], NDArray[Any]]
    weights: NDArray[Any] | None
    rows: int  # of how many they are left
    largest: int  # vertex of all, or -1

    def take(self, chosen: Any) -> Edges:
        """Return some of the edges."""
        weights = None if self.weights is None else self.weights[chosen]
        src, dst = self.ends
        return self._replace(
            numbers=self.numbers[chosen], ends=(src[chosen], dst[chosen]), weights=weights
        )


def all_of(src: NDArray[Any], dst: NDArray[Any], weights: Any, largest: int) -> Edges:
    """Return edges of which none has been left out."""
    return Edges(np.arange(len(src)), (src, dst), weights, len(src), largest)


def joined(*parts: Edges) -> Edges:
    """Return the edges of consecutive parts."""
    first = np.cumsum([0, *(part.rows for part in parts)])
    weights = [part.weights for part in parts if part.weights is not None]
    src, dst = (np.concatenate([part.ends[side] for part in parts]) for side in (0, 1))
    return Edges(
        np.concatenate([part.numbers + begin for part, begin in zip(parts, first, strict=False)]),
        (src, dst),
        np.concatenate(weights) if weights else None,
        int(first[-1]),
        max(part.largest for part in parts),
    )


def forest_of(edges: Edges) -> Edges:
    """Return the edges of the forest: of the least numbers, or first of the least weight."""
    src, dst = edges.ends
    vertices = edges.largest + 1
    if vertices > SPARSE * max(len(src), 1):
        distinct, ends = np.unique(np.stack([src, dst]), return_inverse=True)
        (src, dst), vertices = ends.reshape(2, -1), len(distinct)
    graph = Graph.from_edges(src, dst, num_vertices=vertices)
    if edges.weights is None:
        return edges.take(spanning_forest(graph))
    return edges.take(minimum_spanning_forest(graph, edges.weights))


def forest_of_parts(*parts: Edges) -> Edges:
    """Return the forest of the edges of consecutive parts."""
    return forest_of(joined(*parts))


# Links beyond those of the forest that are kept before a new forest is made.
FEWEST_LINKS, LINKS_A_NODE = 1 << 20, 2

SIGN = 1 << 63
ORDER = (SIGN, SIGN - 1, SIGN)  # masks of WeightOrder for float64


class StrongestLinks:
    """A maximum spanning forest of links of at least some weight."""

    def __init__(self, lowest: float = -np.inf) -> None:
        self._lowest = lowest
        self._batches: list[tuple[NDArray[Any], ...]] = []
        self._count = 0

    def add(self, u: Any, v: Any, weights: Any, nodes: int) -> None:
        """Add links between nodes, of which there are so many."""
        kept = (weights >= self._lowest) & (u != v)
        self._batches.append((u[kept], v[kept], weights[kept]))
        self._count += len(self._batches[-1][0])
        if self._count > FEWEST_LINKS + (LINKS_A_NODE + 1) * nodes:
            self._batches = [self.forest(nodes)]
            self._count = len(self._batches[0][0])

    def forest(self, nodes: int) -> tuple[NDArray[Any], ...]:
        """Return both ends and the weights of the links of the forest."""
        if not self._batches:
            return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
        u, v, weights = (np.concatenate(parts) for parts in zip(*self._batches, strict=True))
        bits = (-weights).view(np.uint64)
        chosen = native.minimum_forest_of_arcs(u, v, nodes, bits, ORDER, secrets.randbits(64))
        return u[chosen], v[chosen], weights[chosen]

    def divide(self, nodes: int, most: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the first node of each one's cluster, and by first nodes where it was divided."""
        u, v, weights = self.forest(nodes)
        order = np.argsort(-weights, kind="stable")
        roots, divided = np.empty(nodes, np.int32), np.full(nodes, np.nan)
        native.divide_clusters(u[order], v[order], weights[order], most, roots, divided)
        return roots, divided
