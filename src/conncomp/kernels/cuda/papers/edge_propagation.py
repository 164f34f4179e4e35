"""Kernel 1 of Hawick, Leist and Playne: drives ``edge_propagation.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.graph.edges import list_edges, memory_for_edges
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, launch
from conncomp.kernels.cuda.papers.blocks import THREADS_OF_BLOCK
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/edge_propagation.cuh"
THREADS = 256
OPTIONS = {"block": THREADS_OF_BLOCK}


def fill_roots(gpu: Gpu, graph: Any, roots: Any, workspace: Workspace, *, block: int = 256) -> Any:
    """Fill `roots` with the smallest vertex of each vertex's component.

    It waits for the GPU.

    Parameters
    ----------
    gpu : Gpu
    graph : Graph
        On this GPU. Of rows, a list of edges is made in `workspace`.
    roots : array, shape (num_vertices,)
    workspace : Workspace
    block : int, optional
        How many threads of a sweep are a block: a multiple of 32, up to 512.

    Returns
    -------
    array of int64, shape (1,)
        The number of components, in `workspace`.
    """
    *memory, components, last_change = workspace.take(
        gpu, *memory_for_edges(graph), (1, COUNT), LAST_CHANGE
    )
    src, dst = list_edges(gpu, graph, *memory)
    edges = memory[-1]
    start, propagate, count_components = gpu.load(FILE, _names(src.dtype, roots.dtype))
    count = graph.num_vertices
    by_vertex = gpu.blocks(count, THREADS), THREADS
    by_edge = gpu.blocks(len(src), block), block

    def sweep(number: int) -> None:
        launch(propagate, by_edge, edges, src, dst, roots, last_change, number)

    launch(start, by_vertex, count, roots, components, last_change)
    sweep_until_settled(sweep, last_change)
    launch(count_components, by_vertex, count, roots, components)
    return components


@cache
def _names(vertex: np.dtype[Any], index: np.dtype[Any]) -> tuple[str, ...]:
    return (
        f"start_alone<{ctype(index)}>",
        f"edge_propagation<{ctype(vertex)}, {ctype(index)}>",
        f"count_components<{ctype(index)}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_roots` can load."""
    for types in product(INDEX_TYPES, repeat=2):
        yield FILE, _names(*types)
