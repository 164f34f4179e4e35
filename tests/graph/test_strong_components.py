"""Strong components: random digraphs by the ten thousand, the worst ones, and condensations."""

import networkx
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

import conncomp
from conncomp import Graph, _array_storage, condensation, connected_components, generate
from conncomp._algorithms import Algorithm
from conncomp.graph import repeated
from conncomp.graph.algorithms import STRONG_ALGORITHMS
from host_cupy import place_on_host
from reference import (
    components_by_search,
    consecutive,
    roots_of_labels,
    strong_components_by_tarjan,
    topological,
)
from stand_in import Array

ALGORITHMS = list(STRONG_ALGORITHMS["cpu"])


def many_digraphs(count, seed):
    """Return many small random digraphs of all densities side by side: vertices, arcs, sizes."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, count)
    begins = np.cumsum(sizes) - sizes
    degrees = rng.choice([0, 0.3, 0.7, 1, 1.3, 2, 4], count)
    home = np.repeat(np.arange(count), np.round(sizes * degrees).astype(int))
    src, dst = (begins[home] + rng.integers(0, sizes[home]) for _ in range(2))
    return sizes.sum(), np.stack([src, dst], axis=1), begins


def labels_of(graph, numbering, **task):
    return connected_components(graph, connection="strong", numbering=numbering, **task)[1]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_many_small_digraphs(algorithm):
    n, arcs, begins = many_digraphs(30_000, 1)
    expected = strong_components_by_tarjan(n, arcs.tolist())
    matrix = sparse.csr_array((np.ones(len(arcs), np.int8), tuple(arcs.T)), shape=(n, n))
    theirs = csgraph.connected_components(matrix, connection="strong")[1]
    np.testing.assert_array_equal(expected, roots_of_labels(theirs))
    order = np.random.default_rng(2).permutation(len(arcs))
    for dtype in (np.int32, np.int64):
        src, dst = arcs[order].T.astype(dtype)
        graph = Graph.from_edges(src, dst, n)
        rows = Graph.from_csr(graph.indptr.astype(dtype), graph.indices)
        for made in (graph, rows):
            np.testing.assert_array_equal(labels_of(made, "roots", algorithm=algorithm), expected)
            numbers = labels_of(made, "topological", algorithm=algorithm, dtype=dtype)
            np.testing.assert_array_equal(numbers, topological(expected, arcs))
    # Some of them alone, by a search from every vertex.
    for k in range(0, len(begins) - 1, 100):
        begin, end = begins[k : k + 2]
        own = arcs[(arcs[:, 0] >= begin) & (arcs[:, 0] < end)] - begin
        roots = components_by_search(end - begin, own.tolist(), strong=True)
        np.testing.assert_array_equal(expected[begin:end] - begin, roots)


FAMILIES = {
    "random below": lambda: generate.directed.random_arcs(3000, 0.9),
    "random": lambda: generate.directed.random_arcs(3000, 1.5),
    "dense": lambda: generate.directed.random_arcs(200, 30),
    "giant": lambda: generate.directed.random_arcs(5000, 6),
    "rmat of many": lambda: generate.directed.rmat(12, 10),
    "shuffled web": lambda: generate.directed.bow_tie(5000, shuffle=True),
    "rmat": lambda: generate.directed.rmat(10, 8),
    "web": lambda: generate.directed.bow_tie(2000),
    "cycle": lambda: generate.directed.cycle(2000, shuffle=True),
    "chain": lambda: generate.directed.chain_of_cycles(100, 7),
    "pairs": lambda: generate.directed.chain_of_cycles(500, 2, shuffle=True),
    "path of loops": lambda: generate.directed.chain_of_cycles(500, 1),
    "torus": lambda: generate.mesh_sweep((12, 8, 4)),
    "klein bottle": lambda: generate.mesh_sweep((12, 8, 4), "klein-bottle"),
    "beam": lambda: generate.mesh_sweep((12, 5, 4), "twisted-beam", elements="tetrahedra"),
    "alone": lambda: Graph.from_edges([], [], 300),
    "nothing": lambda: Graph.from_edges([], []),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_families(family):
    graph = FAMILIES[family]()
    src = np.repeat(np.arange(graph.num_vertices), np.diff(graph.indptr))
    arcs = np.stack([src, graph.indices], axis=1)
    expected = strong_components_by_tarjan(graph.num_vertices, arcs.tolist())
    np.testing.assert_array_equal(labels_of(graph, "roots"), expected)
    labels = {"consecutive": consecutive(expected, 0), "topological": topological(expected, arcs)}
    known = networkx.DiGraph()
    known.add_nodes_from(range(graph.num_vertices))
    known.add_edges_from(arcs.tolist())
    count = networkx.number_strongly_connected_components(known)
    for numbering, numbers in labels.items():
        np.testing.assert_array_equal(labels_of(graph, numbering), numbers)
        made = condensation(graph, numbering=numbering)
        assert made.num_components == made.graph.num_vertices == count
        np.testing.assert_array_equal(made.labels, numbers)
        check_rows(made.graph, numbers[arcs])
        rising = (numbers[arcs[:, 0]] < numbers[arcs[:, 1]]).any()
        assert numbering == "consecutive" or not rising


@pytest.mark.parametrize("seed", range(40))
def test_giants(seed):
    """Graphs with a giant, with two, or with none that few sweeps find, and vertices around it."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1100, 4000))
    arcs = rng.integers(0, n, (int(n * rng.uniform(4.1, 9)), 2))
    half = rng.integers(0, 3) == 0
    if half:  # arcs lead from the first half to the second, and never back
        arcs = arcs[(arcs[:, 0] < n // 2) | (arcs[:, 1] >= n // 2)]
    around = rng.random(n) < rng.choice([0, 0.2, 0.9])  # those that no arc leads to
    arcs = arcs[~around[arcs[:, 1]]]
    arcs = rng.permutation(n)[arcs] if rng.integers(0, 2) else arcs
    matrix = sparse.csr_array((np.ones(len(arcs), bool), tuple(arcs.T)), shape=(n, n))
    expected = roots_of_labels(csgraph.connected_components(matrix, connection="strong")[1])
    for algorithm in ALGORITHMS:
        graph = Graph.from_edges(*arcs.T, n)
        np.testing.assert_array_equal(labels_of(graph, "roots", algorithm=algorithm), expected)
        labels = labels_of(graph, "consecutive", algorithm=algorithm)
        np.testing.assert_array_equal(labels, consecutive(expected, 0))


def pieces_in_a_row(rng, n):
    """Return the arcs of small graphs in a row, and some from each to later ones."""
    arcs, begin = [], 0
    while begin < n:
        size = min(int(rng.choice([1, 2, 3, 30])), n - begin)
        kind = rng.integers(0, 4)
        own = np.arange(size)
        if kind == 0:
            arcs.append(np.stack([own, (own + 1) % size], axis=1) + begin)
        elif kind == 1:
            arcs.append(rng.integers(0, size, (2 * size, 2)) + begin)
        elif kind == 2:
            there = np.stack([own[:-1], own[1:]], axis=1)
            back = there[rng.random(size - 1) < 0.9, ::-1]
            arcs.append(np.concatenate([there, back]) + begin)
        if begin + size < n and rng.random() < 0.7:
            arcs.append([[begin + size - 1, rng.integers(begin + size, n)]])
        begin += size
    return np.concatenate(arcs)


@pytest.mark.parametrize("threads", range(1, 9))
@pytest.mark.parametrize("crossed", [None, "once", "everywhere"])
def test_pieces(threads, crossed):
    """Graphs whose order has cuts, upwards or downwards, but for an arc or some that lead back."""
    rng = np.random.default_rng([threads, len(crossed or "")])
    row = pieces_in_a_row(rng, 3000)
    copies = 50 if threads > 1 else 2
    n = 3000 * copies
    arcs = (row + 3000 * np.arange(copies)[:, None, None]).reshape(-1, 2)
    if crossed:
        back = np.sort(rng.integers(0, n, (1 if crossed == "once" else copies, 2)))[:, ::-1]
        arcs = np.concatenate([arcs, back])
    arcs = n - 1 - arcs if rng.integers(0, 2) else arcs
    matrix = sparse.csr_array((np.ones(len(arcs), bool), tuple(arcs.T)), shape=(n, n))
    expected = roots_of_labels(csgraph.connected_components(matrix, connection="strong")[1])
    conncomp.set_num_threads(threads)
    graph = Graph.from_edges(*arcs.T, n)
    np.testing.assert_array_equal(labels_of(graph, "roots"), expected)
    np.testing.assert_array_equal(labels_of(graph, "consecutive"), consecutive(expected, 0))


@pytest.mark.parametrize("downwards", [False, True])
def test_a_share_that_leads_out_of_its_middle(downwards):
    """A path in shares: one of them is a piece from end to end, and part of a larger one."""
    conncomp.set_num_threads(2)
    n, end, middle = 1 << 18, (1 << 17) + 400, (1 << 16) + 5000
    path = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    for begin in range((1 << 16) + 506, (1 << 16) + 518):  # of a share, by one of these
        arcs = np.concatenate([path, [[end, begin], [middle, begin - 10]]])
        expected = np.arange(n)
        expected[begin - 10 : end + 1] = begin - 10
        if downwards:
            arcs = n - 1 - arcs
            expected = roots_of_labels(expected[::-1])
        np.testing.assert_array_equal(labels_of(Graph.from_edges(*arcs.T, n), "roots"), expected)


def check_rows(graph, ends):
    """Check that rows hold the distinct arcs between different ends, sorted."""
    between = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    indptr, indices = map(_array_storage.on_host, (graph.indptr, graph.indices))
    np.testing.assert_array_equal(
        np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), between[:, 0]
    )
    np.testing.assert_array_equal(indices, between[:, 1])


@pytest.mark.parametrize("length", [10**7, 1])
def test_longest(length):
    """A cycle and a path of loops through ten million vertices."""
    graph = generate.directed.chain_of_cycles(10**7 // length, length)
    count, roots = connected_components(graph, connection="strong", numbering="roots")
    assert count == 10**7 // length
    assert (roots == (np.arange(10**7) if length == 1 else 0)).all()
    numbers = labels_of(graph, "topological")
    assert (numbers == (np.arange(10**7)[::-1] if length == 1 else 0)).all()


def test_a_hub_and_its_leaves():
    leaves = np.arange(1, 100_000)
    zeros = np.zeros_like(leaves)
    out = Graph.from_edges(zeros, leaves)
    np.testing.assert_array_equal(labels_of(out, "topological")[1:], leaves - 1)
    there_and_back = Graph.from_edges([*zeros, *leaves], [*leaves, *zeros])
    assert connected_components(there_and_back, connection="strong", return_labels=False) == 1


def test_matrices_and_graphs_of_other_libraries():
    matrix = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0]])
    for graph in (matrix, sparse.coo_array(matrix), networkx.DiGraph(matrix)):
        made = condensation(graph, numbering="topological")
        assert made.labels.tolist() == [2, 1, 1, 0]
        assert made.graph.indices.tolist() == [0, 1]
        assert condensation(graph=graph).labels.tolist() == [0, 1, 1, 2]
    with pytest.raises(ValueError, match="numbering='roots' is not one of 'consecutive', 'topol"):
        condensation(matrix, numbering="roots")
    with pytest.raises(ValueError, match="algorithm='ecl' is not one of 'auto', 'tarjan'"):
        condensation(matrix, algorithm="ecl")


