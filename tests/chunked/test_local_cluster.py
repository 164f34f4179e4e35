"""Dask arrays and DataFrames on workers that are processes, one of which is killed on the way."""

import os
import signal
import time
from contextlib import contextmanager
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import conncomp
from chunked_cases import random_case
from conncomp.chunked import dask_arrays

distributed = pytest.importorskip("distributed")

IMAGE = np.random.default_rng(7).random((24, 20, 18)) < 0.25
SETTINGS = {
    "distributed.admin.tick.limit": "60s",
    "distributed.scheduler.allowed-failures": 20,
    "distributed.worker.memory.terminate": False,
}

# A worker that is killed leaves connections and a process behind, which others tell of.
pytestmark = pytest.mark.filterwarnings("ignore")


@contextmanager
def cluster():
    with (
        dask.config.set(SETTINGS),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as made,
        distributed.Client(made) as client,
    ):
        yield client


def slowly(block, folder, block_info=None):
    """Tell of the chunk by a file, and take a while."""
    place = "-".join(map(str, block_info[0]["chunk-location"]))
    Path(folder, f"{place}-{os.getpid()}").touch()
    time.sleep(0.05)
    return block


@pytest.mark.soak  # graphs are those that threads and a pool of processes compute in each run
def test_as_in_memory(monkeypatch):
    monkeypatch.setattr(dask_arrays, "MANY_CHUNKS", 20)  # so that some graphs have joined calls
    with cluster():
        for seed in range(4000, 4006):
            image, chunks, arguments = random_case(seed)
            lazy = da.from_array(image, chunks)
            labels, num = conncomp.label(lazy, return_num=True, **arguments)
            want, count = conncomp.label(image, return_num=True, **arguments)
            given = dask.compute(labels, num)
            np.testing.assert_array_equal(given[0], want, err_msg=str(seed))
            np.testing.assert_array_equal(given[1], count, err_msg=str(seed))
        labels = conncomp.label(da.from_array(IMAGE, 9), periodic=True)
        want = conncomp.label(IMAGE, periodic=True)
        (measured,) = dask.compute(conncomp.component_statistics(labels, IMAGE, surfaces=True))
        whole = conncomp.component_statistics(want, IMAGE, surfaces=True)
        for name in ("sizes", "bounding_boxes", "sums", "faces"):
            np.testing.assert_array_equal(getattr(measured, name), getattr(whole, name))
        touching = dask.compute(conncomp.contacts(labels, periodic=True))[0]
        np.testing.assert_array_equal(touching.pairs, conncomp.contacts(want, periodic=True).pairs)
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"l": rng.integers(0, 90, 200), "r": rng.integers(0, 300, 200)})
        names = frame.astype(str).add("é")
        pairs = dd.from_pandas(names, npartitions=5)
        clusters = conncomp.cluster_pairs(pairs, "l", "r").compute().reset_index(drop=True)
        pd.testing.assert_frame_equal(clusters, conncomp.cluster_pairs(names, "l", "r"))
        edges = dd.from_pandas(frame, npartitions=5)
        graph = conncomp.Graph.from_edges(frame.l, frame.r)
        least = conncomp.minimum_spanning_forest_of_files(edges, "l", "r", "l")[0]
        expected = conncomp.minimum_spanning_forest(graph, frame.l.to_numpy())
        np.testing.assert_array_equal(least, expected)


@pytest.mark.soak
def test_a_worker_is_killed(tmp_path):
    """When a third of the chunks have been read: what was on it is computed again, elsewhere."""
    with cluster() as client:
        source = da.from_array(IMAGE, 5)
        lazy = source.map_blocks(slowly, str(tmp_path), dtype=bool, meta=np.empty((0,) * 3, bool))
        labels, num = conncomp.label(lazy, return_num=True)
        futures = client.compute([labels, num])
        while len(list(tmp_path.iterdir())) < source.npartitions // 3:
            time.sleep(0.01)
        victim = next(iter(client.scheduler_info()["workers"]))
        os.kill(client.run(os.getpid, workers=[victim])[victim], signal.SIGKILL)
        given, count = client.gather(futures)
        places = [path.name.rsplit("-", 1)[0] for path in tmp_path.iterdir()]
        assert len(places) > len(set(places)) == source.npartitions
    want, expected = conncomp.label(IMAGE, return_num=True)
    np.testing.assert_array_equal(given, want)
    assert count == expected
