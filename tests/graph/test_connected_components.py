"""`connected_components` and `Graph` against SciPy, NetworkX and a plain search."""

from itertools import product

import igraph
import networkx
import numpy as np
import pytest
import rustworkx
import sparse as pydata
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph

import conncomp
from conncomp import Graph, connected_components
from conncomp.graph.algorithms import ALGORITHMS
from dealt import SOAK
from hard_graphs import grid, line
from reference import components_by_search, consecutive, roots_of_labels, topological

INDEX_DTYPES = ["i4", "i8", "u1", "u2", "u4", "u8", "i2", ">i4", ">i8"]


@st.composite
def arc_lists(draw):
    """Return a number of vertices and arcs between them: loops and multiple arcs too."""
    num_vertices = draw(st.integers(0, 30))
    vertex = st.integers(0, max(num_vertices - 1, 0))
    arcs = draw(st.lists(st.tuples(vertex, vertex), max_size=40 if num_vertices else 0))
    return num_vertices, arcs


def to_csr(num_vertices, src, dst):
    """Return indptr and indices, multiple arcs kept."""
    order = np.argsort(src, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(src, minlength=num_vertices))])
    return indptr.astype(np.int64), np.asarray(dst)[order]


def by_root(labels):
    """Return SciPy's labels as ours are: its order of strong components depends on its version."""
    return consecutive(roots_of_labels(labels), first=0)


def both_ways(src, dst):
    return np.concatenate([src, dst]), np.concatenate([dst, src])


@given(
    graph=arc_lists(),
    indptr_dtype=st.sampled_from(["i4", "i8"]),
    dtypes=st.tuples(st.sampled_from(INDEX_DTYPES), st.sampled_from(INDEX_DTYPES)),
    out_dtype=st.sampled_from([None, np.int32, np.int64]),
    symmetric=st.booleans(),
    algorithm=st.sampled_from(list(ALGORITHMS["cpu"].values())),
    data=st.data(),
)
@settings(max_examples=400)
def test_equals_search(graph, indptr_dtype, dtypes, out_dtype, symmetric, algorithm, data):
    task = {name: data.draw(st.sampled_from(c)) for name, c in algorithm.options.items()}
    task |= {"algorithm": algorithm.name, "dtype": out_dtype}
    num_vertices, arcs = graph
    if symmetric:
        arcs = arcs + [(w, v) for v, w in arcs]
    src, dst = np.array(arcs, np.int64).reshape(-1, 2).T
    weak = components_by_search(num_vertices, arcs)
    strong = components_by_search(num_vertices, arcs, strong=True)
    indptr, indices = to_csr(num_vertices, src, dst)
    made = [
        Graph.from_edges(src.astype(dtypes[0]), dst.astype(dtypes[1]), num_vertices),
        Graph.from_csr(indptr.astype(indptr_dtype), indices.astype(dtypes[0])),
    ]
    is_symmetric = {(v, w) for v, w in arcs} == {(w, v) for v, w in arcs}
    for graph in made:
        for _ in range(2):  # before its symmetry is known, and after
            roots = connected_components(graph, numbering="roots", **task)[1]
            assert roots.dtype == (out_dtype or np.int32)
            np.testing.assert_array_equal(roots, weak)
            count, labels = connected_components(graph, **task)
            assert labels.dtype == (out_dtype or np.int32)
            np.testing.assert_array_equal(labels, consecutive(weak, first=0))
            assert count == len(np.unique(weak))
            assert graph.is_symmetric() == is_symmetric
        numbers = {
            "roots": strong,
            "consecutive": consecutive(strong, first=0),
            "topological": topological(strong, arcs),
        }
        for numbering, expected in numbers.items():
            count, labels = connected_components(
                graph, connection="strong", numbering=numbering, dtype=out_dtype
            )
            assert labels.dtype == (out_dtype or np.int32)
            np.testing.assert_array_equal(labels, expected)
            assert count == len(np.unique(strong))
        roots = connected_components(graph, False, "strong", numbering="roots")[1]
        np.testing.assert_array_equal(roots, weak)
        assert (graph.num_vertices, graph.num_arcs) == (num_vertices, len(arcs))
        np.testing.assert_array_equal(graph.indptr, indptr)
        np.testing.assert_array_equal(graph.indices, indices)


