"""Graphs with a place in space: lines, stars, grids, roads, triangulations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_bool, check_choice
from conncomp.generate import _edges
from conncomp.generate._arguments import (
    array_library,
    check_int,
    check_real,
    check_shape,
    index_dtype,
)
from conncomp.generate.random import Purpose, integers, uniform
from conncomp.graph import Graph
from conncomp.grid._arguments import check_periodic


def line(
    num_vertices: int, *, shuffle: bool = False, seed: int = 0, device: str | None = None
) -> Graph:
    """Make a line: every vertex is connected to the one before and the one after.

    Parameters
    ----------
    num_vertices : int
    shuffle : bool, optional
        Whether to give the vertices new names at random.
    seed : int, optional
    device : {None, "cpu", "cuda"}, optional
        "cuda" makes the same graph on the GPU, of CuPy arrays.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.line(4).indices
    array([1, 0, 2, 1, 3, 2], dtype=int32)
    """
    n = check_int("num_vertices", num_vertices, 1)
    ids = array_library(device).arange(n, dtype=index_dtype(n))
    return _edges.graph_of_edges(n, ids[:-1], ids[1:], shuffle=shuffle, seed=seed, device=device)


def star(num_vertices: int, hub: int = 0, *, device: str | None = None) -> Graph:
    """Make a star: one hub, connected to all other vertices.

    Parameters
    ----------
    num_vertices : int
    hub : int, optional
        Which vertex is the hub; ``-1`` is the last one.
    device
        As for `line`.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.star(4, hub=2).indptr
    array([0, 1, 2, 5, 6])
    """
    n = check_int("num_vertices", num_vertices, 1)
    centre = check_int("hub", hub, -n, n - 1) % n
    xp = array_library(device)
    ids = xp.arange(n, dtype=index_dtype(n))
    rim = ids[ids != centre]
    return _edges.graph_of_edges(n, xp.full_like(rim, centre), rim, device=device)


def grid(
    shape: int | Sequence[int],
    periodic: bool | Sequence[bool] = False,
    *,
    shuffle: bool = False,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Make a grid: vertices at the points of an array, connected along every axis.

    Parameters
    ----------
    shape : int or sequence of int
        Vertices are numbered in C order.
    periodic : bool or sequence of bool, optional
        Which axes close on themselves. An axis shorter than 3 is closed already.
    shuffle, seed, device
        As for `line`.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.grid((3, 4)).num_arcs
    34
    >>> generate.grid((3, 4), periodic=(True, False)).num_arcs
    42
    """
    lengths = check_shape(shape)
    closed = check_periodic(periodic, len(lengths), "shape")
    n = math.prod(lengths)
    xp = array_library(device)
    ids = xp.arange(n, dtype=index_dtype(n)).reshape(lengths)
    ends = []
    for axis, length in enumerate(lengths):
        along = xp.moveaxis(ids, axis, 0)
        last = length if closed[axis] and length > 2 else length - 1
        ends.append((along[:last].ravel(), xp.roll(along, -1, axis=0)[:last].ravel()))
    u, v = map(xp.concatenate, zip(*ends, strict=True))
    return _edges.graph_of_edges(n, u, v, shuffle=shuffle, seed=seed, device=device)


