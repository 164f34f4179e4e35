"""Every way to call `connected_components` and `Graph` wrongly: the error's type and message."""

import dask.array
import networkx
import numpy as np
import pytest
import sparse as pydata
from scipy import sparse

from conncomp import Graph, IncrementalComponents, connected_components, spanning_forest
from conncomp.graph.inputs.parts import FREE_VERTICES, VERTICES_PER_ARC

GRAPH = Graph.from_edges([0, 1], [1, 2], 4)


class OnGPU:
    __cuda_array_interface__ = {"shape": (2,), "typestr": "<i4", "data": (0, False), "version": 3}  # noqa: RUF012


@pytest.mark.parametrize(
    ("indptr", "indices", "error", "message"),
    [
        ([0, 2, 1, 2], [0, 1], ValueError, "indptr decreases from 2 to 1 at position 2"),
        ([0, 3, 2], [0, 1], ValueError, "indptr decreases from 3 to 2 at position 2"),
        ([0, -1, 2], [0, 1], ValueError, "indptr decreases from 0 to -1 at position 1"),
        ([1, 2], [0, 0], ValueError, "indptr starts with 1"),
        ([-1, 2], [0, 0], ValueError, "indptr starts with -1"),
        ([], [], ValueError, "indptr is empty"),
        ([0, 1], [0, 0], ValueError, "indptr ends with 1, but indices has 2 entries"),
        ([0, 3], [0, 0], ValueError, "indptr ends with 3, but indices has 2 entries"),
        ([0], [0], ValueError, "indptr ends with 0, but indices has 1 entries"),
        ([0, 1, 2], [0, 2], ValueError, r"indices\[1\] is 2; .* from 0 to 1"),
        ([0, 1, 2], [-1, 0], ValueError, r"indices\[0\] is -1"),
        ([0, 1], [2**63], ValueError, "indices holds 9223372036854775808"),
        ([0, 1], ["0"], TypeError, "indices is of dtype <U1"),
        ([0, 1], [[0]], ValueError, r"indices has shape \(1, 1\)"),
        ([[0, 1]], [0], ValueError, r"indptr has shape \(1, 2\)"),
        (0, [0], ValueError, r"indptr has shape \(\)"),
        (OnGPU(), [0], TypeError, "indptr lies in GPU memory"),
        ([0, 1], OnGPU(), TypeError, "indices lies in GPU memory"),
    ],
)
def test_from_csr(indptr, indices, error, message):
    with pytest.raises(error, match=message):
        Graph.from_csr(indptr, indices)


@pytest.mark.parametrize(
    ("src", "dst", "num_vertices", "error", "message"),
    [
        ([0, 1], [1], None, ValueError, "src has 2 entries and dst has 1"),
        ([0, 3], [1, 2], 3, ValueError, r"src\[1\] is 3; .* from 0 to 2"),
        ([0, 1], [1, 3], 3, ValueError, r"dst\[1\] is 3; .* from 0 to 2"),
        ([0, 1], [1, 3], 0, ValueError, r"src\[1\] is 1|src\[0\] is 0"),
        ([0, -1], [1, 3], None, ValueError, r"src\[1\] is -1"),
        ([0, 1], [-2, 3], 9, ValueError, r"dst\[0\] is -2"),
        ([-1], [-1], None, ValueError, r"src\[0\] is -1"),
        (np.ma.masked_equal([0, 1], 1), [0, 1], None, ValueError, "src has masked elements"),
        ([0, 1], dask.array.zeros(2, int), None, TypeError, r"dst is a.* Array of dask.*compute"),
        ([0], [2**63], None, ValueError, "dst holds 9223372036854775808"),
        ([], [], -1, ValueError, "num_vertices=-1"),
        ([0], [1j], None, TypeError, "dst is of dtype complex128"),
        ([0], [None], None, TypeError, "dst is a list; it must be of integers"),
        ([[0]], [1], None, ValueError, r"src has shape \(1, 1\)"),
        (0, 1, None, ValueError, r"src has shape \(\)"),
        (OnGPU(), [1], None, TypeError, "src lies in GPU memory"),
        ([10**9], [0], None, ValueError, r"src\[0\] is 1000000000, .* 1000000001 .* 32\.0 GB"),
        ([3, 0], [0, 10**15], None, ValueError, r"dst\[1\] is 10{15}, .*num_vertices=10{14}1 "),
        ([10**18], [3], None, ValueError, r"src\[0\] is 10{18}, .* 10{17}1 vertices"),
        ([10**18, -1], [3, 4], None, ValueError, r"src\[1\] is -1"),
        ([2**63 - 1], [3], None, ValueError, r"src\[0\] is 9223372036854775807, .* numpy\.unique"),
    ],
)
def test_from_edges(src, dst, num_vertices, error, message):
    with pytest.raises(error, match=message):
        Graph.from_edges(src, dst, num_vertices)


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (sparse.csr_array((2, 3)), ValueError, r"matrix has shape \(2, 3\)"),
        (sparse.coo_array(np.ones(3)), ValueError, r"matrix has shape \(3,\)"),
        (np.eye(3), TypeError, "matrix is a ndarray"),
        (pydata.COO(np.eye(3), fill_value=2.0), ValueError, "fill_value=.*2"),
        (pydata.COO(np.ones((2, 3))), ValueError, r"matrix has shape \(2, 3\)"),
        (None, TypeError, "matrix is a NoneType"),
    ],
)
def test_from_scipy(matrix, error, message):
    with pytest.raises(error, match=message):
        Graph.from_scipy(matrix)


