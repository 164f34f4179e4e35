"""The stages of chunks that lie on a GPU, with a stand-in for CuPy: its kernels run on the CPU."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Barrier
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

import conncomp
from chunked_cases import random_case
from conncomp.chunked.rules import rules_of_image
from conncomp.chunked.stages import label_all
from conncomp.chunked.tree import Entry, call_now
from host_cupy import place_on_host


@pytest.mark.parametrize("seed", [6, 21, 38, 40, 43, 49])
def test_chunks_of_cupy(monkeypatch, seed):
    image, chunks, arguments = random_case(seed)
    layout, rules = rules_of_image(chunks, image.dtype, **arguments)
    assert layout.crossed
    cupy = place_on_host(monkeypatch)
    pieces = {}
    for index in layout.indices():
        begin, shape = layout.start(index), layout.chunk_shape(index)
        place = tuple(slice(a, a + n) for a, n in zip(begin, shape, strict=True))
        pieces[index] = place, cupy.asarray(image[place])
    for numbering in ("roots", "consecutive"):
        values = {index: piece for index, (_, piece) in pieces.items()}
        wanted = {"consecutive": numbering == "consecutive", "dtype": np.dtype(np.int32)}
        question = replace(rules.question, **wanted)
        result = label_all(call_now, layout, replace(rules, question=question), values)
        want = conncomp.label(image, numbering=numbering, **arguments)
        for index, labels in result.labels.items():
            assert isinstance(labels, cupy.ndarray)
            np.testing.assert_array_equal(labels.get(), want[pieces[index][0]])


class OutOfMemoryError(MemoryError):
    """As CuPy has it, which a client without CuPy cannot unpickle."""


class Stream:
    """A stream of the stand-in, which tells what was done on it."""

    made: ClassVar[list["Stream"]] = []

    def __init__(self):
        self.done = []
        self.made.append(self)

    def __enter__(self):
        self.done.append("begin")

    def __exit__(self, *error):
        self.done.append("end")

    def synchronize(self):
        self.done.append("wait")


@pytest.fixture
def streams(monkeypatch):
    monkeypatch.setattr(Stream, "made", [])
    cuda = SimpleNamespace(
        runtime=SimpleNamespace(getDevice=lambda: 0),
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        Stream=Stream,
    )
    dask_graph = pytest.importorskip("conncomp.chunked.dask_graph")
    monkeypatch.setattr(dask_graph, "import_cupy", lambda: SimpleNamespace(cuda=cuda))
    monkeypatch.setattr(dask_graph, "_STREAMS", dask_graph._Streams())
    return Stream.made


def test_each_thread_has_a_stream_and_waits_for_it(streams):
    from conncomp.chunked import dask_graph

    with ThreadPoolExecutor(2) as threads:
        barrier = Barrier(2)
        meet = partial(dask_graph.on_stream, lambda: barrier.wait(10))
        for _ in range(2):
            list(threads.map(lambda _: meet(), range(2)))
    assert [stream.done for stream in streams] == [["begin", "end", "wait"] * 2] * 2


def test_too_little_memory_of_a_gpu_is_a_memory_error_of_python(streams):
    from conncomp.chunked import dask_graph

    def fail():
        raise OutOfMemoryError("Out of memory allocating 512 bytes")

    with pytest.raises(MemoryError, match=r"allocating 512 bytes\); make chunks smaller") as caught:
        dask_graph.on_stream(fail)
    assert type(caught.value) is MemoryError
    assert type(pickle.loads(pickle.dumps(caught.value))) is MemoryError
    assert caught.value.__cause__ is None


def test_only_what_takes_chunks_is_called_on_a_stream(streams):
    """Chunks are what the graph has no task for."""
    from dask._task_spec import TaskRef

    from conncomp.chunked.dask_graph import TaskGraph, call_at, on_stream

    def tasks_of(on_gpu):
        graph = TaskGraph("token", on_gpu)
        chunk = TaskRef(("source", 0))
        labelled = graph.call("label", (0,), abs, chunk)
        graph.call("relabel", (0,), max, chunk, Entry(labelled, 1))
        graph.call("link", (0,), max, 1, labelled)
        return graph.tasks.values()

    assert [task.func for task in tasks_of(on_gpu=False)] == [abs, call_at, max]
    label, relabel, link = tasks_of(on_gpu=True)
    assert label.func.func is on_stream
    assert (relabel.func, relabel.args[0].func, link.func) == (call_at, on_stream, max)
    assert streams == []
    assert label.func(-2) == 2
    assert len(streams) == 1


MEASURES = {
    "sizes": lambda labels, _: conncomp.component_sizes(labels),
    "histogram": lambda labels, _: conncomp.size_histogram(labels)[1],
    "largest": lambda labels, _: conncomp.largest_components(labels, 3),
    "large": lambda labels, _: conncomp.remove_small_components(labels, 4),
    "consecutive": lambda labels, _: conncomp.relabel_consecutive(labels),
    "statistics": lambda labels, image: (
        conncomp.component_statistics(labels, image, surfaces=True).sums
    ),
    "contacts": lambda labels, _: conncomp.contacts(labels, periodic=True).pairs,
    "overlaps": lambda labels, _: conncomp.match_labels(labels, labels).unions,
}


@pytest.mark.parametrize("name", MEASURES)
def test_what_measures_chunks_is_called_on_a_stream(streams, monkeypatch, name):
    """Nothing else is: tasks that take a chunk are told by the graph."""
    dask_array = pytest.importorskip("dask.array")
    from conncomp.chunked import dask_graph
    from conncomp.chunked.measures import dask_labels

    monkeypatch.setattr(dask_labels, "on_gpu", lambda array: True)
    monkeypatch.setattr(dask_labels, "meta_of", lambda array, *_: array._meta)
    image = np.random.default_rng(0).random((9, 8, 7))
    labels = conncomp.label(image < 0.2)
    lazy = dask_array.from_array(labels, 5), dask_array.from_array(image, 5)
    measured = MEASURES[name](*lazy)
    for task in dict(measured.__dask_graph__()).values():
        if hasattr(task, "func"):
            takes_chunk = any(key[0] == lazy[0].name for key in task.dependencies)
            assert (getattr(task.func, "func", None) is dask_graph.on_stream) == takes_chunk
    want = MEASURES[name](labels, image)
    np.testing.assert_allclose(measured.compute(scheduler="sync"), want, rtol=1e-12)
    assert streams[0].done.count("wait") >= lazy[0].npartitions


@pytest.mark.gpu
@pytest.mark.parametrize("name", MEASURES)
def test_measures_of_chunks_on_a_card(name):
    cupy, dask_array = pytest.importorskip("cupy"), pytest.importorskip("dask.array")
    image = np.random.default_rng(0).random((50, 40, 30))
    labels = conncomp.label(image < 0.2)
    lazy = (
        dask_array.from_array(cupy.asarray(array), chunks=17, asarray=False)
        for array in (labels, image)
    )
    given = MEASURES[name](*lazy).compute(scheduler="threads", num_workers=4)
    np.testing.assert_allclose(cupy.asnumpy(given), MEASURES[name](labels, image), rtol=1e-9)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", [6, 21, 38, 40, 43, 49])
def test_dask_arrays_of_chunks_on_a_card(seed):
    cupy, dask_array = pytest.importorskip("cupy"), pytest.importorskip("dask.array")
    image, chunks, arguments = random_case(seed)
    lazy = dask_array.from_array(cupy.asarray(image), chunks=chunks, asarray=False)
    for numbering in ("roots", "consecutive"):
        labels = conncomp.label(lazy, numbering=numbering, **arguments)
        want = conncomp.label(image, numbering=numbering, **arguments)
        computed = labels.compute(scheduler="threads", num_workers=4)
        assert isinstance(computed, cupy.ndarray)
        np.testing.assert_array_equal(computed.get(), want)


@pytest.mark.gpu
def test_a_chunk_that_does_not_fit_on_a_card():
    cupy, dask_array = pytest.importorskip("cupy"), pytest.importorskip("dask.array")
    whole = cupy.ones((256, 256, 256), bool)
    lazy = dask_array.from_array(whole, chunks=128, asarray=False)
    pool = cupy.get_default_memory_pool()
    before = pool.get_limit()
    pool.free_all_blocks()
    try:
        pool.set_limit(pool.total_bytes() + (4 << 20))
        with pytest.raises(MemoryError, match="make chunks smaller"):
            conncomp.label(lazy).compute(scheduler="threads", num_workers=2)
    finally:
        pool.set_limit(before)
    labels = conncomp.label(lazy).compute(scheduler="threads", num_workers=2)
    assert int(labels.max()) == 1