def road_like(
    shape: Sequence[int],
    keep: float = 0.6,
    *,
    segments: int = 1,
    connected: bool = False,
    shuffle: bool = False,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Make a road network: a square lattice with some of its edges, each a chain of segments.

    Parameters
    ----------
    shape : sequence of two int
        Rows and columns of junctions.
    keep : float, optional
        The probability that a road exists.
    segments : int, optional
        A road consists of 1 to `segments` edges, each number equally likely.
    connected : bool, optional
        Whether to keep the roads of a random spanning tree, found on the CPU, first, and then as
        many others as give the share `keep`, or none.
    shuffle, seed, device
        As for `line`. In order, a junction is followed by the vertices of its roads to the right
        and down.

    Examples
    --------
    >>> from conncomp import connected_components, generate
    >>> roads = generate.road_like((50, 60), 0.55, segments=5, connected=True)
    >>> connected_components(roads, return_labels=False)
    1
    >>> round(roads.num_arcs / roads.num_vertices, 1)
    2.1
    """
    rows, columns = check_shape(shape, 2)
    share = check_real("keep", keep, 0, 1)
    longest = check_int("segments", segments, 1)
    xp = array_library(device)
    u, v, kept = _edges.lattice_edges(xp, rows, columns)
    if as_bool("connected", connected):
        tree = xp.asarray(_edges.spanning_tree(rows, columns, seed))
        total, inside = int(kept.sum()), int(tree.sum())
        share = (share * total - inside) / max(total - inside, 1)
    drawn = uniform(u.size, seed=seed, purpose=Purpose.KEEP, device=device)
    kept &= (drawn < share).reshape(u.shape)
    if connected:
        kept |= tree
    u, v = u[kept], v[kept]  # in the order of u

    # Junction j is renamed past the vertices inside the roads of junctions before it.
    length = integers(len(u), longest, seed=seed, purpose=Purpose.SIZE, device=device) + 1
    before = xp.zeros(len(u) + 1, np.int64)  # vertices inside the roads before each one
    before[1:] = xp.cumsum(length - 1)
    junction = xp.arange(rows * columns)
    names = junction + before[xp.searchsorted(u, junction)]
    n = rows * columns + int(before[-1])
    road = _edges.repeat(xp, xp.arange(len(u)), length)
    start = xp.cumsum(length) - length
    position = xp.arange(len(road)) - start[road]  # of an edge along its road
    inner = u[road] + before[road] + position  # the vertex before the edge, unless it is the first
    src = xp.where(position == 0, names[u[road]], inner).astype(index_dtype(n))
    dst = xp.where(position == length[road] - 1, names[v[road]], inner + 1).astype(src.dtype)
    return _edges.graph_of_edges(n, src, dst, shuffle=shuffle, seed=seed, device=device)


def delaunay(
    num_vertices: int,
    order: Literal["random", "strip", "hilbert"] = "random",
    *,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Make the Delaunay triangulation of random points in the unit square.

    It is connected. Its order decides how far apart neighbours lie in memory.

    Parameters
    ----------
    num_vertices : int
        At least 4.
    order : {"random", "strip", "hilbert"}, optional
        How the points are numbered: at random, along horizontal strips a few points high, or along
        a Hilbert curve.
    seed, device
        As for `line`. Made on the CPU and moved: Qhull takes some 6 microseconds a point.

    Examples
    --------
    >>> from conncomp import generate
    >>> mesh = generate.delaunay(1000, "strip")
    >>> round(mesh.num_arcs / mesh.num_vertices, 1)
    6.0
    """
    from scipy.spatial import Delaunay

    n = check_int("num_vertices", num_vertices, 4)
    check_choice("order", order, ("random", "strip", "hilbert"))
    xp = array_library(device)
    points = uniform(2 * n, seed=seed, purpose=Purpose.POINT).reshape(n, 2)
    if order == "strip":
        strip = (points[:, 0] * math.isqrt(n // 4)).astype(np.int64)
        points = points[np.lexsort((points[:, 1], strip))]
    elif order == "hilbert":
        points = points[np.argsort(_hilbert_index(points), kind="stable")]
    indptr, indices = Delaunay(points).vertex_neighbor_vertices
    csr = xp.asarray(indptr.astype(np.int64)), xp.asarray(indices.astype(index_dtype(n)))
    return _edges.graph_of_parts(n, csr=csr, device=device)


def _hilbert_index(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how far along a Hilbert curve, with a few points a cell at most, each point lies."""
    order = math.ceil(math.log2(len(points)) / 2)
    x, y = _edges.hilbert_path(np, order)
    position = np.empty((1 << order, 1 << order), np.int64)
    position[x, y] = np.arange(len(x))
    cell = (points * (1 << order)).astype(np.int64)
    return position[cell[:, 0], cell[:, 1]]
