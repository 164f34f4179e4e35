"""The backend of NetworkX, beside NetworkX."""

import gc
import inspect
import json
import math
import os
import random
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import pairwise
from time import perf_counter

import networkx as nx
import numpy as np
import pytest

from _conncomp_networkx import FUNCTIONS, get_info
from conncomp import Graph
from conncomp import networkx as backend
from conncomp.networkx import conversion
from conncomp.networkx.conversion import FEWEST_NODES, ConvertedGraph
from dealt import examples
from fuzz.networkx_graphs import DIRECTED, KINDS, UNDIRECTED
from measured_command import in_python

TREES = [nx.minimum_spanning_tree, nx.maximum_spanning_tree]
TREE_EDGES = [nx.minimum_spanning_edges, nx.maximum_spanning_edges]
NAMES = ["a", "b", (1, 2), 3.5, frozenset(), *"cdefghijkl", -7, 10**20, True, "ä", ((), "x"), b"y"]


@pytest.fixture(autouse=True)
def _no_warnings_of_the_cache():
    with nx.config(warnings_to_ignore={"cache"}):
        yield


def by_conncomp(name, *arguments, **options):
    """Call one of NetworkX's functions by the backend; return a list of what it generates."""
    result = getattr(nx, name)(*arguments, backend="conncomp", **options)
    return list(result) if inspect.isgenerator(result) else result


def by_networkx(name, *arguments, **options):
    """Call NetworkX itself."""
    result = getattr(nx, name)(*arguments, backend="networkx", **options)
    return list(result) if inspect.isgenerator(result) else result


def random_graph(kind, rng, weights=None):
    """Return a graph of up to 40 nodes, of all sorts or 0, 1, ..., with loops, and with weights."""
    names = rng.choice([NAMES, range(20), range(5, 45), list(map(str, range(30)))])
    names = rng.sample(list(names), len(names)) if rng.random() < 0.5 else list(names)
    graph = kind(title="random")
    graph.add_nodes_from(rng.sample(names, rng.randint(1, len(names))), colour="red")
    for _ in range(rng.choice([0, len(names) // 3, len(names), 3 * len(names)])):
        attributes = {"weight": rng.choice(weights)} if weights and rng.random() < 0.9 else {}
        graph.add_edge(*rng.choices(names, k=2), **attributes)
    return graph


@pytest.mark.parametrize("kind", KINDS)
def test_components_of_random_graphs(kind):
    rng = random.Random(1)
    for _ in range(examples(150)):
        graph = random_graph(kind, rng)
        for name in DIRECTED if graph.is_directed() else UNDIRECTED:
            assert by_conncomp(name, graph) == by_networkx(name, graph), name
        if graph.is_directed():
            check_strong(graph)
            continue
        for node in rng.sample(list(graph), min(3, len(graph))):
            expected = by_networkx("node_connected_component", graph, node)
            assert by_conncomp("node_connected_component", graph, node) == expected


def check_strong(graph):
    """Hold strong components, and their condensation, against NetworkX's."""
    components = by_conncomp("strongly_connected_components", graph)
    expected = by_networkx("strongly_connected_components", graph)
    assert set(map(frozenset, components)) == set(map(frozenset, expected))
    assert len(components) == len(expected)
    assert by_conncomp("kosaraju_strongly_connected_components", graph) == components
    number = {node: i for i, nodes in enumerate(components) for node in nodes}
    assert all(number[u] >= number[v] for u, v in graph.edges())
    condensed = by_conncomp("condensation", graph)
    assert nx.utils.graphs_equal(condensed, by_networkx("condensation", graph, components))
    assert type(condensed) is nx.DiGraph
    assert all(type(node) is int for node in condensed)


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
@pytest.mark.parametrize(
    "weights",
    [
        [1, 2, 3, 2**62, -(2**63)],
        [0.5, -0.0, 0.0, math.inf, -math.inf, 3.0],
        [1, 2.5, 2**53, -4, True, np.float32(0.1), np.int8(-3)],
        [True, False],
        [2**63, 2**64 - 1, 0],
    ],
    ids=["int", "float", "mixed", "bool", "unsigned"],
)
def test_trees_of_random_graphs(kind, weights):
    rng = random.Random(2)
    if weights[-1] == 0:
        weights = [*weights, 7]
    for _ in range(examples(60)):
        graph = random_graph(kind, rng, weights if rng.random() < 0.9 else None)
        for tree in TREES:
            result, expected = (tree(graph, backend=name) for name in ("conncomp", "networkx"))
            assert type(result) is kind
            assert nx.utils.graphs_equal(result, expected)
            assert list(result.nodes) == list(expected.nodes)
            assert list(result.edges) == list(expected.edges)
        for function in TREE_EDGES:
            for options in ({}, {"keys": False}, {"data": False}, {"weight": "length"}):
                expected = by_networkx(function.__name__, graph, **options)
                assert by_conncomp(function.__name__, graph, **options) == expected


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_weights_that_are_not_numbers(kind):
    graph = kind([(0, 1, {"weight": 2.0}), (1, 2, {"weight": math.nan}), (0, 2), (1, 1)])
    for function in (*TREES, *TREE_EDGES):
        name = function.__name__
        with pytest.raises(ValueError, match="NaN found as an edge weight") as expected:
            by_networkx(name, graph)
        with pytest.raises(ValueError, match="NaN found as an edge weight") as error:
            by_conncomp(name, graph)
        assert str(error.value) == str(expected.value)
        result, expected = (
            call(name, graph, ignore_nan=True) for call in (by_conncomp, by_networkx)
        )
        same = nx.utils.graphs_equal if function in TREES else list.__eq__
        assert same(result, expected)


@pytest.mark.parametrize("weights", [(Fraction(1, 3), 1), (2**64, 1), (2**53 + 1, 0.5)])
def test_weights_that_are_left_to_networkx(weights):
    graph = nx.cycle_graph(200)
    nx.set_edge_attributes(graph, dict(zip(graph.edges, weights, strict=False)), "weight")
    with pytest.raises(NotImplementedError):
        by_conncomp("minimum_spanning_edges", graph)
    with nx.config.backend_priority(algos=["conncomp"]):
        result = list(nx.minimum_spanning_edges(graph))
    assert result == by_networkx("minimum_spanning_edges", graph)


def test_attributes_are_those_of_the_graph():
    graph = nx.MultiGraph([("a", "b", 7, {"weight": 1, "colour": "blue"})], title="t")
    ((*_, data),) = by_conncomp("minimum_spanning_edges", graph)
    assert data is graph["a"]["b"][7]
    tree = by_conncomp("minimum_spanning_tree", graph)
    tree["a"]["b"][7]["colour"] = "red"
    tree.nodes["a"]["size"] = 2
    assert graph["a"]["b"][7]["colour"] == "blue"
    assert "size" not in graph.nodes["a"]


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"node_connected_component"}))
@pytest.mark.parametrize("kind", KINDS)
def test_errors_and_empty_graphs(name, kind):
    """Nothing, or the error, that NetworkX has for no nodes, or for the wrong kind of graph."""
    graph = kind()
    try:
        expected = by_networkx(name, graph)
    except nx.NetworkXException as error:
        with pytest.raises(type(error), match=str(error)):
            by_conncomp(name, graph)
    else:
        result = by_conncomp(name, graph)
        same = nx.utils.graphs_equal if isinstance(expected, nx.Graph) else type(expected).__eq__
        assert same(result, expected)


