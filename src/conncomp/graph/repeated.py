"""Recorded calls on graphs of a GPU: components and spanning forests.

A graph on a GPU keeps its arrays, so which kernels are launched, and on what, differs from one call
to the next by labels and weights only. The first call of a kind on a graph records its launches,
and later ones replay them:

    first call      check, plan, allocate, launch ... launch, read the count     record
    later ones      new labels, replay, read the count

Cost: some microseconds of Python, and two for all launches, which are one CUDA graph, instead of
ten for each. A recording belongs to the memory that it needs, of a workspace, or one for all calls
without; when a larger graph takes more of it, the recordings of smaller ones are forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from threading import get_ident
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from conncomp._algorithms import Algorithm
from conncomp._arguments import INT32_MAX
from conncomp._arrays import Output
from conncomp._cuda_arrays import Counted, CudaLibrary, RecordedFill, cuda_library_named, kept_with
from conncomp.gpu import Workspace
from conncomp.graph.graph import Graph
from conncomp.kernels.cuda.graph.boruvka import (
    ForestTask,
    WeightBits,
    as_many,
    forest_arcs,
    room_for_forest,
)
from conncomp.kernels.cuda.launcher import INDEX_TYPES, Gpu, are_watched, current_gpu
from conncomp.kernels.cuda.workspace import OwnWorkspaces, Recordings, stream_key

# The most vertices and arcs of recorded calls without a workspace, as their memory stays allocated.
MOST_ENTRIES = 1 << 23

_workspaces = OwnWorkspaces()  # by device, of calls without one
_GRAPHS = "graphs"  # among the calls of a workspace: kinds by graph
# Whether the rows of a graph are sorted, where that has been looked up.
_sorted: WeakKeyDictionary[Graph, bool] = WeakKeyDictionary()


class _Place(NamedTuple):
    """Where a graph lies, which stays so: of which library, None in main memory; and how large."""

    library: CudaLibrary | None
    device: int
    entries: int


_places: WeakKeyDictionary[Graph, _Place] = WeakKeyDictionary()


def _place_of(graph: Graph) -> _Place:
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
    """Return the kind of a call of `connected_components`; None if its launches are not recorded.

    That is the memory that they are recorded with, and their key there.
    """
    library, place, entries = _place_of(graph)
    if library is None or are_watched():
        return None
    # What is equal to one of these and of another type may be refused.
    types = type(directed), type(connection), type(numbering), type(algorithm)
    on_gpu = device is None or (type(device) is str and device == "cuda")
    if types != (bool, str, str, str) or type(workspace) not in (type(None), Workspace):
        return None
    if algorithm != "auto" or not on_gpu or numbering not in ("consecutive", "roots"):
        return None
    gpu = current_gpu()
    fits = graph._num_vertices > 0 and (entries <= MOST_ENTRIES or workspace is not None)
    if place != gpu.device or not fits:
        return None
    return kept_with(gpu, library, workspace, _workspaces, directed, connection, numbering)


def call_again(graph: Graph, kind: Any, out: Any) -> tuple[Any, Any] | None:
    """Return the number of components and the labels by recorded launches.

    None if there are none, or they do not fill `out`.
    """
    workspace, key = kind
    recorded = None if workspace is None else _kinds(workspace, graph).get(key)
    # Nobody else has the arrays of the graph, so that `out` is no part of them.
    if recorded is None or not recorded.takes(out):
        return None
    labels, count = recorded(workspace, out)
    return count, labels


def _kinds(workspace: Workspace, graph: Graph) -> dict[Hashable, Any]:
    """Return what is recorded of calls on a graph with the memory of a workspace."""
    graphs = workspace.calls.setdefault(_GRAPHS, WeakKeyDictionary())
    kinds: dict[Hashable, Any] | None = graphs.get(graph)
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
    """Return the number of components and the labels, and record the launches for later calls."""
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
        with memory:  # no other call takes more of it before the launches are recorded
            recorded = RecordedFill(gpu, fill, (filled,), library, memory, (), counted)
            if filled.dtype == INDEX_TYPES[0]:  # not as those of `out`
                _kinds(memory, graph)[kind[1]] = recorded
        return recorded.first, output.finish(graph._library)


def recorded_forest(
    gpu: Gpu, graph: Graph, weights: WeightBits | None, workspace: Workspace | None
) -> Any:
    """Return what `forest_arcs` does, by recorded launches if they may be."""
    stream, arcs = gpu.current_stream(), graph.num_arcs
    is_plain = weights is None or (weights.bits.dtype.itemsize == 4 and arcs <= INT32_MAX)
    may_be_kept = arcs > 0 and is_plain and not are_watched() and gpu.keeps_launches_of(stream)
    is_small = graph.num_vertices + arcs <= MOST_ENTRIES
    memory = _workspaces.take(gpu.device, stream) if workspace is None else workspace
    if not may_be_kept or (workspace is None and not is_small) or memory.caller == get_ident():
        with Workspace() if workspace is None else workspace as memory:
            return forest_arcs(gpu, graph, weights, memory, _sorted)
    with memory:
        memory.caller = get_ident()
        try:
            # Rows are looked up in a call that is not recorded, so that later ones do not do it.
            if weights is None and graph._symmetric and graph not in _sorted:
                return forest_arcs(gpu, graph, None, memory, _sorted)
            return _replay_forest(gpu, graph, weights, memory, stream)
        finally:
            memory.caller = None


def _replay_forest(
    gpu: Gpu, graph: Graph, weights: WeightBits | None, memory: Workspace, stream: int
) -> Any:
    """Return the arcs of a forest by recorded launches, which the kind's first call records."""
    key = "forest", stream_key(stream), None if weights is None else weights.order, graph._symmetric
    arcs = room_for_forest(gpu, graph)
    total, recordings = _kinds(memory, graph).get(key) or (None, Recordings())

    def launches() -> None:
        nonlocal total
        task = ForestTask(gpu, graph, weights, memory, _sorted.get(graph, False))
        task.find(arcs)
        total = task.total

    variable = arcs, None if weights is None else weights.bits
    again = recordings.launch(gpu, stream, key, variable, launches)
    _kinds(memory, graph)[key] = total, recordings
    return as_many(arcs, again.read(stream, gpu.address(total)))
