"""Calls on graphs of a GPU whose launches are recorded and replayed: labels are the CPU's."""

import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import numpy as np
import pytest

from conncomp import Graph, Workspace, _cuda_arrays, connected_components
from conncomp.graph import labelling, repeated
from conncomp.graph.algorithms import ALGORITHMS
from conncomp.kernels import time_limit
from conncomp.kernels.cuda.launcher import PER_THREAD
from conncomp.kernels.cuda.workspace import OwnWorkspaces
from host_cupy import place_on_host
from stand_in import Array


@pytest.fixture
def cupy(monkeypatch):
    monkeypatch.setattr(repeated, "_workspaces", OwnWorkspaces())
    monkeypatch.setattr(repeated, "cuda_library_named", lambda name: _cuda_arrays.CuPyArrays())
    return place_on_host(monkeypatch)


def kept(graph):
    """Return the kinds whose launches are kept for calls without a workspace."""
    return {
        k: v
        for held in repeated._workspaces.held(0).values()
        for k, v in held.of_graphs.get(graph._parts, {}).items()
    }


def random_graph(vertices=300, arcs=400, seed=0, symmetric=False):
    src, dst = np.random.default_rng(seed).integers(0, vertices, (2, arcs))
    if symmetric:
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
    made = Graph.from_edges(src, dst, vertices)
    return Graph.from_csr(made.indptr, made.indices)


def placed(graph):
    """Return the graph on the GPU, of rows or of arcs."""
    if graph._parts.csr is None:
        return Graph.from_edges(*map(Array, graph._parts.arcs), graph.num_vertices)
    return Graph.from_csr(*map(Array, graph._parts.csr))


def check(on_gpu, graph, **options):
    """Compare with the CPU."""
    count, labels = connected_components(graph, **{**options, "device": None, "workspace": None})
    answer, found = connected_components(on_gpu, **options)
    if options.get("numbering") == "roots":
        answer = answer.get()
    assert answer == count
    np.testing.assert_array_equal(found.get(), labels, strict=True)


def forbid_decisions(monkeypatch):
    monkeypatch.setattr(repeated, "fill_and_record", None)
    monkeypatch.setattr(labelling, "_fill_on_gpu", None)


@pytest.mark.parametrize(
    "options", [{}, {"numbering": "roots"}, {"directed": False}, {"device": "cuda"}]
)
@pytest.mark.parametrize("symmetric", [False, True])
def test_later_calls_make_the_launches_of_the_first(cupy, monkeypatch, options, symmetric):
    graph = random_graph(symmetric=symmetric)
    on_gpu = placed(graph)
    check(on_gpu, graph, **options)
    assert len(kept(on_gpu)) == 1
    forbid_decisions(monkeypatch)
    for _ in range(3):
        check(on_gpu, graph, **options)


def test_strong_components_and_lists_of_arcs(cupy, monkeypatch):
    rows = random_graph()
    arcs = Graph.from_edges(*np.random.default_rng(1).integers(0, 200, (2, 300)), 200)
    pairs = [(placed(graph), graph) for graph in (rows, arcs)]
    for on_gpu, graph in [*pairs, *pairs]:  # what takes more memory lets others be forgotten
        check(on_gpu, graph)
        count, labels = connected_components(on_gpu, connection="strong")
        expected, numbers = connected_components(graph, connection="strong")
        assert count == expected
        np.testing.assert_array_equal(labels.get(), numbers)
    forbid_decisions(monkeypatch)
    for on_gpu, graph in pairs:
        check(on_gpu, graph)
        check(on_gpu, graph, connection="strong")
        assert connected_components(on_gpu, return_labels=False) == connected_components(graph)[0]


def test_labels_and_counts_of_one_call_are_not_those_of_the_next(cupy):
    made = [random_graph(seed=seed, arcs=200 + 50 * seed) for seed in range(3)]
    on_gpu = [placed(graph) for graph in made]
    for _ in range(2):
        results = [connected_components(graph, numbering="roots") for graph in on_gpu]
        for graph, (count, labels) in zip(made, results, strict=True):
            number, roots = connected_components(graph, numbering="roots")
            assert int(count) == number
            np.testing.assert_array_equal(labels.get(), roots)


