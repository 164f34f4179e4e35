"""Every CPU algorithm on graphs, with all its options, against a plain search."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

import conncomp
from conncomp import Graph, connected_components
from conncomp.graph.algorithms import ALGORITHMS
from conncomp.graph.on_cpu import CALLS_FOR_ROWS
from hard_graphs import FORMS, HARD_GRAPHS, line, make, random, roots_of, star
from reference import consecutive

ON_CPU = ALGORITHMS["cpu"]
CASES = [
    (name, dict(zip(algorithm.options, choices, strict=True)))
    for name, algorithm in ON_CPU.items()
    for choices in product(*algorithm.options.values())
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("algorithm", "options"), CASES, ids=str)
def test_hard_graphs(algorithm, options, form):
    for threads, name in product((1, 2), HARD_GRAPHS):
        conncomp.set_num_threads(threads)
        graph, expected = make(name, form), roots_of(name)
        for _ in range(2):  # before its rows and its symmetry are known, and after
            count, labels = connected_components(graph, algorithm=algorithm, **options)
            assert count == len(np.unique(expected))
            np.testing.assert_array_equal(labels, consecutive(expected, first=0))


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("vertex", [np.int32, np.int64])
@pytest.mark.parametrize("pointer", [np.int32, np.int64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("algorithm", ON_CPU)
def test_index_types(algorithm, form, vertex, pointer, index):
    for name in ("critical", "brooms", "all sorts"):
        graph = make(name, form, vertex, pointer)
        task = {"algorithm": algorithm, "numbering": "roots"}
        roots = connected_components(graph, dtype=index, **task)[1]
        np.testing.assert_array_equal(roots, roots_of(name).astype(index), strict=True)
        out = np.full(graph.num_vertices, -7, index)
        assert connected_components(graph, out=out, **task)[1] is out
        np.testing.assert_array_equal(out, roots)


def both_ways(src, dst, n):
    return Graph.from_edges(np.append(src, dst), np.append(dst, src), n)


@cache
def large_graphs(directed):
    """Return graphs, as arcs and rows, of which each thread has parts, with roots by one thread."""
    n, graphs = 300_000, []
    for src, dst, count in (random(n, n, seed=12), star(n, n - 1)):
        make_graph = Graph.from_edges if directed else both_ways
        arcs = make_graph(src, dst, count)
        rows = Graph.from_csr(arcs.indptr, arcs.indices)
        rows.is_symmetric()
        conncomp.set_num_threads(1)
        graphs.append((arcs, rows, connected_components(arcs, numbering="roots")))
    return graphs


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("algorithm", "options"), CASES, ids=str)
def test_threads_agree(algorithm, options, directed):
    for arcs, rows, expected in large_graphs(directed):
        for threads, graph in product((1, 2, 3, 4), (arcs, rows)):
            conncomp.set_num_threads(threads)
            found = connected_components(graph, algorithm=algorithm, numbering="roots", **options)
            assert found[0] == expected[0]
            np.testing.assert_array_equal(found[1], expected[1])


def test_arcs_that_are_hardly_enough_for_two_threads():
    """What is shared out to two threads is united as it must be by two."""
    src, dst, n = random(100_000, 2 * 65536 - 1, seed=13)
    graph = Graph.from_edges(src, dst, n)
    conncomp.set_num_threads(1)
    expected = connected_components(graph, return_labels=False)
    conncomp.set_num_threads(2)
    for _ in range(60):  # one in six went wrong where threads united as if each were alone
        assert connected_components(graph, return_labels=False) == expected


@pytest.mark.soak
@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_line_of_ten_million_vertices(order):
    """What called itself for each vertex would overflow its stack."""
    n = 10**7
    src, dst, _ = line(n, np.arange(n, dtype=np.int32)[:: 1 if order == "forwards" else -1])
    graph = both_ways(src, dst, n)
    for algorithm in ON_CPU:
        count, labels = connected_components(graph, algorithm=algorithm)
        assert count == 1
        assert not labels.any()


def test_symmetry_is_looked_up_once():
    for symmetric in (True, False):
        src, dst, n = HARD_GRAPHS["critical"]
        graph = both_ways(src, dst, n) if symmetric else Graph.from_edges(src, dst, n)
        for algorithm in ("bfs", "recolouring"):
            connected_components(graph, algorithm=algorithm)
            assert bool(graph._parts.symmetric) == symmetric
        assert graph.is_symmetric() == symmetric


def test_bad_options():
    with pytest.raises(ValueError, match=r"^init=0 .*3, 1"):
        connected_components(np.eye(3), algorithm="ecl", init=0)


@pytest.mark.parametrize("order", ["sources", "lattice"])
def test_lists_that_are_labelled_again(order):
    """From the second call on, a list in the order of its sources is labelled by its rows."""
    side = 200
    vertex = np.arange(side * side).reshape(side, side)
    src = np.concatenate([vertex[:, :-1].ravel(), vertex[:-1].ravel()])
    dst = np.concatenate([vertex[:, 1:].ravel(), vertex[1:].ravel()])
    kept = np.random.default_rng(3).random(len(src)) < 0.6
    src, dst = src[kept], dst[kept]
    src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
    if order == "sources":
        places = np.argsort(src, kind="stable")
        src, dst = src[places], dst[places]
    graph = conncomp.Graph.from_edges(src, dst, side**2)
    first = conncomp.connected_components(graph)
    assert len(graph.arrays) == 2
    second = conncomp.connected_components(graph)
    assert len(graph.arrays) == (4 if order == "sources" else 2)
    matrix = sparse.coo_array((np.ones(len(src), bool), (src, dst)), shape=(side**2,) * 2)
    count, labels = csgraph.connected_components(matrix, directed=False)
    for found in (first, second):
        assert found[0] == count
        np.testing.assert_array_equal(found[1], labels)


@pytest.mark.parametrize("opposites", ["behind", "beside", "none"])
@pytest.mark.parametrize("ends", ["near", "anywhere"])
def test_rows_are_made_once_they_pay(ends, opposites):
    """Rows of a mirrored list of near vertices are made in the sixteenth call, and no others."""
    n = 80_000
    src = np.random.default_rng(3).permutation(n - 3)
    dst = src + 3 if ends == "near" else np.random.default_rng(4).integers(0, n, n - 3)
    if opposites == "behind":
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
    elif opposites == "beside":
        src, dst = np.stack([src, dst], 1).ravel(), np.stack([dst, src], 1).ravel()
    graph = conncomp.Graph.from_edges(src, dst, n)
    made = ends == "near" and opposites != "none"
    labels = conncomp.connected_components(graph)[1]
    for call in range(2, CALLS_FOR_ROWS + 3):
        np.testing.assert_array_equal(conncomp.connected_components(graph)[1], labels)
        assert len(graph.arrays) == (4 if made and call >= CALLS_FOR_ROWS else 2)
