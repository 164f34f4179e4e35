"""Kernel 2 of Hawick, Leist and Playne: drives ``vertex_propagation.cuh``."""

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
from conncomp.kernels.cuda.structs import POINTER, Struct
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/vertex_propagation.cuh"
THREADS = 256
BYTE = np.dtype(np.uint8)

ROWS = {"cached": "kCached", "shared": "kShared", "sorted": "kSorted"}
FRONTIERS = Struct("Frontiers", now=POINTER, next=POINTER)
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
    rows : {"cached", "shared", "sorted"}, optional
        Where a thread learns where its row begins and ends: through the cache, or from the shared
        memory of its block. "sorted" deals rows to threads in the order of their lengths, longest
        first; each call sorts them, which allocates.

    Returns
    -------
    array of int64, shape (1,)
        The number of components, in `workspace`.
    """
    indptr, indices = rows_from_both_ends(gpu, graph)
    names = _names(rows, indptr.dtype, indices.dtype, roots.dtype)
    start, propagate, count_components = gpu.load(FILE, names)
    count = graph.num_vertices
    first, second, components, last_change = workspace.take(
        gpu, (count, BYTE), (count, BYTE), (1, COUNT), LAST_CHANGE
    )
    by_vertex, by_block = ((gpu.blocks(count, n), n) for n in (THREADS, block))
    xp = gpu.xp
    by_degree = xp.argsort(indptr[:-1] - indptr[1:]) if rows == "sorted" else None

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


@cache
def _names(
    rows: str, pointer: np.dtype[Any], vertex: np.dtype[Any], index: np.dtype[Any]
) -> tuple[str, ...]:
    types = ", ".join(map(ctype, (pointer, vertex, index)))
    return (
        f"start_alone<{ctype(index)}>",
        f"vertex_propagation<conncomp::RowsOfBlock::{ROWS[rows]}, {types}>",
        f"count_components<{ctype(index)}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_roots` can load."""
    for rows, *types in product(ROWS, *[INDEX_TYPES] * 3):
        yield FILE, _names(rows, *types)
