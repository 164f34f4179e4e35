"""`label_file(scheduler=)`, on a `LocalCluster`, held against the threads of this process."""

import json
import os
import signal
import socket
import time
from pathlib import Path

import click.testing
import dask
import numpy as np
import pytest

import conncomp
from conncomp.chunked.volumes import block_files, volume
from conncomp.cli._command import command
from volume_sources import read_labels, write_image, write_zarr

distributed = pytest.importorskip("distributed")
zarr = pytest.importorskip("zarr")

# Workers are processes of their own, in which blocks are as here: chunks of so many elements are.
VOLUME = np.random.default_rng(8).random((120, 130, 140)) < 0.2
CHUNKS = (64, 130, 140)

# A cluster that ends leaves connections behind, which others tell of.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def address():
    with (
        dask.config.set({"distributed.worker.memory.terminate": False}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as made,
    ):
        yield made.scheduler_address


@pytest.fixture
def source(tmp_path):
    return write_zarr(tmp_path / "v.zarr", VOLUME, CHUNKS)


@pytest.mark.parametrize("target", ["l.zarr", "l.npy"])
def test_as_by_threads(tmp_path, source, address, target, monkeypatch):
    monkeypatch.chdir(tmp_path)  # workers are elsewhere
    told = []
    count = conncomp.label_file(
        *(source.name, target),
        connectivity=1,
        periodic=(True, False, True),
        min_size=3,
        scheduler=address,
        progress=lambda *now: told.append(now),
    )
    labels = conncomp.label(VOLUME, connectivity=1, periodic=(True, False, True))
    wanted = conncomp.remove_small_components(labels, 3)
    np.testing.assert_array_equal(read_labels(Path(target)), wanted)
    assert count == len(np.unique(wanted)) - 1
    assert told[-1][0] == told[-1][1] == 2 * 2
    assert not (tmp_path / f"{target}.partial").exists()


def test_command(tmp_path, source, address):
    given = (source, "-o", tmp_path / "l.npy", "--scheduler", address, "--json")
    runner = click.testing.CliRunner()
    result = runner.invoke(command, ["label", *map(str, given)])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["scheduler"] == address
    wanted, count = conncomp.label(VOLUME, return_num=True)
    assert report["components"] == count
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), wanted)
    result = runner.invoke(command, ["label", *map(str, given), "--memory", "1G"])
    assert result.exit_code == 2
    assert "workers of --scheduler have their own" in result.output


@pytest.mark.parametrize("chosen", [(), ("--min-size", 3), ("--top", 4)])
def test_sizes_of_components(tmp_path, source, address, chosen):
    """Workers count them, of blocks that components cross and of images that lie in a block."""
    write_image(tmp_path / "i.zarr", VOLUME.astype("u1"), "tyx", chunks=CHUNKS)
    runner = click.testing.CliRunner()
    for name in (source.name, "i.zarr"):
        told = []
        for words in (("--scheduler", address), ()):
            given = (tmp_path / name, "-o", tmp_path / f"{name}-{len(told)}.npy", *chosen, *words)
            result = runner.invoke(command, ["label", *map(str, given), "--json"])
            assert result.exit_code == 0, result.output
            told.append(json.loads(result.stdout))
        for key in ("components", "foreground", "largest", "sizes", "kept"):
            assert told[0][key] == told[1][key]
        assert told[0]["foreground"] == VOLUME.sum()


def test_all_workers_are_lost(tmp_path, source, address):
    """Others do what they were at, as soon as there are others."""
    killed = []

    def kill(done, steps):
        if not killed:
            with distributed.Client(address, set_as_default=False) as client:
                killed.extend(client.run(os.getpid).values())
            for process in killed:
                os.kill(process, signal.SIGKILL)

    conncomp.label_file(source, tmp_path / "l.npy", scheduler=address, progress=kill)
    assert len(killed) == 2
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), conncomp.label(VOLUME))


