"""`label` and `label_bonds` of Dask arrays, against those of the same arrays in memory."""

import multiprocessing
import pickle
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor

import dask
import dask.array as da
import dask.dataframe
import numpy as np
import pandas
import pytest
from dask.callbacks import Callback
from dask.core import flatten

import conncomp
from chunked_cases import random_bonds, random_case
from conncomp.chunked import dask_arrays, labelling, relabelling, stages
from measured_command import in_python

IMAGE = np.random.default_rng(7).random((18, 14, 11)) < 0.25


def computed(*lazy):
    """Return what a graph gives by threads, and one task after the other, which are the same."""
    with dask.config.set(scheduler="sync"):
        alone = dask.compute(*lazy)
    for one, other in zip(alone, dask.compute(*lazy, num_workers=3), strict=True):
        np.testing.assert_array_equal(one, other)
    return alone


@pytest.mark.soak
def test_processes():
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, context) as pool:
        for seed in range(4100, 4108):
            image, chunks, arguments = random_case(seed)
            lazy = da.from_array(image, chunks)
            for numbering in ("roots", "consecutive"):
                labels = conncomp.label(lazy, numbering=numbering, **arguments)
                given = labels.compute(scheduler="processes", pool=pool)
                want = conncomp.label(image, numbering=numbering, **arguments)
                np.testing.assert_array_equal(given, want, err_msg=str(seed))


@pytest.mark.parametrize("part", range(4))
def test_as_in_memory(part, monkeypatch):
    """As `test_stages` does, with fewer cases; here chunks of whole items are among them.

    In every second part, small calls are made together, as of many chunks; once as of very many.
    """
    monkeypatch.setattr(dask_arrays, "MANY_CHUNKS", 0 if part % 2 else 512)
    monkeypatch.setattr(dask_arrays, "VERY_MANY_CHUNKS", 5 if part == 3 else 512)
    for seed in range(2000 + 20 * part, 2020 + 20 * part):
        image, chunks, arguments = random_case(seed)
        lazy = da.from_array(image, chunks)
        for numbering in ("roots", "consecutive"):
            arguments["numbering"] = numbering
            labels, num = conncomp.label(lazy, return_num=True, **arguments)
            want, count = conncomp.label(image, return_num=True, **arguments)
            assert (labels.shape, labels.chunks, labels.dtype) == (image.shape, chunks, want.dtype)
            assert (num.shape, num.dtype) == (np.shape(count), np.int64)
            given = computed(labels, num)
            np.testing.assert_array_equal(given[0], want, err_msg=str(seed))
            np.testing.assert_array_equal(given[1], count, err_msg=str(seed))
            np.testing.assert_array_equal(labels.compute(num_workers=3), want, err_msg=str(seed))


def test_bonds_as_in_memory():
    for seed in range(300, 330):
        bonds, chunks, arguments = random_bonds(seed)
        ahead = ((1,) * len(bonds),) if bonds.dtype == bool else ()
        labels, num = conncomp.label_bonds(
            da.from_array(bonds, (*ahead, *chunks)), return_num=True, **arguments
        )
        want, count = conncomp.label_bonds(bonds, return_num=True, **arguments)
        np.testing.assert_array_equal(labels, want, err_msg=str(seed))
        np.testing.assert_array_equal(num, count, err_msg=str(seed))


@pytest.mark.parametrize("room", [True, False])
def test_values_are_kept_where_they_have_room(monkeypatch, room):
    """Else they are computed once more."""
    memory = dask_arrays.SHARE * IMAGE.nbytes - (not room)
    monkeypatch.setattr(dask_arrays, "total_memory", lambda: memory)
    calls = []

    def values(block):
        calls.append(block.shape)
        return block

    source = da.from_array(IMAGE, 5)
    lazy = source.map_blocks(values, dtype=bool, meta=np.empty((0,) * 3, bool))
    labels = conncomp.label(lazy)
    for compute in (labels.compute, lambda: dask.compute(labels)[0]):
        calls.clear()
        np.testing.assert_array_equal(compute(), conncomp.label(IMAGE))
        assert len(calls) == source.npartitions * (1 if room else 2)


