"""Graphs of igraph and rustworkx: their arcs, in order, by whatever way these are read."""

import threading
from types import ModuleType, SimpleNamespace

import igraph
import numpy as np
import pytest
import rustworkx
from hypothesis import given, settings
from hypothesis import strategies as st

import conncomp
from conncomp import Graph
from conncomp.graph.inputs import conversions, parts


class Subclass(igraph.Graph):
    pass


def arcs_of_edges(edges, directed):
    """Return all edges in their order, then those that are no loops the other way."""
    return edges + [(w, v) for v, w in edges if v != w and not directed]


def as_listed(graph):
    return list(zip(*(ends.tolist() for ends in graph.arcs), strict=True))


@st.composite
def edited_graphs(draw):
    """Draw graphs of igraph of several ways to come about."""
    n = draw(st.integers(0, 9))
    vertex = st.integers(0, max(n - 1, 0))
    edges = st.lists(st.tuples(vertex, vertex), max_size=20 * bool(n))
    kind = draw(st.sampled_from([igraph.Graph, Subclass]))
    graph = kind(n=n, edges=draw(edges), directed=draw(st.booleans()))
    for change in draw(st.lists(st.sampled_from(["add", "cut", "drop", "turn", "copy"]))):
        if change == "add" and graph.vcount():
            last = graph.vcount() - 1
            more = draw(st.lists(st.tuples(*[st.integers(0, last)] * 2), max_size=5))
            graph.add_edges(more)
        elif change == "cut" and graph.ecount():
            graph.delete_edges(draw(st.lists(st.integers(0, graph.ecount() - 1))))
        elif change == "drop" and graph.vcount():
            graph.delete_vertices(draw(st.integers(0, graph.vcount() - 1)))
        elif change == "turn":
            turn = draw(st.sampled_from(["to_directed", "to_undirected"]))
            getattr(graph, turn)()
        elif change == "copy":
            graph = graph.copy()
    return graph


@given(graph=edited_graphs())
@settings(max_examples=200)
def test_igraph_in_memory_is_its_list_of_edges(graph):
    made = Graph.from_igraph(graph)
    expected = arcs_of_edges(graph.get_edgelist(), graph.is_directed())
    assert (made.num_vertices, as_listed(made)) == (graph.vcount(), expected)
    assert made.arcs[0].dtype == np.int32
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conversions, "_address_of_igraph", lambda graph: None)
        assert as_listed(Graph.from_igraph(graph)) == expected


def igraph_like(**changes):
    """Return a module as igraph, but for some names."""
    module = ModuleType("igraph")
    module.__dict__.update({**vars(igraph), **changes})
    return module


class OtherList(igraph.Graph):
    def get_edgelist(self):
        return [(0, 0)] * self.ecount()


def test_memory_of_another_layout_is_not_read(monkeypatch):
    graph = igraph.Graph.Ring(4)
    assert conversions._address_of_igraph(graph) == graph._raw_pointer()
    assert conversions._address_of_igraph(OtherList.Ring(4)) is None
    assert as_listed(Graph.from_igraph(OtherList.Ring(4))) == [(0, 0)] * 4
    fake = SimpleNamespace(_raw_pointer=lambda graph: 8, get_edgelist=igraph.Graph.get_edgelist)
    for changes in (
        {"__igraph_version__": "1.1.0"},
        {"__igraph_version__": "0.9.10"},
        {"__igraph_version__": None},
        {"GraphBase": None},
        {"GraphBase": fake},
    ):
        monkeypatch.setitem(conversions.sys.modules, "igraph", igraph_like(**changes))
        assert conversions._address_of_igraph(graph) is None
        assert len(as_listed(Graph.from_igraph(graph))) == 8
    monkeypatch.setitem(conversions.sys.modules, "igraph", igraph)
    narrow = SimpleNamespace(INTEGER_SIZE=32)
    monkeypatch.setitem(conversions.sys.modules, "igraph._igraph", narrow)
    assert conversions._address_of_igraph(graph) is None


def test_counts_that_memory_does_not_have_are_not_read():
    graph = igraph.Graph(n=3, edges=[(0, 1), (1, 2)])
    address = graph._raw_pointer()
    for vertices, edges, is_read in ((3, 2, True), (4, 2, False), (3, 1, False), (3, 3, False)):
        ends = np.full((2, edges), -7, np.int32)
        assert conversions.native.copy_igraph_edges(address, vertices, *ends) == is_read
        assert (ends == -7).all() != is_read


class NeverInitialised(igraph.Graph):
    def __init__(self):
        pass


def test_igraph_that_was_made_in_another_way():
    again = igraph.Graph(n=3, edges=[(0, 1)])
    again.__init__(2, [(1, 0), (1, 1)])  # which adds to it
    with pytest.raises(OverflowError):
        again.__init__(-1)
    for graph in (
        igraph.GraphBase.__new__(igraph.GraphBase),
        igraph.GraphBase(3, [(2, 0)], True),
        NeverInitialised(),
        again,
    ):
        made = Graph.from_igraph(graph)
        expected = arcs_of_edges(graph.get_edgelist(), graph.is_directed())
        assert (made.num_vertices, as_listed(made)) == (graph.vcount(), expected)


def test_igraph_that_another_thread_changes():
    graph = igraph.Graph(n=300)
    stop = threading.Event()

    def change():
        while not stop.is_set():
            graph.add_edges([(k, k + 1) for k in range(299)])
            graph.delete_edges(range(0, graph.ecount(), 2))
            if graph.ecount() > 5000:
                graph.delete_edges(None)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(2000):
            try:
                src, dst = Graph.from_igraph(graph).arcs
            except ValueError:  # the list grew or shrank after its edges had been counted
                continue
            assert (abs(src - dst) == 1).all()
    finally:
        stop.set()
        thread.join()


@given(data=st.data(), directed=st.booleans())
def test_rustworkx_numbers_the_nodes_that_are_left(data, directed):
    n = data.draw(st.integers(0, 9))
    vertex = st.integers(0, max(n - 1, 0))
    edges = data.draw(st.lists(st.tuples(vertex, vertex), max_size=20 * bool(n)))
    graph = (rustworkx.PyDiGraph if directed else rustworkx.PyGraph)()
    graph.add_nodes_from(range(n))
    graph.add_edges_from_no_data(edges)
    removed = data.draw(st.sets(vertex, max_size=n))
    graph.remove_nodes_from(list(removed))
    number = {node: k for k, node in enumerate(graph.node_indices())}
    listed = [(number[v], number[w]) for v, w in graph.edge_list()]
    made = Graph.from_rustworkx(graph)
    assert (made.num_vertices, as_listed(made)) == (len(number), arcs_of_edges(listed, directed))
    assert made.arcs[0].dtype == np.int32
    num, labels = conncomp.connected_components(graph)
    assert num == len(rustworkx.connected_components(graph.to_undirected() if directed else graph))
    assert len(labels) == len(number)


@pytest.mark.parametrize("num_vertices", [None, 5])
def test_each_end_of_an_arc_is_read_once_to_be_checked(num_vertices, monkeypatch):
    read, extremes = [], parts.extremes
    monkeypatch.setattr(parts, "extremes", lambda ends: read.append(1) or extremes(ends))
    assert Graph.from_edges([0, 4], [1, 2], num_vertices).num_vertices == 5
    assert len(read) == 2