REFUSED = [
    (np.ones((2, 3)), ValueError, r"graph has shape \(2, 3\)"),
    (np.ones(4), ValueError, r"graph has shape \(4,\)"),
    (np.ones((2, 2, 2)), ValueError, r"graph has shape \(2, 2, 2\)"),
    (5, ValueError, r"graph has shape \(\)"),
    ([], ValueError, r"graph has shape \(0,\)"),
    (sparse.csr_matrix((2, 3)), ValueError, r"graph has shape \(2, 3\)"),
    (sparse.coo_array(np.ones(3)), ValueError, r"graph has shape \(3,\)"),
    (sparse.eye_array(3, dtype=complex), TypeError, "graph is of dtype complex128"),
    (np.eye(2, dtype=complex), TypeError, "csgraph is of dtype complex128"),
    (np.zeros((2, 2), object), TypeError, r"csgraph is an array of Python objects; .*\.astype\(\)"),
    (np.zeros((2, 2), "M8[s]"), TypeError, "csgraph is of dtype datetime64"),
    ([["a", "b"], ["c", "d"]], TypeError, "csgraph is of dtype <U1"),
    ("graph", TypeError, "csgraph is of dtype <U5"),
    (None, TypeError, "csgraph is a NoneType; it must be a Graph, a graph of Net"),
    (dask.array.eye(3), TypeError, r"csgraph is a.* Array of dask.*\.compute\(\)"),
    (pydata.COO(np.ones(3)), ValueError, r"csgraph has shape \(3,\)"),
    (pydata.COO(np.eye(3) * 1j), TypeError, "csgraph is of dtype complex128"),
    (np.eye(3, 2), ValueError, "is square; conncomp.Graph.from_edges makes a graph of pairs"),
    (np.eye(2).astype(object), TypeError, r"matrix of real numbers, which its \.astype\(\)"),
]


@pytest.mark.parametrize(("graph", "error", "message"), REFUSED)
def test_graph(graph, error, message):
    with pytest.raises(error, match=message):
        connected_components(graph)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"numbering": "root"}, ValueError, "numbering='root' .*'roots'"),
        ({"algorithm": "ecl2"}, ValueError, "algorithm='ecl2' is not one of 'auto', "),
        ({"dtype": ">i2"}, ValueError, "dtype is >i2"),
        ({"dtype": "smallish"}, TypeError, "dtype='smallish' must be a dtype of integers or 'smal"),
        ({"graph": GRAPH}, TypeError, "got 'graph' besides 'csgraph'"),
        ({"dtype": float}, TypeError, "dtype is float64"),
        ({"out": [0] * 4}, TypeError, "out must be a NumPy array, not list"),
        ({"out": np.zeros(3, np.int32)}, ValueError, r"out has shape \(3,\).*\(4,\)"),
        ({"out": np.zeros((4, 1), np.int32)}, ValueError, r"out has shape \(4, 1\)"),
        ({"out": np.zeros(8, np.int32)[::2]}, ValueError, "out must be .*C-contiguous"),
        ({"out": np.zeros(4)}, TypeError, "out is float64"),
        ({"out": np.zeros(4, np.int32), "dtype": np.int64}, ValueError, "out .*int32.*int64"),
        ({"out": np.broadcast_to(np.int32(0), 4)}, ValueError, "out must be writeable"),
    ],
)
@pytest.mark.parametrize("connection", ["weak", "strong"])
def test_other_arguments(arguments, error, message, connection):
    with pytest.raises(error, match=message):
        connected_components(GRAPH, **{"connection": connection, **arguments})


@pytest.mark.parametrize("task", [{}, {"directed": False, "connection": "strong"}])
def test_topological_numbers_of_weak_components(task):
    with pytest.raises(ValueError, match=r"^numbering='topological' is for connection='strong'"):
        connected_components(GRAPH, numbering="topological", **task)


@pytest.mark.parametrize(
    ("connection", "name"), [("weak", "tarjan"), ("strong", "ecl"), ("strong", "afforest")]
)
def test_algorithms_of_the_other_connection(connection, name):
    known = {"weak": "'auto', 'afforest', 'ecl'", "strong": "'auto', 'tarjan'"}[connection]
    with pytest.raises(ValueError, match=f"algorithm='{name}' is not one of {known}"):
        connected_components(GRAPH, connection=connection, algorithm=name)


