"""Targets for graphs: components, strong ones, forests, and graphs that grow."""

import copy
import pickle
import tempfile
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow
import scipy.sparse
from scipy.sparse import csgraph

import conncomp

from ..forest_reference import kruskal
from ..pair_files import write
from ..reference import (
    components_by_search,
    condensed,
    consecutive,
    roots_of_labels,
    strong_components_by_tarjan,
    topological,
)
from . import draws
from .target import assert_refused, assert_same

INDICES = [np.int32, np.int64, np.uint16, np.uint64, ">i4"]


# A form takes choices, how many vertices there are, sources, targets and weights. It returns a
# graph, the ends of the arcs in the order of their numbers, and their weights if it has them.


def _as_arcs(choices, n, src, dst, weights):
    given = [draws.vector(choices, ends.astype(choices.pick(INDICES))) for ends in (src, dst)]
    make = choices.pick([conncomp.Graph.from_edges, lambda *ends: conncomp.Graph(n, arcs=ends[:2])])
    return make(*given, n), (src, dst), None


def _as_rows(choices, n, src, dst, weights):
    order = np.argsort(src, kind="stable")
    indptr = np.r_[0, np.cumsum(np.bincount(src, minlength=n))].astype(choices.pick(INDICES))
    indices = dst[order].astype(choices.pick(INDICES))
    rows = [draws.vector(choices, part) for part in (indptr, indices)]
    make = choices.pick([conncomp.Graph.from_csr, lambda *rows: conncomp.Graph(n, csr=rows)])
    return make(*rows), (src[order], dst[order]), None


def _as_sparse(choices, n, src, dst, weights):
    """Entries of a place are one, of the sum, in all but two layouts; arcs have their order.

    Zeros are stored now and then; those in blocks and diagonals are no arcs.
    """
    kind = choices.pick([scipy.sparse.coo_array, scipy.sparse.coo_matrix])
    if choices.flag():
        weights = weights.copy()
        weights[:: 2 + choices.below(3)] = 0
    matrix = kind((weights, (src, dst)), shape=(n, n))
    layout = choices.pick(["coo", "csr", "csc", "lil", "dok", "bsr", "dia"])
    if layout == "dia" and n > 300:  # diagonals of all lengths
        layout = "csr"
    if layout == "bsr" and n:
        sides = [side for side in (2, 3, 5, 1, n) if n % side == 0 and side <= 100]
        matrix = matrix.tobsr((choices.pick(sides), choices.pick(sides)))
    else:
        matrix = matrix.asformat(layout)
    stored = matrix.copy().tocoo()
    arcs = stored.data != 0 if layout in ("bsr", "dia") else ...
    return matrix, (stored.row[arcs], stored.col[arcs]), stored.data[arcs]


def _as_dense(choices, n, src, dst, weights):
    """Entries other than 0, NaN and infinity are arcs; in a masked matrix, all that are shown."""
    matrix = np.zeros((n, n), weights.dtype)
    matrix[src, dst] = weights
    present = (matrix != 0) & np.isfinite(matrix)
    given = draws.laid_out(choices, matrix)
    given = given if np.array_equal(given, matrix, equal_nan=True) else matrix
    if choices.flag():
        present = np.zeros((n, n), bool)
        present[src, dst] = True
        given = np.ma.array(given, mask=~present)
    ends = np.nonzero(present)
    return given, ends, matrix[ends]


def _as_pydata(choices, n, src, dst, weights):
    import sparse

    if n == 0:
        return _as_arcs(choices, n, src, dst, weights)
    matrix = scipy.sparse.coo_array((np.ones(len(src)), (src, dst)), shape=(n, n)).tocsr()
    given = sparse.COO.from_scipy_sparse(matrix)
    return given, matrix.nonzero(), None


def _as_networkx(choices, n, src, dst, weights):
    graph = choices.pick([nx.DiGraph, nx.MultiDiGraph])()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(zip(src.tolist(), dst.tolist(), strict=True))
    ends = np.array(list(graph.edges()), np.int64).reshape(-1, 2).T
    return graph, ends, None


def _as_igraph(choices, n, src, dst, weights):
    import igraph

    edges = list(zip(src.tolist(), dst.tolist(), strict=True))
    graph = igraph.Graph(n, edges + edges[:2], directed=True)
    graph.delete_edges(range(len(edges), len(edges + edges[:2])))
    return graph, (src, dst), None


