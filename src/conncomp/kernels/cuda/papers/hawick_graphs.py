"""Kernels 1 to 3 of Hawick, Leist and Playne, for graphs.

Drives ``edge_propagation.cuh``, ``vertex_propagation.cuh`` and ``bfs.cuh``. Kernels 2 and 3 make
rows from both ends first if a graph is not symmetric, Kernel 1 lists edges where there are rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.graph.edges import list_edges, memory_for_edges, rows_from_both_ends
from conncomp.kernels.cuda.launcher import COUNT, DeviceArray, Gpu, Templates, launch
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace

ROWS = {"cached": "kCached", "shared": "kShared", "sorted": "kSorted"}
BY_EDGES = Templates(
    "cuda/papers/edge_propagation.cuh",
    "start_alone<{index}>",
    "edge_propagation",
    "count_components<{index}>",
    indices="vertex index",
)
BY_VERTICES = Templates(
    "cuda/papers/vertex_propagation.cuh",
    "start_alone<{index}>",
    "vertex_propagation<conncomp::RowsOfBlock::{rows}, {pointer}, {vertex}, {index}>",
    "count_components<{index}>",
    rows=ROWS,
    indices="pointer vertex index",
)
BFS = Templates(
    "cuda/papers/bfs.cuh",
    "bfs_start<{index}>",
    "bfs_sweep",
    "bfs_seek<{index}>",
    indices="pointer vertex index",
)
# Threads with an edge or a vertex each, as the paper compares them: the default, then the others.
THREADS_OF_BLOCK = (256, *(n for n in range(32, 513, 32) if n != 256))
OPTIONS = {"block": THREADS_OF_BLOCK}
VERTEX_OPTIONS = {**OPTIONS, "rows": tuple(ROWS)}
SEEK_THREADS = 1024
BYTE = np.dtype(np.uint8)
FRONTIERS = Struct("Frontiers", "now next")


def fill_by_edges(
    gpu: Gpu, graph: Any, roots: DeviceArray, workspace: Workspace, *, block: int = 256
) -> DeviceArray:
    """Fill `roots` by Kernel 1."""
    parts = *memory_for_edges(graph), (1, COUNT), LAST_CHANGE
    *memory, components, last_change = workspace.take(gpu, *parts)
    src, dst = list_edges(gpu, graph, *memory)
    start, propagate, count_components = BY_EDGES.load(gpu, src.dtype, roots.dtype)
    count = graph.num_vertices
    by_vertex, by_edge = gpu.grid(count), gpu.grid(len(src), block)
    launch(start, by_vertex, count, roots, components, last_change)
    sweep = partial(launch, propagate, by_edge, memory[-1], src, dst, roots, last_change)
    sweep_until_settled(sweep, last_change)
    launch(count_components, by_vertex, count, roots, components)
    return components


def fill_by_vertices(
    gpu: Gpu,
    graph: Any,
    roots: DeviceArray,
    workspace: Workspace,
    *,
    block: int = 256,
    rows: str = "cached",
) -> DeviceArray:
    """Fill `roots` by Kernel 2; sorting rows by their lengths allocates in each call."""
    indptr, indices = rows_from_both_ends(gpu, graph)
    dtypes, count = (indptr.dtype, indices.dtype, roots.dtype), graph.num_vertices
    start, propagate, count_components = BY_VERTICES.load(gpu, rows, *dtypes)
    parts = (count, BYTE), (count, BYTE), (1, COUNT), LAST_CHANGE
    first, second, components, last_change = workspace.take(gpu, *parts)
    by_vertex, by_block = gpu.grid(count), gpu.grid(count, block)
    by_degree = gpu.xp.argsort(indptr[:-1] - indptr[1:]) if rows == "sorted" else None
    turns = (first, second), (second, first)
    frontiers = [FRONTIERS.of(gpu, now=now, next=then) for now, then in turns]
    arguments = count, indptr, indices, by_degree, roots

    def sweep(number: int) -> None:
        launch(propagate, by_block, *arguments, frontiers[number % 2], last_change, number)

    first.fill(1)
    second.fill(0)
    launch(start, by_vertex, count, roots, components, last_change)
    sweep_until_settled(sweep, last_change)
    launch(count_components, by_vertex, count, roots, components)
    return components


def fill_by_bfs(gpu: Gpu, graph: Any, roots: Any, workspace: Workspace, *, block: int = 256) -> Any:
    """Fill `roots` by Kernel 3."""
    indptr, indices = rows_from_both_ends(gpu, graph)
    start, reach, seek = BFS.load(gpu, indptr.dtype, indices.dtype, roots.dtype)
    count = graph.num_vertices
    parts = (count, BYTE), (count, BYTE), (2, COUNT), LAST_CHANGE
    *frontiers, searches, last_change = workspace.take(gpu, *parts)
    by_block = gpu.grid(count, block)

    def seek_after(number: int) -> None:
        next_frontier = frontiers[(number + 1) % 2]
        launch(seek, (1, SEEK_THREADS), count, roots, next_frontier, searches, last_change, number)

    def sweep(number: int) -> None:
        now, then = frontiers[number % 2], frontiers[(number + 1) % 2]
        launch(reach, by_block, count, indptr, indices, roots, now, then, last_change, number)
        seek_after(number)

    launch(start, gpu.grid(count), count, roots, *frontiers, searches, last_change)
    seek_after(-1)
    sweep_until_settled(sweep, last_change)
    return searches[1:]
