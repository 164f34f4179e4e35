"""Directed graphs as lists of arcs: drives ``arcs.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import (
    INDEX_TYPES,
    THREADS,
    Gpu,
    Module,
    Templates,
    launch,
)

KERNELS = Templates(
    "cuda/graph/arcs.cuh",
    "list_sources<{pointer}, {vertex}>",
    pointer=INDEX_TYPES,
    vertex=INDEX_TYPES,
)
specialisations = KERNELS.modules
SPAN = 4096


def vertex_dtype(graph: Any) -> np.dtype[Any]:
    """Return the type of the ends of a graph's arcs."""
    ends = graph._arcs if graph._csr is None else graph._csr
    return ends[1].dtype  # type: ignore[no-any-return]


def memory_for_sources(graph: Any) -> tuple[int, np.dtype[Any]]:
    """Return what `list_arcs` wants to be taken from a workspace."""
    return 0 if graph._csr is None else graph.num_arcs, vertex_dtype(graph)


def list_arcs(gpu: Gpu, graph: Any, sources: Any) -> tuple[Any, Any]:
    """Return the sources and the targets of all arcs of a graph on this GPU, in its order.

    Those of rows are listed in `sources`, the memory of `memory_for_sources`.
    """
    if graph._csr is None:
        return graph._arcs  # type: ignore[no-any-return]
    indptr, targets = graph._csr
    (kernel,) = KERNELS.load(gpu, indptr.dtype, targets.dtype)
    grid = gpu.grid(len(targets), each=SPAN // THREADS)
    launch(kernel, grid, graph.num_vertices, len(targets), indptr, sources)
    return sources, targets


def modules_of_lists(graph: Any) -> list[Module]:
    """Return the modules that `list_arcs` loads for a graph."""
    if graph._csr is None:
        return []
    indptr, targets = graph._csr
    return [KERNELS.module(indptr.dtype, targets.dtype)]
