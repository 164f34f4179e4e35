"""The contenders: our algorithms, and other libraries, each behind the same few methods."""

from __future__ import annotations

import importlib
import importlib.metadata
import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp._algorithms import Table
from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp.bench.devices import DeviceName
from conncomp.bench.inputs import MOST_OBJECTS
from conncomp.bench.suites import Problem
from conncomp.graph import Graph
from conncomp.graph import algorithms as graph_algorithms
from conncomp.graph.inputs.parts import undirected
from conncomp.grid import algorithms as grid_algorithms
from conncomp.kernels.cuda import launcher

Labels = NDArray[Any]
Numbering = Literal["any", "consecutive", "roots"]

TABLES: dict[Problem, Table] = {
    "graph": graph_algorithms.ALGORITHMS,
    "grid": grid_algorithms.ALGORITHMS,
    "strong": graph_algorithms.STRONG_ALGORITHMS,
}
CONNECTIONS: dict[str, Literal["weak", "strong"]] = {"graph": "weak", "strong": "strong"}


class Contender:
    """Something that labels graphs or arrays; `run` alone is timed."""

    name: str
    kind: Literal["ours", "peer"]
    threads: int
    numbering: Numbering = "any"  # of its labels
    captures: bool = False  # whether a run can be captured: it writes to the same array every time

    def prepare(self, data: Any, connectivity: int) -> Any:
        """Return the call that labels `data`; None if it cannot."""
        raise NotImplementedError

    def run(self, prepared: Any) -> Any:
        """Find the components."""
        return prepared()

    def labels(self, result: Any) -> Labels:
        """Return the labels that `run` found."""
        labels: Labels = result
        return labels


class Ours(Contender):
    """An algorithm of this library, with some of its options."""

    kind = "ours"
    numbering: Numbering = "consecutive"

    def __init__(self, measured: Problem, algorithm: str, **options: Any) -> None:
        self.name = ", ".join([algorithm, *(f"{name}={value}" for name, value in options.items())])
        self.threads = conncomp.get_num_threads()
        self._options: dict[str, Any] = {"algorithm": algorithm, **options}
        self._connection = CONNECTIONS.get(measured)

    def prepare(self, data: Any, connectivity: int, **more: Any) -> Any:
        """Return the call, which makes a new array as other libraries do, unless `more` has one."""
        options = self._options | more
        if self._connection:
            options["connection"] = self._connection
            return partial(conncomp.connected_components, data, **options)
        return partial(conncomp.label, data, connectivity=connectivity, **options)

    def run(self, prepared: Any) -> Any:
        """Label."""
        result = prepared()
        return result[1] if self._connection else result


class OursOnGpu(Ours):
    """An algorithm of this library on the GPU; a run allocates nothing."""

    def __init__(
        self, measured: Problem, algorithm: str, numbering: Numbering = "roots", **options: Any
    ) -> None:
        super().__init__(measured, algorithm, **options)
        if numbering != "roots":
            self.name = f"{algorithm}-{numbering}{self.name.removeprefix(algorithm)}"
        self.numbering, self.threads = numbering, 1
        chosen_algorithm = TABLES[measured]["cuda"][algorithm]
        waits = chosen_algorithm.waits(chosen_algorithm.check_options(options))
        self.captures = numbering == "roots" and not waits

    def prepare(self, data: Any, connectivity: int, **more: Any) -> Any:
        """Return the call, which writes to the same array each time."""
        shape = (data.num_vertices,) if self._connection else data.shape
        out = launcher.import_cupy().empty(shape, INDEX_TYPES[math.prod(shape) > INT32_MAX])
        more |= {"out": out, "workspace": conncomp.Workspace(), "numbering": self.numbering}
        return super().prepare(data, connectivity, **more)


OURS: dict[DeviceName, type[Ours]] = {"cpu": Ours, "cuda": OursOnGpu}


