"""Graphs of other libraries, which are told by the modules of their classes and not imported."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import shown
from conncomp._arrays import is_of

Ends = NDArray[np.int64]


def is_sparse(matrix: Any) -> bool:
    """Whether it is a sparse matrix or array of SciPy, CuPy or PyData's sparse."""
    if is_of(matrix, "sparse"):
        return hasattr(matrix, "fill_value")
    return is_of(matrix, "scipy.sparse", "cupyx.scipy.sparse") and hasattr(matrix, "tocsr")


def is_networkx(graph: Any) -> bool:
    """Whether it has what NetworkX's graphs have."""
    return hasattr(graph, "adj") and hasattr(graph, "is_multigraph")


def is_igraph(graph: Any) -> bool:
    """Whether it is an `igraph.Graph`."""
    return is_of(graph, "igraph") and hasattr(graph, "get_edgelist")


def is_rustworkx(graph: Any) -> bool:
    """Whether it is a `rustworkx.PyGraph` or `PyDiGraph`."""
    return is_of(graph, "rustworkx") and hasattr(graph, "edge_list")


def check_library(is_kind: bool, graph: Any, library: str) -> None:
    """Raise unless `graph` is of the library."""
    if not is_kind:
        raise TypeError(f"graph is a {type(graph).__name__}, not a graph of {library}")


def as_scipy(matrix: Any) -> Any:
    """Return a sparse array of PyData's sparse as one of SciPy, and others as they are."""
    if not is_of(matrix, "sparse"):
        return matrix
    fill = matrix.fill_value
    if fill != 0 and np.isfinite(fill):  # as in a dense matrix, 0, NaN and infinity are no arcs
        raise ValueError(
            f"the sparse array has fill_value={shown(fill)}, so that all entries are arcs; use one "
            "with the fill value 0, NaN or infinity, or its .todense()"
        )
    coo = matrix if hasattr(matrix, "to_scipy_sparse") else matrix.to_coo()
    return coo.to_scipy_sparse(accept_fv=[0, np.nan, np.inf, -np.inf])


def edges_of_igraph(graph: Any) -> tuple[Ends, int]:
    """Return the ends of the edges, shape (num_edges, 2), and the number of vertices."""
    count = 2 * graph.ecount()
    ends = np.fromiter(chain.from_iterable(graph.get_edgelist()), np.int64, count)
    return ends.reshape(-1, 2), graph.vcount()


def edges_of_rustworkx(graph: Any) -> tuple[Ends, int]:
    """Return the same; nodes are numbered without the gaps that removed ones leave."""
    nodes = np.asarray(graph.node_indices(), np.int64)
    ends = np.asarray(graph.edge_list(), np.int64).reshape(-1, 2)
    return np.searchsorted(nodes, ends), len(nodes)
