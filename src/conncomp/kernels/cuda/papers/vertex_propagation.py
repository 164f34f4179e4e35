"""Kernel 2 of Hawick, Leist and Playne: drives ``vertex_propagation.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.graph.edges import rows_from_both_ends
from conncomp.kernels.cuda.launcher import COUNT, Gpu, Templates, launch
from conncomp.kernels.cuda.papers.blocks import THREADS_OF_BLOCK
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace

ROWS = {"cached": "kCached", "shared": "kShared", "sorted": "kSorted"}
KERNELS = Templates(
    "cuda/papers/vertex_propagation.cuh",
    "start_alone<{index}>",
    "vertex_propagation<conncomp::RowsOfBlock::{rows}, {pointer}, {vertex}, {index}>",
    "count_components<{index}>",
    rows=ROWS,
    indices="pointer vertex index",
)
specialisations = KERNELS.modules
BYTE = np.dtype(np.uint8)

FRONTIERS = Struct("Frontiers", "now next")
OPTIONS = {"block": THREADS_OF_BLOCK, "rows": tuple(ROWS)}


def fill_roots(
    gpu: Gpu,
    graph: Any,
    roots: Any,
    workspace: Workspace,
    *,
    block: int = 256,
    rows: str = "cached",
) -> Any:
    """Fill `roots`, making rows from both ends first if the graph is not symmetric.

    Sorting rows by their lengths allocates in each call.
    """
    indptr, indices = rows_from_both_ends(gpu, graph)
    kind = rows, indptr.dtype, indices.dtype, roots.dtype
    start, propagate, count_components = KERNELS.load(gpu, *kind)
    count = graph.num_vertices
    first, second, components, last_change = workspace.take(
        gpu, (count, BYTE), (count, BYTE), (1, COUNT), LAST_CHANGE
    )
    by_vertex, by_block = gpu.grid(count), gpu.grid(count, block)
    by_degree = gpu.xp.argsort(indptr[:-1] - indptr[1:]) if rows == "sorted" else None
    frontiers = [
        FRONTIERS.of(gpu, now=now, next=then) for now, then in ((first, second), (second, first))
    ]

    def sweep(number: int) -> None:
        rows = count, indptr, indices, by_degree
        launch(propagate, by_block, *rows, roots, frontiers[number % 2], last_change, number)

    first.fill(1)
    second.fill(0)
    launch(start, by_vertex, count, roots, components, last_change)
    sweep_until_settled(sweep, last_change)
    launch(count_components, by_vertex, count, roots, components)
    return components
