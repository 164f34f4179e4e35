"""Spanning forests of graphs."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from conncomp import _array_storage, _arrays
from conncomp.graph.graph import Graph, as_parts, is_graph_on_gpu
from conncomp.graph.inputs import conversions
from conncomp.graph.inputs.parts import Parts, as_array, check_one_each, check_square
from conncomp.graph.on_cpu import forest_arcs
from conncomp.graph.repeated import recorded_forest
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.graph import WeightBits, WeightOrder

Arcs = NDArray[Any]


def spanning_forest(
    graph: Any, *, device: str | None = None, workspace: Workspace | None = None
) -> Arcs:
    """Find a spanning forest of a graph: one tree for each component.

    It has the arcs that connect what no arc before them connects. So it is the same on every
    device, for any number of threads.

    Parameters
    ----------
    graph : Graph, matrix, or graph of another library
        As for `connected_components`, and so are errors. Directions of arcs are ignored.
    device : {None, "cpu", "cuda"}, optional
        Where to work: by default where the graph lies. "cuda" moves a graph in main memory, and
        weights, to the current GPU, and the result back.
    workspace : Workspace, optional
        Memory on the GPU to use again.

    Returns
    -------
    ndarray of int32 or int64, shape (num_vertices - n_components,)
        The numbers of the arcs, ascending: their places in `Graph.arcs`. In a sparse matrix they
        count the stored entries, of lil and dia by rows; in a dense one, the entries by rows.
        Entries that are no arcs, such as the zeros in blocks of bsr, are not counted. int32 unless
        there are 2³¹ arcs. Of the library of the graph's arrays.

    Notes
    -----
    :doc:`/algorithms/forests` tells how it works. The CPU takes the memory of two numbers per
    vertex and, on several threads, half a number per vertex and a bit per arc. A GPU, with many
    arcs per vertex, waits and takes 24 bytes or more per arc. Other threads may write to the arrays
    of `graph` meanwhile: the arcs may then be wrong, no more.

    Examples
    --------
    A triangle and an edge; the arc that closes the triangle is left out:

    >>> import conncomp
    >>> graph = conncomp.Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 4])
    >>> conncomp.spanning_forest(graph)
    array([0, 1, 3], dtype=int32)
    """
    where = _arrays.choose_device(device, is_graph_on_gpu(graph), "graph", workspace)
    return _find(as_parts(graph), None, where, workspace)


def minimum_spanning_forest(
    graph: Any,
    weights: Any = None,
    *,
    device: str | None = None,
    workspace: Workspace | None = None,
) -> Arcs:
    """Find the spanning forest of the least weight: a minimum spanning tree for each component.

    Of equal weights the lower number is preferred, so the forest is the same on every device, for
    any number of threads. Unlike in SciPy, an arc of weight zero is an arc.

    Parameters
    ----------
    graph : Graph, matrix, or graph of another library
        As for `connected_components`. Directions of arcs are ignored: of two opposite arcs the
        lighter one counts.
    weights : array_like of real numbers, shape (num_arcs,), optional
        The weight of each arc, where the graph lies, in the order of `Graph.arcs`: that of the list
        of edges, or of a matrix's stored entries. `Graph.in_arc_order` converts from the order of
        `Graph.indices`. Weights may be negative or infinite; an arc of weight infinity is an arc,
        too. By default the entries, if `graph` is a matrix.
    device, workspace
        As for `spanning_forest`. A GPU waits now and then, and takes 32 bytes or more per arc.

    Returns
    -------
    ndarray of int32 or int64, shape (num_vertices - n_components,)
        The numbers of the arcs, as of `spanning_forest`. ``weights[arcs].sum()`` is their weight.

    Raises
    ------
    TypeError, ValueError
        If `weights` are not real numbers of at most 64 bits, one for each arc and none of them NaN;
        do not lie where the graph does; or are left out and the graph is no matrix.
    ImportError, RuntimeError, MemoryError
        As `connected_components` does.

    Examples
    --------
    >>> import conncomp
    >>> graph = conncomp.Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 4])
    >>> conncomp.minimum_spanning_forest(graph, [0.5, 3.0, 2.0, 0.0])
    array([0, 2, 3], dtype=int32)

    Of a matrix:

    >>> import scipy.sparse
    >>> matrix = scipy.sparse.csr_array([[0, 5, 1], [5, 0, 2], [1, 2, 0]])
    >>> arcs = conncomp.minimum_spanning_forest(matrix)
    >>> matrix.data[arcs]
    array([1, 2])
    """
    where = _arrays.choose_device(device, is_graph_on_gpu(graph), "graph", workspace)
    if weights is None:
        arcs, weights = _arcs_and_entries(graph)
    else:
        arcs = as_parts(graph)
    return _find(arcs, _as_weights(weights, arcs), where, workspace)


def _arcs_and_entries(graph: Any) -> tuple[Parts, Any]:
    library = conversions.package_of(graph)
    if isinstance(graph, Graph) or library:
        name = type(graph).__name__
        by_name = '; networkx.minimum_spanning_tree(graph, backend="conncomp") takes those of edges'
        raise TypeError(
            f"weights is missing, and graph is a {name}, which has no entries; give a number for "
            f"each arc, or use spanning_forest{by_name if library == 'NetworkX' else ''}"
        )
    if not conversions.is_sparse(graph):
        made = as_parts(graph)
        if made.device == "cpu":
            return made, _arrays.as_numpy_and_mask(graph, "graph")[0][made.arcs]
        with made.stream():
            return made, _arrays.as_cupy(graph)[made.arcs]
    check_square(graph.shape, "graph")
    stored = conversions.as_arcs_or_rows(graph)
    return as_parts(stored), stored.data


def _as_weights(weights: Any, graph: Parts) -> WeightBits:
    there = _arrays.on_gpu(weights)
    if there != (graph.device == "cuda"):
        here, away = ("GPU", "main") if there else ("main", "GPU")
        raise TypeError(f"weights lies in {here} memory, but the graph in {away} memory; move one")
    with graph.stream() if there else nullcontext():
        array = as_array(weights, "weights")
        if array.size == 0 and not hasattr(weights, "dtype"):
            array = array.astype(np.float64)
        _arrays.check_kind(array, "biuf", weights, "weights", "of real numbers")
        if array.dtype.itemsize > 8:
            raise TypeError(f"weights is of dtype {array.dtype}; use float64 instead")
        check_one_each("weights", array.shape, graph.num_arcs)
        letter = array.dtype.kind.replace("b", "u")
        dtype = np.dtype(f"{letter}{8 if array.dtype.itemsize > 4 else 4}")
        if letter == "f":
            _refuse_nan(array)
        if there:
            array = array.astype(dtype, order="C", copy=False)
        else:
            array = _array_storage.contiguous(array, dtype)
        sign = 1 << (8 * dtype.itemsize - 1)
        order = {"u": (0, 0, 0), "i": (0, 0, sign), "f": (sign, sign - 1, sign)}[letter]
        return WeightBits(array.view(f"u{dtype.itemsize}"), WeightOrder(*order))


def _refuse_nan(weights: Any) -> None:
    on_device = not isinstance(weights, np.ndarray)
    xp = current_gpu().xp if on_device else np
    step = max(len(weights), 1) if on_device else _array_storage.PIECE_HERE
    for begin in range(0, len(weights), step):
        missing = xp.isnan(weights[begin : begin + step])
        if missing.any():
            place = begin + int(missing.argmax())
            raise ValueError(f"weights[{place}] is NaN, which has no place in an order; replace it")


def _find(
    graph: Parts, weights: WeightBits | None, where: str, workspace: Workspace | None
) -> Arcs:
    if where == "cpu":
        return cast(Arcs, _arrays.in_library(forest_arcs(graph, weights), graph.library))
    placed = graph.to("cuda")
    with placed.stream():
        gpu = current_gpu()
        if placed is not graph and weights is not None:
            weights = weights._replace(bits=_array_storage.move_to_gpu(gpu.xp, weights.bits))
        arcs = recorded_forest(gpu, placed, weights, workspace)
        if placed is not graph:
            arcs = _array_storage.move_from_gpu(arcs)
        return cast(Arcs, _arrays.in_library(arcs, graph.library))
