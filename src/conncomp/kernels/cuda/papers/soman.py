"""Hooking after Soman and Wang: drives ``soman.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.graph.edges import list_edges, memory_for_edges
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, launch
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/soman.cuh"
THREADS = 256
BYTE = np.dtype(np.uint8)
OPTIONS = {"jump": ("sweep", "end")}


def fill_roots(
    gpu: Gpu, graph: Any, roots: Any, workspace: Workspace, *, jump: str = "sweep"
) -> Any:
    """Fill `roots` with the smallest vertex of each vertex's component.

    It waits for the GPU.

    Parameters
    ----------
    gpu : Gpu
    graph : Graph
        On this GPU. Of rows, a list of edges is made in `workspace`.
    roots : array, shape (num_vertices,)
    workspace : Workspace
    jump : {"sweep", "end"}, optional
        When pointers are jumped: after every sweep, or once at the end, as by Wang.

    Returns
    -------
    array of int64, shape (1,)
        The number of components, in `workspace`.
    """
    *memory, marked, components, last_change = workspace.take(
        gpu, *memory_for_edges(graph), (graph.num_arcs, BYTE), (1, COUNT), LAST_CHANGE
    )
    src, dst = list_edges(gpu, graph, *memory)
    edges = memory[-1]
    names = _names(src.dtype, roots.dtype, jump == "end")
    start, hook, point, lower, finish = gpu.load(FILE, names)
    count = graph.num_vertices
    by_vertex = gpu.blocks(count, THREADS), THREADS
    by_edge = gpu.blocks(len(src), THREADS), THREADS

    def sweep(number: int) -> None:
        launch(hook, by_edge, edges, src, dst, marked, roots, last_change, number)
        if jump == "sweep":
            launch(point, by_vertex, count, roots, last_change, number)

    marked.fill(0)
    launch(start, by_vertex, count, roots, components, last_change)
    hooking = sweep_until_settled(sweep, last_change)
    if jump == "end" and hooking:
        launch(point, by_vertex, count, roots, last_change, hooking - 1)
    launch(lower, by_vertex, count, roots)
    launch(finish, by_vertex, count, roots, components)
    return components


@cache
def _names(vertex: np.dtype[Any], index: np.dtype[Any], follows: bool) -> tuple[str, ...]:
    return (
        f"start_alone<{ctype(index)}>",
        f"soman_hook<{str(follows).lower()}, {ctype(vertex)}, {ctype(index)}>",
        f"soman_jump<{ctype(index)}>",
        f"soman_lower<{ctype(index)}>",
        f"soman_finish<{ctype(index)}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_roots` can load."""
    for vertex, index, follows in product(INDEX_TYPES, INDEX_TYPES, (False, True)):
        yield FILE, _names(vertex, index, follows)
