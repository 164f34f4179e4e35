"""Division by forward and backward searches: drives ``forward_backward.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count as numbers
from itertools import product
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.graph.arcs import list_arcs, memory_for_sources, vertex_dtype
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, first_entry, launch
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/forward_backward.cuh"
THREADS, KINDS = 256, 4
BITS = np.dtype(np.uint32)


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
    count, arcs, vertex = graph.num_vertices, graph.num_arcs, vertex_dtype(graph)
    start, mark, trim, seek, sweep, split, move, count_roots = gpu.load(
        FILE, _names(vertex, roots.dtype)
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
    by_vertex, by_arc = ((gpu.blocks(pieces, THREADS), THREADS) for pieces in (count, arcs))

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


@cache
def _names(vertex: np.dtype[Any], index: np.dtype[Any]) -> tuple[str, ...]:
    of_vertex, of_both = ctype(vertex), f"{ctype(vertex)}, {ctype(index)}"
    return (
        f"divide_start<{of_vertex}>",
        f"divide_mark<{of_vertex}>",
        f"divide_trim<{of_both}>",
        f"divide_seek<{of_vertex}>",
        f"divide_sweep<{of_vertex}>",
        f"divide_split<{of_both}>",
        f"divide_move<{of_vertex}>",
        f"count_components<{ctype(index)}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_roots` can load."""
    for types in product(INDEX_TYPES, repeat=2):
        yield FILE, _names(*types)
