"""Strong components by ECL-SCC, and by searches: ``ecl_scc.cuh`` and ``forward_backward.cuh``."""

from __future__ import annotations

from functools import partial
from itertools import count as numbers
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, SMALL_BATCH, sweep_until_settled
from conncomp.kernels.cuda.graph.edges import list_arcs, memory_for_sources, vertex_dtype
from conncomp.kernels.cuda.launcher import COUNT, DeviceArray, Gpu, Templates, first_entry, launch
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace

ECL_SCC = Templates(
    "cuda/papers/ecl_scc.cuh",
    *(f"ecl_scc_{kernel}<{{vertex}}>" for kernel in ("start", "sweep", "drop")),
    "ecl_scc_finish",
    "count_components<{index}>",
    indices="vertex index",
)
DIVISION = Templates(
    "cuda/papers/forward_backward.cuh",
    "divide_start<{vertex}>",
    "divide_mark<{vertex}>",
    "divide_trim",
    "divide_seek<{vertex}>",
    "divide_sweep<{vertex}>",
    "divide_split",
    "divide_move<{vertex}>",
    "count_components<{index}>",
    indices="vertex index",
)
THREADS = 512
EXTREMES = Struct("Extremes<int32_t>", "entries")
KINDS = 4
BITS = np.dtype(np.uint32)


def fill_by_ecl_scc(gpu: Gpu, graph: Any, roots: DeviceArray, workspace: Workspace) -> DeviceArray:
    """Fill `roots` by ECL-SCC."""
    count, vertex, arcs = graph.num_vertices, vertex_dtype(graph), graph.num_arcs
    start, sweep, drop, finish, count_roots = ECL_SCC.load(gpu, vertex, roots.dtype)
    room, one = (arcs, vertex), (1, COUNT)
    entries, own_sources, *lists, last_change, kept, components = workspace.take(
        gpu, (2 * count, vertex), memory_for_sources(graph), *(room,) * 4, LAST_CHANGE, one, one
    )
    sources, targets = list_arcs(gpu, graph, own_sources)
    extremes = EXTREMES.of(gpu, entries=entries)
    next_list, spare_list = lists[:2], lists[2:]
    fresh = count
    while True:
        grid = gpu.grid(max(arcs, fresh), THREADS)
        launch(start, grid, fresh, arcs, sources, targets, extremes, last_change, kept, components)
        if arcs == 0:
            break
        search = partial(launch, sweep, grid, arcs, sources, targets, extremes, last_change)
        sweep_until_settled(search, last_change, SMALL_BATCH)
        launch(drop, grid, arcs, sources, targets, extremes, *next_list, kept)
        arcs, fresh = first_entry(kept), 0
        (sources, targets), next_list, spare_list = next_list, spare_list, next_list
    launch(finish, gpu.grid(count, THREADS), count, extremes, roots)
    launch(count_roots, gpu.grid(count), count, roots, components)
    return components


def fill_by_division(gpu: Gpu, graph: Any, roots: DeviceArray, workspace: Workspace) -> DeviceArray:
    """Fill `roots` by forward and backward searches."""
    count, arcs, vertex = graph.num_vertices, graph.num_arcs, vertex_dtype(graph)
    start, mark, trim, seek, sweep, split, move, count_all = DIVISION.load(gpu, vertex, roots.dtype)
    of_vertices, one = ((count, vertex), (count, BITS), (KINDS * count, vertex)), (1, COUNT)
    classes, reached, smallest, own_sources, last_change, left, components = workspace.take(
        gpu, *of_vertices, memory_for_sources(graph), LAST_CHANGE, one, one
    )
    sources, targets = list_arcs(gpu, graph, own_sources)
    by_vertex, by_arc = map(gpu.grid, (count, arcs))
    state = classes, reached, smallest

    def search(number: int) -> None:
        launch(sweep, by_arc, arcs, sources, targets, classes, reached, last_change, number)

    for turn in numbers():
        launch(start, by_vertex, count, turn, *state, last_change, left, components)
        launch(mark, by_arc, arcs, sources, targets, classes, reached)
        launch(trim, by_vertex, count, *state, roots)
        launch(seek, by_vertex, count, *state)
        sweep_until_settled(search, last_change)
        launch(split, by_vertex, count, *state, roots, left)
        if not first_entry(left):
            break
        launch(move, by_vertex, count, *state)
    launch(count_all, by_vertex, count, roots, components)
    return components
