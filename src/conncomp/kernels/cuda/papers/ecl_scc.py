"""ECL-SCC: drives ``ecl_scc.cuh``."""

from __future__ import annotations

from functools import partial
from typing import Any

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, SMALL_BATCH, sweep_until_settled
from conncomp.kernels.cuda.graph.edges import list_arcs, memory_for_sources, vertex_dtype
from conncomp.kernels.cuda.launcher import COUNT, Gpu, Templates, first_entry, launch
from conncomp.kernels.cuda.structs import POINTER, Struct
from conncomp.kernels.cuda.workspace import Workspace

KERNELS = Templates(
    "cuda/papers/ecl_scc.cuh",
    *(f"ecl_scc_{kernel}<{{vertex}}>" for kernel in ("start", "sweep", "drop")),
    "ecl_scc_finish<{vertex}, {index}>",
    "count_components<{index}>",
    indices="vertex index",
)
specialisations = KERNELS.modules
THREADS = 512
EXTREMES = Struct("Extremes<int32_t>", entries=POINTER)


def fill_roots(gpu: Gpu, graph: Any, roots: Any, workspace: Workspace) -> Any:
    """Fill `roots` with the smallest vertex of each vertex's strong component."""
    count, vertex, arcs = graph.num_vertices, vertex_dtype(graph), graph.num_arcs
    start, sweep, drop, finish, count_roots = KERNELS.load(gpu, vertex, roots.dtype)
    room = (arcs, vertex)
    entries, own_sources, *lists, last_change, kept, components = workspace.take(
        gpu,
        (2 * count, vertex),
        memory_for_sources(graph),
        *(room,) * 4,
        LAST_CHANGE,
        (1, COUNT),
        (1, COUNT),
    )
    sources, targets = list_arcs(gpu, graph, own_sources)
    extremes = EXTREMES.of(gpu, entries=entries)
    next_list, spare_list = lists[:2], lists[2:]
    vertices_to_start = count
    while True:
        grid = gpu.grid(max(arcs, vertices_to_start), THREADS)
        ends = arcs, sources, targets, extremes
        launch(start, grid, vertices_to_start, *ends, last_change, kept, components)
        if arcs == 0:
            break
        search = partial(launch, sweep, grid, *ends, last_change)
        sweep_until_settled(search, last_change, SMALL_BATCH)
        launch(drop, grid, *ends, *next_list, kept)
        arcs, vertices_to_start = first_entry(kept), 0
        (sources, targets), next_list, spare_list = next_list, spare_list, next_list
    launch(finish, gpu.grid(count, THREADS), count, extremes, roots)
    launch(count_roots, gpu.grid(count), count, roots, components)
    return components
