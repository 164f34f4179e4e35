"""Calls of `connected_components` on a GPU whose launches are made again.

A graph on a GPU keeps its arrays, so which kernels are launched, and on what, differs from one call
to the next by the labels only. The launches of a graph's first call are kept with it, and later
ones make them again:

    first call      check, plan, take memory, launch ... launch, read the count     keep
    later ones      new labels, launch ... launch, read the count

Cost: some microseconds of Python, and two for all launches, which are made as one CUDA graph,
instead of ten for each. Memory: that of the algorithm, of a workspace, or one for all calls without
one; when a larger graph takes more of it, the launches of smaller ones are forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from conncomp._algorithms import Algorithm
from conncomp._arrays import Output, in_library
from conncomp._cuda_arrays import Counted, CudaLibrary, RepeatedFill, cuda_library_named, kept_with
from conncomp.gpu import Workspace
from conncomp.graph.graph import Graph
from conncomp.kernels.cuda.launcher import INDEX_TYPES, are_watched, current_gpu
from conncomp.kernels.cuda.workspace import OwnWorkspaces

# So many vertices and arcs are labelled by kept launches where there is no workspace, as the memory
# that these use is kept too.
MOST_ENTRIES = 1 << 23

_workspaces = OwnWorkspaces()  # by device, of calls without one
_GRAPHS = "graphs"  # among the calls of a workspace: kinds by graph


class _Place(NamedTuple):
    """Where a graph lies, which stays so: of which library, None in main memory; and how large."""

    library: CudaLibrary | None
    device: int
    entries: int


_places: WeakKeyDictionary[Graph, _Place] = WeakKeyDictionary()


def _place_of(graph: Graph) -> _Place:
    """Return where a graph lies."""
    place = _places.get(graph)
    if place is None:
        arrays: Any = graph._kept()
        on_gpu = graph.device == "cuda"
        library = cuda_library_named(graph._library) if on_gpu else None
        device = arrays[0].device.id if on_gpu else -1
        place = _places[graph] = _Place(library, device, graph.num_vertices + len(arrays[1]))
    return place


def kind_of_call(
    graph: Graph,
    directed: Any,
    connection: Any,
    numbering: Any,
    algorithm: Any,
    device: Any,
    workspace: Workspace | None,
) -> Any:
    """Return what tells the kind of a call on a graph; None if its launches are not kept.

    The memory that they are kept with, and what they are found there by.
    """
    library, place, entries = _place_of(graph)
    if library is None or are_watched():
        return None
    # What is equal to one of these and of another type may be refused.
    plain = (
        type(directed) is bool
        and type(connection) is str
        and type(numbering) is str
        and type(algorithm) is str
        and algorithm == "auto"
        and type(workspace) in (type(None), Workspace)
        and (device is None or (type(device) is str and device == "cuda"))
    )
    if not plain or numbering not in ("consecutive", "roots"):
        return None
    gpu = current_gpu()
    fits = graph._num_vertices > 0 and (entries <= MOST_ENTRIES or workspace is not None)
    if place != gpu.device or not fits:
        return None
    return kept_with(gpu, library, workspace, _workspaces, directed, connection, numbering)


def call_again(graph: Graph, kind: Any, out: Any) -> tuple[Any, Any] | None:
    """Return the number of components and the labels by launches that are kept.

    None if they are not, or do not fill `out`.
    """
    workspace, key = kind
    repeated = None if workspace is None else _kinds(workspace, graph).get(key)
    # Nobody else has the arrays of the graph, so that `out` is no part of them.
    if repeated is None or not (out is None or repeated.takes(out)):
        return None
    labels, count = repeated(workspace, out)
    return count, labels


def _kinds(workspace: Workspace, graph: Graph) -> dict[Hashable, RepeatedFill]:
    """Return the kinds of calls on a graph whose launches are kept with a workspace."""
    graphs = workspace.calls.setdefault(_GRAPHS, WeakKeyDictionary())
    kinds: dict[Hashable, RepeatedFill] | None = graphs.get(graph)
    if kinds is None:
        kinds = graphs[graph] = {}
    return kinds


def first_call(
    kind: Any,
    graph: Graph,
    algorithm: Algorithm,
    numbering: str,
    out: Any,
    workspace: Workspace | None,
) -> tuple[Any, Any]:
    """Return the number of components and the labels, and keep the launches for later calls."""
    library = cuda_library_named(graph._library)
    arrays: Any = graph._kept()
    assert library is not None
    with graph._stream():
        largest = max(graph.num_vertices - 1, 0)
        gpu, consecutive = current_gpu(), numbering == "consecutive"
        output = Output((graph.num_vertices,), largest, None, out, arrays, xp=gpu.xp)
        filled = output.labels
        memory = workspace or _workspaces.take(gpu.device, gpu.current_stream())
        counted: Counted = "copied" if workspace is None else "left"
        if consecutive:
            counted = "told"
        fill = partial(algorithm.fill, gpu, graph, filled, memory, consecutive, True)
        with memory:  # no other call takes more of it before the launches are kept
            repeated = RepeatedFill(gpu, fill, (filled,), library, memory, (), counted)
            if filled.dtype == INDEX_TYPES[0]:  # not as those of `out`
                _kinds(memory, graph)[kind[1]] = repeated
        labels = output.finish()
        if out is None:
            labels = in_library(labels, graph._library)
        return repeated.first, labels
