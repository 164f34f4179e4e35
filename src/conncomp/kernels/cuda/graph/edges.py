"""Lists of edges, and rows that list every arc from both ends: drives ``edges.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp._arguments import INT32_MAX
from conncomp.kernels.cuda.launcher import (
    COUNT,
    INDEX_TYPES,
    THREADS,
    Gpu,
    Templates,
    first_entry,
    launch,
)

KERNELS = Templates(
    "cuda/graph/edges.cuh",
    "list_edges<{symmetric}, {pointer}, {vertex}>",
    symmetric=(False, True),
    pointer=INDEX_TYPES,
    vertex=INDEX_TYPES,
)
specialisations = KERNELS.modules
SPAN = 4096


def memory_for_edges(graph: Any) -> tuple[tuple[int, np.dtype[Any]], ...]:
    """Return what `list_edges` wants to be taken from a workspace: three arrays."""
    if graph._arcs is None:
        room, vertex = len(graph._rows()[1]), graph._rows()[1].dtype
    else:
        room, vertex = 0, graph._arcs[0].dtype
    return (room, vertex), (room, vertex), (1, COUNT)


def list_edges(gpu: Gpu, graph: Any, src: Any, dst: Any, edges: Any) -> tuple[Any, Any]:
    """Return the ends of the edges of a graph: its list of arcs, or else one made of its rows.

    The latter lies in `src` and `dst`, the memory of `memory_for_edges`; it has no loops, and an
    edge that is known to be listed from both ends once. The number of edges is put in `edges`: the
    arrays may be longer.
    """
    if graph._arcs is not None:
        edges.fill(len(graph._arcs[0]))
        return graph._arcs  # type: ignore[no-any-return]
    indptr, indices = graph._csr
    (kernel,) = KERNELS.load(gpu, bool(graph._symmetric), indptr.dtype, indices.dtype)
    edges.fill(0)
    grid = gpu.grid(len(indices), each=SPAN // THREADS)
    arguments = graph.num_vertices, len(indices), indptr, indices, src, dst, edges
    launch(kernel, grid, *arguments)
    return src, dst


def rows_from_both_ends(gpu: Gpu, graph: Any) -> tuple[Any, Any]:
    """Return `indptr` and `indices` that list every arc from both ends.

    Those of the graph if it is symmetric. Whether it is, is looked up for rows; a list of arcs is
    taken not to be unless that is known. Others are made, which allocates and waits.
    """
    if graph._symmetric if graph._csr is None else graph.is_symmetric():
        return graph._rows()  # type: ignore[no-any-return]
    xp = gpu.xp
    src, dst, edges = (xp.empty(*part) for part in memory_for_edges(graph))
    src, dst = list_edges(gpu, graph, src, dst, edges)
    count = first_entry(edges)
    src, dst = src[:count], dst[:count]
    arcs = xp.concatenate((src, dst)), xp.concatenate((dst, src))
    return rows_of_arcs(xp, *arcs, graph.num_vertices)


def rows_of_arcs(xp: Any, src: Any, dst: Any, num_vertices: int) -> tuple[Any, Any]:
    """Return a list of arcs as `indptr` and `indices`; `xp` is the library of the arrays."""
    order = xp.argsort(src)
    starts = xp.arange(num_vertices + 1, dtype=src.dtype)
    indptr = xp.searchsorted(src[order], starts)
    return indptr.astype(INDEX_TYPES[len(src) > INT32_MAX], copy=False), dst[order]
