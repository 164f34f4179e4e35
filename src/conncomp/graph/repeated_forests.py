"""Spanning forests on a GPU whose launches are made again.

As `conncomp.graph.repeated` does for components: what a graph's first call launched is kept with
the graph, and later ones make it again, with the addresses of their own weights. Unlike there
nothing holds on to memory: a call takes it in a workspace, and where it lies elsewhere by now, the
launches are those of a first call.

Where the rows of a graph have been found to be sorted, that is not looked up again.
Cost: some microseconds of Python and two a launch instead of eight; there are some twenty.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from conncomp._arguments import INT32_MAX
from conncomp.gpu import Workspace
from conncomp.graph.graph import Graph
from conncomp.kernels.cuda.graph.boruvka import CHECK_OF_ROWS, ForestTask, WeightBits, forest_arcs
from conncomp.kernels.cuda.launcher import Gpu, are_watched, first_entry, kept_launches, stream_key
from conncomp.kernels.cuda.workspace import OwnWorkspaces

# So many vertices and arcs are gone through in memory that is kept, some 32 bytes for each.
MOST_ENTRIES = 1 << 23

_Kinds = dict[Hashable, "RepeatedForest"]
_kept: WeakKeyDictionary[Graph, WeakKeyDictionary[Workspace, _Kinds]] = WeakKeyDictionary()
_workspaces = OwnWorkspaces()  # by device
_sorted: WeakSet[Graph] = WeakSet()  # graphs whose rows have been found to be sorted


class RepeatedForest:
    """The launches that choose the arcs of a graph's forest, on one stream and in one memory."""

    def __init__(
        self, gpu: Gpu, graph: Graph, weights: WeightBits | None, workspace: Workspace
    ) -> None:
        self._gpu = gpu
        with kept_launches() as launches:
            self._task = task = ForestTask(gpu, graph, weights, workspace)
            arcs = task.find()
        self.arcs = task.as_many(arcs, first_entry(task.total))
        self._memory = self._task.memory.struct.tobytes()
        if weights is None and self._task.has_sorted_rows():
            launches = [made for made in launches if made.kernel.name != CHECK_OF_ROWS]
        variable = (arcs,) if weights is None else (arcs, weights.bits)
        self._again = gpu.repeat(launches, variable)._replace(memory=())
        self._task.memory = self._task.weights = self._task.keys = None

    def __call__(self, weights: WeightBits | None, workspace: Workspace) -> Any:
        """Return the arcs; None if the memory lies elsewhere."""
        task = self._task
        memory = task.take_memory(workspace)
        if memory.struct.tobytes() != self._memory:
            return None
        task.memory = memory
        stream = self._gpu.current_stream()
        arcs = task.room()
        variable = (arcs,) if weights is None else (arcs, weights.bits)
        self._again.run(stream, tuple(map(self._gpu.address, variable)))
        number = self._again.read(stream, self._gpu.address(task.total))
        task.memory = None
        return task.as_many(arcs, number)


def kept_forest_arcs(
    gpu: Gpu, graph: Graph, weights: WeightBits | None, workspace: Workspace | None
) -> Any:
    """Return what `forest_arcs` does, by launches that are kept if they may be."""
    stream, arcs = gpu.current_stream(), graph.num_arcs
    is_plain = weights is None or (weights.bits.dtype.itemsize == 4 and arcs <= INT32_MAX)
    is_small = graph.num_vertices + arcs <= MOST_ENTRIES
    may_be_kept = arcs > 0 and is_plain and not are_watched() and gpu.keeps_launches_of(stream)
    if not may_be_kept or (workspace is None and not is_small):
        with Workspace() if workspace is None else workspace as memory:
            return forest_arcs(gpu, graph, weights, memory, _sorted)
    if workspace is None:
        workspace = _workspaces.take(gpu.device, stream)
    kind = stream_key(stream), None if weights is None else weights.order, graph._symmetric
    with workspace as memory:
        kinds = _kept.setdefault(graph, WeakKeyDictionary()).setdefault(memory, {})
        repeated = kinds.get(kind)
        found = None if repeated is None else repeated(weights, memory)
        if found is None:
            repeated = kinds[kind] = RepeatedForest(gpu, graph, weights, memory)
            found, repeated.arcs = repeated.arcs, None
        return found
