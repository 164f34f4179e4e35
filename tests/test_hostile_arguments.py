"""Each argument of each public function is given what it does not expect.

Results and errors of a few types may come out, with text that says what is wrong; no crash, no
error of the binding of C++, and nothing about a dtype of objects that nobody asked for. Functions
on files have tests of their own.
"""

import inspect
import math
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import conncomp
from conncomp import Graph, IncrementalComponents, models
from conncomp.models import CahnHilliard, Ising, Kawasaki, Potts, SpinGlass, UnitCell

ERRORS = (TypeError, ValueError, OverflowError, MemoryError)
UNREADABLE = ("nanobind", "incompatible function arguments", "dtype object", "ambiguous")
LONGEST_MESSAGE = 400


class NoArray:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("it is none")


class NoInteger:
    def __index__(self):
        raise RuntimeError("it is none")

    def __repr__(self):
        raise RuntimeError("it has no representation")


class NoData:
    __array_interface__ = {"shape": (2,), "typestr": "<i4", "version": 3}  # noqa: RUF012


class Endless:
    """A sequence that says it is longer than any memory."""

    def __len__(self):
        return 2**40

    def __getitem__(self, place):
        return 1


def itself():
    """Return a list that holds itself."""
    values = []
    values.append(values)
    return values


def read_only():
    values = np.eye(3, dtype=np.int32)
    values.flags.writeable = False
    return values


HOSTILE = {
    "None": lambda: None,
    "string": lambda: "abc",
    "bytes": lambda: b"abc",
    "no array": NoArray,
    "no integer": NoInteger,
    "no data": NoData,
    "huge": lambda: 10**30,
    "more digits than Python prints": lambda: 10**5000,
    "NaN": lambda: math.nan,
    "infinity": lambda: math.inf,
    "negative": lambda: -5,
    "True": lambda: True,
    "complex": lambda: 1j,
    "list": lambda: [1, 2, 3],
    "ragged": lambda: [[1], [2, 3]],
    "itself": itself,
    "dictionary": lambda: {1: 2},
    "set": lambda: {1},
    "function": lambda: len,
    "class": lambda: np.ndarray,
    "module": lambda: np,
    "generator": lambda: (i for i in range(3)),
    "range": lambda: range(3),
    "range beyond any memory": lambda: range(2**40),
    "range beyond any length": lambda: range(2**80),
    "sequence beyond any memory": Endless,
    "list of a range beyond any memory": lambda: [range(2**40)] * 2,
    "memory": lambda: memoryview(b"abc"),
    "date": lambda: np.datetime64("2020-01-01"),
    "bool array": lambda: np.array([True, False]),
    "bool matrix": lambda: np.eye(2, dtype=bool),
    "objects": lambda: np.array([object(), None]),
    "matrix of objects": lambda: np.array([[None, 1], [2, 3]], object),
    "structured": lambda: np.zeros((2, 2), [("a", "i4")]),
    "masked and structured": lambda: np.ma.zeros((2, 2), [("a", "i4")]),
    "records": lambda: np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "dates": lambda: np.zeros((2, 2), "M8[s]"),
    "durations": lambda: np.zeros(3, "m8[s]"),
    "0-d": lambda: np.array(3),
    "0-d float": lambda: np.array(3.5),
    "40-d": lambda: np.zeros((1,) * 40, int),
    "20-d": lambda: np.ones((2,) * 20, np.uint8),
    "objects in 32-d": lambda: np.zeros((1,) * 32, object),
    "empty": lambda: np.zeros(0),
    "empty matrix": lambda: np.zeros((0, 0), int),
    "floats": lambda: np.array([1.5, np.nan]),
    "matrix of NaN": lambda: np.full((2, 2), np.nan),
    "complex matrix": lambda: np.zeros((2, 2), complex),
    "strings": lambda: np.array(["a", "b"]),
    "void": lambda: np.zeros(2, "V3"),
    "beyond int64": lambda: np.array([2**63, 2**64 - 1], np.uint64),
    "ends of int64": lambda: np.array([[-(2**63), 2**63 - 1]]),
    "np.matrix": lambda: np.eye(3, dtype=int).view(np.matrix),
    "read-only": read_only,
    "masked": lambda: np.ma.masked_equal([[0, 1], [1, 2]], 1),
    "long double": lambda: np.eye(3, dtype=np.longdouble),
    "half": lambda: np.eye(3, dtype=np.float16),
    "swapped bytes": lambda: np.eye(3, dtype=">i4"),
    "graph": lambda: GRAPH,
    "sparse matrix": lambda: scipy.sparse.csr_array(np.eye(3)),
    "sparse matrix of blocks": lambda: scipy.sparse.bsr_array(np.eye(4), blocksize=(2, 2)),
    "components": lambda: IncrementalComponents(3),
    "model": lambda: Ising(2, beta=0.5),
}

