"""`connected_components`: conversions, and the table of algorithms."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from conncomp._arrays import as_numpy, check_choice, output_array
from conncomp.graph.graph import Graph, _check_square

Numbering = Literal["consecutive", "roots"]
Labels = NDArray[Any]

ALGORITHMS = ("auto", "afforest")


@overload
def connected_components(
    graph: Any,
    directed: bool = True,
    connection: Literal["weak", "strong"] = "weak",
    return_labels: Literal[True] = True,
    *,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
) -> tuple[int, Labels]: ...


@overload
def connected_components(
    graph: Any,
    directed: bool = True,
    connection: Literal["weak", "strong"] = "weak",
    *,
    return_labels: Literal[False],
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
) -> int: ...


@overload
def connected_components(
    graph: Any,
    directed: bool,
    connection: Literal["weak", "strong"],
    return_labels: Literal[False],
    *,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
) -> int: ...


def connected_components(
    graph: Any,
    directed: bool = True,
    connection: Literal["weak", "strong"] = "weak",
    return_labels: bool = True,
    *,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
) -> int | tuple[int, Labels]:
    """Find the connected components of a graph.

    The first four arguments and the result are those of
    `scipy.sparse.csgraph.connected_components`.

    Parameters
    ----------
    graph : Graph, SciPy sparse matrix or array, dense adjacency matrix, or NetworkX graph
        It need not be symmetric. In a dense matrix, entries other than 0, NaN and infinity are
        arcs; in a masked one, all that are not masked; in a sparse one, all that are stored. Nodes
        of a NetworkX graph are numbered in their order.
    directed : bool, optional
        If False, arcs count in both directions, and `connection` means nothing.
    connection : {"weak", "strong"}, optional
        Of a directed graph: whether a component's vertices are connected once the directions of
        its arcs are ignored, or reach each other along them.
    return_labels : bool, optional
        Whether to return the labels too.
    numbering : {"consecutive", "roots"}, optional
        "consecutive": labels 0, 1, ... in the order of the components' smallest vertices (strong
        components: in SciPy's order). "roots": the smallest vertex of the component.
    algorithm : {"auto", "afforest"}, optional
        For weak connection; all give the same labels. Strong components are found by SciPy.
    dtype : {int32, int64}, optional
        Of the labels; by default int32 where every vertex number fits.
    out : ndarray, optional
        A C-contiguous array of shape (num_vertices,) to write the labels to.
    device : {None, "cpu"}, optional
        Where to work.

    Returns
    -------
    n_components : int
    labels : ndarray of int32 or int64, shape (num_vertices,)
        Only if `return_labels`; `out` if that was given.

    Raises
    ------
    TypeError
        If `graph` is of none of the kinds above, or complex or of objects.
    ValueError
        If it is not square or refers to vertices that it does not have, or another argument does
        not fit.

    See Also
    --------
    label : The same for arrays.

    Notes
    -----
    Subgraph sampling [1]_ over the union-find of [2]_. No memory beyond the labels.

    References
    ----------
    .. [1] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via
       Subgraph Sampling", IPDPS 2018.
    .. [2] J. Jaiganesh, M. Burtscher, "A High-Performance Connected Components Implementation for
       GPUs", HPDC 2018.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.connected_components([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    (2, array([0, 0, 1], dtype=int32))
    >>> conncomp.connected_components([[0, 1, 0], [0, 0, 0], [0, 0, 0]], connection="strong")[0]
    3
    """
    if not isinstance(connection, str) or connection.lower() not in ("weak", "strong"):
        raise ValueError(f"connection={connection!r} is neither 'weak' nor 'strong'")
    check_choice("numbering", numbering, ("consecutive", "roots"))
    check_choice("algorithm", algorithm, ALGORITHMS)
    arcs = as_graph(graph, device)
    largest = max(arcs.num_vertices - 1, 0)
    inputs = (*arcs.arrays, *_arrays_of(graph))
    labels = output_array((arcs.num_vertices,), largest, dtype, out, inputs)
    if directed and connection.lower() == "strong":
        count = _fill_strong(arcs, labels, numbering)
    else:
        count = arcs.fill_labels(labels, numbering == "consecutive")
    return (count, labels) if return_labels else count


def as_graph(graph: Any, device: str | None = None) -> Graph:
    """Return `graph`, of any kind that `connected_components` takes, as a `Graph`."""
    as_numpy((), "graph", device)
    if isinstance(graph, Graph):
        return graph
    if type(graph).__module__.startswith("scipy.sparse"):
        if graph.dtype.kind not in "biuf":
            raise TypeError(f"graph is of dtype {graph.dtype}; it must be of real numbers")
        _check_square(graph.shape, "graph")
        return Graph.from_scipy(graph)
    if hasattr(graph, "adj") and hasattr(graph, "is_multigraph"):
        return Graph.from_networkx(graph)
    matrix = as_numpy(graph, "graph")
    if matrix.dtype.kind not in "biuf":
        raise TypeError(
            f"graph is a {type(graph).__name__} of dtype {matrix.dtype}; it must be a Graph, a "
            "SciPy sparse matrix, a dense matrix of real numbers, or a NetworkX graph"
        )
    _check_square(matrix.shape, "graph")
    if isinstance(graph, np.ma.MaskedArray):
        present = ~np.ma.getmaskarray(graph)
    else:
        present = (matrix != 0) & np.isfinite(matrix)
    src, dst = np.nonzero(present)
    return Graph.from_edges(src, dst, len(matrix))


def _arrays_of(graph: Any) -> list[Labels]:
    """Return the arrays that make up `graph`, converted or not, if it is made up of arrays."""
    names = ("data", "indices", "indptr", "row", "col", "offsets")
    parts = (graph, *(getattr(graph, name, None) for name in names))
    return [part for part in parts if isinstance(part, np.ndarray)]


def _fill_strong(graph: Graph, labels: Labels, numbering: Numbering) -> int:
    from scipy.sparse import csgraph

    count, found = csgraph.connected_components(graph._pattern(), connection="strong")
    if numbering == "roots":
        smallest = np.full(count, graph.num_vertices, labels.dtype)
        np.minimum.at(smallest, found, np.arange(graph.num_vertices, dtype=labels.dtype))
        found = smallest[found]
    labels[:] = found
    return int(count)
