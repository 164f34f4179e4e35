"""The default for graphs on the GPU: rows by ``blocked_afforest.cuh``, lists of arcs by ecl.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.graph import ecl
from conncomp.kernels.cuda.launcher import COUNT, THREADS, WARP, DeviceArray, Gpu, Templates, launch
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.graph import GraphArrays

KERNELS = Templates(
    "cuda/graph/blocked_afforest.cuh",
    "unite_blocks<{ends[0]}, {ends[1]}, {pointer}, {vertex}, {index}>",
    "sample_arcs<{ends[0]}, {pointer}, {vertex}, {index}>",
    "guess_giant<{ends[0]}, {index}>",
    "unite_remainder<{ends[0]}, {pointer}, {vertex}, {index}>",
    "unite_long<{ends[0]}, {pointer}, {vertex}, {index}>",
    "ecl_finish<3, {index}>",
    # Whether rows are symmetric, and vertices start under their lowest neighbours.
    ends={
        (False, False): ("false", "false"),
        (True, False): ("true", "false"),
        (True, True): ("true", "true"),
    },
    indices="pointer vertex index",
)
LOCAL_THREADS, GUESSERS = 1024, 256
MID_ROW, HUB = 128, 4096
VERTEX_BYTES = 4 + 2 * 4 / WARP  # of shared memory, in a block
# Two blocks that unite vertices share a multiprocessor, which keeps a kilobyte of each. With more
# arcs per vertex than MANY_ARCS, few stay in a block: smaller ones are faster. With fewer, vertices
# start under their lowest neighbours.
BLOCKS_TOGETHER, RESERVED = 2, 1024
MANY_ARCS = 7
# With many arcs and so few vertices per thread, all threads would unite the same few growing
# components, and wait for each other at their roots. So an eighth of the vertices begins.
FEW_VERTICES = 8
ALL_WORDS, FEW_WORDS, OTHER_WORDS, HALF_OF_SCATTERED = range(4)
# In graphs of more vertices whose mean number of arcs is above this, and not above MANY_ARCS, one
# more neighbour of half of the vertices makes a giant, if there is one.
POSTPONING_FROM, SOME_ARCS = 1 << 16, 3
BITS = np.dtype(np.uint32)
REMAINDER_BYTES, BYTE = 64, np.dtype(np.uint8)


def fill_roots(gpu: Gpu, graph: GraphArrays, roots: DeviceArray, workspace: Workspace) -> Any:
    """Fill `roots` with the smallest vertex of each vertex's component; return how many."""
    # Where an arc leads from is told by a difference, which numbers of its type must hold.
    if graph.csr is None or graph.num_vertices > np.iinfo(graph.csr[1].dtype).max:
        return ecl.fill_roots(gpu, graph, roots, workspace)
    indptr, indices = graph.csr
    count, arcs = graph.num_vertices, len(indices)
    symmetric = bool(graph.symmetric)
    types = indptr.dtype, indices.dtype, roots.dtype
    unite_blocks, sample, guess, unite_remainder, unite_long, flatten = KERNELS.load(
        gpu, (symmetric, symmetric and arcs <= MANY_ARCS * count), *types
    )
    words = -(-count // WARP)
    # A row of d > HUB arcs has ceil(d / HUB) parts, each two numbers.
    of_rows = (min(count, arcs // MID_ROW), roots.dtype), (4 * (arcs // HUB), roots.dtype)
    open_, long_rows, parts, remainder, components = workspace.take(
        gpu, (words, BITS), *of_rows, (REMAINDER_BYTES, BYTE), (1, COUNT)
    )
    span = _span(gpu, count, arcs)
    shared = int(span * VERTEX_BYTES)
    rows = indptr, indices, roots
    blocks = max(1, -(-count // span)), LOCAL_THREADS
    launch(unite_blocks, blocks, count, span, *rows, open_, remainder, components, shared=shared)
    if count:
        vertices = gpu.grid(words * WARP)
        sampled = *rows, open_, remainder
        is_dense = SOME_ARCS * count < arcs <= MANY_ARCS * count
        postpones = symmetric and is_dense and count > POSTPONING_FROM
        if arcs > MANY_ARCS * count and count <= FEW_VERTICES * gpu.resident_threads:
            launch(sample, vertices, count, span, FEW_WORDS, *sampled)
            launch(flatten, vertices, count, roots, components)
            launch(sample, vertices, count, span, OTHER_WORDS, *sampled)
        else:
            stage = HALF_OF_SCATTERED if postpones else ALL_WORDS
            launch(sample, vertices, count, span, stage, *sampled)
        guessers = vertices if postpones else (1, GUESSERS)  # who may point all to their roots
        launch(guess, guessers, count, arcs, roots, remainder, components)
        launch(unite_remainder, vertices, count, *rows, open_, remainder, long_rows, parts)
        if arcs > MID_ROW:
            grid = gpu.resident_threads // THREADS, THREADS
            launch(unite_long, grid, *rows, remainder, long_rows, parts)
        launch(flatten, vertices, count, roots, components)
    return components


def _span(gpu: Gpu, count: int, arcs: int) -> int:
    """Return how many vertices a block takes, so that all blocks have work to the end.

    Where not all run at once they take turns, and the last turn must not have only a few.
    """
    blocks = BLOCKS_TOGETHER * (2 if arcs > MANY_ARCS * count else 1)
    most = max(WARP, int((gpu.shared_memory // blocks - RESERVED) / VERTEX_BYTES) // WARP * WARP)
    at_once = blocks * gpu.multiprocessors
    turns = max(1, -(-count // (at_once * most)))
    fair = max(LOCAL_THREADS, -(-count // (at_once * turns)))
    return min(most, -(-fair // WARP) * WARP)
