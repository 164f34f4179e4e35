"""What is measured: our algorithms, and other libraries, each behind the same few methods."""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp.bench.inputs import MOST_OBJECTS
from conncomp.bench.suites import Kind
from conncomp.graph import Graph
from conncomp.graph.labelling import algorithms as graph_algorithms
from conncomp.grid.labelling import algorithms as grid_algorithms

Labels = NDArray[Any]


class Contender:
    """Something that labels graphs or arrays; `run` alone is timed.

    Attributes
    ----------
    name : str
    kind : {"ours", "peer"}
    threads : int
        How many it uses.
    """

    name: str
    kind: Literal["ours", "peer"]
    threads: int

    def prepare(self, data: Any, connectivity: int) -> Any:
        """Return `data` as `run` takes it, or None if it cannot label such data."""
        return data, connectivity

    def run(self, prepared: Any) -> Any:
        """Find the components."""
        raise NotImplementedError

    def labels(self, result: Any) -> Labels:
        """Return the labels that `run` found, as an array."""
        labels: Labels = result
        return labels


class Ours(Contender):
    """An algorithm of this library."""

    kind = "ours"

    def __init__(self, measured: Kind, algorithm: str) -> None:
        self.name = algorithm
        self.threads = conncomp.get_num_threads()
        self._is_graph = measured == "graph"

    def run(self, prepared: Any) -> Labels:
        """Label, into a new array as other libraries do."""
        data, connectivity = prepared
        if self._is_graph:
            return conncomp.connected_components(data, algorithm=self.name)[1]
        return conncomp.label(data, connectivity=connectivity, algorithm=self.name)


class Peer(Contender):
    """Another library: `module` is how it is imported, and `parallel`, if it uses all threads."""

    kind = "peer"
    module: ClassVar[str]
    parallel: ClassVar[bool] = False

    def __init__(self, threads: int) -> None:
        self.library: Any = importlib.import_module(self.module)
        self.threads = threads if self.parallel else 1

    @property
    def package(self) -> str:
        """The name that its version is recorded under."""
        return self.module.partition(".")[0]

    @property
    def version(self) -> str:
        """Of the library."""
        return str(importlib.import_module(self.package).__version__)


def _is_binary(image: Labels) -> bool:
    return bool(image.dtype == np.bool_ or (image.dtype == np.uint8 and image.max(initial=0) <= 1))


class _OpenCV(Peer):
    name, module, parallel = "cv2", "cv2", True

    def prepare(self, data: Any, connectivity: int) -> Any:
        if data.ndim != 2 or not _is_binary(data):
            return None
        self.library.setNumThreads(self.threads)
        return data.view(np.uint8), 4 * connectivity

    def run(self, prepared: Any) -> Any:
        return self.library.connectedComponents(prepared[0], connectivity=prepared[1])

    def labels(self, result: Any) -> Labels:
        labels: Labels = result[1]
        return labels


class _CC3D(Peer):
    name, module = "cc3d", "cc3d"
    version = property(lambda self: importlib.metadata.version("connected-components-3d"))
    neighbours: ClassVar = {(2, 1): 4, (2, 2): 8, (3, 1): 6, (3, 2): 18, (3, 3): 26}

    def prepare(self, data: Any, connectivity: int) -> Any:
        neighbours = self.neighbours.get((data.ndim, connectivity))
        return None if neighbours is None else (data, neighbours)

    def run(self, prepared: Any) -> Any:
        return self.library.connected_components(prepared[0], connectivity=prepared[1])


class _SciPyImage(Peer):
    name, module = "scipy", "scipy.ndimage"

    def prepare(self, data: Any, connectivity: int) -> Any:
        if not _is_binary(data):
            return None
        return data, self.library.generate_binary_structure(data.ndim, connectivity)

    def run(self, prepared: Any) -> Any:
        return self.library.label(*prepared)[0]


class _ScikitImage(Peer):
    name, module = "scikit-image", "skimage.measure"

    def run(self, prepared: Any) -> Any:
        return self.library.label(prepared[0], background=0, connectivity=prepared[1])


class _Kornia(Peer):
    name, module = "kornia-rs", "kornia_rs.imgproc"

    def prepare(self, data: Any, connectivity: int) -> Any:
        if data.ndim != 2 or not _is_binary(data):
            return None
        return data.view(np.uint8)[:, :, None], 4 * connectivity

    def run(self, prepared: Any) -> Any:
        return self.library.connected_components(*prepared)[1]

    def labels(self, result: Any) -> Labels:
        return np.asarray(result).squeeze(-1)


