"""Directed graphs as lists of arcs: drives ``arcs.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import INDEX_TYPES, Gpu, ctype, launch

FILE = "cuda/graph/arcs.cuh"
THREADS, SPAN = 256, 4096


def vertex_dtype(graph: Any) -> np.dtype[Any]:
    """Return the type of the ends of a graph's arcs."""
    ends = graph._arcs if graph._csr is None else graph._csr
    return ends[1].dtype  # type: ignore[no-any-return]


def memory_for_sources(graph: Any) -> tuple[int, np.dtype[Any]]:
    """Return what `list_arcs` wants to be taken from a workspace."""
    return 0 if graph._csr is None else graph.num_arcs, vertex_dtype(graph)


def list_arcs(gpu: Gpu, graph: Any, sources: Any) -> tuple[Any, Any]:
    """Return the sources and the targets of all arcs of a graph, in its order.

    Parameters
    ----------
    gpu : Gpu
    graph : Graph
        On this GPU.
    sources : array
        The memory of `memory_for_sources`, which those of rows are listed in.
    """
    if graph._csr is None:
        return graph._arcs  # type: ignore[no-any-return]
    indptr, targets = graph._csr
    (kernel,) = gpu.load(FILE, _names(indptr.dtype, targets.dtype))
    blocks = gpu.blocks(-(-len(targets) // SPAN) * THREADS, THREADS)
    launch(kernel, (blocks, THREADS), graph.num_vertices, len(targets), indptr, sources)
    return sources, targets


def modules_of_lists(graph: Any) -> list[tuple[str, tuple[str, ...]]]:
    """Return the (file, names) that `list_arcs` loads for a graph."""
    if graph._csr is None:
        return []
    indptr, targets = graph._csr
    return [(FILE, _names(indptr.dtype, targets.dtype))]


@cache
def _names(pointer: np.dtype[Any], vertex: np.dtype[Any]) -> tuple[str, ...]:
    return (f"list_sources<{ctype(pointer)}, {ctype(vertex)}>",)


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `list_arcs` can load."""
    for pointer, vertex in product(INDEX_TYPES, INDEX_TYPES):
        yield FILE, _names(pointer, vertex)