@pytest.mark.parametrize("name", ["networkx", "igraph", "rustworkx"])
def test_graphs_of_other_libraries(name):
    with pytest.raises(TypeError, match=f"graph is a list, not a graph of (?i:{name})"):
        getattr(Graph, f"from_{name}")([])


def test_both_names_or_none():
    with pytest.raises(TypeError, match="got 'graph' besides 'csgraph'"):
        connected_components(csgraph=GRAPH, graph=GRAPH)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'csgraph'"):
        connected_components()


@pytest.mark.parametrize("numbering", ["consecutive", "roots"])
@pytest.mark.parametrize("connection", ["weak", "strong"])
def test_dtypes_that_are_too_small(numbering, connection):
    graph, out = Graph.from_edges([], [], 300), np.full(300, 7, np.uint8)
    for options in ({"dtype": np.uint8}, {"out": out}):
        with pytest.raises(ValueError, match="is uint8, too small for labels up to 299; use u"):
            connected_components(graph, connection=connection, numbering=numbering, **options)
    assert (out == 7).all()


@pytest.mark.parametrize(
    "graph",
    [GRAPH, sparse.eye_array(3), np.eye(3), networkx.path_graph(3)],
    ids=["Graph", "sparse", "dense", "networkx"],
)
def test_device(graph):
    with pytest.raises(ValueError, match="device='tpu'"):
        connected_components(graph, device="tpu")
    connected_components(graph, device="cpu")


def overlapping():
    """Return graphs, and arrays that overlap with what they are made of."""
    src, dst = np.arange(4), np.array([1, 2, 3, 0])
    yield Graph.from_edges(src, dst), src
    yield Graph.from_edges(src, dst), dst
    rows = Graph.from_csr(np.arange(5), dst)
    yield rows, rows.indices
    yield rows, rows.indptr[1:]
    dense = np.eye(4, dtype=np.int64)
    yield dense, dense[2]
    yield np.ma.masked_equal(dense, 0, copy=False), dense[2]
    csr = sparse.csr_array((np.ones(4, np.int32), (src, dst)))
    yield csr, csr.data
    yield csr, csr.indices
    for form in ("csc", "coo", "bsr"):
        matrix = csr.asformat(form)
        yield matrix, matrix.data.reshape(-1)
    yield (coo := csr.tocoo()), coo.row
    yield (csc := csr.tocsc()), csc.indices


@pytest.mark.parametrize(("graph", "out"), list(overlapping()))
def test_out_that_overlaps_the_graph(graph, out):
    before = out.copy()
    with pytest.raises(ValueError, match="out shares memory with the input"):
        connected_components(graph, out=out)
    np.testing.assert_array_equal(out, before)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("number", [-(10**9), 10**8])
def test_sparse_matrices_that_were_changed(kind, number):
    """SciPy's own conversions follow whatever is stored."""
    for name in ("indptr", "indices", "row", "col"):
        matrix = sparse.random_array((40, 40), density=0.1, rng=0, format="coo").asformat(kind)
        if not hasattr(matrix, name):
            continue
        array = getattr(matrix, name)
        array[len(array) // 2] = number
        for call in (Graph.from_scipy, connected_components):
            with pytest.raises(ValueError, match=r"ind|row|col|src|dst"):
                call(matrix)


def test_a_graph_stays_as_it_was_when_it_cannot_be_made_anew():
    graph = Graph.from_edges([0], [1])
    with pytest.raises(ValueError, match=r"src\[0\] is 5"):
        graph.__init__(2, arcs=([5], [0]))
    assert connected_components(graph)[0] == 1


def test_far_vertices():
    """They are what the user means if num_vertices says so, or if there are arcs enough."""
    assert Graph.from_edges([10**9], [0], 10**9 + 1).num_vertices == 10**9 + 1
    assert Graph(10**9 + 1, arcs=([10**9], [0])).num_vertices == 10**9 + 1
    assert Graph.from_edges([FREE_VERTICES + VERTICES_PER_ARC - 1], [0]).num_arcs == 1
    with pytest.raises(ValueError, match="only 1 arcs"):
        Graph.from_edges([FREE_VERTICES + VERTICES_PER_ARC], [0])
    assert Graph.from_edges([FREE_VERTICES + VERTICES_PER_ARC] * 2, [0, 1]).num_arcs == 2


@pytest.mark.parametrize("count", [-1, 2**57, 2**70])
def test_numbers_of_vertices(count):
    with pytest.raises(ValueError, match=f"num_vertices={count} must be from 0 to"):
        Graph(count, arcs=([], []))


@pytest.mark.parametrize(
    "find", [connected_components, spanning_forest, lambda graph: IncrementalComponents(10**16)]
)
def test_memory_that_there_is_none_of(find):
    graph = Graph.from_edges([0], [1], num_vertices=10**16)
    with pytest.raises(MemoryError, match=r"80000000\.0 GB|takes 74505806 GiB"):
        find(graph)
