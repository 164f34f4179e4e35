"""From edges to graphs, and the lattice that mazes and roads are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_bool
from conncomp.generate._arguments import array_library, check_seed, index_dtype
from conncomp.generate.random import Purpose, permutation
from conncomp.graph import Graph

Vertices = NDArray[Any]


def graph_of_edges(
    num_vertices: int,
    u: Vertices,
    v: Vertices,
    *,
    directed: bool = False,
    shuffle: bool = False,
    seed: int = 0,
    simple: bool = False,
    device: str | None = None,
) -> Graph:
    """Return the graph with an arc u -> v for each edge and, unless it is `directed`, v -> u.

    Edges keep their order, loops and multiple ones too unless the graph is to be `simple`.
    `shuffle` renames the vertices at random.
    """
    xp, dtype = array_library(device), index_dtype(num_vertices)
    if as_bool("simple", simple):
        u, v = _simplify(xp, num_vertices, u, v)
    check_seed(seed)
    if as_bool("shuffle", shuffle):
        names = permutation(num_vertices, seed=seed, purpose=Purpose.SHUFFLE, device=device)
        u, v = names[u], names[v]
    if directed:
        arcs = u.astype(dtype, copy=False), v.astype(dtype, copy=False)
        return graph_of_parts(num_vertices, arcs=arcs, symmetric=None, device=device)
    src = xp.empty(2 * len(u), dtype)
    dst = xp.empty_like(src)
    # In this order, rows of edges that come sorted with u < v are sorted too.
    src[: len(u)], src[len(u) :] = v, u
    dst[: len(u)], dst[len(u) :] = u, v
    return graph_of_parts(num_vertices, arcs=(src, dst), device=device)


def graph_of_parts(
    num_vertices: int,
    *,
    arcs: tuple[Vertices, Vertices] | None = None,
    csr: tuple[Vertices, Vertices] | None = None,
    symmetric: bool | None = True,
    device: str | None,
) -> Graph:
    """Return the graph of arcs or compressed rows on the `device`."""
    if device != "cuda":
        return Graph._of_checked(num_vertices, arcs=arcs, csr=csr, symmetric=symmetric)
    graph = Graph.from_edges(*arcs, num_vertices) if arcs else Graph.from_csr(*(csr or ()))
    graph._parts.symmetric = symmetric
    return graph


def _simplify(xp: Any, num_vertices: int, u: Vertices, v: Vertices) -> tuple[Vertices, Vertices]:
    """Drop loops and all but one of equal edges, which leaves the edges sorted."""
    keys = xp.minimum(u, v).astype(np.int64)
    keys *= num_vertices
    keys += xp.maximum(u, v)
    keys = keys[u != v]
    keys.sort()
    first = xp.ones(len(keys), np.bool_)
    first[1:] = keys[1:] != keys[:-1]
    keys = keys[first]
    dtype = index_dtype(num_vertices)
    return (keys // num_vertices).astype(dtype), (keys % num_vertices).astype(dtype)


def repeat(xp: Any, values: NDArray[Any], counts: NDArray[Any]) -> Any:
    """Return ``numpy.repeat(values, counts)``, which not every version of CuPy has."""
    if xp is np:
        return np.repeat(values, counts)
    ends = xp.cumsum(counts)
    places = xp.arange(int(ends[-1]) if len(ends) else 0)
    return values[xp.searchsorted(ends, places, side="right")]


def count_each(xp: Any, values: NDArray[Any], high: int) -> Any:
    """Return how often each integer below `high` occurs among `values`."""
    if xp is np:
        return np.bincount(values, minlength=high)
    # CuPy's bincount takes memory for a thousand tables of `high` counts.
    begins = xp.searchsorted(xp.sort(values), xp.arange(high + 1))
    return begins[1:] - begins[:-1]


def lattice_edges(xp: Any, rows: int, columns: int) -> tuple[Vertices, Vertices, NDArray[np.bool_]]:
    """Return the edges of a square lattice, as three arrays of shape (rows, columns, 2).

    From each vertex u leads an edge to the vertex v to its right and one to the vertex below,
    which `exists` unless the lattice ends there.
    """
    u = xp.arange(rows * columns, dtype=index_dtype(rows * columns)).reshape(rows, columns, 1)
    v = u + xp.array([1, columns], u.dtype)
    exists = xp.ones(v.shape, np.bool_)
    exists[:, -1, 0] = exists[-1, :, 1] = False
    return xp.broadcast_to(u, v.shape), v, exists


def spanning_tree(rows: int, columns: int, seed: int) -> NDArray[np.bool_]:
    """Return which of `lattice_edges` are in the minimum spanning tree of random weights."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    u, v, exists = lattice_edges(np, rows, columns)
    ranks = permutation(int(exists.sum()), seed=seed, purpose=Purpose.TREE)
    weights = ranks + 1.0  # distinct, and not 0, which would mean no edge
    size = rows * columns
    tree = minimum_spanning_tree(coo_array((weights, (u[exists], v[exists])), shape=(size, size)))
    chosen = np.zeros(len(ranks), np.bool_)
    chosen[tree.data.astype(np.int64) - 1] = True
    inside = np.zeros(exists.shape, np.bool_)
    inside[exists] = chosen[ranks]
    return inside


def hilbert_path(xp: Any, order: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the ``4**order`` points of the Hilbert curve, in its order."""
    x = y = xp.zeros(1, np.int32)
    for level in range(order):
        side = np.int32(1 << level)
        following = xp.concatenate([x, y + side, y + side, side - 1 - x])
        x, y = xp.concatenate([y, x, x + side, 2 * side - 1 - y]), following
    return x, y
