"""ECL-CC on the GPU: drives ``ecl.cuh``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp.kernels.cuda.launcher import COUNT, THREADS, WARP, DeviceArray, Gpu, Templates, launch
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.graph import GraphArrays

FILE = "cuda/graph/ecl.cuh"
COUNTERS_BYTES, BYTE = 4 * 128, np.dtype(np.uint8)
# Threads of one vertex each take a third to nine tenths of the time of those that go on with
# others, but a tenth more in 2-D lattices, which have so many arcs per vertex.
FLAT_ARCS = 3, 4
THREADS_FOR_ARCS = 128  # of one arc each
OPTIONS = {"init": (3, 1, 2), "jump": (4, 1, 2, 3), "finish": (3, 1, 2)}
_CHOICES: dict[str, Any] = {
    **OPTIONS,
    "init": {init: (init, str(init > 1).lower()) for init in OPTIONS["init"]},
    "path": {True: "conncomp::PathTally", False: "conncomp::Uncounted"},
}
ROWS = Templates(
    FILE,
    "ecl_init<{init[0]}, {pointer}, {vertex}, {index}>",
    "ecl_low<{jump}, {both_ends}, {init[1]}, {path}, {pointer}, {vertex}, {index}>",
    "ecl_mid<{jump}, {both_ends}, {path}, {pointer}, {vertex}, {index}>",
    "ecl_high<{jump}, {both_ends}, {path}, {pointer}, {vertex}, {index}>",
    "ecl_finish<{finish}, {index}>",
    **_CHOICES,
    both_ends=(False, True),
    indices="pointer vertex index",
)
ARCS = Templates(
    FILE,
    "ecl_init<1, int32_t, {vertex}, {index}>",
    "ecl_init_arcs<{init[0]}, {vertex}, {index}>",
    "ecl_arcs<{jump}, {path}, {vertex}, {index}>",
    "ecl_finish<{finish}, {index}>",
    **_CHOICES,
    indices="vertex index",
)


def fill_roots(
    gpu: Gpu,
    graph: GraphArrays,
    roots: DeviceArray,
    workspace: Workspace,
    *,
    init: int = 3,
    jump: int = 4,
    finish: int = 3,
    tally: Any = None,
) -> Any:
    """Fill `roots` with the smallest vertex of each vertex's component; return how many.

    `init`, `jump` and `finish` are the variants of the paper's section 5.1: how vertices start, and
    which pointers are jumped while uniting arcs, and at the end. `tally`, int64 of shape (4,), adds
    up the fields of `Paths` for the paths walked while uniting arcs.
    """
    count = graph.num_vertices
    vertices = gpu.grid(count)
    variant = init, jump, finish, tally is not None
    if graph.csr is None:
        src, dst = graph.lists
        start, start_arcs, unite, flatten = ARCS.load(gpu, *variant, src.dtype, roots.dtype)
        counters, components = workspace.take(gpu, (COUNTERS_BYTES, BYTE), (1, COUNT))
        launch(start, vertices, count, None, None, roots, counters, components)
        if init > 1:
            launch(start_arcs, gpu.grid(len(src)), len(src), src, dst, roots)
        one_each = max(1, -(-len(src) // THREADS_FOR_ARCS)), THREADS_FOR_ARCS
        launch(unite, one_each, len(src), src, dst, roots, tally)
    else:
        indptr, indices = graph.csr
        types = indptr.dtype, indices.dtype, roots.dtype
        start, low, mid, high, flatten = ROWS.load(gpu, *variant, bool(graph.symmetric), *types)
        worklist, counters, components = workspace.take(
            gpu, (count, roots.dtype), (COUNTERS_BYTES, BYTE), (1, COUNT)
        )
        launch(start, vertices, count, indptr, indices, roots, counters, components)
        is_flat = FLAT_ARCS[0] * count < len(indices) <= FLAT_ARCS[1] * count
        one_each = max(1, -(-count // THREADS)), THREADS
        united = indptr, indices, roots, worklist, counters, tally
        launch(low, vertices if is_flat else one_each, count, *united)
        launch(mid, gpu.grid(count * WARP), *united)
        launch(high, gpu.grid(count * THREADS), count, *united)
    launch(flatten, vertices, count, roots, components)
    return components


class Paths(NamedTuple):
    """The numbers of paths and of their steps, the longest, and how many have steps."""

    paths: int
    steps: int
    longest: int
    walked: int


def count_paths(gpu: Gpu, graph: GraphArrays, init: int = 3, jump: int = 4) -> Paths:
    """Count the paths walked while uniting the arcs of a graph on this GPU."""
    tally = gpu.xp.zeros(len(Paths._fields), COUNT)
    roots = gpu.xp.empty(graph.num_vertices, INDEX_TYPES[graph.num_vertices > INT32_MAX])
    fill_roots(gpu, graph, roots, Workspace(), init=init, jump=jump, tally=tally)
    return Paths(*tally.tolist())