@pytest.mark.parametrize("numbering", ["roots", "consecutive"])
def test_labels_are_computed_into_one_array(monkeypatch, numbering):
    """By schedulers of this process; a cache takes nothing that was written for a chunk."""
    monkeypatch.setattr(relabelling, "PIECE", 20)
    want = conncomp.label(IMAGE, numbering=numbering)
    labels = conncomp.label(da.from_array(IMAGE, (6, 7, 11)), numbering=numbering)
    cached = {}
    with Callback(posttask=lambda key, value, *_: cached.update({key: value})):
        for options in ({"num_workers": 3}, {"scheduler": "sync"}, {"optimize_graph": False}):
            given = labels.compute(**options)
            np.testing.assert_array_equal(given, want)
            assert given.flags.c_contiguous
            assert given.flags.writeable
    assert cached
    assert not cached.keys() & set(flatten(labels.__dask_keys__()))
    with monkeypatch.context() as patch:
        patch.setattr(da.core, "concatenate3", None)
        np.testing.assert_array_equal(labels.compute(), want)
    for same in (labels.persist(), pickle.loads(pickle.dumps(labels)), labels.copy()):
        np.testing.assert_array_equal(same.compute(), want)
    for other in (labels + 1, labels[3:], da.concatenate([labels, labels])):
        assert type(other) is da.Array


@pytest.mark.parametrize("numbering", ["roots", "consecutive"])
def test_runs_are_kept_in_a_process(monkeypatch, numbering):
    """A chunk is labelled once, and once more where its runs have come from another process."""
    image = np.random.default_rng(0).random((24, 24, 256)) < 0.3
    labels = conncomp.label(da.from_array(image, (12, 24, 128)), numbering=numbering)
    want, runs, calls = conncomp.label(image, numbering=numbering), labelling.chunk_runs, []
    for room in (labelling, relabelling):
        monkeypatch.setattr(room, "chunk_runs", lambda *given: calls.append(1) or runs(*given))
    for compute in (labels.compute, lambda: dask.compute(labels)[0]):
        calls.clear()
        np.testing.assert_array_equal(compute(), want)
        assert len(calls) == labels.npartitions
    first = stages.label_and_report
    monkeypatch.setattr(
        stages, "label_and_report", lambda *given: pickle.loads(pickle.dumps(first(*given)))
    )
    calls.clear()
    labels = conncomp.label(da.from_array(image, (12, 24, 128)), numbering=numbering)
    np.testing.assert_array_equal(labels.compute(), want)
    assert len(calls) == 2 * labels.npartitions


def test_labels_that_fail_half_way():
    def values(block, block_info=None):
        if block_info[0]["chunk-location"] == (2, 1, 0):
            raise OSError("no such chunk")
        return block

    lazy = da.from_array(IMAGE, 5).map_blocks(values, dtype=bool, meta=np.empty((0,) * 3, bool))
    with pytest.raises(OSError, match="no such chunk"):
        conncomp.label(lazy).compute()


def test_parts_of_labels():
    """A part takes no more tasks than it needs, and is right."""
    lazy = da.from_array(IMAGE, (6, 7, 11))
    labels = conncomp.label(lazy)
    np.testing.assert_array_equal(labels[7:9, 3:].compute(), conncomp.label(IMAGE)[7:9, 3:])
    items = conncomp.label(lazy, batch_axes=1)
    (part,) = dask.optimize(items[:6])
    assert not any(key[1] > 0 for key in dict(part.__dask_graph__()) if "alone" in str(key[0]))
    np.testing.assert_array_equal(part, conncomp.label(IMAGE[:6], batch_axes=1))


def test_empty_chunks_and_empty_arrays():
    lazy = da.from_array(IMAGE, ((3, 0, 15), 14, (4, 7, 0)))
    assert (0 in lazy.chunks[0], 0 in lazy.chunks[2]) == (True, True)
    np.testing.assert_array_equal(conncomp.label(lazy), conncomp.label(IMAGE))
    labels, num = conncomp.label(da.zeros((3, 0), chunks=2), return_num=True, batch_axes=1)
    assert (labels.compute().shape, num.compute().tolist()) == ((3, 0), [0, 0, 0])
    assert (labels.compute().dtype, num.compute().dtype) == (np.int32, np.int64)
    assert conncomp.label(da.zeros((0, 3), chunks=2), dtype="i8").compute().dtype == np.int64


def test_masked_elements_are_background():
    hidden = np.ma.masked_array(
        IMAGE.astype("u1"), np.random.default_rng(0).random(IMAGE.shape) < 0.3
    )
    labels = conncomp.label(da.from_array(hidden, 6))
    np.testing.assert_array_equal(labels, conncomp.label(hidden))


