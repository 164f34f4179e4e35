"""Spanning forests of graphs that come in parts.

An edge that closes a cycle in a part of a graph also closes one in the whole graph. So the forest
of the graph is the forest of the forests of its parts. With weights, the heaviest edge of each
cycle is left out, and among equal ones the last. Source: A. Karger, P. Klein, R. Tarjan, "A
randomized linear-time algorithm to
find minimum spanning trees", Journal of the ACM 42, 1995.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.graph.forests import minimum_spanning_forest, spanning_forest
from conncomp.graph.graph import Graph
from conncomp.graph.inputs.parts import excess

# Vertices are renumbered if there are more of them than this many per edge.
SPARSE = 4


class Edges(NamedTuple):
    """Those edges that are left of a sequence of edges."""

    numbers: NDArray[np.int64]  # their places in the sequence, ascending
    ends: tuple[NDArray[Any], NDArray[Any]]
    weights: NDArray[Any] | None
    rows: int  # the length of the sequence
    largest: int  # vertex of the sequence, or -1

    def take(self, chosen: Any) -> Edges:
        """Return some of the edges."""
        weights = None if self.weights is None else self.weights[chosen]
        src, dst = self.ends
        ends = src[chosen], dst[chosen]
        return self._replace(numbers=self.numbers[chosen], ends=ends, weights=weights)


def all_of(src: NDArray[Any], dst: NDArray[Any], weights: Any, largest: int) -> Edges:
    """Return a sequence of edges, with none left out."""
    return Edges(np.arange(len(src)), (src, dst), weights, len(src), largest)


def joined(*parts: Edges) -> Edges:
    """Return the edges of consecutive parts."""
    first = np.cumsum([0, *(part.rows for part in parts)])
    weights = [part.weights for part in parts if part.weights is not None]
    src, dst = (np.concatenate([part.ends[side] for part in parts]) for side in (0, 1))
    numbers = [part.numbers + begin for part, begin in zip(parts, first, strict=False)]
    rows, largest = int(first[-1]), max(part.largest for part in parts)
    weighed = np.concatenate(weights) if weights else None
    return Edges(np.concatenate(numbers), (src, dst), weighed, rows, largest)


def forest_of(edges: Edges) -> Edges:
    """Return the edges of the forest with the least numbers, or with the least weights."""
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


def as_vertices(ends: NDArray[Any], name: str, where: str = "") -> tuple[NDArray[Any], int]:
    """Return a column of integers as vertices, and the largest of them, or -1.

    Errors begin with `where`, the place of the column.
    """
    if ends.dtype.kind not in "iu":
        raise TypeError(f"{where}the column of {name} is of {ends.dtype}, not of integers")
    if not len(ends):
        return ends.astype(np.int32), -1
    # Read as unsigned, negative values are the largest, so one pass finds both.
    largest = int(ends.view(f"u{ends.dtype.itemsize}").max())
    if largest > np.iinfo(f"i{ends.dtype.itemsize}").max and ends.dtype.kind == "i":
        raise ValueError(f"{where}the column of {name} holds {ends.min()}, a negative vertex")
    if largest > np.iinfo(np.int64).max:
        raise ValueError(f"{where}the column of {name} holds {largest}, too large for a vertex")
    if ends.dtype.kind == "i" and ends.dtype.itemsize >= 4:
        return ends, largest
    return ends.astype(np.int32 if ends.dtype.itemsize < 4 else np.int64), largest


def count_vertices(largest: int, num_vertices: int | None, rows: int, where: str = "") -> int:
    """Return the number of vertices; raise if `rows` edges hardly have so many."""
    if num_vertices is not None:
        if largest < num_vertices:
            return num_vertices
        raise ValueError(f"{where}an edge has the end {largest}; {num_vertices=} must be larger")
    if problem := excess(largest + 1, rows):
        raise ValueError(
            f"{where}an edge has the end {largest}, which makes {problem}; give num_vertices if so "
            "many are meant, or use cluster_pairs for ids of any size"
        )
    return largest + 1
