"""Targets for the backend of NetworkX, beside NetworkX."""

import inspect
import math

import networkx as nx
import numpy as np

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
NAMES = ["a", "b", (1, 2), 3.5, frozenset(), *"cdefghijkl", -7, 10**20, True, "ä", ((), "x"), b"y"]
UNDIRECTED = ["connected_components", "number_connected_components", "is_connected", "is_forest"]
DIRECTED = [
    "weakly_connected_components",
    "number_weakly_connected_components",
    "is_weakly_connected",
    "number_strongly_connected_components",
    "is_strongly_connected",
    "is_forest",
]
TREES = ["minimum_spanning_tree", "maximum_spanning_tree"]
TREE_EDGES = ["minimum_spanning_edges", "maximum_spanning_edges"]
WEIGHTS = [
    [1, 2, 3],
    [2**62, -(2**63), 0],
    [0.5, -0.0, 0.0, math.inf, -math.inf, 3.0],
    [1, 2.5, 2**53, -4, True, np.float32(0.1), np.int8(-3)],
    [2**63, 2**64 - 1, 0],
    [1.0, math.nan, 2.0],
]


def networkx(choices):
    graph = _graph(choices)
    with nx.config(warnings_to_ignore={"cache"}):
        if graph.is_directed():
            _check_strong(graph)
        for name in DIRECTED if graph.is_directed() else UNDIRECTED:
            assert _outcome("conncomp", name, graph) == _outcome("networkx", name, graph), name
        if graph.is_directed():
            return
        for node in list(graph)[:3]:
            one, other = (_outcome(by, "node_connected_component", graph, node) for by in BOTH)
            assert one == other
        _check_trees(choices, graph)
        if len(graph):  # what was found is forgotten when the graph is changed
            graph.add_edge(choices.pick(list(graph)[:256]), "new")
            one, other = (_outcome(by, "connected_components", graph) for by in BOTH)
            assert one == other


BOTH = "conncomp", "networkx"


def _outcome(backend, name, *arguments, **options):
    """Return what one of NetworkX's functions gives, a list of what it generates; or an error."""
    try:
        result = getattr(nx, name)(*arguments, backend=backend, **options)
        return list(result) if inspect.isgenerator(result) else result
    except (nx.NetworkXException, ValueError) as error:
        return type(error), str(error)


def _graph(choices):
    """Return a graph of nodes of all sorts, with loops, attributes and weights."""
    rng = choices.generator()
    names = choices.pick([range(20), NAMES, range(5, 45), [str(k) for k in range(30)]])
    names = [list(names)[k] for k in rng.permutation(len(names))]
    graph = choices.pick(KINDS)(title="random")
    graph.add_nodes_from(names[: choices.below(len(names) + 1)], colour="red")
    weights = choices.pick([None, *WEIGHTS])
    count = choices.pick([len(names) // 3, 0, len(names), 3 * len(names)])
    for ends in rng.integers(0, len(names), (count, 2)):
        weighted = weights is not None and rng.random() < 0.9
        attributes = {"weight": weights[rng.integers(len(weights))]} if weighted else {}
        graph.add_edge(*(names[end] for end in ends), **attributes)
    return graph


def _check_strong(graph):
    """Hold strong components, and their condensation, against NetworkX's."""
    components = _outcome("conncomp", "strongly_connected_components", graph)
    expected = _outcome("networkx", "strongly_connected_components", graph)
    assert len(components) == len(expected)
    assert set(map(frozenset, components)) == set(map(frozenset, expected))
    assert _outcome("conncomp", "kosaraju_strongly_connected_components", graph) == components
    number = {node: i for i, nodes in enumerate(components) for node in nodes}
    assert all(number[u] >= number[v] for u, v in graph.edges())
    condensed = _outcome("conncomp", "condensation", graph)
    theirs = _outcome("networkx", "condensation", graph, components)
    assert type(condensed) is nx.DiGraph or not isinstance(theirs, nx.Graph)
    assert condensed == theirs or nx.utils.graphs_equal(condensed, theirs)


def _check_trees(choices, graph):
    ignore = choices.flag()
    for name in TREES:
        one, other = (_outcome(by, name, graph, ignore_nan=ignore) for by in BOTH)
        assert _same_graphs(one, other), name
    options = choices.pick([{}, {"keys": False}, {"data": False}, {"weight": "length"}])
    for name in TREE_EDGES:
        one, other = (_outcome(by, name, graph, ignore_nan=ignore, **options) for by in BOTH)
        assert one == other, name


def _same_graphs(one, other):
    """Tell whether two outcomes are the same error, or the same graph in the same order."""
    if not isinstance(other, nx.Graph):
        return one == other
    same = type(one) is type(other) and nx.utils.graphs_equal(one, other)
    return same and list(one.nodes) == list(other.nodes) and list(one.edges) == list(other.edges)
