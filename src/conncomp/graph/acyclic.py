"""`condensation`: the acyclic graph of the strong components of a graph."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import also_named, check_choice
from conncomp._arrays import as_cupy, as_numpy
from conncomp.graph._condensing import condense
from conncomp.graph.graph import Graph
from conncomp.graph.labelling import as_graph, connected_components
from conncomp.kernels.cuda.launcher import current_gpu


class Condensation(NamedTuple):
    """The strong components of a graph, and the arcs between them.

    Attributes
    ----------
    graph : Graph
        A vertex for each component, and its distinct arcs without loops, rows sorted. It has no
        cycles.
    labels : ndarray of int32 or int64, shape (num_vertices,)
        The vertex of `graph` that each vertex belongs to.
    num_components : int
        The number of components.
    """

    graph: Graph
    labels: NDArray[Any]
    num_components: int


@also_named(csgraph="graph")
def condensation(
    csgraph: Any,
    *,
    numbering: Literal["consecutive", "topological"] = "consecutive",
    algorithm: str = "auto",
) -> Condensation:
    """Make the acyclic graph of the strong components of a graph.

    Parameters
    ----------
    csgraph : Graph, matrix, or graph of another library
        As for `connected_components`. The keyword ``graph`` works, too.
    numbering : {"consecutive", "topological"}, optional
        "consecutive": components are numbered in the order of their smallest vertices.
        "topological": so that arcs lead to smaller numbers, as `connected_components` does it.
    algorithm : str, optional
        As for ``connected_components(csgraph, connection="strong")``.

    Returns
    -------
    Condensation
        The graph, the labels and the number of components. Arrays lie where those of `csgraph` do,
        the labels as an array of the same library.

    Raises
    ------
    TypeError, ValueError, ImportError, RuntimeError, MemoryError
        As of `connected_components`.

    See Also
    --------
    connected_components : The labels alone.

    Notes
    -----
    On the CPU, all threads collect the arcs between components, put them in rows, and keep each
    once. On a GPU, all arcs between components are sorted.

    Examples
    --------
    >>> import conncomp
    >>> graph = conncomp.Graph.from_edges([0, 1, 2, 2], [1, 2, 1, 3])
    >>> conncomp.condensation(graph)  # doctest: +NORMALIZE_WHITESPACE
    Condensation(graph=Graph(num_vertices=3, num_arcs=2),
                 labels=array([0, 1, 1, 2], dtype=int32), num_components=3)
    """
    check_choice("numbering", numbering, ("consecutive", "topological"))
    arcs = as_graph(csgraph)
    count, labels = connected_components(
        arcs, connection="strong", numbering=numbering, algorithm=algorithm
    )
    if arcs.device == "cpu":
        rows = condense(np, arcs, as_numpy(labels, "labels"), count)
    else:
        with arcs._stream():
            rows = condense(current_gpu().xp, arcs, as_cupy(labels), count)
    made = Graph._of_checked(count, csr=rows, library=arcs._library)
    return Condensation(made, labels, count)