def test_dtypes():
    lazy = da.from_array(IMAGE, 6)
    assert conncomp.label(lazy, dtype="u2").compute().dtype == np.uint16
    np.testing.assert_array_equal(conncomp.label(lazy, dtype="i8"), conncomp.label(IMAGE))
    single = da.from_array(np.arange(400).reshape(20, 20) + 1, 9)
    with pytest.raises(ValueError, match=r"dtype is uint8, too small for labels up to \d+; use u"):
        conncomp.label(single, dtype=np.uint8).compute()


def test_labels_of_one_item_beyond_32_bits_are_of_64():
    assert conncomp.label(da.zeros((2**16, 2**16), chunks=2**14, dtype=bool)).dtype == np.int64
    assert conncomp.label(da.zeros((2**16, 2**15 - 1), chunks=2**14, dtype=bool)).dtype == np.int32


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"connectivity": 4}, ValueError, "connectivity=4 must be from 1"),
        ({"structure": np.ones((3, 3))}, ValueError, r"structure has shape \(3, 3\)"),
        ({"structure": np.full((3, 3, 3), "x")}, TypeError, "structure"),
        ({"tolerance": 1}, ValueError, "tolerance=1 is for numbers"),
        ({"periodic": (True,)}, ValueError, "has 1 entries; label_image has 3 axes"),
        ({"batch_axes": 3}, ValueError, "batch_axes=3 must be from 0 to 2"),
        ({"numbering": "any"}, ValueError, "numbering='any' is not one of"),
        ({"algorithm": "fast"}, ValueError, "algorithm='fast'"),
        ({"tile": 4}, TypeError, "algorithm='auto' has no option 'tile'"),
        ({"dtype": float}, TypeError, "dtype is float64; labels are integers"),
        ({"dtype": "smallest"}, ValueError, "dtype='smallest' is known when .*; name a dtype"),
        ({"dtype": "u4", "numbering": "roots"}, ValueError, "without a -1"),
        ({"out": np.zeros((18, 14, 11), int)}, ValueError, r"out is for .* dask\.array\.store"),
        ({"workspace": conncomp.Workspace()}, ValueError, "workspace is .* is of Dask; leave it"),
        ({"device": "gpu"}, ValueError, "device='gpu' is not one of"),
        ({"delta": 1}, TypeError, "label has no argument 'delta'; tolerance="),
    ],
)
def test_errors_come_at_once(arguments, error, message):
    with pytest.raises(error, match=message):
        conncomp.label(da.from_array(IMAGE, 6), **arguments)


def test_what_is_no_array_of_known_chunks():
    lazy = da.from_array(np.arange(9), 4)
    with pytest.raises(ValueError, match=r"chunks of unknown lengths; .*\.compute_chunk_sizes\(\)"):
        conncomp.label(lazy[lazy > 3])
    with pytest.raises(TypeError, match="of dtype complex128; it must be of bool, integer or"):
        conncomp.label(lazy * 1j)
    frame = dask.dataframe.from_pandas(pandas.DataFrame({"a": [1, 2]}), npartitions=1)
    with pytest.raises(TypeError, match=r"a DataFrame of Dask; .*\.to_dask_array"):
        conncomp.label(frame)
    with pytest.raises(ValueError, match="with 2 planes, but a lattice of shape"):
        conncomp.label_bonds(da.zeros((2, 3, 3, 3), dtype=bool))


def test_graph_is_small_and_soon_made():
    """Of its own, for each chunk: 100 microseconds of processor time, and 3 KB."""
    image = da.zeros((80, 160, 160), chunks=8, dtype=np.uint8)
    conncomp.label(image[:16])
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        labels = conncomp.label(image)
        best = min(best, time.process_time() - begin)
    assert best / image.npartitions < 100e-6
    tracemalloc.start()
    labels = conncomp.label(image)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert size / labels.npartitions < 2700
    assert len(dict(labels.__dask_graph__())) / labels.npartitions < 4


def test_graphs_have_names_by_what_they_do():
    lazy = da.from_array(IMAGE, 6)
    one, other = conncomp.label(lazy), conncomp.label(lazy, connectivity=1)
    assert one.name == conncomp.label(lazy).name != other.name
    computed(one, other)


def test_dask_is_not_imported_for_arrays_in_memory():
    script = """
import sys, conncomp, numpy
conncomp.label(numpy.ones((3, 3)))
conncomp.component_sizes([[1]])
print("dask" in sys.modules)
"""
    done = in_python(script)
    assert done.stdout.strip() == "False", done.stderr