def _as_rustworkx(choices, n, src, dst, weights):
    import rustworkx

    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(list(range(n + 2)))
    graph.remove_nodes_from([0, n + 1])
    edges = zip((src + 1).tolist(), (dst + 1).tolist(), strict=True)
    graph.add_edges_from_no_data(list(edges))
    return graph, (src, dst), None


FORMS = [_as_arcs, _as_rows, _as_sparse, _as_dense, _as_pydata, _as_networkx, _as_igraph]
FORMS += [_as_rustworkx]


def _weights(choices, count):
    """Return weights with ties: of any type, NaN and infinite ones, the extremes."""
    rng, dtype = choices.generator(), np.dtype(choices.pick("dfqiQIhHbB?e"))
    if dtype.kind == "f":
        pool = choices.pick([[1, 2, 3], [0, -0.0, 1], [np.inf, -np.inf, 1, 0], [np.nan, 1, 2]])
        pool = np.array(pool) if choices.flag() else rng.standard_normal(count + 1)
    elif dtype.kind == "b":
        pool = np.array([False, True])
    else:
        limits = np.iinfo(dtype)
        pool = np.array(choices.pick([[1, 2, 3], [limits.min, limits.max, 0, 1]]), dtype)
    return rng.choice(pool, count).astype(dtype)


def connected_components(choices):
    n, src, dst = draws.arcs(choices, (3, 10, 65, 1, 2, 0, 300, 5000))
    small = n <= 300
    graph, ends, _ = choices.pick(FORMS if small else FORMS[:3])(
        choices, n, src, dst, np.ones(len(src), choices.pick(["f8", "i4", "?"]))
    )
    directed = choices.flag()
    numbering = choices.pick(["consecutive", "roots"])
    call = partial(
        conncomp.connected_components,
        graph,
        directed,
        choices.pick(["weak", "strong"]) if not directed else "weak",
        numbering=numbering,
        algorithm=choices.pick(["auto", "afforest", "ecl", "bfs", "recolouring"]),
    )
    roots = _weak_roots(n, ends)
    num = len(np.unique(roots))
    expected = roots if numbering == "roots" else consecutive(roots, first=0)
    _check_components(choices, call, num, expected, 0 if n == 0 else n - 1)


def _weak_roots(n, ends):
    arcs = list(zip(*(part.tolist() for part in map(np.asarray, ends)), strict=True))
    if n <= 300:
        return components_by_search(n, arcs)
    rows = scipy.sparse.coo_array((np.ones(len(arcs)), tuple(ends)), shape=(n, n))
    return roots_of_labels(csgraph.connected_components(rows, directed=False)[1])


def _check_components(choices, call, num, expected, largest):
    """Compare the number of components, and labels of any type that they fit into."""
    assert call(return_labels=False) == num
    counted = []

    def labels(**options):
        count, found = call(**options)
        counted.append(count)
        return found

    draws.check_labels(labels, expected, choices.pick(draws.LABEL_TYPES), choices.flag())
    assert set(counted) <= {num}


def strong_components(choices):
    """Compare strong components, the three ways to number them, and their acyclic graph."""
    n, src, dst = draws.arcs(choices)
    ones = np.ones(len(src), choices.pick(["f8", "i4", "?"]))
    graph, ends, _ = choices.pick(FORMS)(choices, n, src, dst, ones)
    arcs = list(zip(*(part.tolist() for part in map(np.asarray, ends)), strict=True))
    roots = strong_components_by_tarjan(n, arcs)
    num = len(np.unique(roots))
    if n:
        rows = scipy.sparse.coo_array((np.ones(len(arcs)), tuple(ends)), shape=(n, n))
        theirs = csgraph.connected_components(rows, connection="strong")
        assert theirs[0] == num  # two references
        np.testing.assert_array_equal(roots_of_labels(theirs[1]), roots)
    by_name = {
        "consecutive": consecutive(roots, first=0),
        "roots": roots,
        "topological": topological(roots, arcs),
    }
    numbering = choices.pick(list(by_name))
    algorithm = choices.pick(["auto", "tarjan"])
    call = partial(
        conncomp.connected_components,
        graph,
        connection="strong",
        numbering=numbering,
        algorithm=algorithm,
    )
    _check_components(choices, call, num, by_name[numbering], n)
    if numbering != "roots":
        made = conncomp.condensation(graph, numbering=numbering, algorithm=algorithm)
        labels = by_name[numbering]
        assert_same((made.num_components, made.labels), (num, labels))
        between = condensed(labels, arcs)
        assert (made.graph.num_vertices, made.graph.num_arcs) == (num, len(between))
        indptr, indices = made.graph.indptr, made.graph.indices
        sources = np.repeat(np.arange(num), np.diff(indptr))
        assert list(zip(sources.tolist(), indices.tolist(), strict=True)) == between


