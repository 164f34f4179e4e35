"""Calls of `connected_components` on a GPU whose launches are made again.

A graph on a GPU keeps its arrays, so which kernels are launched, and on what, differs from one call
to the next by the labels only. The launches of a graph's first call are kept with it, and later
ones make them again:

    first call      check, plan, take memory, launch ... launch, read the count     keep
    later ones      new labels, launch ... launch, read the count

Cost: some microseconds of Python, and two for all launches, which are made as one CUDA graph,
instead of ten for each. Memory: that of the algorithm, one for all graphs of a stream; when a
larger graph takes more of it, the launches of smaller ones hold on to what they were made with.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any
from weakref import WeakKeyDictionary

from conncomp._algorithms import Algorithm
from conncomp._arrays import Output, caller_stream, in_library
from conncomp._cuda_arrays import CudaLibrary, cuda_library_named
from conncomp.gpu import Workspace
from conncomp.graph.graph import Graph
from conncomp.kernels.cuda.launcher import INDEX_TYPES, are_watched, current_gpu, kept_launches

# So many vertices and arcs are labelled by kept launches, as the memory that these use is kept too.
MOST_ENTRIES = 1 << 23

_kept: WeakKeyDictionary[Graph, dict[Hashable, RepeatedGraph]] = WeakKeyDictionary()
_workspaces: dict[int, Workspace] = {}  # by device


class RepeatedGraph:
    """The launches that label a graph on one stream.

    Parameters
    ----------
    graph : Graph
        On the current GPU.
    algorithm : Algorithm
        That does not wait.
    consecutive : bool
    library : CudaLibrary
        Of the labels that users get.
    labels : array
        Of CuPy, and filled by this.
    """

    def __init__(
        self,
        graph: Graph,
        algorithm: Algorithm,
        consecutive: bool,
        library: CudaLibrary,
        labels: Any,
    ) -> None:
        self._gpu = gpu = current_gpu()
        self._library, self._name = library, graph._library
        self._device, self._stream = labels.device.id, gpu.current_stream()
        self._shape, self._dtype, self._consecutive = labels.shape, labels.dtype, consecutive
        example = in_library(labels, graph._library)
        self._labels_kind = type(example), library.layout(example, self._device)
        self._workspace = _workspaces.setdefault(gpu.device, Workspace())
        with self._workspace, kept_launches() as launches:
            self._counts = algorithm.fill(gpu, graph, labels, self._workspace, consecutive, True)
            self._again = gpu.repeat(launches, (labels,))
            self.count = self._read_count()

    def __call__(self, out: Any = None) -> tuple[Any, Any]:
        """Return the number of components and the labels, in `out` if it `takes` that."""
        labels = out
        if out is None:
            labels = self._library.empty(self._gpu, self._shape, self._dtype)
        with self._workspace:
            self._again.run(self._stream, (self._library.address(labels),))
            return self._read_count(), labels

    def takes(self, out: Any) -> bool:
        """Whether an array is as the labels; nobody else has the arrays of the graph."""
        kind, layout = self._labels_kind
        return type(out) is kind and self._library.layout(out, self._device) == layout

    def _read_count(self) -> Any:
        """Return the number of components, before others use the memory that it is in."""
        if self._consecutive:
            return self._again.read(self._stream, self._gpu.address(self._counts))
        with caller_stream(self._name, self._device):
            return in_library(self._counts.reshape(()).copy(), self._name)


def kind_of_call(
    graph: Any, directed: Any, connection: Any, numbering: Any, algorithm: Any, device: Any
) -> Hashable:
    """Return what tells the kind of a call on a graph; None if its launches are not kept."""
    if type(graph) is not Graph or graph.device != "cuda" or are_watched():
        return None
    # What is equal to one of these and of another type may be refused.
    plain = (
        type(directed) is bool
        and type(connection) is str
        and type(numbering) is str
        and type(algorithm) is str
        and algorithm == "auto"
        and (device is None or (type(device) is str and device == "cuda"))
    )
    library = cuda_library_named(graph._library)
    if not plain or library is None or numbering not in ("consecutive", "roots"):
        return None
    arrays: Any = graph._kept()
    gpu = current_gpu()
    is_small = 0 < graph.num_vertices <= MOST_ENTRIES - len(arrays[1])
    if arrays[0].device.id != gpu.device or not is_small:
        return None
    stream = library.stream(gpu)
    if not gpu.keeps_launches_of(stream):
        return None
    return stream, directed, connection, numbering


def kept_call(graph: Graph, kind: Hashable) -> RepeatedGraph | None:
    """Return the launches of calls of a kind, if they are kept with the graph."""
    kinds = _kept.get(graph)
    return None if kinds is None else kinds.get(kind)


def first_call(
    kind: Hashable, graph: Graph, algorithm: Algorithm, numbering: str, out: Any
) -> tuple[Any, Any]:
    """Return the number of components and the labels, and keep the launches for later calls."""
    library = cuda_library_named(graph._library)
    arrays: Any = graph._kept()
    assert library is not None
    with graph._stream():
        largest = max(graph.num_vertices - 1, 0)
        output = Output((graph.num_vertices,), largest, None, out, arrays, xp=current_gpu().xp)
        consecutive = numbering == "consecutive"
        repeated = RepeatedGraph(graph, algorithm, consecutive, library, output.labels)
        if output.labels.dtype == INDEX_TYPES[0]:  # not as those of `out`
            _kept.setdefault(graph, {})[kind] = repeated
        labels = output.finish()
        return repeated.count, in_library(labels, graph._library) if out is None else labels