class OursOfList(Ours):
    """The default on edges and then their opposites, or arcs in any order: arrays to labels."""

    def __init__(self, measured: Problem) -> None:
        super().__init__(measured, "auto")
        self.name = "auto-list"

    def prepare(self, data: Any, connectivity: int, **more: Any) -> Any:
        """Return the ends of the arcs, and how many vertices there are."""
        if self._connection == "strong":
            order = np.random.default_rng(0).permutation(data.num_arcs)
            return *(ends[order] for ends in data.arcs), data.num_vertices
        return *(undirected(data.num_vertices, *_edges(data)).arcs or ()), data.num_vertices

    def run(self, prepared: Any) -> Any:
        """Label a new graph, as one that was labelled before may have rows."""
        return super().run(super().prepare(Graph.from_edges(*prepared), 0))


class Peer(Contender):
    """Another library, imported as `module`; a `parallel` one uses all threads."""

    kind = "peer"
    device: ClassVar[DeviceName] = "cpu"
    module: ClassVar[str]
    parallel: ClassVar[bool] = False
    most_arcs: ClassVar[float] = math.inf  # of the graphs that it takes
    binary: ClassVar[bool] = False  # whether its images have two values
    flat: ClassVar[bool] = False  # and two axes
    place: ClassVar[int | None] = None  # of the labels among its results; None if they are alone

    def __init__(self, threads: int) -> None:
        self.library: Any = importlib.import_module(self.module)
        self.threads = threads if self.parallel else 1

    def prepare(self, data: Any, connectivity: int) -> Any:
        """Return the call; None for data that the library cannot label."""
        if isinstance(data, Graph):
            fits = data.num_arcs <= self.most_arcs
        else:
            fits = not (self.flat and data.ndim != 2) and (not self.binary or _is_binary(data))
        return self.call_on(data, connectivity) if fits else None

    def call_on(self, data: Any, connectivity: int) -> Any:
        """Convert data, and return the call that labels them."""
        raise NotImplementedError

    def labels(self, result: Any) -> Any:
        """Return the labels, as an array."""
        return result if self.place is None else result[self.place]

    @property
    def package(self) -> str:
        """The name that its version is recorded under."""
        return self.module.partition(".")[0].replace("cupyx", "cupy")

    @property
    def version(self) -> str:
        """The version of the library."""
        return str(importlib.import_module(self.package).__version__)


def _is_binary(image: Labels) -> bool:
    return image.dtype == np.bool_ or (image.dtype == np.uint8 and image.max(initial=0) <= 1)


class _OpenCV(Peer):
    name, module, parallel, binary, flat, place = "cv2", "cv2", True, True, True, 1

    def call_on(self, data: Any, connectivity: int) -> Any:
        self.library.setNumThreads(self.threads)
        label, image = self.library.connectedComponents, data.view(np.uint8)
        return partial(label, image, connectivity=4 * connectivity)


class _CC3D(Peer):
    name, module = "cc3d", "cc3d"
    version = property(lambda self: importlib.metadata.version("connected-components-3d"))
    neighbours: ClassVar = {(2, 1): 4, (2, 2): 8, (3, 1): 6, (3, 2): 18, (3, 3): 26}

    def call_on(self, data: Any, connectivity: int) -> Any:
        neighbours = self.neighbours.get((data.ndim, connectivity))
        label = partial(self.library.connected_components, data, connectivity=neighbours)
        return label if neighbours else None


class _SciPyImage(Peer):
    name, module, binary, place = "scipy", "scipy.ndimage", True, 0

    def call_on(self, data: Any, connectivity: int) -> Any:
        structure = importlib.import_module("scipy.ndimage").generate_binary_structure
        return partial(self.library.label, data, structure(data.ndim, connectivity))


class _ScikitImage(Peer):
    name, module = "scikit-image", "skimage.measure"

    def call_on(self, data: Any, connectivity: int) -> Any:
        return partial(self.library.label, data, background=0, connectivity=connectivity)


class _Kornia(Peer):
    name, module, binary, flat, place = "kornia-rs", "kornia_rs.imgproc", True, True, 1

    def call_on(self, data: Any, connectivity: int) -> Any:
        image = data.view(np.uint8)[:, :, None]
        return partial(self.library.connected_components, image, 4 * connectivity)

    def labels(self, result: Any) -> Labels:
        return np.asarray(super().labels(result)).squeeze(-1)