@given(arc_lists(), st.booleans(), st.sampled_from(["weak", "strong"]))
@settings(max_examples=200)
def test_equals_scipy(graph, directed, connection):
    num_vertices, arcs = graph
    src, dst = np.array(arcs, np.int64).reshape(-1, 2).T
    matrix = sparse.csr_array((np.ones(len(src)), (src, dst)), shape=(num_vertices, num_vertices))
    expected = csgraph.connected_components(matrix, directed, connection)
    count, labels = connected_components(matrix, directed, connection)
    assert count == expected[0]
    np.testing.assert_array_equal(labels, by_root(expected[1]))
    assert connected_components(matrix, directed, connection, return_labels=False) == count
    assert connected_components(matrix, directed, connection.upper(), False) == count


# The graphs below have enough vertices or arcs that several threads have parts of them.


def star(n, hub, rng):
    leaves = np.delete(np.arange(n), hub)
    return np.full(n - 1, hub), rng.permutation(leaves)


def caterpillar(n, legs):
    spine = np.arange(0, n, legs + 1)
    feet = np.delete(np.arange(n), spine)
    src = np.concatenate([spine[:-1], feet // (legs + 1) * (legs + 1)])
    return src, np.concatenate([spine[1:], feet])


def separate(n, parts, rng):
    """Return random arcs that stay within the residues modulo `parts`."""
    src = rng.integers(0, n, 2 * n)
    dst = src % parts + parts * rng.integers(0, n // parts, 2 * n)
    return src, dst


def dense(n, members, parts, rng):
    """Return many arcs inside each part of some vertices, and few between the others."""
    order = rng.permutation(n)
    inside, others = order[:members], order[members:]
    src = rng.integers(0, members, 6 * n)
    dst = src % parts + parts * rng.integers(0, members // parts, 6 * n)
    islands = rng.choice(others, (2, len(others) // 2 + 1)) if len(others) else others.reshape(2, 0)
    return np.append(inside[src], islands[0]), np.append(inside[dst], islands[1])


def shuffled_ring(n, reach, rng):
    order = rng.permutation(n)
    steps = np.arange(1, reach + 1).repeat(n)
    src = np.tile(np.arange(n), reach)
    return order[src], order[(src + steps) % n]


def outsiders(n):
    """Return a giant under vertex 7, and vertices that no arcs tie to it of which trees grow.

    Those are the first and the last two of a row. Some rows have one in the middle that leads out
    of the giant, or into it; and seven vertices before the root have all arcs into it.
    """
    rows = np.full((n, 5), 7)
    led_to, leading, alone = np.arange(n).reshape(-1, 10_000)[:, [100, 500, 900]].T
    for outside in (led_to, leading, alone):
        rows[outside] = outside[:, None]
    rows[led_to - 1, 2] = led_to
    rows[leading, 2] = 7
    return np.arange(n).repeat(5), rows.ravel()


N = 150_000

LARGE = {
    "star with its hub first": lambda rng: star(N, 0, rng),
    "star with its hub last": lambda rng: star(N, N - 1, rng),
    "star with its hub inside": lambda rng: star(N, N // 3, rng),
    "line": lambda rng: line(N, np.arange(N))[:2],
    "reversed line": lambda rng: line(N, np.arange(N)[::-1])[:2],
    "shuffled line": lambda rng: line(N, rng.permutation(N))[:2],
    "two shuffled lines": lambda rng: line(N, rng.permutation(N).repeat(2)[N // 2 :: 2])[:2],
    "grid": lambda rng: grid(380, 380)[:2],
    "caterpillar": lambda rng: caterpillar(N, 5),
    "caterpillar of long legs": lambda rng: caterpillar(N, 3000),
    "few random arcs": lambda rng: rng.integers(0, N, (2, N // 2)),
    "random arcs": lambda rng: rng.integers(0, N, (2, 2 * N)),
    "many random arcs": lambda rng: rng.integers(0, N, (2, 1_000_000)),
    "many arcs of few vertices": lambda rng: rng.integers(0, 1000, (2, 300_000)),
    "100 components": lambda rng: separate(N, 100, rng),
    "a giant and islands": lambda rng: dense(N, 3 * N // 4, 1, rng),
    "a giant of few vertices": lambda rng: dense(N, N // 5, 1, rng),
    "a giant alone": lambda rng: dense(N, N, 1, rng),
    "two giants": lambda rng: dense(N, N, 2, rng),
    "ten giants": lambda rng: dense(N, N, 10, rng),
    "shuffled ring of many arcs": lambda rng: shuffled_ring(N, 5, rng),
    "outsiders of a giant": lambda rng: outsiders(N),
    "loops": lambda rng: (np.arange(N), np.arange(N)),
    "no arcs": lambda rng: np.zeros((2, 0), np.int64),
}


def large_graph(name):
    """Return the ends of the arcs of a graph of N vertices or a few less."""
    return LARGE[name](np.random.default_rng(11))


# Giants are looked for by bits where graphs are symmetric, and what leads into one alone where they
# are not; the others are one or the other in turn.
SYMMETRIC = {
    **{name: number % 2 == 1 for number, name in enumerate(LARGE)},
    **{name: True for name in LARGE if "giant" in name or "many" in name},
    "outsiders of a giant": False,
}


@pytest.mark.parametrize(
    ("name", "symmetric"),
    [case for case in product(LARGE, (False, True)) if SOAK or SYMMETRIC[case[0]] == case[1]],
)
def test_large_graphs_equal_scipy(name, symmetric):
    src, dst = large_graph(name)
    if symmetric:
        src, dst = both_ways(src, dst)
    ones = np.ones(len(src), np.int8)
    matrix = sparse.csr_array((ones, (src, dst)), shape=(N, N))
    expected_count, expected = csgraph.connected_components(matrix)
    expected_roots = roots_of_labels(expected)
    indptr, indices = to_csr(N, src, dst)
    arcs = Graph.from_edges(src, dst, N)
    rows = Graph.from_csr(indptr, indices.astype(np.int32))
    checked = Graph.from_csr(indptr.astype(np.int32), indices)
    assert checked.is_symmetric() == (symmetric or name in ("loops", "no arcs"))
    ways = product((arcs, rows, checked), ALGORITHMS["cpu"])
    for number, (graph, algorithm) in enumerate(ways, list(LARGE).index(name)):
        for threads in (1, 2, 8) if SOAK else ((1, 2, 8)[number % 3],):
            conncomp.set_num_threads(threads)
            count, labels = connected_components(graph, algorithm=algorithm)
            assert count == expected_count
            np.testing.assert_array_equal(labels, expected)
            roots = connected_components(graph, numbering="roots", algorithm=algorithm)[1]
            np.testing.assert_array_equal(roots, expected_roots)
    np.testing.assert_array_equal(arcs.indptr, indptr)
    np.testing.assert_array_equal(arcs.indices, indices)


def explicit_zeros():
    """Return a matrix of stored ones and zeros, in COO form."""
    rng = np.random.default_rng(2)
    src, dst = rng.integers(0, 40, (2, 25))
    matrix = sparse.csr_array((np.ones(25), (src, dst)), shape=(40, 40))
    matrix.data[::2] = 0
    return matrix


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("connection", ["weak", "strong"])
def test_sparse_formats_equal_scipy(kind, form, dtype, connection):
    matrix = explicit_zeros().astype(dtype)
    matrix = getattr(sparse, f"{form}_{kind}")(matrix)
    stored = matrix.tocsr(copy=True)
    if form == "bsr":  # as SciPy does since 1.18
        stored.eliminate_zeros()
    expected = csgraph.connected_components(stored, connection=connection)
    count, labels = connected_components(matrix, connection=connection)
    assert count == expected[0]
    np.testing.assert_array_equal(labels, by_root(expected[1]))
    if connection == "weak":
        np.testing.assert_array_equal(connected_components(Graph.from_scipy(matrix))[1], labels)


def blocks_of_diagonals():
    """Return matrices of few entries, and the pairs of these: zeros fill up their blocks."""
    for blocks in ((2, 2), (1, 4), (4, 1), (3, 6), (12, 12)):
        for dtype in (bool, np.int16, np.float64):
            yield np.eye(12, dtype=dtype), blocks
            yield np.eye(12, k=2, dtype=dtype), blocks
            yield np.zeros((12, 12), dtype), blocks


@pytest.mark.parametrize("connection", ["weak", "strong"])
@pytest.mark.parametrize("form", ["bsr", "dia"])
def test_zeros_that_fill_blocks_and_diagonals_are_no_arcs(connection, form, tmp_path):
    for number, (dense, blocks) in enumerate(blocks_of_diagonals()):
        arcs = np.argwhere(dense)
        roots = components_by_search(12, arcs.tolist(), strong=connection == "strong")
        matrix = sparse.csr_array(dense)
        matrix = matrix.tobsr(blocks) if form == "bsr" else matrix.todia()
        assert form == "dia" or blocks == (1, 1) or matrix.nnz > len(arcs) or not dense.any()
        before = matrix.data.copy()
        sparse.save_npz(path := tmp_path / f"{number}.npz", matrix)
        for graph in (matrix, Graph.from_scipy(matrix), Graph.read(path)):
            found = connected_components(graph, connection=connection, numbering="roots")[1]
            np.testing.assert_array_equal(found, roots)
            weak, strong = (
                len(set(components_by_search(12, arcs.tolist(), strong=way).tolist()))
                for way in (False, True)
            )
            assert conncomp.condensation(graph).num_components == strong
            assert len(conncomp.spanning_forest(graph)) == 12 - weak
        assert Graph.read(path).num_arcs == Graph.from_scipy(matrix).num_arcs == len(arcs)
        np.testing.assert_array_equal(matrix.data, before)


def test_entries_of_blocks_that_are_not_zero_are_arcs():
    matrix = sparse.bsr_array(np.diag([np.nan, np.inf, -1.0, 2.0]), blocksize=(2, 2))
    assert Graph.from_scipy(matrix).num_arcs == 4


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok"])
def test_zeros_that_are_stored_are_arcs_in_other_layouts(form):
    matrix = sparse.coo_array(([0.0, 1.0], ([0, 2], [1, 1])), shape=(4, 4)).asformat(form)
    assert connected_components(matrix, return_labels=False) == 2
    assert Graph.from_scipy(matrix).num_arcs == 2
    for find in (conncomp.spanning_forest, conncomp.minimum_spanning_forest):
        assert len(find(matrix)) == 2


def test_unsorted_and_repeated_entries():
    matrix = sparse.csr_array(([1, 1, 1], [2, 0, 2], [0, 3, 3, 3]), shape=(3, 3))
    indices = matrix.indices.copy()
    assert connected_components(matrix)[1].tolist() == [0, 1, 0]
    assert connected_components(matrix, connection="strong", return_labels=False) == 3
    np.testing.assert_array_equal(matrix.indices, indices)


@pytest.mark.parametrize(
    "matrix",
    [
        [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2], [0, 0, 0, 0]],
        np.array([[0, 1, np.nan], [0, 0, np.inf], [-np.inf, 0, 0]]),
        np.array([[0, -1, 0], [0, 0, 0], [0, 0, 0]], np.float32),
        np.array([[False, True], [False, False]]),
        np.zeros((3, 3)),
        np.asfortranarray(np.eye(5, k=2)),
        np.ma.masked_array(np.ones((3, 3)), mask=1 - np.eye(3)),
        np.ma.masked_equal([[5, 7, 0], [0, 5, 5], [0, 0, 5]], 7),
    ],
    ids=["list", "nan and inf", "negative", "bool", "zeros", "fortran", "masked", "masked values"],
)
@pytest.mark.parametrize("connection", ["weak", "strong"])
def test_dense_equals_scipy(matrix, connection):
    # SciPy takes no lists.
    expected = csgraph.connected_components(np.asanyarray(matrix), connection=connection)
    count, labels = connected_components(matrix, connection=connection)
    assert count == expected[0]
    np.testing.assert_array_equal(labels, by_root(expected[1]))


@pytest.mark.parametrize(
    "kind", [networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph]
)
@pytest.mark.parametrize("connection", ["weak", "strong"])
def test_equals_networkx(kind, connection):
    rng = np.random.default_rng(4)
    nodes = ["a", "b", (1, 2), 3.5, frozenset(), *"cdefghijkl", -7, 10**20]
    for num_edges in (0, 5, 12, 30):
        graph = kind()
        graph.add_nodes_from(nodes)
        ends = rng.integers(0, len(nodes), (num_edges, 2))
        graph.add_edges_from((nodes[v], nodes[w]) for v, w in ends)
        graph.add_edges_from([("a", "a"), ("a", "b"), ("a", "b")])
        if not graph.is_directed():
            components = networkx.connected_components(graph)
        elif connection == "weak":
            components = networkx.weakly_connected_components(graph)
        else:
            components = networkx.strongly_connected_components(graph)
        number = {node: i for i, node in enumerate(graph)}
        expected = np.empty(len(nodes), np.int64)
        for component in components:
            members = [number[node] for node in component]
            expected[members] = min(members)
        count, roots = connected_components(graph, connection=connection, numbering="roots")
        np.testing.assert_array_equal(roots, expected)
        assert count == len(np.unique(expected))


def test_names_of_the_first_argument():
    for result in (
        connected_components(np.eye(2)),
        connected_components(csgraph=np.eye(2)),
        connected_components(graph=np.eye(2)),
    ):
        assert result[0] == 2


@pytest.mark.parametrize("fill", [0, np.nan, np.inf])
@pytest.mark.parametrize("kind", ["coo", "gcxs", "dok"])
def test_pydata_sparse_equals_scipy(kind, fill):
    matrix = pydata.COO.from_scipy_sparse(explicit_zeros())
    matrix = pydata.COO(matrix.coords, matrix.data, matrix.shape, fill_value=np.float64(fill))
    pytest.importorskip("scipy", minversion="1.15", reason="older SciPy does not take them")
    expected = csgraph.connected_components(matrix)
    result = connected_components(matrix.asformat(kind))
    assert result[0] == expected[0]
    np.testing.assert_array_equal(result[1], expected[1])
    assert Graph.from_scipy(matrix.asformat(kind)).num_arcs == 25


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("num_edges", [0, 20, 60])
@pytest.mark.parametrize("connection", ["weak", "strong"])
def test_igraph_and_rustworkx(directed, num_edges, connection):
    edges = np.random.default_rng(num_edges).integers(0, 40, (num_edges, 2))
    edges[:1] = 7  # a loop
    arcs = np.concatenate([edges, edges[:0] if directed else edges[:, ::-1]])
    strong = directed and connection == "strong"
    expected = components_by_search(40, arcs.tolist(), strong=strong)
    ig = igraph.Graph(n=40, edges=edges.tolist(), directed=directed)
    rx = rustworkx.PyDiGraph() if directed else rustworkx.PyGraph()
    rx.add_nodes_from(range(40))
    rx.add_edges_from_no_data(list(map(tuple, edges.tolist())))
    for graph in (ig, rx):
        roots = connected_components(graph, connection=connection, numbering="roots")[1]
        np.testing.assert_array_equal(roots, expected)
    num_arcs = num_edges if directed else 2 * num_edges - int((edges[:, 0] == edges[:, 1]).sum())
    for made in (Graph.from_igraph(ig), Graph.from_rustworkx(rx)):
        assert (made.num_vertices, made.num_arcs) == (40, num_arcs)
        assert made.is_symmetric() or directed


def test_arcs_of_networkx_graphs():
    edges = [("a", "b"), ("a", "b"), ("b", "b"), ("c", "a")]
    undirected = Graph.from_networkx(networkx.Graph(edges))
    assert undirected.indptr.tolist() == [0, 2, 4, 5]
    assert undirected.indices.tolist() == [1, 2, 0, 1, 0]
    assert undirected.is_symmetric()
    multiple = Graph.from_networkx(networkx.MultiGraph(edges))
    assert multiple.indices.tolist() == [1, 1, 2, 0, 0, 1, 0]
    directed = Graph.from_networkx(networkx.MultiDiGraph(edges))
    assert directed.indptr.tolist() == [0, 2, 3, 4]
    assert directed.indices.tolist() == [1, 1, 1, 0]
    assert not directed.is_symmetric()
    assert Graph.from_networkx(networkx.Graph()).num_vertices == 0


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("dtype", [f"{sign}{size}" for sign in "iu" for size in (1, 2, 4, 8)])
@pytest.mark.parametrize("numbering", ["consecutive", "roots"])
@pytest.mark.parametrize("connection", ["weak", "strong"])
def test_dtypes(dtype, numbering, connection):
    graph = Graph.from_edges([4, 1, 3], [3, 4, 1], num_vertices=120)
    options = {"connection": connection, "numbering": numbering}
    count, expected = connected_components(graph, **options)
    assert (count, expected.dtype) == (118, np.int32)
    result = connected_components(graph, dtype=dtype, **options)[1]
    np.testing.assert_array_equal(result, expected.astype(dtype), strict=True)
    out = np.full(120, 77, dtype)
    assert connected_components(graph, out=out, **options)[1] is out
    np.testing.assert_array_equal(out, result)


@pytest.mark.parametrize(("num", "dtype"), [(0, "u1"), (256, "u1"), (257, "u2"), (65537, "u4")])
@pytest.mark.parametrize("numbering", ["consecutive", "roots"])
def test_smallest_dtype(num, dtype, numbering):
    graph = Graph.from_edges([], [], num)
    result = connected_components(graph, numbering=numbering, dtype="smallest")[1]
    np.testing.assert_array_equal(result, np.arange(num, dtype=dtype), strict=True)


def test_input_is_never_changed():
    src, dst = large_graph("random arcs")
    indptr, indices = to_csr(N, src, dst)
    arrays = src, dst, indptr, indices
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    for graph in (Graph.from_edges(src, dst, N), Graph.from_csr(indptr, indices)):
        for connection in ("weak", "strong"):
            connected_components(graph, connection=connection)
        graph.is_symmetric()
    for array, was in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, was)


def test_arrays_are_kept_without_a_copy():
    src, dst = np.array([0, 1], np.int32), np.array([1, 2], np.int32)
    graph = Graph.from_edges(src, dst)
    assert all(np.shares_memory(a, b) for a, b in zip(graph.arrays, (src, dst), strict=True))
    indptr, indices = np.array([0, 1, 1]), np.array([1], np.int32)
    rows = Graph.from_csr(indptr, indices)
    assert np.shares_memory(rows.indptr, indptr)
    assert np.shares_memory(rows.indices, indices)


def test_strided_and_misaligned_ends():
    arcs = np.random.default_rng(1).integers(0, 50, (30, 2))
    records = np.zeros(30, np.dtype([("pad", "u1"), ("src", "i8"), ("dst", "i4")]))
    records["src"], records["dst"] = arcs.T
    expected = components_by_search(50, arcs.tolist())
    for src, dst in [arcs.T, arcs[::-1].T, (records["src"], records["dst"]), arcs.T.tolist()]:
        graph = Graph.from_edges(src, dst, 50)
        np.testing.assert_array_equal(connected_components(graph, numbering="roots")[1], expected)


def test_default_number_of_vertices():
    assert Graph.from_edges([], []).num_vertices == 0
    assert Graph.from_edges([0], [0]).num_vertices == 1
    assert Graph.from_edges([2, 0], [1, 5]).num_vertices == 6
    assert Graph.from_edges([2, 7], [1, 5]).num_vertices == 8


@pytest.mark.parametrize("num_vertices", [0, 1, 5])
def test_no_arcs(num_vertices):
    graphs = [
        Graph.from_edges([], [], num_vertices),
        Graph.from_csr(np.zeros(num_vertices + 1, np.int32), []),
        np.zeros((num_vertices, num_vertices)),
        sparse.csr_array((num_vertices, num_vertices)),
        networkx.empty_graph(num_vertices),
    ]
    for graph in graphs:
        for connection in ("weak", "strong"):
            count, labels = connected_components(graph, connection=connection)
            assert count == num_vertices
            assert sorted(labels) == list(range(num_vertices))
            assert labels.dtype == np.int32