def test_errors_of_nodes():
    graph = nx.path_graph(3)
    for node, error in ((7, KeyError), ([], TypeError)):
        for call in (by_conncomp, by_networkx):
            with pytest.raises(error):
                call("node_connected_component", graph, node)


def test_nodes_of_one_slot():
    """Numbers of a file that would collide in a hash table with the usual factor."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)
    places = (inverse * k % 2**64 for k in range(1, 800_000))
    nodes = [node for node in places if node < 2**61 - 1]  # such numbers are their own hashes
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    # Edges have objects of their own, which are looked up by hash.
    graph.add_edges_from((u + 0, v + 0) for u, v in pairwise(nodes))
    begin = perf_counter()
    assert Graph.from_networkx(graph).num_vertices == len(nodes)
    assert perf_counter() - begin < 5  # not 20, or more


def test_nodes_that_are_equal_objects():
    """Edges name nodes by objects of their own: equal, but elsewhere or of another type."""
    graph = nx.Graph()
    graph.add_nodes_from([0, 1, 2, 3, "node-4", (5, "x"), 10**30, 7, -1, -2, 8, 9])
    assert hash(-1) == hash(-2)
    graph.add_edges_from([(-1.0, 8), (-2.0, 9)])
    graph.add_edges_from([(0.0, True), (np.int64(2), 3.0), ("".join(["node", "-4"]), (5, "x"))])
    graph.add_edge(int("1" + 30 * "0"), np.float64(7))
    for name in UNDIRECTED:
        assert by_conncomp(name, graph) == by_networkx(name, graph)
    assert Graph.from_networkx(graph).indices.tolist() == [1, 0, 3, 2, 5, 4, 7, 6, 10, 11, 8, 9]


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("leaves", range(8))
@pytest.mark.parametrize("hubs", [2, 3, 90])
@pytest.mark.parametrize("kind", KINDS)
def test_arcs_that_are_not_the_first(kind, hubs, leaves):
    """Arcs that come last in both rows join two chains of stars."""
    graph = kind()
    for hub in range(hubs):
        graph.add_edges_from((("hub", hub), (hub, leaf)) for leaf in range(leaves))
    graph.add_nodes_from(("hub", hub) for hub in range(hubs))
    graph.add_edges_from((("hub", hub + 2), ("hub", hub)) for hub in range(hubs - 2))
    name = "weakly_connected_components" if graph.is_directed() else "connected_components"
    for edge in ((0, "y"), (("hub", 1), ("hub", 0))):
        graph.add_edge(*edge)
        assert by_conncomp(name, graph) == by_networkx(name, graph)


# What takes the number of components of two paths, of four nodes each, elsewhere.
MUTATORS = {
    "add_node": lambda graph: graph.add_node(9),
    "add_nodes_from": lambda graph: graph.add_nodes_from([8, 9]),
    "add_edge": lambda graph: graph.add_edge(3, 4),
    "add_edges_from": lambda graph: graph.add_edges_from([(3, 4)]),
    "add_weighted_edges_from": lambda graph: graph.add_weighted_edges_from([(3, 4, 2.0)]),
    "remove_node": lambda graph: graph.remove_node(1),
    "remove_nodes_from": lambda graph: graph.remove_nodes_from([4, 5, 6, 7]),
    "remove_edge": lambda graph: graph.remove_edge(1, 2),
    "remove_edges_from": lambda graph: graph.remove_edges_from([(1, 2), (5, 6)]),
    "update": lambda graph: graph.update(edges=[(0, 7)]),
    "clear": lambda graph: graph.clear(),
    "clear_edges": lambda graph: graph.clear_edges(),
    "relabel_nodes": lambda graph: nx.relabel_nodes(graph, {3: 4}, copy=False),
    "add_path": lambda graph: nx.add_path(graph, [3, 4]),
    "contracted": lambda graph: nx.contracted_nodes(graph, 3, 4, copy=False),
}


@pytest.mark.parametrize("mutator", MUTATORS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_remembered_is_forgotten(mutator, kind):
    graph = kind([(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)])
    prefix = "weakly_" if graph.is_directed() else ""
    number, sets = f"number_{prefix}connected_components", f"{prefix}connected_components"
    assert by_conncomp(number, graph) == by_conncomp(number, graph) == 2
    MUTATORS[mutator](graph)
    assert by_conncomp(number, graph) == by_networkx(number, graph) != 2
    assert by_conncomp(sets, graph) == by_networkx(sets, graph)


def test_weights_that_are_changed():
    graph = nx.cycle_graph(4)
    for change in (
        lambda: nx.set_edge_attributes(graph, {(0, 1): 5}, "weight"),
        lambda: graph.add_edge(2, 3, weight=7),
    ):
        by_conncomp("minimum_spanning_edges", graph)
        change()
        expected = by_networkx("minimum_spanning_edges", graph)
        assert by_conncomp("minimum_spanning_edges", graph) == expected


def test_one_conversion_is_for_all_functions(monkeypatch):
    made = []
    convert = ConvertedGraph.__init__
    monkeypatch.setattr(
        ConvertedGraph, "__init__", lambda self, graph: made.append(1) or convert(self, graph)
    )
    graph = nx.path_graph(9)
    for name in ("is_connected", "minimum_spanning_tree", "minimum_spanning_edges", "is_forest"):
        by_conncomp(name, graph)
    by_conncomp("minimum_spanning_edges", graph, weight="length", data=False)
    assert len(made) == 1
    with nx.config(cache_converted_graphs=False):
        by_conncomp("is_connected", graph)
    assert len(made) == 2


def test_views():
    graph = nx.grid_2d_graph(4, 4)
    nx.set_edge_attributes(graph, {edge: hash(edge) % 7 for edge in graph.edges}, "weight")
    directed = nx.gnp_random_graph(30, 0.05, seed=3, directed=True)
    multiple = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (3, 3)])
    views = [
        nx.freeze(nx.path_graph(4)),
        graph.subgraph([(0, 0), (0, 1), (3, 3)]),
        graph.edge_subgraph([((0, 0), (0, 1)), ((2, 2), (2, 3))]),
        nx.subgraph_view(graph, filter_edge=lambda u, v: u[0] == v[0]),
        nx.restricted_view(graph, [(1, 1)], [((0, 0), (0, 1))]),
        multiple.subgraph([0, 1, 3]),
        directed.to_undirected(as_view=True),
    ]
    for view in views:
        for name in (*UNDIRECTED, "minimum_spanning_edges"):
            assert by_conncomp(name, view) == by_networkx(name, view), (name, view)
        assert Graph.from_networkx(view).num_arcs == sum(len(view[node]) for node in view) + (
            2 if view.is_multigraph() else 0
        )
    for view in (directed.reverse(copy=False), directed.subgraph(range(3, 20))):
        check_strong(view)
        for name in DIRECTED:
            assert by_conncomp(name, view) == by_networkx(name, view)


def test_views_of_graphs_that_change():
    graph = nx.path_graph(6)
    view = graph.subgraph(range(4))
    assert by_conncomp("number_connected_components", view) == 1
    graph.remove_edge(1, 2)
    assert by_conncomp("number_connected_components", view) == 2


def test_graphs_of_other_dictionaries():
    class Ordered(nx.Graph):
        adjlist_outer_dict_factory = OrderedDict
        adjlist_inner_dict_factory = OrderedDict

    graph = Ordered([("a", "b"), ("c", "d")])
    assert by_conncomp("connected_components", graph) == [{"a", "b"}, {"c", "d"}]
    assert type(by_conncomp("minimum_spanning_tree", graph)) is Ordered
    assert Graph.from_networkx(graph).indices.tolist() == [1, 0, 3, 2]


def test_generators_make_a_set_at_a_time():
    graph = nx.empty_graph(10_000)
    sets = nx.connected_components(graph, backend="conncomp")
    assert inspect.isgenerator(sets)
    graph.clear()  # what was found is no longer of the graph, but whole
    first, *following = sets
    assert first == {0}
    assert len(following) == 9999
    first.clear()
    assert next(nx.connected_components(nx.empty_graph(2), backend="conncomp")) == {0}


def test_sets_are_the_callers():
    graph = nx.path_graph(3)
    by_conncomp("connected_components", graph)[0].clear()
    assert by_conncomp("connected_components", graph) == [{0, 1, 2}]


def test_the_collector_is_left_as_it_was():
    for switch in (gc.disable, gc.enable):
        switch()
        before = gc.isenabled()
        states = [gc.isenabled() for _ in conversion.in_blocks(iter(range(9000)))]
        assert set(states) == {before}
        assert len(states) == 9000
        with pytest.raises(ZeroDivisionError):
            list(conversion.in_blocks(1 // number for number in (1, 0)))
        assert gc.isenabled() == before


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4096, 8191, 8192])
def test_blocks(size):
    assert list(conversion.in_blocks(iter(range(size)))) == list(range(size))


class Meddler:
    """A node that lets the graph be changed when it is compared."""

    meddle = None

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return self.number

    def __eq__(self, other):
        if meddle := Meddler.meddle:
            Meddler.meddle = None
            meddle()
            Meddler.meddle = meddle
        return isinstance(other, Meddler) and other.number == self.number


READERS = {
    "components": lambda graph: backend.convert_from_nx(graph).weak,
    "arcs": lambda graph: backend.convert_from_nx(graph).csr,
    "edges": lambda graph: Graph.from_networkx(graph),
}


@pytest.mark.soak
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("kind", KINDS)
def test_graphs_that_change_while_they_are_read(kind, read, monkeypatch):
    """They are refused, or read as they were or are, and nothing worse happens."""
    calls, refusals = [], 0
    for seed in range(4):
        rng = random.Random(seed)
        nodes = list(map(Meddler, range(3000)))
        graph = kind()
        graph.add_nodes_from(nodes)
        graph.add_edges_from((rng.choice(nodes), Meddler(rng.randrange(3000))) for _ in range(9000))

        def meddle(graph=graph, rng=rng, nodes=nodes):
            calls.append(1)
            if len(calls) % 1000 == 0:
                graph.remove_nodes_from(rng.sample(nodes, 3))
                ends = [(rng.choice(list(graph)), Meddler(k)) for k in range(9000, 9200)]
                graph.add_edges_from(ends)
                gc.collect(0)

        monkeypatch.setattr(Meddler, "meddle", meddle)
        try:
            read(graph)
        except RuntimeError as error:
            assert "changed while it was read" in str(error)  # noqa: PT017
            refusals += 1
        monkeypatch.undo()
    assert len(calls) > 1000
    assert refusals > 0


def test_hashes_that_fail():
    class Failing:
        fails = False

        def __hash__(self):
            if Failing.fails:
                raise OverflowError("no hash")
            return 7

    graph = nx.Graph()
    graph.add_nodes_from(Failing() for _ in range(3))
    graph.add_edge(1, 1.0)
    graph.add_edge(2, np.int64(1))
    Failing.fails = True
    with pytest.raises(OverflowError, match="no hash"):
        by_conncomp("is_connected", graph)


def test_threads():
    graph = nx.gnm_random_graph(3000, 4000, seed=1)
    expected = by_networkx("connected_components", graph)
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda graph: by_conncomp("connected_components", graph), 4 * [graph])
        assert list(results) == 4 * [expected]


ARGUMENTS = [
    ("minimum_spanning_edges", ("prim",), {}),
    ("maximum_spanning_edges", (), {"algorithm": "boruvka"}),
    ("minimum_spanning_tree", ("weight", "prim"), {}),
    ("maximum_spanning_tree", (), {"algorithm": "prim"}),
    ("condensation", ([{0}, {1}],), {}),
    ("condensation", (), {"scc": iter([{0}, {1}])}),
    ("kosaraju_strongly_connected_components", (), {"source": 0}),
]


@pytest.mark.parametrize(("name", "further", "options"), ARGUMENTS)
def test_arguments_that_are_left_to_networkx(name, further, options):
    directed = "spanning" not in name
    graph = nx.path_graph(2, create_using=nx.DiGraph if directed else nx.Graph)
    reason = backend.can_run(name, (graph, *further), options)
    assert "must be" in reason
    with pytest.raises(NotImplementedError, match="not implemented by 'conncomp'"):
        by_conncomp(name, graph, *further, **options)
    with nx.config.backend_priority(algos=["conncomp"]):
        getattr(nx, name)(graph, *further, **options)
    assert backend.can_run(name, (graph,), {}) is True


def test_small_graphs_are_left_to_networkx():
    for size, expected in ((FEWEST_NODES - 1, False), (FEWEST_NODES, True)):
        graph = nx.path_graph(size)
        assert (backend.should_run("is_connected", (graph,), {}) is True) == expected
        assert (backend.should_run("is_connected", (), {"G": graph}) is True) == expected
        with nx.config.backend_priority(algos=["conncomp"]):
            assert nx.is_connected(graph)
        assert bool(graph.__networkx_cache__) == expected
    assert backend.should_run("is_connected", (backend.convert_from_nx(nx.Graph()),), {}) is True


def test_converted_graphs_can_be_arguments():
    for kind in KINDS:
        graph = kind([("a", "b", {"weight": 2}), ("b", "c"), ("a", "b"), ("c", "c")], title="t")
        graph.nodes["a"]["colour"] = "red"
        converted = backend.convert_from_nx(graph)
        assert len(converted) == 3
        assert list(converted) == ["a", "b", "c"]
        assert "a" in converted
        assert 7 not in converted
        assert nx.utils.graphs_equal(backend.convert_to_nx(converted), graph)
        name = "is_weakly_connected" if graph.is_directed() else "is_connected"
        assert getattr(nx, name)(converted) is True
        with nx.config(fallback_to_nx=True):
            assert nx.number_of_isolates(converted) == nx.number_of_isolates(graph)


def test_names_of_functions():
    assert (
        set(FUNCTIONS)
        <= set(backend.__all__)
        <= {*FUNCTIONS, "can_run", "should_run"} | {"convert_from_nx", "convert_to_nx"}
    )
    for name in FUNCTIONS:
        original = inspect.signature(getattr(nx, name).orig_func)
        plain = [p.replace(annotation=p.empty) for p in original.parameters.values()]
        parameters = inspect.signature(getattr(backend, name)).parameters.values()
        assert [p.replace(annotation=p.empty) for p in parameters] == plain, name
        assert "conncomp" in getattr(nx, name).backends
        assert "conncomp : Connected components" in getattr(nx, name).__doc__
    assert set(get_info()["functions"]) == set(FUNCTIONS)


def test_the_environment_chooses_the_backend():
    script = """
import sys, json
import networkx as nx
before = "conncomp" in sys.modules
graph = nx.path_graph(1000)
connected = nx.is_connected(graph)
print(json.dumps([before, connected, "conncomp" in graph.__networkx_cache__["backends"]]))
"""
    environment = os.environ | {"NETWORKX_BACKEND_PRIORITY": "conncomp"}
    done = in_python(script, env=environment, check=True)
    assert json.loads(done.stdout) == [False, True, True]