def _edges(graph: Graph) -> tuple[Labels, Labels]:
    """Return each edge of a symmetric graph once, without loops."""
    vertices = np.arange(graph.num_vertices, dtype=graph.indices.dtype)
    u = np.repeat(vertices, np.diff(graph.indptr))
    once = u < graph.indices
    return u[once], graph.indices[once]


class _SciPyGraph(Peer):
    name, module, place = "scipy", "scipy.sparse.csgraph", 1

    options: ClassVar[dict[str, Any]] = {"directed": False}

    def call_on(self, data: Any, connectivity: int) -> Any:
        return partial(self.library.connected_components, self.matrix_of(data), **self.options)

    def matrix_of(self, graph: Graph) -> Any:
        return sparse_matrix(graph)  # of the dtype that it would convert to


class _SciPyStrong(_SciPyGraph):
    options: ClassVar = {"connection": "strong"}

    def matrix_of(self, graph: Graph) -> Any:
        return simple_matrix(graph)


class _IGraph(Peer):
    name, module = "igraph", "igraph"

    def call_on(self, data: Any, connectivity: int) -> Any:
        edges = np.stack(_edges(data), axis=1).astype(np.int64)
        return self.library.Graph(data.num_vertices, edges)

    def run(self, prepared: Any) -> Any:
        # It forgets that the graph is connected; its documentation names this for benchmarks.
        getattr(prepared, "__invalidate_cache")()
        return prepared.connected_components(mode="weak")

    def labels(self, result: Any) -> Labels:
        return np.array(result.membership, np.int64)


class _NetworKitSerial(Peer):
    name, module, algorithm = "networkit-serial", "networkit", "ConnectedComponents"
    more: ClassVar[tuple[bool, ...]] = ()  # arguments of the algorithm

    def call_on(self, data: Any, connectivity: int) -> Any:
        self.library.setNumberOfThreads(self.threads)
        ends = tuple(end.astype(np.uint64) for end in _edges(data))
        graph = self.library.GraphFromCoo(ends, n=data.num_vertices)
        return partial(getattr(self.library.components, self.algorithm), graph, *self.more)

    def run(self, prepared: Any) -> Any:
        return prepared().run()

    def labels(self, result: Any) -> Labels:
        return np.array(result.getPartition().getVector(), np.int64)


class _NetworKit(_NetworKitSerial):
    name, algorithm, parallel = "networkit", "ParallelConnectedComponents", True


class _NetworKitUncontracted(_NetworKit):
    name, more = "networkit-uncontracted", (False,)


class _NetworKitDynamic(_NetworKitSerial):
    name, algorithm = "networkit-dynamic", "DynConnectedComponents"
    most_arcs = MOST_OBJECTS // 32  # some seconds, if they are those of a long path


class _RustworkX(Peer):
    name, module = "rustworkx", "rustworkx"
    most_arcs = MOST_OBJECTS  # its edges pass through Python objects

    def call_on(self, data: Any, connectivity: int) -> Any:
        graph = self.library.PyGraph(multigraph=True)
        graph.add_nodes_from(range(data.num_vertices))
        graph.add_edges_from_no_data(_edges_in_tuples(data))
        return partial(self.library.connected_components, graph)

    def labels(self, result: Any) -> Labels:
        labels = np.empty(sum(map(len, result)), np.int64)
        for number, members in enumerate(result):
            labels[list(members)] = number
        return labels


class _NetworkX(_RustworkX):
    name, module = "networkx", "networkx"
    most_arcs = MOST_OBJECTS // 4

    def call_on(self, data: Any, connectivity: int) -> Any:
        graph = self.library.empty_graph(data.num_vertices)
        graph.add_edges_from(_edges_in_tuples(data))
        return partial(self.library.connected_components, graph)

    def run(self, prepared: Any) -> Any:
        return list(prepared())