def forests(choices):
    n, src, dst = draws.arcs(choices, (3, 10, 65, 1, 2, 0, 300))
    entries = _weights(choices, len(src))
    form = choices.pick(FORMS)
    if form is _as_sparse and entries.dtype == np.float16:
        entries = entries.astype(np.float32)  # which SciPy has no layouts of
    with np.errstate(over="ignore", invalid="ignore"):
        graph, ends, stored = form(choices, n, src, dst, entries)
    found = conncomp.spanning_forest(graph)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, kruskal(n, *ends))
    if stored is not None and choices.flag():
        weights, call = stored, partial(conncomp.minimum_spanning_forest, graph)
    else:
        weights = _weights(choices, len(ends[0]))
        given = draws.vector(choices, draws.any_order(choices, weights))
        call = partial(conncomp.minimum_spanning_forest, graph, given)
    if weights.dtype.kind == "f" and np.isnan(weights).any():
        assert_refused(ValueError, call)
        return
    arcs = call()
    np.testing.assert_array_equal(arcs, kruskal(n, *ends, weights))


def edge_files(choices):
    """Compare components and forests of edges in files with those of the same edges in memory."""
    n, src, dst = draws.arcs(choices)
    weights = _weights(choices, len(src))
    if weights.dtype.kind == "f":
        weights = np.nan_to_num(weights)
    kind = choices.pick([np.int64, np.int32, np.uint16])
    cut = choices.below(len(src) + 1)
    with tempfile.TemporaryDirectory(prefix="conncomp-fuzz-") as folder:
        name = choices.pick(["p.parquet", "p.arrow", "p.arrows", "p.csv", "p.tsv"])
        if name.endswith("sv"):  # text, which is read as int64 and float64
            weights = weights.astype(np.float64 if weights.dtype.kind == "f" else np.int64)
        files = []
        for k, part in enumerate((slice(cut), slice(cut, None))):
            ends = {"a": src[part].astype(kind), "b": dst[part].astype(kind)}
            table = pyarrow.table({**ends, "weight": weights[part]})
            files.append(write(Path(folder, f"{k}{name}"), table, choices.pick([None, 3])))
        named = {"src": "a", "dst": "b", "num_vertices": n}
        labelled = conncomp.label_edge_files(files, **named)
        edges, *ends = conncomp.spanning_forest_of_files(files, **named)
        chosen, *lightest = conncomp.minimum_spanning_forest_of_files(files, **named)
    ends_of = list(zip(src.tolist(), dst.tolist(), strict=True))
    labels = consecutive(components_by_search(n, ends_of), first=0)
    assert_same(labelled, (labels.max(initial=-1) + 1, labels))
    assert_same((edges, *ends), (kruskal(n, src, dst), src[edges], dst[edges]))
    numbers = kruskal(n, src, dst, weights)
    assert_same((chosen, *lightest), (numbers, src[numbers], dst[numbers], weights[numbers]))


def graphs(choices):
    """Compare what a graph tells of itself, however it was made, and copies of it."""
    n, src, dst = draws.arcs(choices)
    form = choices.pick([_as_arcs, _as_rows, _as_networkx, _as_igraph, _as_rustworkx, _as_sparse])
    given, ends, _ = form(choices, n, src, dst, np.ones(len(src)))
    kinds = {
        _as_networkx: conncomp.Graph.from_networkx,
        _as_igraph: conncomp.Graph.from_igraph,
        _as_rustworkx: conncomp.Graph.from_rustworkx,
        _as_sparse: conncomp.Graph.from_scipy,
    }
    graph = kinds[form](given) if form in kinds else given
    arcs = list(zip(*(np.asarray(part).tolist() for part in ends), strict=True))
    if choices.flag():
        graph = choices.pick([copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])(
            graph
        )
    assert (graph.num_vertices, graph.num_arcs, graph.device) == (n, len(arcs), "cpu")
    order = sorted(range(len(arcs)), key=lambda arc: arcs[arc][0])  # stable
    degrees = np.bincount([v for v, _ in arcs], minlength=n) if arcs else np.zeros(n, int)
    assert_same(
        (graph.indptr, graph.indices), (np.r_[0, np.cumsum(degrees)], [arcs[i][1] for i in order])
    )
    assert graph.is_symmetric() == all((w, v) in set(arcs) for v, w in arcs)
    assert graph.to("cpu") is graph
    if arcs:
        _check_wrong_vertices(choices, n, *(np.array(part, np.int64) for part in ends))
    _check_undirected(choices, n, src, dst)


