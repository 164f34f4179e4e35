"""One order for what arcs have: weights, couplings and the numbers of arcs of forests."""

import igraph
import networkx
import numpy as np
import pytest
import rustworkx
import sparse as pydata
from scipy import sparse

from conncomp import Graph, minimum_spanning_forest, models, spanning_forest
from forest_reference import kruskal

# Sources fall, so that the order of the list and that of rows differ.
SRC, DST = np.array([4, 3, 3, 1, 0, 2]), np.array([0, 1, 4, 2, 3, 0])
WEIGHTS = np.array([6.0, 5.0, 1.0, 3.0, 2.0, 4.0])
EDGES = list(zip(SRC.tolist(), DST.tolist(), strict=True))


def matrix():
    return sparse.coo_array((WEIGHTS, (SRC, DST)), shape=(5, 5))


def from_igraph(directed=True):
    return Graph.from_igraph(igraph.Graph(5, EDGES, directed=directed))


def from_rustworkx(kind=rustworkx.PyDiGraph):
    graph = kind()
    graph.add_nodes_from(range(5))
    graph.add_edges_from_no_data(EDGES)
    return Graph.from_rustworkx(graph)


LISTED = {
    "from_edges": lambda: Graph.from_edges(SRC, DST),
    "arcs": lambda: Graph(5, arcs=(SRC, DST)),
    "coo": lambda: Graph.from_scipy(matrix()),
    "igraph": from_igraph,
    "rustworkx": from_rustworkx,
}
ROWS = np.argsort(SRC, kind="stable")
COLUMNS = np.lexsort((SRC, DST))
BY_ROW = {
    "from_csr": lambda: Graph.from_csr(matrix().tocsr().indptr, DST[ROWS]),
    "networkx": lambda: Graph.from_networkx(in_networkx()),
    "csr": lambda: Graph.from_scipy(matrix().tocsr()),
    "lil": lambda: Graph.from_scipy(matrix().tolil()),
    "dia": lambda: Graph.from_scipy(matrix().todia()),
    "dense": lambda: Graph.from_scipy(sparse.csr_array(matrix().todense())),
}
BY_COLUMN = {
    "csc": lambda: Graph.from_scipy(matrix().tocsc()),
    "gcxs": lambda: Graph.from_scipy(
        pydata.GCXS.from_coo(pydata.COO.from_scipy_sparse(matrix()), compressed_axes=(1,))
    ),
}


def in_networkx():
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(5))
    graph.add_edges_from(EDGES)
    return graph


def every_way():
    for ways, order in ((LISTED, slice(None)), (BY_ROW, ROWS), (BY_COLUMN, COLUMNS)):
        yield from (pytest.param(make, order, id=name) for name, make in ways.items())


def pairs(bonds, couplings):
    return dict(zip(map(tuple, bonds), couplings, strict=True))


@pytest.mark.parametrize(("make", "order"), list(every_way()))
def test_weights_and_couplings_have_the_order_of_arcs(make, order):
    graph, weights = make(), WEIGHTS[order]
    src, dst = graph.arcs
    assert (src.tolist(), dst.tolist()) == (SRC[order].tolist(), DST[order].tolist())
    found = minimum_spanning_forest(graph, weights)
    assert found.tolist() == kruskal(5, src, dst, weights)
    assert sorted(weights[found]) == [1.0, 2.0, 3.0, 4.0]
    assert spanning_forest(graph).tolist() == kruskal(5, src, dst)
    expected = {tuple(sorted(pair)): w for pair, w in zip(EDGES, WEIGHTS, strict=True)}
    for make_model in MODELS.values():
        model = make_model(graph, coupling=weights)
        assert pairs(model.edges.tolist(), model._place.couplings.tolist()) == expected
        cold = -WEIGHTS.sum()
        assert make_model(graph, coupling=weights, start="cold").energy() == pytest.approx(cold)


MODELS = {
    "Ising": lambda *given, **options: models.Ising(*given, beta=0.5, **options),
    "Potts": lambda *given, **options: models.Potts(*given, q=3, beta=0.5, **options),
    "XY": lambda *given, **options: models.XY(*given, beta=0.5, **options),
    "Heisenberg": lambda *given, **options: models.Heisenberg(*given, beta=0.5, **options),
    "Clock": lambda *given, **options: models.Clock(*given, q=5, beta=0.5, **options),
    "ON": lambda *given, **options: models.ON(*given, n=4, beta=0.5, **options),
}


@pytest.mark.parametrize("name", MODELS)
def test_spins_on_lists_and_on_rows_go_alike(name):
    rows = Graph.from_csr(matrix().tocsr().indptr, DST[ROWS])
    listed = Graph.from_edges(SRC, DST)
    listed.is_symmetric()  # which makes rows of it, too
    one, other = (
        MODELS[name](graph, coupling=couplings, seed=3)
        for graph, couplings in ((listed, WEIGHTS), (rows, WEIGHTS[ROWS]))
    )
    for model in (one, other):
        model.swendsen_wang(3)
    np.testing.assert_array_equal(one.spins, other.spins)


