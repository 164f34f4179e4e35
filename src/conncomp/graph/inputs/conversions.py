"""Graphs of other libraries, told by the modules of their classes, which are not imported."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import chain
from types import MethodDescriptorType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import INDEX_TYPES, INT32_MAX, shown
from conncomp._arrays import caller_stream
from conncomp._containers import is_of
from conncomp._core import native
from conncomp.graph.inputs.parts import Parts, check_arcs, undirected
from conncomp.kernels.graph import Indices

Nodes = tuple[Any, ...]
Rows = tuple[dict[Any, Any], ...]


def is_sparse(matrix: Any) -> bool:
    """Whether it is a sparse matrix of SciPy, CuPy or PyData's sparse."""
    if is_of(matrix, "sparse"):
        return hasattr(matrix, "fill_value")
    return is_of(matrix, "scipy.sparse", "cupyx.scipy.sparse") and hasattr(matrix, "tocsr")


def package_of(graph: Any) -> str | None:
    """Return which library's graph it is, or None."""
    if hasattr(graph, "adj") and hasattr(graph, "is_multigraph"):
        return "NetworkX"
    if is_of(graph, "igraph") and hasattr(graph, "get_edgelist"):
        return "igraph"
    return "rustworkx" if is_of(graph, "rustworkx") and hasattr(graph, "edge_list") else None


def parts_of(graph: Any, library: str) -> Parts:
    """Return what a graph of one of these libraries is made of."""
    if package_of(graph) != library:
        raise TypeError(f"graph is a {type(graph).__name__}, not a graph of {library}")
    return _MAKERS[library](graph)


def dictionaries_of_networkx(graph: Any, opposite: bool = False) -> tuple[Nodes, Rows]:
    """Return the nodes, and each one's dictionary of neighbours, or of those that arcs come from.

    They are the graph's own, or copies of views; in a multigraph, neighbours have dictionaries.
    """
    private, public = ("_pred", "pred") if opposite else ("_adj", "adj")
    adjacency = getattr(graph, private, None)  # a view of it takes ten times as long
    if type(adjacency) is dict:
        nodes, rows = tuple(adjacency), tuple(adjacency.values())
        if set(map(type, rows)) <= {dict}:
            return nodes, rows
    nodes, adjacency = tuple(graph), getattr(graph, public)
    if graph.is_multigraph():
        return nodes, tuple({v: dict(edges) for v, edges in adjacency[u].items()} for u in nodes)
    return nodes, tuple(dict(adjacency[u]) for u in nodes)


def csr_of_networkx(
    nodes: Nodes, rows: Rows, multiple: bool = False
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return `indptr` and `indices` of the arcs, `multiple` ones as often as they occur."""
    many = map(len, chain.from_iterable(map(dict.values, rows)) if multiple else rows)
    dtype = INDEX_TYPES[len(nodes) > INT32_MAX]
    indptr, indices = np.empty(len(nodes) + 1, np.int64), np.empty(sum(many), dtype)
    native.csr_of_dictionaries(nodes, rows, multiple, indptr, indices)
    return indptr, indices


def _parts_of_networkx(graph: Any) -> Parts:
    nodes, rows = dictionaries_of_networkx(graph)
    csr = csr_of_networkx(nodes, rows, multiple=graph.is_multigraph())
    return Parts(len(nodes), csr=csr, symmetric=None if graph.is_directed() else True)


def as_arcs_or_rows(matrix: Any) -> Any:
    """Return a sparse matrix as coo or csr, entries in order, without what pads bsr and dia."""
    stored = matrix
    if is_of(matrix, "sparse"):
        fill = matrix.fill_value
        if fill != 0 and np.isfinite(fill):  # as in a dense matrix, 0, NaN and infinity are no arcs
            raise ValueError(
                f"the sparse array has fill_value={shown(fill)}, so that all entries are arcs; use "
                "one with the fill value 0, NaN or infinity, or its .todense()"
            )
        coo = matrix if hasattr(matrix, "to_scipy_sparse") else matrix.to_coo()
        stored = coo.to_scipy_sparse(accept_fv=[0, np.nan, np.inf, -np.inf])
    if stored.format in ("coo", "csr"):
        return stored
    if hasattr(stored, "check_format"):
        # To convert, SciPy follows what is stored without a look, so it gets a copy that nobody
        # changes and that is right.
        stored = stored.copy()
        stored.check_format(full_check=True)
    if is_of(stored, "cupyx.scipy.sparse"):
        with caller_stream("cupy", stored.data.device.id):
            return stored.tocoo()
    entries = stored.tocoo()
    if stored.format == "bsr":
        entries.eliminate_zeros()
    return entries


def _parts_of_igraph(graph: Any) -> Parts:
    vertices, count = graph.vcount(), graph.ecount()
    ends: Indices = np.empty((2, count), INDEX_TYPES[vertices > INT32_MAX])
    address = _address_of_igraph(graph)
    if not (address and native.copy_igraph_edges(address, vertices, *ends)):
        pairs = chain.from_iterable(graph.get_edgelist())
        ends = np.fromiter(pairs, ends.dtype, 2 * count).reshape(-1, 2).T.copy()
    return _parts_of_ends(ends, vertices, graph.is_directed())


def _address_of_igraph(graph: Any) -> int | None:
    """Return where igraph's C structure lies, if `copy_igraph_edges` can read it."""
    igraph: Any = sys.modules.get("igraph")
    base: Any = getattr(igraph, "GraphBase", None)
    version = str(getattr(igraph, "__igraph_version__", ""))
    locate = getattr(base, "_raw_pointer", None)
    if (
        version.rpartition(".")[0] in ("0.10", "1.0")
        and getattr(sys.modules.get("igraph._igraph"), "INTEGER_SIZE", None) == 64
        and getattr(sys, "_is_gil_enabled", lambda: True)()
        and isinstance(locate, MethodDescriptorType)  # so it is of C, and refuses other objects
        and type(graph).get_edgelist is base.get_edgelist
    ):
        return int(locate(graph))
    return None


def _parts_of_rustworkx(graph: Any) -> Parts:
    """Return the parts, nodes numbered without the gaps of removed ones."""
    nodes = np.asarray(graph.node_indices(), np.int64)
    ends = np.asarray(graph.edge_list()).reshape(-1, 2).T
    dtype, count = INDEX_TYPES[len(nodes) > INT32_MAX], len(nodes)
    if count and nodes[-1] >= count:
        numbers = np.full(nodes[-1] + 1, -1, dtype)
        numbers[nodes] = np.arange(count)
        ends = numbers[ends]
    return _parts_of_ends(ends.astype(dtype, order="C"), count, hasattr(graph, "successors"))


def _parts_of_ends(ends: Indices, num_vertices: int, directed: bool) -> Parts:
    src, dst = ends
    check_arcs((src, dst), num_vertices)
    return Parts(num_vertices, (src, dst)) if directed else undirected(num_vertices, src, dst)


_MAKERS: dict[str, Callable[[Any], Parts]] = {
    "NetworkX": _parts_of_networkx,
    "igraph": _parts_of_igraph,
    "rustworkx": _parts_of_rustworkx,
}
