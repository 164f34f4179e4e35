"""Recorded calls on graphs of a GPU: components and spanning forests.

A graph on a GPU keeps its arrays, so launches with one key differ by labels and weights only:

    first call      check, plan, allocate, launch ... launch, read the count     record
    later ones      new labels, replay, read the count

Replays are one CUDA graph: some microseconds in all, not ten a launch. A recording belongs to its
memory, of a workspace, or one for all calls without; when a larger graph takes more of it, the
recordings of smaller ones are forgotten.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from threading import get_ident
from typing import Any

import numpy as np

from conncomp._algorithms import Algorithm, Task
from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp._cuda_arrays import CallKey, Counted, RecordedFill, cuda_library_named, recorded_with
from conncomp.graph.inputs.parts import Parts
from conncomp.kernels.cuda.graph.boruvka import ForestTask, as_many, forest_arcs, room_for_forest
from conncomp.kernels.cuda.launcher import Gpu, are_watched, current_gpu
from conncomp.kernels.cuda.recordings import Recordings, stream_key
from conncomp.kernels.cuda.workspace import OwnWorkspaces, Workspace
from conncomp.kernels.graph import WeightBits

# The most vertices and arcs of recorded calls without a workspace, as their memory stays allocated.
MOST_ENTRIES = 1 << 23

_workspaces = OwnWorkspaces()  # by device, of calls without one

# The types of `asked` in recorded calls: of these types, equal arguments mean the same.
_NONE = type(None)
_PLAIN = frozenset(product([bool], [str], [str], [str], [_NONE, str]))


def call_again(
    graph: Parts, workspace: Any, asked: tuple[Any, ...], out: Any
) -> tuple[CallKey, tuple[Any, Any] | None]:
    """Return the key of a call of `connected_components`, and its result: number and labels.

    The key is None if launches are not recorded; the result is None if there is no recording, or
    it does not take `out`.
    """
    targets: Any = graph.lists[1]
    if isinstance(targets, np.ndarray) or are_watched() or tuple(map(type, asked)) not in _PLAIN:
        return None, None
    directed, connection, numbering, algorithm, device = asked
    entries, library = graph.num_vertices + len(targets), cuda_library_named(graph.library)
    gpu, fits = current_gpu(), workspace is not None or entries <= MOST_ENTRIES
    if (
        (library is None or type(workspace) not in (_NONE, Workspace))
        or (algorithm != "auto" or device not in (None, "cuda"))
        or numbering not in ("consecutive", "roots")
        or (targets.data.device_id != gpu.device or not graph.num_vertices or not fits)
    ):
        return None, None
    call = directed, connection, numbering
    memory, call_key = recorded_with(gpu, library, workspace, _workspaces, call)
    kept = None if memory is None else memory.of_graphs.get(graph)
    recorded = None if kept is None else kept.get(call_key)
    # Nobody else has the arrays of the graph, so that `out` is no part of them.
    if recorded is None or not recorded.takes(out):
        return call_key, None
    labels, count = recorded(memory, out)
    return call_key, (count, labels)


def _recordings(gpu: Gpu, graph: Parts, workspace: Workspace) -> Recordings:
    """Return the recordings, by key, of calls on a graph; the caller has the workspace's turn."""
    recordings = workspace.of_graphs.get(graph)
    if recordings is None:
        recordings = workspace.of_graphs[graph] = Recordings(gpu)
    return recordings


def fill_and_record(call_key: CallKey, graph: Parts, algorithm: Algorithm, task: Task) -> Any:
    """Fill labels by a first call, and record it; return the components as `Counted` says."""
    library, gpu, is_own = cuda_library_named(graph.library), current_gpu(), task.workspace is None
    assert library is not None
    memory = task.workspace or _workspaces.take(gpu.device, gpu.current_stream())
    counted: Counted = "told" if task.consecutive else "copied" if is_own else "left"
    with memory:  # no other call takes more of it before the launches are recorded
        launches = partial(algorithm.fill, graph, task._replace(workspace=memory))
        recorded = RecordedFill.record(gpu, launches, task.labels, library, memory, counted)
        if task.labels.dtype == INDEX_TYPES[0]:  # not another dtype, of `out`
            _recordings(gpu, graph, memory)[call_key] = recorded
    return recorded.first


def recorded_forest(
    gpu: Gpu, graph: Parts, weights: WeightBits | None, workspace: Workspace | None
) -> Any:
    """Return the arcs of a forest, an array on the GPU, by recorded launches if possible."""
    stream, arcs = gpu.current_stream(), graph.num_arcs
    is_plain = weights is None or (weights.bits.dtype.itemsize == 4 and arcs <= INT32_MAX)
    will_be_recorded = arcs > 0 and is_plain and not are_watched() and gpu.may_record(stream)
    fits = workspace is not None or graph.num_vertices + arcs <= MOST_ENTRIES
    memory = _workspaces.take(gpu.device, stream) if workspace is None else workspace
    if not will_be_recorded or not fits or memory.caller == get_ident():
        with Workspace() if workspace is None else workspace as memory:
            return forest_arcs(gpu, graph, weights, memory)
    with memory:
        memory.caller = get_ident()
        try:
            # Rows are looked up in a call that is not recorded, so that later ones do not do it.
            if weights is None and graph.symmetric and graph.sorted_rows is None:
                return forest_arcs(gpu, graph, None, memory)
            return _forest_again(gpu, graph, weights, memory, stream)
        finally:
            memory.caller = None


def _forest_again(
    gpu: Gpu, graph: Parts, weights: WeightBits | None, workspace: Workspace, stream: int
) -> Any:
    """Return the arcs of a forest by launches that the first call with a key records."""
    order, bits = (None, None) if weights is None else (weights.order, weights.bits)
    key, arcs = ("forest", stream_key(stream), order, graph.symmetric), room_for_forest(gpu, graph)

    def launches() -> Any:
        task = ForestTask(gpu, graph, weights, workspace)
        task.find(arcs)
        return task.total

    again = _recordings(gpu, graph, workspace).launch(key, (arcs, bits), launches)
    return as_many(arcs, again.read(gpu.address(again.returned)))