def test_a_chunk_cannot_be_read(tmp_path, source, address):
    (source / "c" / "1" / "0" / "0").write_bytes(b"no chunk")
    with pytest.raises(ValueError, match=r"v\.zarr"):
        conncomp.label_file(source, tmp_path / "l.npy", scheduler=address)
    assert not (tmp_path / "l.npy").exists()


def test_threads_go_on(tmp_path, source, address, monkeypatch):
    """Where a cluster ended: a block whose labels are written is not done again."""

    def stop(done, steps):
        if done == steps - 1:
            raise RuntimeError("that is enough")

    with pytest.raises(RuntimeError, match="enough"):
        conncomp.label_file(source, tmp_path / "l.npy", scheduler=address, progress=stop)
    finished = len((tmp_path / "l.npy.partial" / "done.txt").read_text().splitlines())
    assert finished >= 1
    called, label = [], block_files.BlockFiles.label
    monkeypatch.setattr(
        *(block_files.BlockFiles, "label"), lambda *given: (called.append(1), label(*given))[1]
    )
    conncomp.label_file(source, tmp_path / "l.npy")
    assert len(called) == 2 - finished
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), conncomp.label(VOLUME))


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_what_has_begun_ends_with_the_call(tmp_path, source, monkeypatch, error):
    """And what has not begun never does."""
    begun, ended, report = [], [], block_files.BlockFiles.report

    def slowly(*given):
        begun.append(1)
        time.sleep(0.3)
        report(*given)
        ended.append(1)

    def stop(done, steps):
        raise error("that is enough")

    slowly.__name__ = "report"  # by which it is pickled
    monkeypatch.setattr(block_files.BlockFiles, "report", slowly)
    monkeypatch.setattr(volume, "BLOCK", 1)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None, silence_logs=50
    ) as made:
        write_image(tmp_path / "many.zarr", VOLUME.astype("u1"), "zyx", chunks=(10, 130, 140))
        with pytest.raises(error, match="enough"):
            conncomp.label_file(
                tmp_path / "many.zarr",
                tmp_path / "l.npy",
                scheduler=made.scheduler_address,
                progress=stop,
            )
        told = len(begun)
        assert 1 <= told == len(ended) < 12
        time.sleep(0.7)
        assert (len(begun), len(ended)) == (told, told)


def test_nobody_answers(tmp_path, source, monkeypatch):
    monkeypatch.setattr(block_files, "PATIENCE", 0.2)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for address in (f"tcp://127.0.0.1:{port}", "nonsense://1:2", "127.0.0.1", ""):
        with pytest.raises(ConnectionError, match="no scheduler of Dask answers there"):
            conncomp.label_file(source, tmp_path / "l.npy", scheduler=address)
        assert not (tmp_path / "l.npy").exists()
    with pytest.raises(ValueError, match="leave one out"):
        conncomp.label_file(source, tmp_path / "l.npy", scheduler="tcp://a:1", memory="1G")


def test_no_workers(tmp_path, source, monkeypatch):
    monkeypatch.setattr(block_files, "PATIENCE", 0.5)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as made,
        pytest.raises(ConnectionError, match="has no workers; start some"),
    ):
        conncomp.label_file(source, tmp_path / "l.npy", scheduler=made.scheduler_address)


def test_distributed_is_missing(tmp_path, source, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ImportError, match=r"needs distributed: pip install 'conncomp\[dask\]'"):
        conncomp.label_file(source, tmp_path / "l.npy", scheduler="tcp://127.0.0.1:1")


@pytest.mark.parametrize("target", ["l.zarr", "l.npy"])
def test_once_more_to_the_same_name(tmp_path, source, address, target):
    """Workers have nothing open, and nothing in memory, of a labelling before."""
    for connectivity in (1, 3):
        options = {"connectivity": connectivity, "min_size": 2}
        conncomp.label_file(source, tmp_path / target, **options, scheduler=address)
        found = conncomp.open_volume(tmp_path / target)[...]
        labels = conncomp.label(VOLUME, connectivity=connectivity)
        np.testing.assert_array_equal(found, conncomp.remove_small_components(labels, 2))
        (tmp_path / target).rename(tmp_path / f"{connectivity}-{target}")
