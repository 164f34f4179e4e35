"""Spanning forests of graphs that come in parts.

An edge that closes a cycle in a part of a graph closes one in the whole graph, too. So the forest
of the graph is that of its parts' forests. With weights, the heaviest edge of each cycle is left
out, and among equal ones the last. Source: D. R. Karger, P. N. Klein, R. E. Tarjan, "A randomized
linear-time algorithm to find minimum spanning trees", Journal of the ACM 42, 1995.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Graphs are imported in functions: most clusters of pairs need none, and should not wait for them.

# Vertices are renumbered if there are more of them than this many per edge.
SPARSE = 4
# With more edges than this, batches are reduced to their forest.
FEWEST_EDGES, EDGES_A_VERTEX = 1 << 20, 3


class Edges(NamedTuple):
    """The edges left of a sequence of edges."""

    numbers: Any  # their places in the sequence, ascending; None if not asked for
    ends: tuple[NDArray[Any], NDArray[Any]]
    weights: Any  # an array, or None
    rows: int  # the length of the sequence
    largest: int  # vertex of the sequence, or -1

    def take(self, chosen: Any) -> Edges:
        """Return some of the edges."""
        src, dst = (end[chosen] for end in self.ends)
        numbers = None if self.numbers is None else self.numbers[chosen]
        weights = None if self.weights is None else self.weights[chosen]
        return Edges(numbers, (src, dst), weights, self.rows, self.largest)


def all_of(src: NDArray[Any], dst: NDArray[Any], weights: Any, largest: int) -> Edges:
    """Return a sequence of edges, with none left out."""
    return Edges(np.arange(len(src)), (src, dst), weights, len(src), largest)


def joined(*parts: Edges) -> Edges:
    """Return the edges of consecutive parts."""
    first = np.cumsum([0, *(part.rows for part in parts)])
    src, dst = (np.concatenate([part.ends[side] for part in parts]) for side in (0, 1))
    weights = [part.weights for part in parts if part.weights is not None]
    numbered = zip(parts, first, strict=False)
    numbers = [part.numbers + begin for part, begin in numbered if part.numbers is not None]
    rows, largest = int(first[-1]), max(part.largest for part in parts)
    kept, weighed = (np.concatenate(each) if each else None for each in (numbers, weights))
    return Edges(kept, (src, dst), weighed, rows, largest)


def forest_of(edges: Edges) -> Edges:
    """Return the edges of the forest with the least numbers or weights."""
    from conncomp.graph.forests import minimum_spanning_forest, spanning_forest
    from conncomp.graph.graph import Graph

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


class GrowingLeastForest:
    """The forest of the least weight of edges in batches, numbered or not."""

    def __init__(self, weight_type: Any, numbered: bool) -> None:
        self._numbered, self._count, self._largest = numbered, 0, -1
        self._parts: list[Edges] = []
        self.add(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, weight_type), -1)

    def add(self, src: Any, dst: Any, weights: Any, largest: int) -> None:
        """Add edges between vertices up to `largest`."""
        numbers = np.arange(len(src)) if self._numbered else None
        self._parts.append(Edges(numbers, (src, dst), weights, len(src), largest))
        self._count += len(src)
        self._largest = max(self._largest, largest)
        if self._count > FEWEST_EDGES + EDGES_A_VERTEX * (self._largest + 1):
            self._parts = [forest_of_parts(*self._parts)]
            self._count = len(self._parts[0].ends[0])

    def edges(self) -> Edges:
        """Return the edges of the forest."""
        return forest_of_parts(*self._parts)


def as_vertices(ends: NDArray[Any], name: str, where: str = "") -> tuple[NDArray[Any], int]:
    """Return integers as vertices, and the largest, or -1; errors say `where`."""
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
    from conncomp.graph.inputs.parts import excess

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
