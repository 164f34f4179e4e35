"""Statistics on a GPU whose launches are recorded and replayed: they are the CPU's, bit for bit."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple

import numpy as np
import pytest

from conncomp import _cuda_arrays, component_statistics, label
from conncomp.components.columns import measuring
from conncomp.kernels import time_limit
from conncomp.kernels.cuda.components import measures, runs
from conncomp.kernels.cuda.launcher import PER_THREAD
from host_cupy import place_on_host
from stand_in import Array

SHAPE = 5, 24, 33


@pytest.fixture
def cupy(monkeypatch):
    monkeypatch.setattr(_cuda_arrays, "_LIBRARIES", {Array: _cuda_arrays.CuPyArrays()})
    return place_on_host(monkeypatch)


def batch(seed, shape=SHAPE, dtype=np.int32):
    masks = np.random.default_rng(seed).random(shape) < 0.4
    return label(masks, batch_axes=1, connectivity=1).astype(dtype)


def check(labels, **options):
    """Compare with the CPU, all columns."""
    expected, answer = (component_statistics(given, **options) for given in (labels, Array(labels)))
    assert answer.spacing == expected.spacing
    for there, here in zip(astuple(answer)[:-1], astuple(expected)[:-1], strict=True):
        np.testing.assert_array_equal(there.get(), here, strict=True)


@pytest.mark.parametrize(
    "options",
    [
        {"batch_axes": 1},
        {"batch_axes": 2, "background": None},
        {},
        {"background": -1},
        {"moments": False, "batch_axes": 1},
    ],
)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_later_calls_make_the_launches_of_the_first(cupy, monkeypatch, options, dtype):
    made = [batch(seed, dtype=dtype) - (options.get("background") == -1) for seed in range(4)]
    check(made[0], **options)
    assert len(measures._recorded) == 1
    monkeypatch.setattr(measuring, "find_runs", None)  # the general way is not gone
    monkeypatch.setattr(measures.RecordedRuns, "_count", None)
    monkeypatch.setattr(runs, "label_rows", None)
    for labels in made[1:]:
        check(labels, **options)


def test_columns_of_batches_are_made_without_what_decides_them(cupy, monkeypatch):
    made, empty = [batch(seed) for seed in (0, 1, 1, 2)], np.zeros(SHAPE, np.int32)
    for moments in (True, False):
        check(made[0], batch_axes=1, moments=moments)
    with monkeypatch.context() as changes:
        changes.setattr(measuring, "measure_shapes", None)  # the general way is not gone
        for labels in made:
            for moments in (True, False):
                check(labels, batch_axes=1, moments=moments)
    for labels in (empty, made[0], made[1]):  # of no component nothing is presumed
        check(labels, batch_axes=1)


def test_columns_of_nothing_are_those_of_one_call(cupy):
    labels = Array(batch(0))
    results = [component_statistics(labels, batch_axes=1) for _ in range(3)]
    for name in ("sums", "weighted_centroids", "faces", "classes"):
        columns = [getattr(result, name) for result in results]
        assert len({id(column) for column in columns}) == 3
        assert {(column.shape, column.dtype) for column in columns} == {
            (columns[0].shape, columns[0].dtype)
        }


def test_rows_of_one_call_are_not_those_of_the_next(cupy):
    made = [batch(seed) for seed in range(3)]
    results = [component_statistics(Array(labels), batch_axes=1) for labels in made]
    for labels, result in zip(made, results, strict=True):
        expected = component_statistics(labels, batch_axes=1)
        np.testing.assert_array_equal(result.sizes.get(), expected.sizes)
        np.testing.assert_array_equal(result.moments.get(), expected.moments)


def test_memory_is_taken_while_the_gpu_is_at_work(cupy, monkeypatch):
    labels, other = (batch(seed, (5, 24, 32)) for seed in (0, 1))
    given = labels, labels[::-1].copy(), labels  # of as many components and runs
    made, waited = [], []

    def new(shape, dtype):
        made.append(shape)
        return Array(np.empty(shape, dtype))

    asked = {"batch_axes": 1, "spacing": 1}
    results = [component_statistics(Array(given[0]), **asked)]
    (repeated,) = measures._recorded.values()
    again, kept = repeated._recording, repeated._calls

    def read_all(*arguments):
        waited.append(len(made))
        return again.read_all(*arguments)

    monkeypatch.setattr(kept.ahead, "_new", new)
    monkeypatch.setitem(kept, measures.COUNTING, again._replace(read_all=read_all))
    results += [component_statistics(Array(there), **asked) for there in given[1:]]
    assert waited[0] > 7  # columns, a table and runs
    assert waited == [len(made) // 2, len(made)]  # and none later
    for there, result in zip(given, results, strict=True):
        expected = component_statistics(there, batch_axes=1)
        np.testing.assert_array_equal(result.sizes.get(), expected.sizes)
        np.testing.assert_array_equal(result.moments.get(), expected.moments)
    check(other, **asked)
    assert not kept.ahead._arrays


def test_memory_that_is_not_there_ahead_is_taken_later(cupy, monkeypatch):
    def new(shape, dtype):
        if not refused:
            refused.append(shape)
            raise MemoryError
        return Array(np.empty(shape, dtype))

    refused, asked = [], {"batch_axes": 1, "spacing": 1}
    check(batch(0), **asked)
    (repeated,) = measures._recorded.values()
    monkeypatch.setattr(repeated._calls.ahead, "_new", new)
    for _ in range(2):
        check(batch(0), **asked)
    assert refused
    refused.clear()
    monkeypatch.setattr(cupy, "ndarray", new)
    check(batch(0), batch_axes=1)  # the shortest way
    assert refused


def test_labels_of_all_numbers_of_components(cupy):
    few, none, one = batch(0), np.zeros(SHAPE, np.int32), np.ones(SHAPE, np.int32)
    gaps = np.where(few > 0, few * 3 + 1, 0).astype(np.int32)
    for labels in (few, none, one, gaps, none, few):
        check(labels, batch_axes=1)
    assert len(measures._recorded) == 1


@pytest.mark.parametrize(
    "large", [measures.LEAST_ROWS // 5 - 1, measures.LEAST_ROWS // 5, 2**31 - 1]
)
def test_labels_beyond_the_room_are_measured_the_general_way(cupy, large):
    labels = batch(0)
    check(labels, batch_axes=1)
    labels[2, 3, 4] = large
    if large * 5 < 1 << 24:
        check(labels, batch_axes=1)
    else:
        with pytest.raises(ValueError, match="too large"):
            component_statistics(Array(labels), batch_axes=1)
    check(batch(1), batch_axes=1)


@pytest.mark.parametrize("large", [measures.LEAST_ROWS - 1, measures.LEAST_ROWS, 2**31 - 1])
@pytest.mark.parametrize("background", [0, None])
def test_labels_beyond_the_room_without_a_batch(cupy, large, background):
    labels = batch(0)[0]
    labels[7, 8] = large
    for _ in range(2):
        if large < 1 << 24:
            check(labels, background=background)
        else:
            with pytest.raises(ValueError, match="too large"):
                component_statistics(Array(labels), background=background)
        check(batch(1)[0], background=background)


@pytest.mark.parametrize("background", [0, None])
def test_negative_labels_without_a_batch(cupy, background):
    labels = batch(0)[0].reshape(8, 99)
    for place in ((0, 0), (3, 50), (7, 98)):
        wrong = labels.copy()
        wrong[place] = -1
        with pytest.raises(ValueError, match="labels holds -1"):
            component_statistics(Array(wrong), background=background)
        check(labels, background=background)


def test_what_is_refused_is_refused_again(cupy):
    labels = batch(0)
    wrong = labels.copy()
    wrong[1, 2, 3] = -1
    for _ in range(2):
        check(labels, batch_axes=1)
        with pytest.raises(ValueError, match="labels holds -1"):
            component_statistics(Array(wrong), batch_axes=1)
        with pytest.raises(TypeError, match="batch_axes"):
            component_statistics(Array(labels), batch_axes=True)
        with pytest.raises(ValueError, match="batch_axes"):
            component_statistics(Array(labels), batch_axes=3)
        with pytest.raises(ValueError, match="background"):
            component_statistics(Array(labels), background=1)
        with pytest.raises(ValueError, match="background has to be given"):
            component_statistics(Array(labels), batch_axes=2)


def test_other_calls_are_not_kept(cupy, monkeypatch):
    labels = batch(0)
    check(labels[:, ::2], batch_axes=1)
    check(labels.astype(np.uint8), batch_axes=1)
    check(labels[:0], batch_axes=1)
    with time_limit(100):
        check(labels)
    monkeypatch.setattr(measures, "MOST_ELEMENTS", labels.size - 1)
    check(labels)
    monkeypatch.setattr(measures, "MOST_ELEMENTS", labels.size)
    gpu = measuring.current_gpu()
    with monkeypatch.context() as changes:
        changes.setattr(gpu, "current_stream", lambda: 7)  # the default one cannot be
        changes.setattr(gpu, "is_capturing", lambda stream: True)
        check(labels)
    assert not measures._recorded


def test_calls_on_the_default_stream_of_a_thread_are_recorded_by_thread(cupy, monkeypatch):
    monkeypatch.setattr(measuring.current_gpu(), "current_stream", lambda: PER_THREAD)
    with ThreadPoolExecutor(1) as pool:
        for _ in range(2):
            check(batch(0))
            pool.submit(check, batch(0)).result()
    assert len(measures._recorded) == 2


def test_kinds_are_told_apart_and_forgotten_when_there_are_too_many(cupy, monkeypatch):
    monkeypatch.setattr(measures, "MOST_KINDS", 2)
    labels = batch(0)
    for _ in range(2):
        for options in ({}, {"batch_axes": 1}, {"moments": False}, {"background": None}):
            check(labels, **options)
            assert len(measures._recorded) <= 2
        check(labels.reshape(5, -1), batch_axes=1, background=0)