def test_no_thread_takes_more_memory_before_launches_are_recorded(cupy, monkeypatch):
    """They would be kept for memory that is given back."""
    record, graph, waiting = repeated.RecordedFill.record, placed(random_graph()), []

    def amid_threads(gpu, fill, labels, library, workspace, *others):
        def take_more():
            with workspace:
                workspace.take(gpu, (2 * workspace.nbytes, np.dtype(np.uint8)))

        fills = record(gpu, fill, labels, library, workspace, *others)
        waiting.append(Thread(target=take_more))
        waiting[0].start()
        waiting[0].join(0.2)
        return fills

    monkeypatch.setattr(repeated.RecordedFill, "record", amid_threads)
    connected_components(graph)
    waiting[0].join()
    assert not kept(graph)


@pytest.mark.parametrize("numbering", ["consecutive", "roots"])
def test_a_handler_of_signals_may_label_amid_a_call(cupy, monkeypatch, numbering):
    made = [random_graph(seed=seed, arcs=200 + 50 * seed) for seed in range(2)]
    on_gpu, answers, is_handled = [placed(graph) for graph in made], [], [False]
    for number in (0, 1, 0, 1):
        connected_components(on_gpu[number], numbering=numbering)
    address = _cuda_arrays.CuPyArrays.address

    def interrupted(*arguments):
        if not is_handled[0]:
            is_handled[0] = True
            answers.extend(
                (number, connected_components(on_gpu[number], numbering=numbering))
                for number in range(2)
            )
            is_handled[0] = False
        return address(*arguments)

    with monkeypatch.context() as changes:
        changes.setattr(_cuda_arrays.CuPyArrays, "address", interrupted)
        answers.append((0, connected_components(on_gpu[0], numbering=numbering)))
    assert len(answers) >= 3
    assert len({labels.data.ptr for _, (_, labels) in answers}) == len(answers)
    for number, (count, labels) in answers:
        expected, numbers = connected_components(made[number], numbering=numbering)
        assert int(count) == expected
        np.testing.assert_array_equal(labels.get(), numbers)


def test_out_is_filled_by_recorded_launches(cupy, monkeypatch):
    graph = random_graph()
    on_gpu, expected = placed(graph), connected_components(graph)[1]
    outs = [Array(np.full(300, -9, np.int32)) for _ in range(3)]
    for number, out in enumerate(outs):
        assert connected_components(on_gpu, out=out)[1] is out
        np.testing.assert_array_equal(out.get(), expected)
        if number == 0:
            forbid_decisions(monkeypatch)


@pytest.mark.parametrize(
    ("out", "error"),
    [
        (np.zeros(299, np.int32), "shape"),
        (np.zeros(300, np.int8), "too small"),
        (np.zeros(600, np.int32)[::2], "C-contiguous"),
    ],
)
def test_an_out_that_does_not_fit_is_refused_by_later_calls(cupy, out, error):
    on_gpu = placed(random_graph(arcs=0))
    for _ in range(2):
        with pytest.raises((ValueError, TypeError), match=error):
            connected_components(on_gpu, out=Array(out))
        connected_components(on_gpu)


@pytest.mark.parametrize("dtype", [np.int64, np.uint16])
def test_out_of_another_type_is_filled(cupy, dtype):
    graph = random_graph()
    on_gpu = placed(graph)
    for _ in range(2):
        out = Array(np.zeros(300, dtype))
        connected_components(on_gpu, out=out)
        np.testing.assert_array_equal(out.get(), connected_components(graph)[1])
        check(on_gpu, graph)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("directed", np.zeros(2), TypeError),
        ("connection", "both", ValueError),
        ("numbering", "root", ValueError),
        ("algorithm", "soma", ValueError),
        ("return_labels", np.zeros(2), TypeError),
        ("device", "cpu", ValueError),
    ],
)
def test_what_is_refused_is_refused_again(cupy, name, value, error):
    on_gpu = placed(random_graph())
    for _ in range(2):
        with pytest.raises(error, match=name):
            connected_components(on_gpu, **{name: value})
        connected_components(on_gpu)