IMAGE = np.eye(3, dtype=int)
BONDS = np.ones((2, 3, 3), bool)
GRAPH = Graph.from_edges([0], [1], 3)
BOTH = ["numbering", "algorithm", "dtype", "out", "device", "workspace"]
OF_LABEL = ["label_image", "background", "return_num", "connectivity", "structure", "tolerance"]
OF_LABEL += ["periodic", "batch_axes", "block", *BOTH]
OF_BONDS = ["bonds", "return_num", "periodic", "batch_axes", "block", *BOTH]
OF_STREAMS = ["slabs", "background", "connectivity", "structure", "tolerance", "periodic"]
OF_STREAMS += ["surfaces", "spacing"]
OF_GRAPHS = ["csgraph", "directed", "connection", "return_labels", "jump", *BOTH]


OF_POTTS = ["shape", "q", "beta", "coupling", "periodic", "replicas", "seed", "start"]
OF_POTTS += ["first_replica", "device", "labelling"]
OF_WRAPPING = ["label_image", "background", "connectivity", "structure", "tolerance", "periodic"]
OF_WRAPPING += ["batch_axes", "device", "workspace"]
OF_UPDATES = {
    "swendsen_wang": ["sweeps", "measure", "clusters"],
    "wolff": ["updates", "measure", "clusters"],
    "few_cluster": ["updates", "tile", "p_flip", "measure", "clusters"],
    "metropolis": ["sweeps", "measure"],
    "labels": ["numbering", "return_num"],
    "critical_beta": ["q", "ndim"],
}
OF_GROWING = {
    "add_edges": ["src", "dst", "wait"],
    "connected": ["u", "v", "wait"],
    "roots": ["vertices"],
    "labels": ["numbering", "dtype", "out"],
}
OF_FIELDS = ["shape", "mobility", "b", "u", "K", "dx", "dt", "mean", "amplitude", "noise", "dtype"]
OF_FIELDS += ["replicas", "first_replica", "seed", "start", "device"]
OF_STEPS = {
    "step": ["n"],
    "measure": ["threshold"],
    "labels": ["numbering", "return_num", "threshold", "connectivity"],
    "stable_time_step": ["ndim", "mobility", "b", "u", "K", "dx", "largest"],
}


OF_EXCHANGES = ["shape", "lattice", "temperature", "fraction", "coupling", "replicas"]
OF_EXCHANGES += ["first_replica", "seed", "start", "device"]
OF_SWEEPS = {
    "step": ["n"],
    "labels": ["numbering", "return_num"],
    "critical_temperature": ["lattice"],
}


OF_ISING = ["shape", "lattice", "temperature", "beta", "coupling", "periodic", "replicas", "seed"]
OF_ISING += ["field", "start", "first_replica", "device"]
OF_FLIPS = {
    "swendsen_wang": ["sweeps", "measure", "clusters"],
    "wolff": ["updates", "measure", "clusters"],
    "updater": ["update", "clusters"],
    "step": ["n"],
    "labels": ["numbering", "return_num"],
    "critical_temperature": ["lattice"],
}
CELL = {"vectors": [[1.0]], "sites": [[0.0], [0.5]], "bonds": [(0, 1, [0]), (1, 0, [1])]}


