"""Kernel 1 of Hawick, Leist and Playne: drives ``edge_propagation.cuh``."""

from __future__ import annotations

from typing import Any

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.graph.edges import list_edges, memory_for_edges
from conncomp.kernels.cuda.launcher import COUNT, Gpu, Templates, launch
from conncomp.kernels.cuda.papers.blocks import THREADS_OF_BLOCK
from conncomp.kernels.cuda.workspace import Workspace

KERNELS = Templates(
    "cuda/papers/edge_propagation.cuh",
    "start_alone<{index}>",
    "edge_propagation<{vertex}, {index}>",
    "count_components<{index}>",
    indices="vertex index",
)
specialisations = KERNELS.modules
OPTIONS = {"block": THREADS_OF_BLOCK}


def fill_roots(gpu: Gpu, graph: Any, roots: Any, workspace: Workspace, *, block: int = 256) -> Any:
    """Fill `roots`; of rows, a list of edges is made in `workspace`."""
    *memory, components, last_change = workspace.take(
        gpu, *memory_for_edges(graph), (1, COUNT), LAST_CHANGE
    )
    src, dst = list_edges(gpu, graph, *memory)
    edges = memory[-1]
    start, propagate, count_components = KERNELS.load(gpu, src.dtype, roots.dtype)
    count = graph.num_vertices
    by_vertex = gpu.grid(count)
    by_edge = gpu.grid(len(src), block)

    def sweep(number: int) -> None:
        launch(propagate, by_edge, edges, src, dst, roots, last_change, number)

    launch(start, by_vertex, count, roots, components, last_change)
    sweep_until_settled(sweep, last_change)
    launch(count_components, by_vertex, count, roots, components)
    return components
