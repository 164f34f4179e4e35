"""Forests of graphs on a GPU by launches that are made again: they are Kruskal's."""

import gc

import numpy as np
import pytest

from conncomp import Graph, Workspace, minimum_spanning_forest, spanning_forest
from conncomp.graph import repeated
from conncomp.kernels import time_limit
from conncomp.kernels.cuda.graph.boruvka import ForestTask
from conncomp.kernels.cuda.launcher import recorded_launches
from conncomp.kernels.cuda.workspace import OwnWorkspaces
from forest_reference import forest_by_kruskal
from host_cupy import place_on_host
from stand_in import Array


@pytest.fixture
def cupy(monkeypatch):
    monkeypatch.setattr(repeated, "_workspaces", OwnWorkspaces())
    return place_on_host(monkeypatch)


@pytest.fixture
def tasks(monkeypatch):
    """Graphs whose launches are made one by one."""
    made = []

    class Noted(ForestTask):
        def __init__(self, gpu, graph, *arguments):
            made.append(graph)
            super().__init__(gpu, graph, *arguments)

    monkeypatch.setattr(repeated, "ForestTask", Noted)
    return made


def both_ways(vertices=200, edges=900, seed=0, joined=None):
    """Return a graph here, the same one on the GPU, and weights that are equal from both ends."""
    u, v = np.random.default_rng(seed).integers(0, joined or vertices, (2, edges))
    made = Graph.from_edges(np.append(u, v), np.append(v, u), vertices)
    here = Graph.from_csr(made.indptr, made.indices)
    there = Graph.from_csr(Array(here.indptr), Array(here.indices))
    there._parts.symmetric = True
    src = np.repeat(np.arange(vertices), np.diff(here.indptr))
    low, high = np.minimum(src, here.indices), np.maximum(src, here.indices)
    return here, there, lambda factor: ((low * factor + high * 31) % 97).astype(np.int32)


def check(here, there, weights=None, **options):
    if weights is None:
        arcs = spanning_forest(there, **options)
    else:
        arcs = minimum_spanning_forest(there, Array(weights), **options)
    np.testing.assert_array_equal(arcs.get(), forest_by_kruskal(here, weights))


@pytest.mark.parametrize("own_workspace", [False, True])
def test_later_calls_make_the_launches_of_the_first(cupy, tasks, own_workspace):
    here, there, weights = both_ways()
    options = {"workspace": Workspace()} if own_workspace else {}
    for factor in (7, 11, 13):
        check(here, there, weights(factor), **options)
        check(here, there, **options)
    assert tasks == [there._parts] * 2
    # Equal from one end only, and from none.
    uneven = weights(7)
    uneven[5] += 1
    check(here, there, uneven, **options)
    check(here, there, -weights(7), **options)
    assert tasks == [there._parts] * 2


@pytest.mark.parametrize("is_sorted", [True, False])
def test_that_rows_are_sorted_is_looked_up_once(cupy, monkeypatch, is_sorted):
    """Of graphs whose launches are not kept, too."""
    monkeypatch.setattr(repeated, "MOST_ENTRIES", 0)
    here, there, _ = both_ways()
    if is_sorted:
        order = np.lexsort([here.indices, np.repeat(np.arange(200), np.diff(here.indptr))])
        here = Graph.from_csr(here.indptr, here.indices[order])
        there = Graph.from_csr(Array(here.indptr), Array(here.indices))
        there._parts.symmetric = True
    with recorded_launches() as launches:
        for _ in range(3):
            check(here, there)
    names = [launch.kernel.name for launch in launches]
    assert names.count("count_descents") == (1 if is_sorted else 3)


def test_kinds_of_weights_are_kept_apart(cupy, tasks):
    here, there, weights = both_ways()
    for _ in range(2):
        for dtype in (np.int32, np.uint32, np.float32):
            check(here, there, (weights(7) - 40).astype(dtype))
    assert len(tasks) == 3


def test_memory_that_lies_elsewhere_by_now(cupy, tasks):
    here, there, weights = both_ways()
    more, more_there, more_weights = both_ways(500, 4000, 1)
    workspace = Workspace()
    for _ in range(2):
        check(here, there, weights(7), workspace=workspace)
        check(more, more_there, more_weights(7), workspace=workspace)
    check(here, there, weights(3), workspace=workspace)
    assert tasks == [each._parts for each in (there, more_there, there)]


def test_nothing_is_kept_longer_than_the_graph(cupy):
    _, there, weights = both_ways()
    workspace = Workspace()
    minimum_spanning_forest(there, Array(weights(7)), workspace=workspace)
    graphs = workspace.of_graphs
    assert len(graphs[there._parts]) == 1
    del there
    gc.collect()
    assert len(graphs) == 0


def test_a_handler_of_signals_may_find_a_forest_amid_a_call(cupy, monkeypatch):
    here, there, weights = both_ways()
    more, more_there, more_weights = both_ways(seed=1, joined=90)
    launch, is_handled = repeated.Recordings.launch, []

    def interrupted(*arguments):
        again = launch(*arguments)
        if not is_handled:
            is_handled.append(True)
            check(more, more_there, more_weights(7))
        return again

    for factor in (7, 11):
        check(here, there, weights(factor))
        check(more, more_there, more_weights(factor))
    monkeypatch.setattr(repeated.Recordings, "launch", interrupted)
    check(here, there, weights(3))
    assert is_handled


def test_what_is_not_kept(cupy, tasks, monkeypatch):
    here, there, weights = both_ways()
    check(here, there, weights(7).astype(np.float64))
    with time_limit(60):
        check(here, there)
    monkeypatch.setattr(repeated, "MOST_ENTRIES", there.num_arcs)
    check(here, there)
    assert tasks == []
    check(here, there, workspace=Workspace())
    assert tasks == [there._parts]