@pytest.mark.parametrize(
    "options", [{"dtype": np.int64}, {"algorithm": "ecl"}, {"jump": 3, "algorithm": "ecl"}]
)
def test_other_calls_are_not_kept(cupy, options):
    graph = random_graph()
    on_gpu = placed(graph)
    for _ in range(2):
        labels = connected_components(on_gpu, **options)[1]
        np.testing.assert_array_equal(labels.get(), connected_components(graph)[1])
        connected_components(on_gpu, workspace=Workspace())
    assert not kept(on_gpu)


def test_calls_that_are_watched_or_captured_are_not_recorded(cupy, monkeypatch):
    graph = random_graph()
    on_gpu = placed(graph)
    with time_limit(100):
        check(on_gpu, graph)
    gpu = repeated.current_gpu()
    with monkeypatch.context() as changes:
        changes.setattr(gpu, "current_stream", lambda: 7)  # the default one cannot be
        changes.setattr(gpu, "is_capturing", lambda stream: True)
        check(on_gpu, graph)
    assert not kept(on_gpu)


def test_calls_on_a_stream_of_each_thread_are_recorded_by_thread(cupy, monkeypatch):
    graph = random_graph()
    on_gpu = placed(graph)
    monkeypatch.setattr(repeated.current_gpu(), "current_stream", lambda: PER_THREAD)

    def kinds():
        for _ in range(3):
            check(on_gpu, graph)
        (own,) = repeated._workspaces.held(PER_THREAD).values()
        return [*own.of_graphs[on_gpu._parts]]

    with ThreadPoolExecutor(1) as pool:
        assert len({*kinds(), *pool.submit(kinds).result()}) == 2
    assert not kept(on_gpu)


def test_large_and_empty_graphs_are_not_kept(cupy, monkeypatch):
    empty = placed(random_graph(0, 0))
    assert connected_components(empty)[0] == 0
    graph = random_graph()
    on_gpu = placed(graph)
    monkeypatch.setattr(repeated, "MOST_ENTRIES", 699)
    check(on_gpu, graph)
    assert not kept(empty)
    assert not kept(on_gpu)
    monkeypatch.setattr(repeated, "MOST_ENTRIES", 700)
    check(on_gpu, graph)
    assert kept(on_gpu)


def test_launches_go_with_their_graph(cupy):
    graph = random_graph()
    on_gpu = placed(graph)
    check(on_gpu, graph)
    gc.collect()
    (workspace,) = repeated._workspaces.held(0).values()
    graphs = workspace.of_graphs
    assert len(graphs) == 1
    assert pickle.loads(pickle.dumps(graph)).num_arcs == graph.num_arcs
    del on_gpu
    gc.collect()
    assert len(graphs) == 0


def test_launches_of_smaller_graphs_are_forgotten_when_a_larger_one_takes_more_memory(cupy):
    made = [random_graph(100 * size, 150 * size, seed=size) for size in (1, 20)]
    on_gpu = [placed(graph) for graph in made]
    for turn in range(3):
        for graph, there in zip(made, on_gpu, strict=True):
            check(there, graph, connection="strong")
        assert [len(kept(there)) for there in on_gpu] == [turn > 0, 1]


@pytest.mark.parametrize("numbering", ["consecutive", "roots"])
def test_launches_are_recorded_with_a_workspace(cupy, monkeypatch, numbering):
    """Of large graphs, too; a workspace that is dropped is gone at once, and with it the memory."""
    monkeypatch.setattr(repeated, "MOST_ENTRIES", 0)
    graph, workspace, other = random_graph(), Workspace(), Workspace()
    on_gpu = placed(graph)
    for held in workspace, other:
        check(on_gpu, graph, numbering=numbering, workspace=held)
    assert not repeated._workspaces.held(0)
    with monkeypatch.context() as changes:
        forbid_decisions(changes)
        for held in workspace, other, workspace:
            check(on_gpu, graph, numbering=numbering, workspace=held)
    there = weakref.ref(workspace)
    del workspace, held
    assert there() is None


def test_all_defaults_keep_their_launches():
    """As no kept launch waits."""
    assert not ALGORITHMS["cuda"]["auto"].waits({})
