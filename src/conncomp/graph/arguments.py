"""The graphs that functions take: of `Graph`, of other libraries, and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp import _arrays
from conncomp._containers import is_of
from conncomp.graph.graph import Graph
from conncomp.graph.inputs.conversions import is_sparse, package_of, parts_of
from conncomp.graph.inputs.parts import Parts, check_square, parts_of_arcs
from conncomp.kernels.cuda.launcher import current_gpu


def is_graph_on_gpu(graph: Any) -> bool:
    """Whether a graph of any kind lies on a GPU."""
    if isinstance(graph, Graph):
        return graph._parts.device == "cuda"
    return is_of(graph, "cupyx.scipy.sparse") or _arrays.on_gpu(graph)


def as_parts(graph: Any) -> Parts:
    """Return the parts of `graph`, of any kind that `connected_components` takes."""
    if isinstance(graph, Graph):
        return graph._parts
    if is_sparse(graph):
        if graph.dtype.kind not in "biuf":
            raise TypeError(f"csgraph is of dtype {graph.dtype}; it must be of real numbers")
        check_square(graph.shape, "csgraph")
        return Graph.from_scipy(graph)._parts
    if library := package_of(graph):
        return parts_of(graph, library)
    if is_of(graph, "dask.dataframe"):
        raise TypeError(
            "csgraph is a DataFrame of Dask; graphs whose edges are in one are for conncomp."
            "label_edge_files, spanning_forest_of_files and minimum_spanning_forest_of_files"
        )
    if not _arrays.on_gpu(graph):
        matrix, hidden = _arrays.as_numpy_and_mask(graph, "csgraph")
        return _parts_of_entries(graph, matrix, hidden, np)
    matrix = _arrays.as_cupy(graph)
    with _arrays.caller_stream(_arrays.library_of(graph), matrix.device.id):
        return _parts_of_entries(graph, matrix, None, current_gpu().xp)


def _parts_of_entries(graph: Any, matrix: Any, hidden: Any, xp: Any) -> Parts:
    """Return the parts of a dense matrix, whose values are in an array of `xp`, too."""
    kinds = "a Graph, a graph of NetworkX, igraph or rustworkx, or a matrix of real numbers"
    _arrays.check_kind(matrix, "biuf", graph, "csgraph", kinds)
    check_square(matrix.shape, "csgraph")
    if isinstance(graph, np.ma.MaskedArray):
        present = ~np.ma.getmaskarray(graph)
    else:
        present = (matrix != 0) & xp.isfinite(matrix)
        present &= hidden is None or ~hidden
    src, dst = xp.nonzero(present)
    made = parts_of_arcs(src, dst, len(matrix))
    made.library = _arrays.library_of(graph)
    return made


def arrays_of(graph: Any) -> list[NDArray[Any]]:
    """Return the NumPy arrays of a matrix, which `out` must not overlap."""
    if isinstance(graph, Graph):
        return []
    names = ("data", "indices", "indptr", "row", "col", "offsets")
    parts = (graph, *(getattr(graph, name, None) for name in names))
    return [part for part in parts if isinstance(part, np.ndarray)]