def _edges(graph: Graph) -> tuple[Labels, Labels]:
    """Return each edge of a symmetric graph once, without loops, which connect nothing."""
    vertices = np.arange(graph.num_vertices, dtype=graph.indices.dtype)
    u = np.repeat(vertices, np.diff(graph.indptr))
    once = u < graph.indices
    return u[once], graph.indices[once]


def _labels_of_sets(num_vertices: int, components: Any) -> Labels:
    labels = np.empty(num_vertices, np.int64)
    for number, members in enumerate(components):
        labels[list(members)] = number
    return labels


class _SciPyGraph(Peer):
    name, module = "scipy", "scipy.sparse.csgraph"

    def prepare(self, data: Any, connectivity: int) -> Any:
        # Of the dtype that it would convert to.
        return sparse_matrix(data)

    def run(self, prepared: Any) -> Any:
        return self.library.connected_components(prepared, directed=False)[1]


class _IGraph(Peer):
    name, module = "igraph", "igraph"

    def prepare(self, data: Any, connectivity: int) -> Any:
        edges = np.stack(_edges(data), axis=1).astype(np.int64)
        return self.library.Graph(data.num_vertices, edges)

    def run(self, prepared: Any) -> Any:
        return prepared.connected_components(mode="weak")

    def labels(self, result: Any) -> Labels:
        return np.array(result.membership, np.int64)


class _NetworKitSerial(Peer):
    name, module, algorithm = "networkit-serial", "networkit", "ConnectedComponents"

    def prepare(self, data: Any, connectivity: int) -> Any:
        self.library.setNumberOfThreads(self.threads)
        ends = tuple(end.astype(np.uint64) for end in _edges(data))
        return self.library.GraphFromCoo(ends, n=data.num_vertices)

    def run(self, prepared: Any) -> Any:
        return getattr(self.library.components, self.algorithm)(prepared).run()

    def labels(self, result: Any) -> Labels:
        return np.array(result.getPartition().getVector(), np.int64)


class _NetworKit(_NetworKitSerial):
    name, algorithm, parallel = "networkit", "ParallelConnectedComponents", True


class _RustworkX(Peer):
    name, module = "rustworkx", "rustworkx"
    most_arcs: ClassVar = MOST_OBJECTS  # its edges pass through Python objects

    def prepare(self, data: Any, connectivity: int) -> Any:
        if data.num_arcs > self.most_arcs:
            return None
        graph = self.library.PyGraph(multigraph=True)
        graph.add_nodes_from(range(data.num_vertices))
        edges = zip(*(end.tolist() for end in _edges(data)), strict=True)
        graph.add_edges_from_no_data(list(edges))
        return graph

    def run(self, prepared: Any) -> Any:
        return prepared.num_nodes(), self.library.connected_components(prepared)

    def labels(self, result: Any) -> Labels:
        return _labels_of_sets(*result)


class _NetworkX(_RustworkX):
    name, module = "networkx", "networkx"
    most_arcs = MOST_OBJECTS // 4

    def prepare(self, data: Any, connectivity: int) -> Any:
        if data.num_arcs > self.most_arcs:
            return None
        graph = self.library.empty_graph(data.num_vertices)
        graph.add_edges_from(zip(*(end.tolist() for end in _edges(data)), strict=True))
        return graph

    def run(self, prepared: Any) -> Any:
        return len(prepared), list(self.library.connected_components(prepared))


def _by_name(*peers: type[Peer]) -> dict[str, type[Peer]]:
    return {peer.name: peer for peer in peers}


PEERS: dict[Kind, dict[str, type[Peer]]] = {
    "graph": _by_name(_SciPyGraph, _IGraph, _NetworKit, _NetworKitSerial, _RustworkX, _NetworkX),
    "grid": _by_name(_SciPyImage, _ScikitImage, _OpenCV, _CC3D, _Kornia),
}

ALGORITHMS: dict[Kind, tuple[str, ...]] = {
    "graph": graph_algorithms("cpu"),
    "grid": tuple(sorted(grid_algorithms("cpu"))),
}


def sparse_matrix(graph: Graph) -> Any:
    """Return a graph as SciPy's functions on graphs take it without a further conversion."""
    from scipy.sparse import csr_array

    shape = (graph.num_vertices, graph.num_vertices)
    return csr_array((np.ones(graph.num_arcs), graph.indices, graph.indptr), shape=shape)
