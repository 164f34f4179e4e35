"""From edges to graphs, and the lattice that mazes and roads are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.generate._arguments import index_dtype
from conncomp.generate.random import Purpose, permutation
from conncomp.graph import Graph

Vertices = NDArray[Any]


def graph_of_edges(
    num_vertices: int,
    u: Vertices,
    v: Vertices,
    *,
    shuffle: bool = False,
    seed: int = 0,
    simple: bool = False,
) -> Graph:
    """Return the graph with an arc in each direction for each edge (u, v).

    Edges are kept in their order, also loops and multiple ones unless the graph is to be `simple`.
    `shuffle` gives the vertices new names at random.
    """
    if simple:
        u, v = _simplify(num_vertices, u, v)
    if shuffle:
        names = permutation(num_vertices, seed=seed, purpose=Purpose.SHUFFLE)
        u, v = names[u], names[v]
    edges = len(u)
    src = np.empty(2 * edges, index_dtype(num_vertices))
    dst = np.empty_like(src)
    # In this order, rows of edges that come sorted with u < v are sorted too.
    src[:edges], src[edges:] = v, u
    dst[:edges], dst[edges:] = u, v
    return Graph(num_vertices, arcs=(src, dst), symmetric=True)


def _simplify(num_vertices: int, u: Vertices, v: Vertices) -> tuple[Vertices, Vertices]:
    """Drop loops and all but one of equal edges, which leaves the edges sorted."""
    keys = np.minimum(u, v).astype(np.int64)
    keys *= num_vertices
    keys += np.maximum(u, v)
    keys = keys[u != v]
    keys.sort()
    if len(keys):
        keys = keys[np.append(True, keys[1:] != keys[:-1])]
    dtype = index_dtype(num_vertices)
    return (keys // num_vertices).astype(dtype), (keys % num_vertices).astype(dtype)


def lattice_edges(rows: int, columns: int) -> tuple[Vertices, Vertices, NDArray[np.bool_]]:
    """Return the edges of a square lattice, as three arrays of shape (rows, columns, 2).

    From each vertex u leads an edge to the vertex v to its right and one to the vertex below,
    which `exists` unless the lattice ends there.
    """
    u = np.arange(rows * columns, dtype=index_dtype(rows * columns)).reshape(rows, columns, 1)
    v = u + np.array([1, columns], u.dtype)
    exists = np.ones(v.shape, np.bool_)
    exists[:, -1, 0] = exists[-1, :, 1] = False
    return np.broadcast_to(u, v.shape), v, exists


def spanning_tree(rows: int, columns: int, seed: int) -> NDArray[np.bool_]:
    """Return which of `lattice_edges` are in the minimum spanning tree of random weights."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    u, v, exists = lattice_edges(rows, columns)
    ranks = permutation(int(exists.sum()), seed=seed, purpose=Purpose.TREE)
    weights = ranks + 1.0  # distinct, and not 0, which would mean no edge
    size = rows * columns
    tree = minimum_spanning_tree(coo_array((weights, (u[exists], v[exists])), shape=(size, size)))
    chosen = np.zeros(len(ranks), np.bool_)
    chosen[tree.data.astype(np.int64) - 1] = True
    inside = np.zeros(exists.shape, np.bool_)
    inside[exists] = chosen[ranks]
    return inside