def _check_wrong_vertices(choices, n, src, dst):
    place, wrong = choices.below(len(src)), choices.pick([n, -1, n + 2**40])
    choices.pick([src, dst])[place] = wrong
    assert_refused(ValueError, conncomp.Graph.from_edges, src, dst, n)


def _check_undirected(choices, n, src, dst):
    """An undirected edge of another library is two arcs, a loop is one."""
    import igraph
    import rustworkx

    edges = list(zip(src.tolist(), dst.tolist(), strict=True))
    kind = choices.below(4)
    if kind == 0:
        graph = conncomp.Graph.from_igraph(igraph.Graph(n, edges))
    elif kind == 1:
        theirs = rustworkx.PyGraph()
        theirs.add_nodes_from(list(range(n)))
        theirs.add_edges_from_no_data(edges)
        graph = conncomp.Graph.from_rustworkx(theirs)
    else:
        theirs = (nx.Graph, nx.MultiGraph)[kind - 2]()
        theirs.add_nodes_from(range(n))
        theirs.add_edges_from(edges)
        graph, edges = conncomp.Graph.from_networkx(theirs), list(theirs.edges())
    arcs = sorted([(v, w) for v, w in edges] + [(w, v) for v, w in edges if v != w])
    sources = np.repeat(np.arange(n), np.diff(graph.indptr)).tolist()
    assert sorted(zip(sources, graph.indices.tolist(), strict=True)) == arcs
    assert graph.is_symmetric()


def growing_graphs(choices):
    """Add edges, a batch at a time, and ask now and then; wrong batches change nothing."""
    n = choices.pick([3, 10, 65, 1, 2, 0, 300])
    dtype = choices.pick([None, np.int32, np.int64])
    components = conncomp.IncrementalComponents(n, dtype=dtype)
    assert components.dtype == (dtype or np.int32)
    edges, rng = [], choices.generator()

    def vertices(count):
        drawn = rng.integers(0, max(n, 1), count if n else 0)
        return draws.vector(choices, drawn.astype(choices.pick(INDICES)))

    for _ in range(2 + choices.below(8)):
        action = choices.below(8)
        count = choices.pick([2, 0, 1, n // 3, 3 * n])
        if action < 3:
            src, dst = vertices(count), vertices(count)
            components.add_edges(src, dst)
            edges += zip(src.tolist(), dst.tolist(), strict=True)
            continue
        roots = components_by_search(n, edges)
        if action == 3:
            u, v = vertices(count), vertices(count)
            found = components.connected(u, v)
            assert found.dtype == bool
            np.testing.assert_array_equal(found, roots[u] == roots[v])
        elif action == 4:
            some = vertices(count)
            np.testing.assert_array_equal(components.roots(some), roots[some])
        elif action == 5 and n:
            u, v = (int(vertex) for vertex in vertices(2))
            assert components.connected(u, v) is bool(roots[u] == roots[v])
            assert components.roots(u) == roots[u]
        elif action == 6:
            kept = components
            components = choices.pick(
                [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))]
            )(kept)
            kept.add_edges(*np.array([[0], [n - 1]]) if n else ([], []))  # of the original alone
        else:
            src, dst = vertices(4).astype(np.int64), vertices(4).astype(np.int64)
            if len(src):
                src[choices.below(len(src))] = choices.pick([n, -1, 2**62])
                assert_refused(ValueError, components.add_edges, src, dst)
            assert_refused(ValueError, components.add_edges, [0] * (len(src) + 1), dst)
            assert_refused(ValueError, components.connected, 0, n)
        assert components.count == len(np.unique(roots))
    roots = components_by_search(n, edges)
    numbering = choices.pick(["consecutive", "roots"])
    expected = roots if numbering == "roots" else consecutive(roots, first=0)
    wanted = choices.pick(draws.LABEL_TYPES)
    if wanted is None:
        np.testing.assert_array_equal(components.labels(numbering), expected)
    else:
        call = partial(components.labels, numbering)
        draws.check_labels(call, expected, wanted, choices.flag())
