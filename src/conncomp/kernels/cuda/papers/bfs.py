"""Kernel 3 of Hawick, Leist and Playne: drives ``bfs.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.graph.edges import rows_from_both_ends
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, launch
from conncomp.kernels.cuda.papers.blocks import THREADS_OF_BLOCK
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/bfs.cuh"
THREADS, SEEK_THREADS = 256, 1024
OPTIONS = {"block": THREADS_OF_BLOCK}
BYTE = np.dtype(np.uint8)


def fill_roots(gpu: Gpu, graph: Any, roots: Any, workspace: Workspace, *, block: int = 256) -> Any:
    """Fill `roots` with the smallest vertex of each vertex's component.

    It waits for the GPU.

    Parameters
    ----------
    gpu : Gpu
    graph : Graph
        On this GPU. If it is not symmetric, rows that are get made first.
    roots : array, shape (num_vertices,)
    workspace : Workspace
    block : int, optional
        How many threads of a sweep are a block: a multiple of 32, up to 512.

    Returns
    -------
    array of int64, shape (1,)
        The number of components, in `workspace`.
    """
    indptr, indices = rows_from_both_ends(gpu, graph)
    start, reach, seek = gpu.load(FILE, _names(indptr.dtype, indices.dtype, roots.dtype))
    count = graph.num_vertices
    *frontiers, searches, last_change = workspace.take(
        gpu, (count, BYTE), (count, BYTE), (2, COUNT), LAST_CHANGE
    )
    by_vertex, by_block = ((gpu.blocks(count, n), n) for n in (THREADS, block))

    def seek_after(number: int) -> None:
        next_frontier = frontiers[(number + 1) % 2]
        launch(seek, (1, SEEK_THREADS), count, roots, next_frontier, searches, last_change, number)

    def sweep(number: int) -> None:
        frontier, next_frontier = frontiers[number % 2], frontiers[(number + 1) % 2]
        arguments = count, indptr, indices, roots, frontier, next_frontier, last_change, number
        launch(reach, by_block, *arguments)
        seek_after(number)

    launch(start, by_vertex, count, roots, *frontiers, searches, last_change)
    seek_after(-1)
    sweep_until_settled(sweep, last_change)
    return searches[1:]


@cache
def _names(pointer: np.dtype[Any], vertex: np.dtype[Any], index: np.dtype[Any]) -> tuple[str, ...]:
    return (
        f"bfs_start<{ctype(index)}>",
        f"bfs_sweep<{ctype(pointer)}, {ctype(vertex)}, {ctype(index)}>",
        f"bfs_seek<{ctype(index)}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_roots` can load."""
    for types in product(INDEX_TYPES, repeat=3):
        yield FILE, _names(*types)