def fill_on_gpu(graph, task):
    """Stand in for an algorithm on a GPU."""
    here = Graph.from_csr(*(array.host for array in graph.rows()))
    numbering = "consecutive" if task.consecutive else "roots"
    count, found = connected_components(here, connection="strong", numbering=numbering)
    task.labels[:] = Array(found)
    return Array(np.array([count]))


@pytest.mark.parametrize("form", ["arcs", "rows"])
@pytest.mark.parametrize("family", ["random", "klein bottle", "alone", "nothing", "cycle"])
def test_on_a_gpu(monkeypatch, form, family):
    """Numbers and condensations there are those of the CPU, whatever algorithm finds the roots."""
    here = FAMILIES[family]()
    if form == "rows":
        here = Graph.from_csr(here.indptr, here.indices)
    place_on_host(monkeypatch)
    monkeypatch.setattr(repeated, "MOST_ENTRIES", 0)  # the stand-in below launches nothing
    algorithm = Algorithm("auto", "cuda", fill_on_gpu)
    monkeypatch.setitem(STRONG_ALGORITHMS, "cuda", {"auto": algorithm})
    there = here.to("cuda")
    for numbering in ("consecutive", "topological", "roots"):
        expected = connected_components(here, connection="strong", numbering=numbering)
        count, labels = connected_components(there, connection="strong", numbering=numbering)
        assert int(count) == expected[0]
        np.testing.assert_array_equal(labels.get(), expected[1], strict=True)
        out = Array(np.full_like(expected[1], 77))
        connected_components(there, connection="strong", numbering=numbering, out=out)
        np.testing.assert_array_equal(out.get(), expected[1])
        moved = labels_of(here, numbering, device="cuda")
        np.testing.assert_array_equal(moved, expected[1], strict=True)
        if numbering != "roots":
            known, made = (
                condensation(here, numbering=numbering),
                condensation(there, numbering=numbering),
            )
            assert made.graph.device == "cuda"
            np.testing.assert_array_equal(made.labels.get(), known.labels)
            np.testing.assert_array_equal(made.graph.indptr.get(), known.graph.indptr)
            np.testing.assert_array_equal(made.graph.indices.get(), known.graph.indices)
