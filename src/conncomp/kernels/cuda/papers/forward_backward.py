"""Division by forward and backward searches: drives ``forward_backward.cuh``."""

from __future__ import annotations

from itertools import count as numbers
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.graph.edges import list_arcs, memory_for_sources, vertex_dtype
from conncomp.kernels.cuda.launcher import COUNT, Gpu, Templates, first_entry, launch
from conncomp.kernels.cuda.workspace import Workspace

KERNELS = Templates(
    "cuda/papers/forward_backward.cuh",
    "divide_start<{vertex}>",
    "divide_mark<{vertex}>",
    "divide_trim<{vertex}, {index}>",
    "divide_seek<{vertex}>",
    "divide_sweep<{vertex}>",
    "divide_split<{vertex}, {index}>",
    "divide_move<{vertex}>",
    "count_components<{index}>",
    indices="vertex index",
)
specialisations = KERNELS.modules
KINDS = 4
BITS = np.dtype(np.uint32)


def fill_roots(gpu: Gpu, graph: Any, roots: Any, workspace: Workspace) -> Any:
    """Fill `roots` with the smallest vertex of each vertex's strong component."""
    count, arcs, vertex = graph.num_vertices, graph.num_arcs, vertex_dtype(graph)
    start, mark, trim, seek, sweep, split, move, count_roots = KERNELS.load(
        gpu, vertex, roots.dtype
    )
    classes, reached, smallest, sources, last_change, left, components = workspace.take(
        gpu,
        (count, vertex),
        (count, BITS),
        (KINDS * count, vertex),
        memory_for_sources(graph),
        LAST_CHANGE,
        (1, COUNT),
        (1, COUNT),
    )
    ends = list_arcs(gpu, graph, sources)
    by_vertex, by_arc = map(gpu.grid, (count, arcs))

    def search(number: int) -> None:
        launch(sweep, by_arc, arcs, *ends, classes, reached, last_change, number)

    for number in numbers():
        state = classes, reached, smallest
        launch(start, by_vertex, count, number, *state, last_change, left, components)
        launch(mark, by_arc, arcs, *ends, classes, reached)
        launch(trim, by_vertex, count, *state, roots)
        launch(seek, by_vertex, count, *state)
        sweep_until_settled(search, last_change)
        launch(split, by_vertex, count, *state, roots, left)
        if not first_entry(left):
            break
        launch(move, by_vertex, count, *state)
    launch(count_roots, by_vertex, count, roots, components)
    return components
