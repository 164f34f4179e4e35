"""`connected_components` and `condensation`.

csgraph  ->  Parts  ->  an Algorithm of `algorithms.py`, by kind, device and name
Output   ->  its `fill` writes labels: roots, or numbers if consecutive  ->  `finish`
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, Literal, NamedTuple, Unpack, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from conncomp import _array_storage, _arrays, _label_output
from conncomp._algorithms import Algorithm, Choices, Task, choose_algorithm
from conncomp._arguments import also_named, as_bool, check_choice, shown
from conncomp._cuda_arrays import CallKey
from conncomp.graph import on_cpu
from conncomp.graph.algorithms import ALGORITHMS, STRONG_ALGORITHMS
from conncomp.graph.graph import Graph, arrays_of, as_parts, is_graph_on_gpu
from conncomp.graph.inputs.parts import Parts
from conncomp.graph.repeated import call_again, fill_and_record
from conncomp.kernels.cuda.graph import strong_components
from conncomp.kernels.cuda.launcher import current_gpu, first_entry
from conncomp.kernels.cuda.workspace import Workspace

Numbering = Literal["consecutive", "roots", "topological"]
Labels = NDArray[Any]
_IN_MEMORY = nullcontext()  # instead of a stream


class GraphChoices(Choices, total=False):
    """Arguments on which the type of the result does not depend."""

    numbering: Numbering
    # Options of algorithms.
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
    `scipy.sparse.csgraph.connected_components`, but for the order of strong components, which in
    SciPy changes with its version.

    Parameters
    ----------
    csgraph : Graph, matrix, or graph of another library
        A sparse matrix or array of SciPy, CuPy or PyData's sparse: stored entries are arcs, zeros
        too, but for the padding of bsr and dia. A dense matrix: entries other than 0, NaN and
        infinity are arcs, in a masked one all that are not masked. It need not be symmetric. A
        graph of NetworkX, igraph or rustworkx: nodes are numbered in their order. The keyword
        ``graph`` works, too.
    directed : bool, optional
        If False, arcs count in both directions, and `connection` means nothing.
    connection : {"weak", "strong"}, optional
        Of a directed graph: whether the vertices of a component are connected if directions are
        ignored, or reach each other along arcs.
    return_labels : bool, optional
        Whether to return the labels too.
    numbering : {"consecutive", "roots", "topological"}, optional
        "consecutive": labels 0, 1, ... in the order of the components' smallest vertices. "roots":
        the smallest vertex of the component. "topological", for strong components: labels 0, 1, ...
        so that arcs never lead to larger labels, ordered by the longest path from a component, in
        arcs between components, and then by the smallest vertex.
    algorithm : str, optional
        All give the same labels. On the CPU "auto", "afforest", "ecl", "bfs" or "recolouring", and
        for strong components "auto" or "tarjan"; on a GPU "auto" or others. "afforest" samples
        rows of a matrix, but reads every edge of a list.
        :doc:`/algorithms/graph_options` lists them, with options and memory.
    dtype : dtype or "smallest", optional
        Of the labels: integers of 8 to 64 bits if the labels fit, by default int32 where every
        vertex number fits; "smallest" is the narrowest unsigned type that fits. Types other than
        int32 and int64 cost a copy.
    out : ndarray, optional
        A C-contiguous array of integers, of shape (num_vertices,), for the labels, where the graph
        lies. On the CPU it needs as much memory again as the labels.
    device : {None, "cpu", "cuda"}, optional
        Where to work: by default where the graph lies. "cuda" moves a graph in main memory to the
        current GPU, and the labels back.
    workspace : Workspace, optional
        Memory on the GPU to use again; an error on a CPU.
    **options
        Of the algorithm, as the same page lists them.

    Returns
    -------
    n_components : int
        For a graph on a GPU and ``numbering="roots"`` a GPU array without axes, as the call does
        not wait; it lies in `workspace`, until that is used again.
    labels : ndarray of int32 or int64, or of `dtype`, shape (num_vertices,)
        Only if `return_labels`; `out` if given. Of the library of the graph's arrays.

    Raises
    ------
    TypeError, ValueError
        If `csgraph` is none of the kinds above, complex or of objects, not square, or refers to
        vertices that it does not have; if another argument does not fit, the algorithm has no such
        option, or `dtype` or `out` is too small for the labels.
    ImportError, RuntimeError
        If a GPU is asked for, and CuPy is not installed or there is none. RuntimeError where
        "soman" with ``jump="end"`` and a ``hook=`` of its papers does not end.
    MemoryError
        If there is too little memory, on the GPU too; the next call works.

    See Also
    --------
    label : The same for arrays.
    kernel_times : How long each kernel takes on a GPU.

    Notes
    -----
    Calls on a GPU run on the current stream of the library of the graph's arrays. With
    ``numbering="roots"``, `out` and a `workspace` that was used for as large a graph, "auto" and
    "ecl" neither allocate nor wait, and can be captured in a CUDA graph. Other algorithms wait for
    the GPU now and then.

    Other threads may write to the arrays of `csgraph` and to `out` meanwhile: the labels may then
    be wrong, no more. A signal whose handler raises, such as Ctrl-C, ends the call and leaves `out`
    undefined.

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
    call_key: Any = None
    if type(csgraph) is Graph and not options and dtype is None:
        return_labels = as_bool("return_labels", return_labels)
        asked = directed, connection, numbering, algorithm, device
        call_key, again = call_again(csgraph._parts, workspace, asked, out)
        if again is not None:
            return again if return_labels else int(again[0])
    strong = _are_strong(directed, connection, numbering)
    on_gpu = is_graph_on_gpu(csgraph)
    where = _arrays.choose_device(device, on_gpu, "csgraph", workspace)
    chosen = choose_algorithm(STRONG_ALGORITHMS if strong else ALGORITHMS, where, algorithm)
    choices = chosen.check_options(options)
    graph = as_parts(csgraph)
    return_labels = as_bool("return_labels", return_labels)
    with graph.stream() if on_gpu else _IN_MEMORY:
        gpu: Any = current_gpu() if on_gpu else None
        output = _label_output.Output(
            (graph.num_vertices,),
            # Labels of strong components are ranks in between, up to the number of vertices.
            graph.num_vertices if strong and not on_gpu else max(graph.num_vertices - 1, 0),
            dtype,
            out,
            graph.arrays if on_gpu else (*graph.arrays, *arrays_of(csgraph)),
            # CPU kernels trust what they have written there. An algorithm that runs until nothing
            # changes might not end while the caller changes `out`.
            private=not on_gpu or numbering == "topological" or chosen.waits(choices),
            xp=gpu.xp if on_gpu else np,
        )
        task = Task(gpu, output.labels, workspace, consecutive=numbering != "roots")
        if where == "cuda":
            fill_there = _fill_on_gpu if on_gpu else _move_and_fill
            count = fill_there(graph, task, chosen, choices, numbering, call_key)
        else:
            fill = on_cpu.fill_topologically if numbering == "topological" else chosen.fill
            (count,) = fill(graph, task, **choices)
        labels = output.finish(graph.library)
    return (count, labels) if return_labels else int(count)


def _are_strong(directed: Any, connection: Any, numbering: Any) -> bool:
    """Whether strong components are wanted; raise unless the arguments agree."""
    if not isinstance(connection, str) or connection.lower() not in ("weak", "strong"):
        raise ValueError(f"connection={shown(connection)} is neither 'weak' nor 'strong'")
    if isinstance(directed, str):  # as connected_components(graph, "strong")
        given = f"directed={shown(directed)} must be True or False"
        raise TypeError(f"{given}; name the kind of components by connection=")
    strong = as_bool("directed", directed) and connection.lower() == "strong"
    check_choice("numbering", numbering, ("consecutive", "roots", "topological"))
    if numbering == "topological" and not strong:
        raise ValueError(
            "numbering='topological' is for connection='strong' of a directed graph: arcs give "
            "weak components no order; use 'consecutive' or 'roots'"
        )
    return strong


def _move_and_fill(graph: Parts, task: Task, *how: Any) -> int:
    """Move a graph in main memory to the current GPU, and the labels back."""
    gpu, placed = current_gpu(), graph.to("cuda")
    with placed.stream():
        labels = gpu.xp.empty(task.labels.shape, task.labels.dtype)
        count = int(_fill_on_gpu(placed, task._replace(gpu=gpu, labels=labels), *how))
        _array_storage.move_from_gpu(labels, task.labels)
    return count


def _fill_on_gpu(
    graph: Parts,
    task: Task,
    algorithm: Algorithm,
    options: Mapping[str, Any],
    numbering: str,
    call_key: CallKey,
) -> Any:
    """Fill labels; return the number of components; record launches if there is a key."""
    if call_key is not None:
        return fill_and_record(call_key, graph, algorithm, task)
    with Workspace() if task.workspace is None else task.workspace as memory:
        counts = algorithm.fill(graph, task._replace(workspace=memory), **options)
        if not task.consecutive:
            return _arrays.in_library(counts.reshape(()), graph.library)
        waits = numbering == "topological" or algorithm.waits(options)
        count = first_entry(counts) if waits else int(counts[0])
    if numbering == "topological":
        _number_topologically(task.gpu.xp, graph, task.labels, count)
    return count


def _number_topologically(xp: Any, graph: Parts, labels: Any, count: int) -> None:
    """Renumber components so that arcs never lead to larger numbers, in main memory."""
    numbers = np.empty(count, labels.dtype)
    rows = strong_components.condense(xp, graph, labels, count)
    indptr, indices = map(_array_storage.move_from_gpu, rows)
    task = Task(None, numbers, None, True)
    on_cpu.fill_topologically(Parts(count, csr=(indptr, indices)), task)
    labels[:] = _array_storage.move_to_gpu(xp, numbers)[labels]


class Condensation(NamedTuple):
    """The strong components of a graph, and the arcs between them.

    Attributes
    ----------
    graph : Graph
        A vertex for each component, and the distinct arcs without loops, rows sorted; no cycles.
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
        As for `connected_components`, like errors. The keyword ``graph`` works, too.
    numbering : {"consecutive", "topological"}, optional
        "consecutive": components are numbered in the order of their smallest vertices.
        "topological": so that arcs lead to smaller numbers, as `connected_components` does it.
    algorithm : str, optional
        As for ``connected_components(csgraph, connection="strong")``.

    Returns
    -------
    Condensation
        Arrays lie where those of `csgraph` do; labels are of the same library.

    Examples
    --------
    >>> import conncomp
    >>> graph = conncomp.Graph.from_edges([0, 1, 2, 2], [1, 2, 1, 3])
    >>> conncomp.condensation(graph)  # doctest: +NORMALIZE_WHITESPACE
    Condensation(graph=Graph(num_vertices=3, num_arcs=2),
                 labels=array([0, 1, 1, 2], dtype=int32), num_components=3)
    """
    check_choice("numbering", numbering, ("consecutive", "topological"))
    graph = as_parts(csgraph)
    count, labels = connected_components(
        Graph._of_parts(graph), connection="strong", numbering=numbering, algorithm=algorithm
    )
    if graph.device == "cpu":
        rows = on_cpu.condense(graph, _arrays.as_numpy(labels, "labels"), count)
    else:
        with graph.stream():
            xp, placed = current_gpu().xp, _arrays.as_cupy(labels)
            rows = strong_components.condense(xp, graph, placed, count)
    return Condensation(Graph._of_checked(count, csr=rows, library=graph.library), labels, count)
