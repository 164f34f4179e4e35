"""Kernel 2 of Hawick, Leist and Playne: drives ``vertex_propagation.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from conncomp.gpu import Workspace
from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, launch
from conncomp.kernels.cuda.papers.edges import rows_from_both_ends

FILE = "cuda/papers/vertex_propagation.cuh"
THREADS = 256
BYTE = np.dtype(np.uint8)


def fill_roots(gpu: Gpu, graph: Any, roots: Any, workspace: Workspace) -> Any:
    """Fill `roots` with the smallest vertex of each vertex's component.

    It waits for the GPU.

    Parameters
    ----------
    gpu : Gpu
    graph : Graph
        On this GPU. If it is not symmetric, rows that are get made first.
    roots : array, shape (num_vertices,)
    workspace : Workspace

    Returns
    -------
    array of int64, shape (1,)
        The number of components, in `workspace`.
    """
    indptr, indices = rows_from_both_ends(gpu, graph)
    names = _names(indptr.dtype, indices.dtype, roots.dtype)
    start, propagate, count_components = gpu.load(FILE, names)
    count = graph.num_vertices
    *frontiers, components, last_change = workspace.take(
        gpu, (count, BYTE), (count, BYTE), (1, COUNT), LAST_CHANGE
    )
    by_vertex = gpu.blocks(count, THREADS), THREADS

    def sweep(number: int) -> None:
        frontier, next_frontier = frontiers[number % 2], frontiers[(number + 1) % 2]
        arguments = count, indptr, indices, roots, frontier, next_frontier, last_change, number
        launch(propagate, by_vertex, *arguments)

    frontiers[0].fill(1)
    frontiers[1].fill(0)
    launch(start, by_vertex, count, roots, components, last_change)
    sweep_until_settled(sweep, last_change)
    launch(count_components, by_vertex, count, roots, components)
    return components


@cache
def _names(pointer: np.dtype[Any], vertex: np.dtype[Any], index: np.dtype[Any]) -> tuple[str, ...]:
    return (
        f"start_alone<{ctype(index)}>",
        f"vertex_propagation<{ctype(pointer)}, {ctype(vertex)}, {ctype(index)}>",
        f"count_components<{ctype(index)}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_roots` can load."""
    for types in product(INDEX_TYPES, repeat=3):
        yield FILE, _names(*types)
