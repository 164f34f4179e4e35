"""`connected_components`, and the kinds of graphs that it takes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from conncomp._algorithms import Algorithm, Choices, choose_algorithm
from conncomp._arguments import also_named, as_bool, check_choice, shown
from conncomp._arrays import (
    Output,
    as_cupy,
    as_numpy_and_mask,
    caller_stream,
    check_kind,
    choose_device,
    in_library,
    library_of,
    move_from_gpu,
    on_gpu,
)
from conncomp._containers import is_of
from conncomp.gpu import Workspace
from conncomp.graph._condensing import fill_in_topological_order, renumber_in_topological_order
from conncomp.graph.algorithms import ALGORITHMS, STRONG_ALGORITHMS
from conncomp.graph.graph import Graph
from conncomp.graph.inputs.conversions import is_igraph, is_networkx, is_rustworkx, is_sparse
from conncomp.graph.inputs.parts import check_square
from conncomp.graph.repeated import call_again, first_call, kind_of_call
from conncomp.kernels.cuda.launcher import current_gpu, first_entry

Numbering = Literal["consecutive", "roots", "topological"]
Labels = NDArray[Any]


class GraphChoices(Choices, total=False):
    """Arguments on which the type of the result does not depend."""

    numbering: Numbering
    # Of algorithms.
    init: int
    jump: int | str
    finish: int
    block: int
    rows: str
    hook: str
    writes: str


@overload
def connected_components(
    csgraph: Any,
    directed: bool = True,
    connection: Literal["weak", "strong"] = "weak",
    return_labels: Literal[True] = True,
    **choices: Unpack[GraphChoices],
) -> tuple[int, Labels]: ...


@overload
def connected_components(
    csgraph: Any,
    directed: bool = True,
    connection: Literal["weak", "strong"] = "weak",
    return_labels: Literal[False] = ...,
    **choices: Unpack[GraphChoices],
) -> int: ...


@also_named(csgraph="graph")
def connected_components(
    csgraph: Any,
    directed: bool = True,
    connection: Literal["weak", "strong"] = "weak",
    return_labels: bool = True,
    *,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
    workspace: Workspace | None = None,
    **options: Any,
) -> int | tuple[int, Labels]:
    """Find the connected components of a graph.

    The first four arguments and the result are those of
    `scipy.sparse.csgraph.connected_components`, but for the order in which strong components are
    numbered, which changes with SciPy's version.

    Parameters
    ----------
    csgraph : Graph, matrix, or graph of another library
        A sparse matrix or array of SciPy, CuPy or PyData's sparse: all stored entries are arcs,
        zeros too, except in the layouts bsr and dia, which are padded with zeros. A dense matrix:
        entries other than 0, NaN and infinity are arcs, and in a masked one all that are not
        masked. It need not be symmetric. A graph of NetworkX, igraph or rustworkx: its nodes are
        numbered in their order. The keyword ``graph`` works, too.
    directed : bool, optional
        If False, arcs count in both directions, and `connection` means nothing.
    connection : {"weak", "strong"}, optional
        Of a directed graph: whether a component's vertices are connected once the directions of
        its arcs are ignored, or reach each other along them.
    return_labels : bool, optional
        Whether to return the labels too.
    numbering : {"consecutive", "roots", "topological"}, optional
        "consecutive": labels 0, 1, ... in the order of the components' smallest vertices. "roots":
        the smallest vertex of the component. "topological", for strong components: labels 0, 1,
        ... so that no arc leads from a smaller label to a larger one, in the order of the longest
        path that leads away from a component, in arcs between components, and of the smallest
        vertex where these are equal.
    algorithm : str, optional
        All give the same labels. On the CPU "auto", "afforest", "ecl", "bfs" or "recolouring", and
        for strong components "auto" or "tarjan"; on a GPU "auto" or others of the notes.
    dtype : dtype or "smallest", optional
        Of the labels; by default int32 where every vertex number fits. Other types of integers,
        signed or not, of 8 bits to 64, if the labels fit; "smallest" is the narrowest unsigned one
        that they fit into. Labels of other types than int32 and int64 are copied from one of these.
    out : ndarray, optional
        A C-contiguous array of integers, of shape (num_vertices,), to write the labels to, where
        the graph is.
    device : {None, "cpu", "cuda"}, optional
        Where to work: by default where the graph lies. "cuda" moves a graph in main memory to the
        current GPU, and the labels back.
    workspace : Workspace, optional
        Memory on the GPU to use again. Of no use on a CPU, so an error there.
    **options
        Of the algorithm: ``init=1..3``, ``jump=1..4`` and ``finish=1..3`` of "ecl", and on a GPU
        ``jump="sweep"`` or ``jump="end"`` of "soman": whether trees are flattened after every
        sweep, or once at the end, and ``hook="roots"``, ``"soman"`` or ``"wang"`` and
        ``writes="any"`` or ``"outermost"``, of which the notes tell; ``block=32..512``, the threads
        of a block, a multiple of 32 and by default 256, of "edge-propagation", "vertex-propagation"
        and "bfs"; and of "vertex-propagation" ``rows=`` "cached", "shared" or "sorted", of which
        the notes tell.

    Returns
    -------
    n_components : int
        For a graph on a GPU and ``numbering="roots"`` an array without axes on the GPU, so that the
        call does not wait for the result; it lies in `workspace`, until that is used again.
    labels : ndarray of int32 or int64, or of `dtype`, shape (num_vertices,)
        Only if `return_labels`; `out` if that was given. Of the library that the graph's arrays are
        of.

    Raises
    ------
    TypeError
        If `csgraph` is of none of the kinds above, or complex or of objects, or `options` has a
        name that the algorithm does not know.
    ValueError
        If it is not square or refers to vertices that it does not have, or another argument does
        not fit, or `dtype` or `out` is too small for the labels.
    ImportError, RuntimeError
        If the GPU is to be used, and CuPy is not installed or there is none. RuntimeError where
        "soman" with ``jump="end"`` and a ``hook=`` of its papers comes to no end.
    MemoryError
        If there is too little memory, on the GPU too; the next call works.

    See Also
    --------
    label : The same for arrays.
    kernel_times, path_lengths : What an algorithm does on a GPU.

    Notes
    -----
    On the CPU, `out` needs as much memory again as the labels. Calls on a GPU run on the stream
    that is current in the library of the graph's arrays. With ``numbering="roots"``, `out` and a
    `workspace` that was used for as large a graph before, "auto" and "ecl" neither allocate nor
    wait, and can be captured in a CUDA graph. The other algorithms wait for the GPU now and then.

    Other threads may write to the arrays of `csgraph` and to `out` meanwhile: the labels may then
    be wrong, no more. A signal whose handler raises, such as Ctrl-C, ends the call; what is in
    `out` is then undefined.

    The algorithms on the CPU:

    auto, afforest
        Trees are hooked along few arcs of each vertex, as in [3]_; then subgraph sampling [1]_ over
        the union-find of [2]_, on all threads. In a graph known to be symmetric, of seven arcs a
        vertex or more that mostly lead far, vertices are first asked whether a neighbour is in the
        giant component, from a hub on [12]_. No memory beyond the labels, but for a symmetric
        graph a bit for each vertex and, for the hub's search, a third of the labels' memory.
    ecl
        Union-find with intermediate pointer jumping [2]_, on all threads or, if there is one, by
        the paper's serial code. No memory beyond the labels.
    bfs
        A breadth-first search for each component, one after another, on one thread [5]_. As much
        memory again as the labels, for the queue.
    recolouring
        Smaller labels spread to neighbours, depth first, on one thread [5]_: the paper's reference,
        with a stack that takes as much memory again as the labels.

    "bfs" and "recolouring" work on rows, and look up whether these have every arc from both ends;
    if not, each call makes the rows of the opposite arcs.

    The algorithms on the CPU for strong components:

    auto
        In a graph of more than three arcs a vertex that mostly lead far, the giant component, if
        there is one, is found by sweeps along arcs and against them [8]_ [11]_, by all threads. In
        one of at most five arcs for four vertices that mostly lead far, where some vertices have
        none, vertices are left out that no arc leads to, or away from, again and again [13]_, by
        all threads, if labels are int32. If the order of vertices has many places over which arcs
        lead one way only, it is cut there, and pieces are labelled one by one, by all threads, if
        labels are int32. The rest as by "tarjan".
    tarjan
        One depth-first search [6]_ on one thread, as [7]_ have it. Up to 24 bytes a
        vertex, 32 where labels are int64. Lists of arcs are made rows first.

    Topological numbers are found by one thread of the CPU; with the search, they take up to twice
    as long as others, and two more arrays of labels. Of a graph on a GPU, the distinct arcs between
    components are moved to main memory for that, and the numbers back. SciPy's labels, too, never
    rise along an arc; components that no path orders may come in any order there.

    The algorithms on a GPU:

    auto
        Blocks of vertices are united in shared memory; then subgraph sampling [1]_ over the
        union-find of [2]_, so that most arcs inside a giant component need not be visited. Beyond
        the labels it needs a bit for each vertex, and numbers for long rows. Lists of arcs are left
        to "ecl".
    ecl
        Union-find with intermediate pointer jumping [2]_. Rows need as much memory again as the
        labels.
    soman
        Trees are hooked along edges, in alternating directions, and flattened, until there are no
        edges between them [3]_ [4]_. With ``jump="end"`` they are flattened once, which takes very
        long where trees grow deep. ``hook=`` says which entries an edge stores to: "roots", those
        of roots only, which is ours; "soman", that of a parent, as printed in [3]_; "wang", those
        of a parent and of the end below it, as [4]_ corrects that. With ``jump="sweep"`` all give
        the same labels; with ``jump="end"`` the last two are as printed in [4]_, and raise a
        RuntimeError where parents lead round in a circle or edges are never marked, as on most
        graphs. ``writes=`` says which of several stores to an entry wins: "any", or the
        "outermost", by atomics.
    vertex-propagation, edge-propagation
        Smaller labels spread to neighbours, from the vertices that have got one or along all edges,
        until none changes [5]_. As many passes over the graph as it has vertices, at worst. Of
        "vertex-propagation", ``rows="shared"`` keeps in shared memory where the rows of a block
        begin, as the paper does, and ``rows="sorted"`` sorts vertices by degree in each call, which
        the paper tried; "cached" leaves the starts of rows to the cache.
    bfs
        A breadth-first search for each component, one after another [5]_. For few components.

    The algorithms on a GPU for strong components:

    auto
        Around a vertex with many arcs a giant component is sought, by one search along arcs and one
        against them [8]_; then the smallest and the largest vertices before and behind each vertex
        spread [9]_. One launch, in which all blocks meet: it neither waits nor allocates, as "auto"
        for weak ones. Beyond the labels, four vertex numbers for each arc and eight for each
        vertex. Of a symmetric graph, whose components are weak ones, it is that "auto".
    ecl-scc
        The smallest vertices before and behind each vertex spread along all arcs, until none
        changes; arcs between components are dropped, and it begins again [9]_.
    forward-backward
        Vertices are divided by two searches, from the smallest vertex of each part, again and again
        [10]_. For few components: a path takes half as many rounds as it has vertices.

    On a GPU, "vertex-propagation" and "bfs" need every arc from both ends. They look up whether the
    graph is so, and if it is not, each call makes one that is.

    References
    ----------
    .. [1] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via
       Subgraph Sampling", IPDPS 2018.
    .. [2] J. Jaiganesh, M. Burtscher, "A High-Performance Connected Components Implementation for
       GPUs", HPDC 2018.
    .. [3] J. Soman, K. Kothapalli, P. J. Narayanan, "A Fast GPU Algorithm for Graph Connectivity",
       IPDPS Workshops 2010.
    .. [4] L. Wang, "An Implementation of Connected Component Algorithm on GPU", 2013.
    .. [5] K. A. Hawick, A. Leist, D. P. Playne, "Parallel graph component labelling with GPUs and
       CUDA", Parallel Computing 36, 2010.
    .. [6] R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1,
       1972.
    .. [7] R. E. Tarjan, U. Zwick, "Finding strong components using depth-first search", European
       Journal of Combinatorics 119, 2024.
    .. [8] L. Fleischer, B. Hendrickson, A. Pinar, "On identifying strongly connected components in
       parallel", IPDPS Workshops 2000.
    .. [9] G. Alabandi, W. Sands, G. Biros, M. Burtscher, "A GPU algorithm for detecting strongly
       connected components", SC 2023.
    .. [10] J. Barnat, P. Bauch, L. Brim, M. Češka, "Computing strongly connected components in
       parallel on CUDA", IPDPS 2011.
    .. [11] G. M. Slota, S. Rajamanickam, K. Madduri, "BFS and coloring-based parallel algorithms
       for strongly connected components and related problems", IPDPS 2014.
    .. [12] S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search",
       SC 2012.
    .. [13] W. McLendon, B. Hendrickson, S. Plimpton, L. Rauchwerger, "Finding strongly connected
       components in distributed graphs", Journal of Parallel and Distributed Computing 65, 2005.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.connected_components([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    (2, array([0, 0, 1], dtype=int32))
    >>> conncomp.connected_components([[0, 1, 0], [0, 0, 0], [0, 0, 0]], connection="strong")[0]
    3

    An arc leads to the same number or a smaller one:

    >>> loop = conncomp.Graph.from_edges([0, 1, 2, 2], [1, 2, 1, 3])
    >>> conncomp.connected_components(loop, connection="strong", numbering="topological")
    (3, array([2, 1, 1, 0], dtype=int32))
    """
    kind: Hashable = None
    if type(csgraph) is Graph and not options and dtype is None:
        kind = kind_of_call(csgraph, directed, connection, numbering, algorithm, device, workspace)
        return_labels = as_bool("return_labels", return_labels)
        again = None if kind is None else call_again(csgraph, kind, out)
        if again is not None:
            return again if return_labels else int(again[0])
    if not isinstance(connection, str) or connection.lower() not in ("weak", "strong"):
        raise ValueError(f"connection={shown(connection)} is neither 'weak' nor 'strong'")
    if isinstance(directed, str):  # as connected_components(graph, "strong")
        raise TypeError(
            f"directed={shown(directed)} must be True or False; name the kind of components by "
            "connection="
        )
    strong = as_bool("directed", directed) and connection.lower() == "strong"
    check_choice("numbering", numbering, ("consecutive", "roots", "topological"))
    if numbering == "topological" and not strong:
        raise ValueError(
            "numbering='topological' is for connection='strong' of a directed graph: arcs give "
            "weak components no order; use 'consecutive' or 'roots'"
        )
    where = choose_device(device, _lies_on_gpu(csgraph), "csgraph", workspace)
    chosen = choose_algorithm(STRONG_ALGORITHMS if strong else ALGORITHMS, where, algorithm)
    choices = chosen.check_options(options)
    arcs = as_graph(csgraph)
    return_labels = as_bool("return_labels", return_labels)
    if kind is not None:
        known = first_call(kind, arcs, chosen, numbering, out, workspace)
        return known if return_labels else int(known[0])
    if arcs.device == "cuda":
        count, labels = _label_on_gpu(arcs, chosen, choices, numbering, dtype, out, workspace)
        return (count, labels) if return_labels else int(count)
    inputs = (*arcs._kept(), *_arrays_of(csgraph))
    # Among what leads to strong components is the number of vertices itself.
    largest = arcs.num_vertices if strong else max(arcs.num_vertices - 1, 0)
    # What kernels of the CPU write there leads them on, unchecked.
    output = Output((arcs.num_vertices,), largest, dtype, out, inputs, private=True)
    if where == "cuda":
        moved = arcs.to("cuda")
        wanted = output.labels.dtype, None
        count, placed = _label_on_gpu(moved, chosen, choices, numbering, *wanted, workspace)
        move_from_gpu(placed, output.labels)
        count = int(count)
    elif numbering == "topological":
        count = fill_in_topological_order(arcs, output.labels)
    else:
        consecutive = numbering == "consecutive"
        (count,) = chosen.fill(None, arcs, output.labels, None, consecutive, True, **choices)
    labels = output.finish()
    if out is None:
        labels = in_library(labels, arcs._library)
    return (count, labels) if return_labels else count


def _label_on_gpu(
    graph: Graph,
    algorithm: Algorithm,
    options: Mapping[str, Any],
    numbering: Numbering,
    dtype: DTypeLike | None,
    out: Any,
    workspace: Workspace | None,
) -> tuple[Any, Any]:
    """Label a graph that lies on a GPU; return the number of components and the labels."""
    with graph._stream():
        gpu = current_gpu()
        largest = max(graph.num_vertices - 1, 0)
        # What goes on until nothing changes would go on for ever while the caller changes `out`;
        # other algorithms check what they read back of it.
        private = algorithm.waits(options) or numbering == "topological"
        parts = graph._kept()
        output = Output(
            (graph.num_vertices,), largest, dtype, out, parts, private=private, xp=gpu.xp
        )
        if algorithm.check is not None:
            algorithm.check(graph, **options)
        with Workspace() if workspace is None else workspace as memory:
            consecutive = numbering != "roots"
            counts = algorithm.fill(gpu, graph, output.labels, memory, consecutive, True, **options)
            if consecutive:
                count = first_entry(counts) if private else int(counts[0])
            if numbering == "topological":
                renumber_in_topological_order(gpu.xp, graph, output.labels, count)
        labels = output.finish()
        result = in_library(labels, graph._library) if out is None else out
        if consecutive:
            return count, result
        return in_library(counts.reshape(()), graph._library), result


def _lies_on_gpu(graph: Any) -> bool:
    if isinstance(graph, Graph):
        return graph.device == "cuda"
    return is_of(graph, "cupyx.scipy.sparse") or on_gpu(graph)


def as_graph(graph: Any) -> Graph:
    """Return `graph`, of any kind that `connected_components` takes, as a `Graph`."""
    if isinstance(graph, Graph):
        return graph
    if is_sparse(graph):
        if graph.dtype.kind not in "biuf":
            raise TypeError(f"csgraph is of dtype {graph.dtype}; it must be of real numbers")
        check_square(graph.shape, "csgraph")
        return Graph.from_scipy(graph)
    for is_kind, convert in (
        (is_networkx, Graph.from_networkx),
        (is_igraph, Graph.from_igraph),
        (is_rustworkx, Graph.from_rustworkx),
    ):
        if is_kind(graph):
            return convert(graph)
    if is_of(graph, "dask.dataframe"):
        raise TypeError(
            "csgraph is a DataFrame of Dask; graphs whose edges are in one are for conncomp."
            "label_edge_files, spanning_forest_of_files and minimum_spanning_forest_of_files"
        )
    if not on_gpu(graph):
        return _graph_of_entries(graph, *as_numpy_and_mask(graph, "csgraph"), np)
    matrix = as_cupy(graph)
    with caller_stream(library_of(graph), matrix.device.id):
        return _graph_of_entries(graph, matrix, None, current_gpu().xp)


def _graph_of_entries(graph: Any, matrix: Any, hidden: Any, xp: Any) -> Graph:
    """Return the graph of a dense matrix, whose values are in an array of `xp`, too."""
    kinds = "a Graph, a graph of NetworkX, igraph or rustworkx, or a matrix of real numbers"
    check_kind(matrix, "biuf", graph, "csgraph", kinds)
    check_square(matrix.shape, "csgraph")
    if isinstance(graph, np.ma.MaskedArray):
        present = ~np.ma.getmaskarray(graph)
    else:
        present = (matrix != 0) & xp.isfinite(matrix)
        present &= hidden is None or ~hidden
    src, dst = xp.nonzero(present)
    made = Graph.from_edges(src, dst, len(matrix))
    made._library = library_of(graph)
    return made


def _arrays_of(graph: Any) -> list[Labels]:
    """Return the arrays that make up a matrix, so that `out` can be held against them."""
    if isinstance(graph, Graph):
        return []
    names = ("data", "indices", "indptr", "row", "col", "offsets")
    parts = (graph, *(getattr(graph, name, None) for name in names))
    return [part for part in parts if isinstance(part, np.ndarray)]
