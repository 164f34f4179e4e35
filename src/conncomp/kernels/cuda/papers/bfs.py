"""Kernel 3 of Hawick, Leist and Playne: drives ``bfs.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.graph.edges import rows_from_both_ends
from conncomp.kernels.cuda.launcher import COUNT, Gpu, Templates, launch
from conncomp.kernels.cuda.papers.blocks import THREADS_OF_BLOCK
from conncomp.kernels.cuda.workspace import Workspace

KERNELS = Templates(
    "cuda/papers/bfs.cuh",
    "bfs_start<{index}>",
    "bfs_sweep<{pointer}, {vertex}, {index}>",
    "bfs_seek<{index}>",
    indices="pointer vertex index",
)
specialisations = KERNELS.modules
SEEK_THREADS = 1024
OPTIONS = {"block": THREADS_OF_BLOCK}
BYTE = np.dtype(np.uint8)


def fill_roots(gpu: Gpu, graph: Any, roots: Any, workspace: Workspace, *, block: int = 256) -> Any:
    """Fill `roots`; rows from both ends are made first if the graph is not symmetric."""
    indptr, indices = rows_from_both_ends(gpu, graph)
    start, reach, seek = KERNELS.load(gpu, indptr.dtype, indices.dtype, roots.dtype)
    count = graph.num_vertices
    *frontiers, searches, last_change = workspace.take(
        gpu, (count, BYTE), (count, BYTE), (2, COUNT), LAST_CHANGE
    )
    by_block = gpu.grid(count, block)

    def seek_after(number: int) -> None:
        next_frontier = frontiers[(number + 1) % 2]
        launch(seek, (1, SEEK_THREADS), count, roots, next_frontier, searches, last_change, number)

    def sweep(number: int) -> None:
        frontier, next_frontier = frontiers[number % 2], frontiers[(number + 1) % 2]
        rows = count, indptr, indices, roots
        launch(reach, by_block, *rows, frontier, next_frontier, last_change, number)
        seek_after(number)

    launch(start, gpu.grid(count), count, roots, *frontiers, searches, last_change)
    seek_after(-1)
    sweep_until_settled(sweep, last_change)
    return searches[1:]