@pytest.mark.parametrize(("make", "order"), list(every_way()))
def test_values_in_the_order_of_indices_are_taken_by_name(make, order):
    graph = make()
    by_row = WEIGHTS[ROWS]
    np.testing.assert_array_equal(graph.in_arc_order(by_row), WEIGHTS[order])
    assert graph.in_arc_order(by_row.tolist()).tolist() == WEIGHTS[order].tolist()
    assert graph.in_arc_order(by_row.astype("i2")).dtype == np.int16
    src, dst = graph.arcs
    np.testing.assert_array_equal(graph.in_arc_order(graph.indices), dst)
    rows = np.repeat(np.arange(5), np.diff(graph.indptr))
    np.testing.assert_array_equal(graph.in_arc_order(rows), src)


@pytest.mark.parametrize("shape", [(5,), (7,), (6, 1), (2, 3), ()])
def test_arrays_of_other_lengths_are_refused_with_both(shape):
    graph = Graph.from_edges(SRC, DST)
    calls = {
        "weights": lambda values: minimum_spanning_forest(graph, values),
        "coupling": lambda values: models.Ising(graph, beta=0.5, coupling=values),
        "values": graph.in_arc_order,
    }
    if shape == ():  # one number is a coupling
        del calls["coupling"]
    for name, call in calls.items():
        with pytest.raises(ValueError, match=rf"{name} has shape \({shape and shape[0]}.* 6 arcs"):
            call(np.ones(shape))


@pytest.mark.parametrize(
    "make",
    [
        lambda: from_igraph(directed=False),
        lambda: from_rustworkx(rustworkx.PyGraph),
        lambda: Graph.from_networkx(in_networkx().to_undirected()),
        lambda: Graph.from_scipy(matrix() + matrix().T),
    ],
)
def test_one_number_for_each_undirected_edge_is_refused(make):
    graph = make()
    assert graph.num_arcs == 12
    for call in (
        lambda: minimum_spanning_forest(graph, WEIGHTS),
        lambda: models.Ising(graph, beta=0.5, coupling=WEIGHTS),
    ):
        with pytest.raises(ValueError, match=r"\(6,\).* 12 arcs.*an undirected edge is two arcs"):
            call()


def test_undirected_edges_are_arcs_there_and_then_back():
    for graph in (from_igraph(directed=False), from_rustworkx(rustworkx.PyGraph)):
        twice = np.tile(WEIGHTS, 2)
        model = models.Ising(graph, beta=0.5, coupling=twice)
        expected = {tuple(sorted(pair)): w for pair, w in zip(EDGES, WEIGHTS, strict=True)}
        assert pairs(model.edges.tolist(), model._place.couplings.tolist()) == expected
        assert sorted(minimum_spanning_forest(graph, twice)) == [2, 3, 4, 5]


def test_the_other_order_is_noticed_where_arcs_lead_both_ways():
    """Both arcs of a bond must have its coupling, which those in another order have not."""
    src, dst = np.r_[SRC, DST], np.r_[DST, SRC]
    graph, twice = Graph.from_edges(src, dst), np.tile(WEIGHTS, 2)
    by_row = twice[np.argsort(src, kind="stable")]
    for make in MODELS.values():
        make(graph, coupling=twice)
        with pytest.raises(ValueError, match=r"a bond has one.*in_arc_order"):
            make(graph, coupling=by_row)
        make(graph, coupling=graph.in_arc_order(by_row))


@pytest.mark.parametrize("layout", ["coo", "csr", "csc", "bsr", "dok", "lil", "dia"])
def test_a_matrix_is_its_own_weights_in_the_order_of_its_entries(layout):
    given = matrix().tobsr((5, 5)) if layout == "bsr" else matrix().asformat(layout)
    stored = given.tocoo() if layout in ("lil", "dia") else given
    entries = np.fromiter(given.values(), float) if layout == "dok" else stored.data.reshape(-1)
    entries = entries[entries != 0]
    assert len(spanning_forest(given)) == 4
    arcs = minimum_spanning_forest(given)
    assert sorted(entries[arcs]) == [1.0, 2.0, 3.0, 4.0]
    np.testing.assert_array_equal(minimum_spanning_forest(given, entries), arcs)
    np.testing.assert_array_equal(minimum_spanning_forest(Graph.from_scipy(given), entries), arcs)
    model = models.Ising(Graph.from_scipy(given), beta=0.5, coupling=entries)
    expected = {tuple(sorted(pair)): w for pair, w in zip(EDGES, WEIGHTS, strict=True)}
    assert pairs(model.edges.tolist(), model._place.couplings.tolist()) == expected