def _edges_in_tuples(graph: Graph) -> list[tuple[int, int]]:
    return list(zip(*(end.tolist() for end in _edges(graph)), strict=True))


class _CuPyImage(_SciPyImage):
    name, module, device = "cupyx", "cupyx.scipy.ndimage", "cuda"


class _CuCIM(_ScikitImage):
    name, module, device = "cucim", "cucim.skimage.measure", "cuda"


class _CuPyGraph(_SciPyGraph):
    name, module, device = "cupyx", "cupyx.scipy.sparse.csgraph", "cuda"

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        importlib.import_module("pylibcugraph")  # which does the work

    def matrix_of(self, graph: Graph) -> Any:
        xp, sparse = launcher.import_cupy(), importlib.import_module("cupyx.scipy.sparse")
        indptr = graph.indptr.astype(graph.indices.dtype)
        ones = xp.ones(graph.num_arcs, np.float32)
        shape = (graph.num_vertices, graph.num_vertices)
        return sparse.csr_matrix((ones, graph.indices, indptr), shape=shape)


class _CuGraph(Peer):
    name, module, device = "cugraph", "cugraph", "cuda"

    def call_on(self, data: Any, connectivity: int) -> Any:
        series = importlib.import_module("cudf").Series
        rows = series(data.indptr.astype(data.indices.dtype)), series(data.indices)
        graph = self.library.Graph(directed=False)
        graph.from_cudf_adjlist(*rows, renumber=False)
        return data.num_vertices, graph

    def run(self, prepared: Any) -> Any:
        return prepared[0], self.library.weakly_connected_components(prepared[1])

    def labels(self, result: Any) -> Any:
        num_vertices, table = result
        labels = ~launcher.import_cupy().arange(num_vertices)  # of vertices that are left out
        labels[table["vertex"].values] = table["labels"].values
        return labels


PEERS: dict[Problem, tuple[type[Peer], ...]] = {
    "graph": (
        *(_SciPyGraph, _IGraph, _NetworKit, _NetworKitSerial, _NetworKitUncontracted),
        *(_NetworKitDynamic, _RustworkX, _NetworkX),
        *(_CuPyGraph, _CuGraph),
    ),
    "strong": (_SciPyStrong,),
    "grid": (_SciPyImage, _ScikitImage, _OpenCV, _CC3D, _Kornia, _CuPyImage, _CuCIM),
}


def peers(kind: Problem, device: DeviceName) -> dict[str, type[Peer]]:
    """Return the libraries for a device, installed or not, by name."""
    return {peer.name: peer for peer in PEERS[kind] if peer.device == device}


def algorithms(kind: Problem, device: DeviceName) -> dict[str, Contender]:
    """Return the contenders that are ours, by name."""
    contenders = [OURS[device](kind, name) for name in TABLES[kind][device]]
    if device == "cuda" and "auto" in TABLES[kind][device]:
        contenders.append(OursOnGpu(kind, "auto", "consecutive"))
    elif device == "cpu" and kind != "grid":
        contenders.append(OursOfList(kind))
    return {contender.name: contender for contender in contenders}


def variants(
    kind: Problem, device: DeviceName, algorithm: str, values: Mapping[str, Sequence[Any]]
) -> list[Contender]:
    """Return a contender for each combination of an algorithm's options."""
    combinations = (zip(values, each, strict=True) for each in product(*values.values()))
    return [OURS[device](kind, algorithm, **dict(chosen)) for chosen in combinations]


def sparse_matrix(graph: Graph) -> Any:
    """Return a graph as SciPy takes it without a further conversion."""
    from scipy.sparse import csr_array

    shape = (graph.num_vertices, graph.num_vertices)
    return csr_array((np.ones(graph.num_arcs), graph.indices, graph.indptr), shape=shape)


def simple_matrix(graph: Graph) -> Any:
    """Return the same without multiple arcs, of which SciPy 1.17 makes wrong strong components."""
    matrix = sparse_matrix(graph).copy()  # of arrays that are the graph's
    matrix.sum_duplicates()
    return matrix
