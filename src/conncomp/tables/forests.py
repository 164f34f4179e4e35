"""The edges of a graph that are left of many: forests of parts, and of what is left of parts.

An edge that closes a circle in a part of a graph closes one in the whole, so that the forest of all
is that of the forests of all parts. With weights, the heaviest edge of a circle is left out, of
equal ones the last. Source: A. Karger, P. Klein, R. Tarjan, "A randomized linear-time algorithm to
find minimum spanning trees", Journal of the ACM 42, 1995.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.graph.forests import minimum_spanning_forest, spanning_forest
from conncomp.graph.graph import Graph
from conncomp.graph.inputs.parts import excess

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
        ends = src[chosen], dst[chosen]
        return self._replace(numbers=self.numbers[chosen], ends=ends, weights=weights)


def all_of(src: NDArray[Any], dst: NDArray[Any], weights: Any, largest: int) -> Edges:
    """Return edges of which none has been left out."""
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


def as_vertices(ends: NDArray[Any], name: str, where: str = "") -> tuple[NDArray[Any], int]:
    """Return a column of integers as vertices, and the largest; -1 of none.

    Errors begin with `where` the column is.
    """
    if ends.dtype.kind not in "iu":
        raise TypeError(f"{where}the column of {name} is of {ends.dtype}, not of integers")
    if not len(ends):
        return ends.astype(np.int32), -1
    # As unsigned numbers, negative ones are the largest: one pass finds out about both.
    largest = int(ends.view(f"u{ends.dtype.itemsize}").max())
    if largest > np.iinfo(f"i{ends.dtype.itemsize}").max and ends.dtype.kind == "i":
        raise ValueError(f"{where}the column of {name} holds {ends.min()}, a negative vertex")
    if largest > np.iinfo(np.int64).max:
        raise ValueError(f"{where}the column of {name} holds {largest}, too large for a vertex")
    if ends.dtype.kind == "i" and ends.dtype.itemsize >= 4:
        return ends, largest
    return ends.astype(np.int32 if ends.dtype.itemsize < 4 else np.int64), largest


def count_vertices(largest: int, num_vertices: int | None, rows: int, where: str = "") -> int:
    """Return how many vertices so many edges have; raise if these are more than are meant."""
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
