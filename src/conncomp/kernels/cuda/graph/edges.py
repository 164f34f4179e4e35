"""Lists of arcs and of edges, and a check of rows, on the GPU: drives ``edges.cuh``."""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple, cast

import numpy as np

from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp.kernels.cuda.launcher import (
    COUNT,
    THREADS,
    DType,
    Gpu,
    Templates,
    first_entry,
    launch,
)
from conncomp.kernels.graph import Ends, GraphArrays, Indices

FILE = "cuda/graph/edges.cuh"
FROM_ROWS = Templates(FILE, "list_edges", symmetric=(False, True), indices="pointer vertex")
ARCS = Templates(FILE, "list_sources", indices="pointer vertex")
CHECK = Templates(FILE, "check_pointers<{pointer}>", "check_indices", indices="pointer vertex")
SPAN = 4096


def memory_for_edges(graph: GraphArrays) -> tuple[tuple[int, DType], ...]:
    """Return the three arrays that `list_edges` wants of a workspace."""
    ends = graph.num_arcs if graph.arcs is None else 0, vertex_dtype(graph)
    return ends, ends, (1, COUNT)


def list_edges(gpu: Gpu, graph: GraphArrays, src: Indices, dst: Indices, edges: Indices) -> Ends:
    """Return the ends of the edges of a graph, and put their number in `edges`.

    They are its arcs, or else made of its rows in the memory of `memory_for_edges`, which may be
    longer: without loops, and once if edges are known to be listed from both ends.
    """
    if graph.arcs is not None:
        edges.fill(graph.num_arcs)
        return graph.arcs
    indptr, indices = graph.rows()
    kernel = FROM_ROWS.one(gpu, bool(graph.symmetric), indptr.dtype, indices.dtype)
    edges.fill(0)
    grid = gpu.grid(len(indices), each=SPAN // THREADS)
    launch(kernel, grid, graph.num_vertices, len(indices), indptr, indices, src, dst, edges)
    return src, dst


def rows_from_both_ends(gpu: Gpu, graph: GraphArrays) -> Ends:
    """Return `indptr` and `indices` that list every arc from both ends.

    Where the graph has none, they are made, which allocates and waits. A list of arcs counts as not
    symmetric unless known to be.
    """
    if graph.symmetric if graph.csr is None else graph.is_symmetric():
        return graph.rows()
    xp = gpu.xp
    src, dst, edges = (xp.empty(*part) for part in memory_for_edges(graph))
    src, dst = list_edges(gpu, graph, src, dst, edges)
    count = first_entry(edges)
    src, dst = src[:count], dst[:count]
    arcs = xp.concatenate((src, dst)), xp.concatenate((dst, src))
    return rows_of_arcs(xp, *arcs, graph.num_vertices)


def rows_of_arcs(xp: Any, src: Indices, dst: Indices, num_vertices: int) -> Ends:
    """Return a list of arcs as `indptr` and `indices`; `xp` is the library of the arrays."""
    order = xp.argsort(src)
    indptr = xp.searchsorted(src[order], xp.arange(num_vertices + 1, dtype=src.dtype))
    return indptr.astype(INDEX_TYPES[len(src) > INT32_MAX], copy=False), dst[order]


def vertex_dtype(graph: GraphArrays) -> DType:
    """Return the type of the ends of a graph's arcs."""
    return cast(DType, (graph.csr or graph.lists)[1].dtype)


def memory_for_sources(graph: GraphArrays) -> tuple[int, DType]:
    """Return the array that `list_arcs` wants of a workspace."""
    return 0 if graph.csr is None else graph.num_arcs, vertex_dtype(graph)


def list_arcs(gpu: Gpu, graph: GraphArrays, sources: Indices) -> Ends:
    """Return the sources of all arcs, of rows in `sources`, and the targets, in order."""
    if graph.csr is None:
        return graph.lists
    indptr, targets = graph.csr
    kernel = ARCS.one(gpu, indptr.dtype, targets.dtype)
    grid = gpu.grid(len(targets), each=SPAN // THREADS)
    launch(kernel, grid, graph.num_vertices, len(targets), indptr, sources)
    return sources, targets


class GraphCheck(NamedTuple):
    """Whether rows are no graph, and whether each arc has its reverse."""

    wrong: bool
    symmetric: bool


def check_rows(gpu: Gpu, indptr: Indices, indices: Indices) -> GraphCheck:
    """Check that `indptr` and `indices`, on the GPU, are a graph; waits for the result."""
    pointers, arcs = CHECK.load(gpu, indptr.dtype, indices.dtype)
    check = gpu.xp.array([0, -1, 0, 0], np.int64)
    vertices = len(indptr) - 1
    launch(pointers, gpu.grid(vertices), vertices, len(indices), indptr, check)
    grid = gpu.grid(len(indices), each=SPAN // THREADS)
    key = np.uint64(secrets.randbits(64))
    launch(arcs, grid, vertices, len(indices), indptr, indices, key, check)
    smallest, largest, wrong, imbalance = check.tolist()
    return GraphCheck(bool(wrong or smallest < 0 or largest >= vertices), imbalance == 0)