OF_GLASSES = ["shape", "couplings", "beta", "temperature", "periodic", "samples", "copies"]
OF_GLASSES += ["replicas", "update", "positive", "dilution", "field", "first_sample"]
OF_GLASSES += ["first_replica", "seed", "start", "device"]
OF_MOVES = {
    "step": ["n", "houdayer"],
    "updater": ["houdayer", "overlaps", "tempering"],
    "labels": ["numbering", "return_num"],
}


def of_flips(method, **arguments):
    """Call a method of a small model."""
    return getattr(Ising(2, lattice="kagome"), method)(**arguments)


def of_glass(name, value):
    """Make a small model; `temperature` is instead of `beta`."""
    heat = {} if name == "temperature" else {"beta": 0.5}
    return SpinGlass(**({"shape": (2, 3), **heat} | {name: value}))


def of_move(method, **arguments):
    """Call a method of a small model."""
    return getattr(SpinGlass((2, 3), beta=0.5, copies=2), method)(**arguments)


def of_exchange(method, **arguments):
    """Call a method of a small model."""
    return getattr(Kawasaki(4), method)(**arguments)


def of_field(method, **arguments):
    """Call a method of a small model."""
    defaults = {"ndim": 2} if method == "stable_time_step" else {}
    return getattr(CahnHilliard((2, 3)), method)(**(defaults | arguments))


def of_model(method, **arguments):
    """Call a method of a small model."""
    defaults = {"few_cluster": {"tile": 1, "p_flip": 0.5}, "critical_beta": {"q": 2}}
    return getattr(Potts((2, 3), seed=1), method)(**(defaults.get(method, {}) | arguments))


def of_growing(method, **arguments):
    """Call a method of components of a small graph."""
    ends = {"add_edges": ("src", "dst"), "connected": ("u", "v")}.get(method, ())
    defaults = {name: [0, 2, 1] for name in ends}
    return getattr(IncrementalComponents(4), method)(**(defaults | arguments))


def of_file(function, name, value):
    """Call a function of a volume in a file; what the system says of names counts as words."""
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder, "image.npy")
        np.save(image, IMAGE)
        arguments = {"source": image}
        if function is conncomp.label_file:
            arguments["target"] = Path(folder, "labels.npy")
        if name in arguments and isinstance(value, str):
            value = Path(folder, value)
        try:
            return function(**(arguments | {name: value}))
        except OSError as error:
            raise ValueError(str(error)) from error


def argument(function, name, **others):
    """Return a function of the argument called `name`."""
    return lambda value: function(**(others | {name: value}))


def reweighted(series, **arguments):
    """Reweight the mean of a series."""
    return models.reweight(lambda mean: mean, series, **arguments)


PATH = Graph.from_edges([0, 1], [1, 2])
CURVES = {n: [[x, x * n, 0.1] for x in (-1.0, 0.0, 1.0, 2.0)] for n in (2, 3)}
OVERLAPS = [SpinGlass((2, 3), beta=0.5, copies=2).overlaps()]
# What functions of analysis take.
ANALYSIS = {
    models.crossing: {"curves": CURVES, "degree": 1, "seed": 0},
    models.collapse: {"curves": CURVES, "critical": 0.1, "nu": 1.0, "exponent": 0.0, "degree": 1},
    reweighted: {
        "series": [1.0, 2.0, 4.0],
        "energy": [1.0, 2.0, 4.0],
        "beta": 0.5,
        "at": 0.6,
        "bins": 2,
    },
    models.logarithmic_bins: {"series": np.eye(8), "agreeing": 3},
    models.glass_equilibration_test: {
        "energy": [1.0, 2.0],
        "link_overlap": [0.1, 0.2],
        "beta": 0.5,
        "bonds": 3,
        "variance": 1.0,
    },
    models.overlap_distribution: {"measured": OVERLAPS, "beta": 0.5, "bins": 4},
}


