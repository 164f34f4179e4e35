"""The default for strong components on the GPU: drives ``strong_components.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from math import sqrt
from typing import Any

import numpy as np

from conncomp.kernels.cuda.graph import blocked_afforest
from conncomp.kernels.cuda.graph.arcs import list_arcs, vertex_dtype
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, WARP, Gpu, ctype, launch
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/graph/strong_components.cuh"
THREADS, MOST_BLOCKS_TOGETHER, SMALLEST_SHARE = 512, 3, 4096
VERTICES_OF_WORD = 16
STATE_BYTES, BYTE = 128, np.dtype(np.uint8)
BITS = np.dtype(np.uint32)
# How often blocks that sweep over arcs meet before they turn to vertices; in graphs that are mostly
# paths, as they have few arcs, much is done so.
ARC_BARRIERS, PATH_DEGREE = (3, 6), 1.125
# How many standard deviations of random graphs the longest of the sampled rows is above the mean
# where a search for a giant is worth its time.
DEVIATIONS = 2.5


def fill_roots(gpu: Gpu, graph: Any, roots: Any, workspace: Workspace) -> Any:
    """Fill `roots` with the smallest vertex of each vertex's strong component.

    Parameters
    ----------
    gpu : Gpu
    graph : Graph
        On this GPU.
    roots : array, shape (num_vertices,)
    workspace : Workspace

    Returns
    -------
    array of int64, shape (1,)
        The number of components, in `workspace`.
    """
    if graph._symmetric:
        return blocked_afforest.fill_roots(gpu, graph, roots, workspace)
    vertices, arcs, vertex = graph.num_vertices, graph.num_arcs, vertex_dtype(graph)
    indptr = None if graph._csr is None else graph._csr[0]
    choose, strong = gpu.load(
        FILE, _names(COUNT if indptr is None else indptr.dtype, vertex, roots.dtype)
    )
    most_blocks = gpu.blocks_together(THREADS, MOST_BLOCKS_TOGETHER)
    *lists, row_ends, bits, searches, signatures, sums, state, components = workspace.take(
        gpu,
        *((arcs, vertex) for _ in range(4)),
        (2 * (vertices + 1), COUNT),
        (-(-max(arcs, vertices) // WARP), BITS),
        (-(-vertices // VERTICES_OF_WORD), BITS),
        (4 * vertices, vertex),
        (most_blocks, COUNT),
        (STATE_BYTES, BYTE),
        (1, COUNT),
    )
    sources, targets = list_arcs(gpu, graph, lists[0])
    least = _least_hub(vertices, arcs)
    launch(choose, (1, THREADS), arcs, indptr, targets, least, state, components)
    work = -(-max(arcs, vertices) // SMALLEST_SHARE)
    grid = max(1, min(most_blocks, work)), THREADS
    are_paths = bool(arcs <= PATH_DEGREE * vertices)
    sizes = (
        vertices,
        arcs,
        ARC_BARRIERS[are_paths],
        np.bool_(are_paths),
        np.bool_(indptr is not None),
    )
    memory = *lists, row_ends, bits, searches, signatures, sums, state
    launch(gpu.together(strong), grid, *sizes, sources, targets, *memory, roots, components)
    return components


def _least_hub(vertices: int, arcs: int) -> int:
    """Return how long a row is that tells of a giant: meshes have none."""
    mean = arcs / max(vertices, 1)
    return int(mean + DEVIATIONS * sqrt(mean)) + 1


@cache
def _names(pointer: np.dtype[Any], vertex: np.dtype[Any], index: np.dtype[Any]) -> tuple[str, ...]:
    return (
        f"choose_pivot<{ctype(pointer)}, {ctype(vertex)}>",
        f"strong_components<{ctype(vertex)}, {ctype(index)}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_roots` can load."""
    for types in product(INDEX_TYPES, repeat=3):
        yield FILE, _names(*types)
