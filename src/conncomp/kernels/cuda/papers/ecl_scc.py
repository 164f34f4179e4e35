"""ECL-SCC: drives ``ecl_scc.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, SMALL_BATCH, sweep_until_settled
from conncomp.kernels.cuda.graph.arcs import list_arcs, memory_for_sources, vertex_dtype
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, first_entry, launch
from conncomp.kernels.cuda.structs import POINTER, Struct
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/ecl_scc.cuh"
THREADS, ROOTS_THREADS = 512, 256
EXTREMES = Struct("Extremes<int32_t>", entries=POINTER)


def fill_roots(gpu: Gpu, graph: Any, roots: Any, workspace: Workspace) -> Any:
    """Fill `roots` with the smallest vertex of each vertex's strong component.

    It waits for the GPU.

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
    count, vertex, arcs = graph.num_vertices, vertex_dtype(graph), graph.num_arcs
    start, sweep, drop, finish, count_roots = gpu.load(FILE, _names(vertex, roots.dtype))
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
        grid = gpu.blocks(max(arcs, vertices_to_start), THREADS), THREADS
        listed = arcs, sources, targets
        ends = *listed, extremes
        launch(start, grid, vertices_to_start, *ends, last_change, kept, components)
        if arcs == 0:
            break
        sweep_until_settled(
            partial(launch, sweep, grid, *ends, last_change), last_change, SMALL_BATCH
        )
        launch(drop, grid, *listed, extremes, *next_list, kept)
        arcs, vertices_to_start = first_entry(kept), 0
        (sources, targets), next_list, spare_list = next_list, spare_list, next_list
    by_vertex = gpu.blocks(count, THREADS), THREADS
    launch(finish, by_vertex, count, extremes, roots)
    launch(count_roots, (gpu.blocks(count, ROOTS_THREADS), ROOTS_THREADS), count, roots, components)
    return components


@cache
def _names(vertex: np.dtype[Any], index: np.dtype[Any]) -> tuple[str, ...]:
    return (
        f"ecl_scc_start<{ctype(vertex)}>",
        f"ecl_scc_sweep<{ctype(vertex)}>",
        f"ecl_scc_drop<{ctype(vertex)}>",
        f"ecl_scc_finish<{ctype(vertex)}, {ctype(index)}>",
        f"count_components<{ctype(index)}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_roots` can load."""
    for types in product(INDEX_TYPES, repeat=2):
        yield FILE, _names(*types)