CALLS = {
    **{
        f"label: {name}": argument(conncomp.label, name, label_image=IMAGE)
        for name in (*OF_LABEL, "neighbors")
    },
    **{
        f"label_bonds: {name}": argument(conncomp.label_bonds, name, bonds=BONDS)
        for name in OF_BONDS
    },
    "label: image": argument(conncomp.label, "image"),
    **{
        f"stream_labels: {name}": lambda value, name=name: list(
            conncomp.stream_labels(**({"slabs": [IMAGE]} | {name: value}))
        )
        for name in OF_STREAMS
    },
    **{
        f"{function.__name__}: {name}": partial(of_file, function, name)
        for function, names in (
            (conncomp.label_file, inspect.signature(conncomp.label_file).parameters),
            (conncomp.plan_labels, ("source", "key", "memory")),
        )
        for name in names
    },
    **{
        f"component_wrapping: {name}": argument(
            conncomp.component_wrapping, name, label_image=IMAGE
        )
        for name in OF_WRAPPING
    },
    **{
        f"percolates: {name}": argument(conncomp.percolates, name, image=IMAGE, axis=0)
        for name in ("image", "axis", "periodic", "connectivity", "device")
    },
    **{
        f"cluster_wrapping: {name}": argument(conncomp.cluster_wrapping, name, bonds=BONDS)
        for name in ("bonds", "periodic", "batch_axes", "device", "workspace")
    },
    **{
        f"connected_components: {name}": argument(
            conncomp.connected_components, name, csgraph=GRAPH
        )
        for name in OF_GRAPHS
    },
    "connected_components: graph": argument(conncomp.connected_components, "graph"),
    "spanning_forest: graph": conncomp.spanning_forest,
    "minimum_spanning_forest: graph": conncomp.minimum_spanning_forest,
    "minimum_spanning_forest: weights": argument(
        conncomp.minimum_spanning_forest, "weights", graph=GRAPH
    ),
    **{
        f"{function.__name__}: {name}": argument(function, name, **others)
        for function, others in (
            (conncomp.component_sizes, {}),
            (conncomp.component_members, {}),
            (conncomp.size_histogram, {}),
            (
                conncomp.component_statistics,
                {"image": IMAGE, "moments": False, "surfaces": True, "spacing": None},
            ),
            (conncomp.component_spans, {}),
            (conncomp.sort_by_size, {}),
            (conncomp.largest_components, {"k": 1}),
            (conncomp.remove_small_components, {"min_size": 1}),
            (conncomp.contacts, {}),
            (conncomp.fill_holes, {}),
            (conncomp.relabel_consecutive, {}),
            (conncomp.iterate_components, {}),
        )
        for name in ("labels", "background", "batch_axes", *others)
        for others in [{"labels": IMAGE, **others}]
    },
    **{
        f"{function.__name__}: {name}": argument(function, name, labels=labels)
        for function, labels, names in (
            (conncomp.contacts, IMAGE, ("connectivity", "spacing", "periodic")),
            (conncomp.region_adjacency, IMAGE, ("labels", "connectivity", "periodic")),
            (conncomp.fill_holes, IMAGE, ("connectivity", "max_size")),
            (conncomp.relabel_consecutive, IMAGE, ("return_labels",)),
            (conncomp.remove_small_components, IMAGE, ("max_size", "invert")),
            (conncomp.remove_small_components, IMAGE > 0, ("min_size", "connectivity")),
        )
        for name in names
    },
    "crop: image": lambda value: next(conncomp.iterate_components(IMAGE)).crop(value),
    "crop: fill": lambda value: next(conncomp.iterate_components(IMAGE)).crop(IMAGE, value),
    "labels without background": lambda value: conncomp.component_sizes(value, background=None),
    "set_num_threads": conncomp.set_num_threads,
    **{
        f"IncrementalComponents: {name}": argument(IncrementalComponents, name, num_vertices=4)
        for name in ("device", "dtype")
    },
    "IncrementalComponents: num_vertices": IncrementalComponents,
    "connected with one of two": lambda value: IncrementalComponents(4).connected(1, value),
    **{
        f"IncrementalComponents.{method}: {name}": argument(of_growing, name, method=method)
        for method, names in OF_GROWING.items()
        for name in names
    },
    "from_edges: src": lambda value: Graph.from_edges(value, [0, 1]),
    "from_edges: dst": lambda value: Graph.from_edges([0, 1], value),
    "from_edges: num_vertices": lambda value: Graph.from_edges([0], [1], value),
    "from_csr: indptr": lambda value: Graph.from_csr(value, [0, 1]),
    "from_csr: indices": lambda value: Graph.from_csr([0, 1, 2], value),
    "from_scipy": Graph.from_scipy,
    "from_networkx": Graph.from_networkx,
    "from_igraph": Graph.from_igraph,
    "from_rustworkx": Graph.from_rustworkx,
    "to": GRAPH.to,
    **{f"CahnHilliard: {name}": argument(CahnHilliard, name, shape=(2, 3)) for name in OF_FIELDS},
    **{
        f"CahnHilliard.{method}: {name}": argument(of_field, name, method=method)
        for method, names in OF_STEPS.items()
        for name in names
    },
    **{f"Kawasaki: {name}": argument(Kawasaki, name, shape=(4, 4, 8)) for name in OF_EXCHANGES},
    **{
        f"Kawasaki.{method}: {name}": argument(of_exchange, name, method=method)
        for method, names in OF_SWEEPS.items()
        for name in names
    },
    **{f"Ising: {name}": argument(Ising, name, shape=(2, 3)) for name in OF_ISING},
    **{
        f"Ising.{method}: {name}": argument(of_flips, name, method=method)
        for method, names in OF_FLIPS.items()
        for name in names
    },
    **{
        f"Ising of a graph: {name}": argument(Ising, name, shape=PATH, beta=0.5)
        for name in ("coupling", "field", "lattice", "periodic", "start")
    },
    **{
        f"{function.__name__}: {name}": argument(function, name, **arguments)
        for function, arguments in ANALYSIS.items()
        for name in arguments
    },
    **{f"UnitCell: {name}": argument(UnitCell, name, **CELL) for name in CELL},
    "UnitCell: a bond": lambda value: UnitCell(**(CELL | {"bonds": [value]})),
    "UnitCell: a step": lambda value: UnitCell(**(CELL | {"bonds": [(0, 1, value)]})),
    **{f"SpinGlass: {name}": partial(of_glass, name) for name in OF_GLASSES},
    **{
        f"SpinGlass.{method}: {name}": argument(of_move, name, method=method)
        for method, names in OF_MOVES.items()
        for name in names
    },
    **{f"Potts: {name}": argument(Potts, name, shape=(2, 3)) for name in OF_POTTS},
    **{
        f"Potts.{method}: {name}": argument(of_model, name, method=method)
        for method, names in OF_UPDATES.items()
        for name in names
    },
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.usefixtures("restore_threads")
def test_readable_errors_only(call):
    for name, make in HOSTILE.items():
        try:
            CALLS[call](make())
        except ERRORS as error:
            message = str(error)
            assert 0 < len(message) < LONGEST_MESSAGE, name
            assert not any(part in message for part in UNREADABLE), (name, message)


def test_most_of_them_are_errors():
    """The sweep means something: nearly everything is refused where a graph of edges is made."""
    refused = 0
    for make in HOSTILE.values():
        try:
            Graph.from_edges(make(), [0, 1])
        except ERRORS:
            refused += 1
    assert refused > 0.9 * len(HOSTILE)
