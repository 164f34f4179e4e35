"""The acyclic graph of strong components, as rows, and the topological numbers that it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conncomp._arrays import move_from_gpu, move_to_gpu
from conncomp._core import native

if TYPE_CHECKING:
    from conncomp.graph.graph import Graph


def condense(xp: Any, graph: Graph, labels: Any, count: int) -> tuple[Any, Any]:
    """Return `indptr` and `indices` of the distinct arcs between components, targets ascending.

    Parameters
    ----------
    xp : module
        The library of the arrays, NumPy or CuPy.
    graph : Graph
    labels : array of int32 or int64
        Of its vertices, from 0 to `count` - 1; nobody else may write to them meanwhile.
    count : int
    """
    if xp is np:
        indptr, indices = native.condensation_of_csr(*graph._rows(), labels, count)
        return indptr, indices
    src, dst = graph._ends()
    src, dst = labels[src], labels[dst]
    between = src != dst
    keys = xp.unique(src[between].astype(np.int64) * count + dst[between])
    starts = xp.arange(count + 1, dtype=np.int64) * count
    return xp.searchsorted(keys, starts), (keys % max(count, 1)).astype(labels.dtype)


def fill_in_topological_order(graph: Graph, labels: Any) -> int:
    """Write the topological numbers of a graph in main memory; return how many there are.

    Nobody else may write to `labels` meanwhile.
    """
    return int(native.topological_of_csr(*graph._rows(), labels))


def renumber_in_topological_order(xp: Any, graph: Graph, labels: Any, count: int) -> None:
    """Replace consecutive numbers of components of a graph on a GPU by topological ones.

    The components' graph is moved to main memory, and the numbers back.
    """
    rows = map(move_from_gpu, condense(xp, graph, labels, count))
    numbers = np.empty(count, labels.dtype)
    native.topological_of_csr(*rows, numbers)
    labels[:] = move_to_gpu(xp, numbers)[labels]
