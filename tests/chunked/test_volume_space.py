"""Labels of volumes that the disk has no room for, and what a stop at any place leaves behind."""

import errno
import os
import shutil
import sys
import threading
from collections import namedtuple

import numpy as np
import pytest

import conncomp
from conncomp.chunked.volumes import block_files, job, kept, sample, targets, volume, writing
from conncomp.chunked.volumes.formats import slices
from conncomp.files import access, parts
from volume_sources import SOURCES, read_labels, write_image

h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")

VOLUME = np.random.default_rng(3).integers(0, 3, (8, 10, 12)).astype(np.uint8)
USAGE = namedtuple("USAGE", "total used free")
HUGE = (1 << 12, 1 << 14, 1 << 14)  # 2**40 elements


def forged_hdf5(folder, chunks, fill):
    with h5py.File(folder / "v.h5", "w") as file:
        file.create_dataset("image", HUGE, "u1", chunks=chunks, fillvalue=fill)
    return folder / "v.h5"


def forged_zarr(folder, chunks, fill):
    zarr.create_array(
        store=str(folder / "v.zarr"), shape=HUGE, chunks=chunks, dtype="u1", fill_value=fill
    )
    return folder / "v.zarr"


def forged_npy(folder, chunks, fill):
    with (folder / "v.npy").open("wb") as file:
        # Slices of few elements, so that blocks are small.
        header = {"descr": "|u1", "fortran_order": False, "shape": (1 << 28, 1 << 6, 1 << 6)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + (1 << 40))
    return folder / "v.npy"


def forged_ome(folder, chunks, fill):
    import json

    image = write_image(folder / "v.zarr", VOLUME, "zyx", chunks=(8, 8, 8), levels=2)
    for k in range(2):
        told = json.loads((image / f"s{k}/zarr.json").read_text())
        told["shape"], told["fill_value"] = [n >> k for n in HUGE], fill
        told["chunk_grid"]["configuration"]["chunk_shape"] = list(chunks)
        (image / f"s{k}/zarr.json").write_text(json.dumps(told))
    return image


FORGED = [forged_hdf5, forged_zarr, forged_npy, forged_ome]


@pytest.fixture
def small_disk(monkeypatch):
    """Let the disk have so many bytes free, and blocks be small, so that samples take no time."""

    def set_free(free):
        monkeypatch.setattr(shutil, "disk_usage", lambda path: USAGE(1 << 50, 0, free))
        monkeypatch.setattr(sample, "SAMPLE", 1)
        return free

    return set_free


@pytest.mark.parametrize("forge", FORGED)
@pytest.mark.parametrize("fill", [0, 1])
@pytest.mark.parametrize("target", ["l.npy", "l.zarr", "new/l.npy", "v.zarr/labels/l"])
def test_forged_shapes(tmp_path, small_disk, forge, fill, target):
    """2**40 bytes that take 1.4 kB: refused at once, of every source, to every target."""
    source = forge(tmp_path, (128, 128, 128), fill)
    if "/labels" in target and forge is not forged_ome:
        target = "l.of"
    small_disk(10**5)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OSError, match="free on the disk; choose") as caught:
        conncomp.label_file(source, tmp_path / target)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / target))
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("target", ["l.npy", "l.zarr"])
def test_forged_labels_that_are_saved(tmp_path, small_disk, target):
    source = forged_zarr(tmp_path, (128, 128, 128), 1)
    small_disk(10**5)
    with (
        conncomp.open_volume(source) as labels,
        pytest.raises(OSError, match="free on the disk; choose"),
    ):
        labels.save(tmp_path / target)
    assert os.listdir(tmp_path) == ["v.zarr"]


def test_labels_that_pack_well_are_written(tmp_path, small_disk, monkeypatch):
    """All that labels may take does not fit, but a sample shows that they take little."""
    monkeypatch.setattr(volume, "BLOCK", 1)
    zeros = np.zeros((64, 64, 64), np.uint8)
    source = SOURCES["zarr 3"][1](tmp_path / "v.zarr", zeros, (32, 32, 32))
    free = small_disk(400_000)
    assert zeros.size * 4 > free
    assert conncomp.label_file(source, tmp_path / "l.zarr") == 0
    with pytest.raises(OSError, match=r"take about 1 MB.*or of Zarr, which packs labels"):
        conncomp.label_file(source, tmp_path / "l.npy")
    assert sorted(os.listdir(tmp_path)) == ["l.zarr", "v.zarr"]


def test_a_plan_needs_room_for_its_sample(tmp_path, small_disk):
    np.save(tmp_path / "v.npy", VOLUME)
    small_disk(1000)
    with pytest.raises(OSError, match="takes 0 MB, and there are 0 MB free"):
        conncomp.plan_labels(tmp_path / "v.npy")


def test_drives_that_tell_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: USAGE(0, 0, 0))
    assert access.free_space(tmp_path / "a/b") == sys.maxsize


@pytest.mark.parametrize("place", ["posix_fallocate", "truncate"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_space_that_is_not_given_leaves_nothing(tmp_path, monkeypatch, place, error):
    """Others may take the space meanwhile; files stay nowhere."""
    np.save(tmp_path / "v.npy", VOLUME)
    if place == "truncate":
        monkeypatch.delattr(os, "posix_fallocate")

    def refuse(*_):
        raise error

    patched = os if place == "posix_fallocate" else targets.NpyTarget
    monkeypatch.setattr(patched, "posix_fallocate" if patched is os else "create", refuse)
    with pytest.raises(type(error)):
        conncomp.label_file(tmp_path / "v.npy", tmp_path / "l.npy")
    assert os.listdir(tmp_path) == ["v.npy"]


@pytest.mark.parametrize("name", ["a.npz", "b.txt"])
def test_what_is_not_whole_is_removed(tmp_path, name):
    with pytest.raises(TypeError), parts.whole(tmp_path / name) as path, path.open("w") as file:
        print("half", file=file, flush=True, end=3)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("target", ["l.npy", "l.zarr"])
def test_types_that_are_too_small_block_nothing(tmp_path, monkeypatch, target):
    monkeypatch.setattr(volume, "BLOCK", 1)
    source = SOURCES["zarr 3"][1](tmp_path / "v.zarr", VOLUME, (4, 5, 6))
    with monkeypatch.context() as patch:
        patch.setattr(block_files.BlockFiles, "resolved", lambda *_: 1 / 0)
        with pytest.raises(ValueError, match="dtype is int8, too small for labels up to 959; use"):
            conncomp.label_file(source, tmp_path / target, numbering="roots", dtype="int8")
    assert os.listdir(tmp_path) == ["v.zarr"]
    noise = (np.random.default_rng(1).random((20, 20, 20)) < 0.1).astype(np.uint8)
    source = SOURCES["zarr 3"][1](tmp_path / "w.zarr", noise, (10, 10, 10))
    with pytest.raises(ValueError, match="dtype is int8, too small for labels up to"):
        conncomp.label_file(source, tmp_path / target, dtype="int8", connectivity=1)
    assert sorted(os.listdir(tmp_path)) == ["v.zarr", "w.zarr"]
    conncomp.label_file(source, tmp_path / target, dtype="int16", connectivity=1)
    np.testing.assert_array_equal(
        read_labels(tmp_path / target), conncomp.label(noise, connectivity=1)
    )


def test_a_source_that_was_changed_blocks_nothing(tmp_path):
    np.save(tmp_path / "v.npy", VOLUME)

    def change(done, total):
        os.utime(tmp_path / "v.npy", (5, 5))

    with pytest.raises(ValueError, match="was changed while it was read"):
        conncomp.label_file(tmp_path / "v.npy", tmp_path / "l.npy", progress=change)
    conncomp.label_file(tmp_path / "v.npy", tmp_path / "l.npy")


def cut_before_cleaning(monkeypatch, source, target):
    """Label, and be cut before what was kept is removed."""
    with monkeypatch.context() as patch:
        patch.setattr(writing, "remove_kept", lambda folder: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            conncomp.label_file(source, target)
    assert target.exists()


@pytest.mark.parametrize("target", ["l.npy", "l.zarr"])
@pytest.mark.parametrize("left", ["all", "lock"])
def test_a_cut_between_the_name_and_the_cleaning(tmp_path, monkeypatch, target, left):
    """The same call ends it; another one cleans and says that the target exists."""
    source, target = SOURCES["npy"][1](tmp_path / "v.npy", VOLUME), tmp_path / target
    cut_before_cleaning(monkeypatch, source, target)
    if left == "lock":
        for path in (tmp_path / f"{target.name}.partial").iterdir():
            if path.name != parts.LOCK:
                kept.remove(path)
    with pytest.raises(FileExistsError, match="exists; remove it"):
        conncomp.label_file(source, target, connectivity=1)
    assert sorted(os.listdir(tmp_path)) == sorted([target.name, "v.npy"])


@pytest.mark.parametrize("target", ["l.npy", "l.zarr"])
@pytest.mark.parametrize("connectivity", [None, 1])
def test_labels_that_were_removed_after_a_cut(tmp_path, monkeypatch, target, connectivity):
    source, target = SOURCES["npy"][1](tmp_path / "v.npy", VOLUME), tmp_path / target
    cut_before_cleaning(monkeypatch, source, target)
    kept.remove(target)
    conncomp.label_file(source, target, connectivity=connectivity)
    wanted = conncomp.label(VOLUME, connectivity=connectivity)
    np.testing.assert_array_equal(read_labels(target), wanted)
    assert sorted(os.listdir(tmp_path)) == sorted([target.name, "v.npy"])


def error_of(source, target):
    try:
        conncomp.label_file(source, target)
    except (FileExistsError, ValueError) as error:
        return str(error)
    return None


DAMAGED = {
    "npy": ["state.json", "done.txt", "labels.npy", "reports/0-0-0.npz"],
    "zarr 3": ["labels/zarr.json", "reports/1-0-0.npz"],
    "zarr 2": ["labels/.zarray"],
    "ome 0.5": ["labels/zarr.json", "labels/0/zarr.json", "labels/1/zarr.json"],
    "ome 0.4": ["labels/.zgroup", "labels/1/.zarray"],
}


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in DAMAGED for name in DAMAGED[kind]]
)
@pytest.mark.parametrize("damage", ["cut", "empty", "gone", "other"])
def test_what_is_kept_is_damaged(tmp_path, monkeypatch, kind, name, damage):
    """The error names the file, and the remedy, which helps."""
    monkeypatch.setattr(volume, "BLOCK", 1)
    monkeypatch.setattr(slices, "SLAB", 240)
    suffix, write = SOURCES[kind]
    source = write(tmp_path / f"v{suffix}", VOLUME, (4, 5, 6))
    target, folder = tmp_path / f"l{suffix}", tmp_path / f"l{suffix}.partial"

    def stop(done, total):
        if done == total // 2 + 1:
            raise KeyboardInterrupt

    conncomp.set_num_threads(1)
    with pytest.raises(KeyboardInterrupt):
        conncomp.label_file(source, target, progress=stop)
    path = folder / name
    if name.startswith("reports"):
        path = sorted(folder.glob("reports/*.npz"))[0]
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes({"cut": content[: len(content) // 2], "empty": b""}.get(damage, b"[3]\n"))
    error = error_of(source, target)
    if error is None:  # what was lost was made again
        assert damage in ("gone", "empty", "cut")
        assert name.startswith(("done", "state", "reports"))
    elif (name, damage) == ("state.json", "gone"):
        assert "choose another target" in error
        return
    else:
        assert (path.parent.name if damage == "gone" else path.name) in error
        assert f"remove {folder} to begin anew" in error
        kept.remove(folder)
        conncomp.label_file(source, target)
    np.testing.assert_array_equal(read_labels(target), conncomp.label(VOLUME))


@pytest.mark.parametrize("target", ["l.npy", "l.zarr"])
def test_blocks_that_are_begun_end_when_the_call_does(tmp_path, monkeypatch, target):
    """Ctrl-C waits for no block: a thread that is at one looks up, and leaves it undone."""
    monkeypatch.setattr(volume, "BLOCK", 1)
    source = SOURCES["zarr 3"][1](tmp_path / "v.zarr", VOLUME, (4, 5, 6))
    conncomp.set_num_threads(2)
    given_up, begun, after = threading.Event(), [], []
    resolved, give_up = block_files.BlockFiles.resolved, job.Job._give_up

    def slow(files, argument):
        if isinstance(argument, block_files.Values) and threading.main_thread() is not (
            threading.current_thread()
        ):
            begun.append(argument)
            if len(begun) > 2:
                given_up.wait(60)
            over = given_up.is_set()
            result = resolved(files, argument)
            if over:
                after.append(argument)
            return result
        return resolved(files, argument)

    def watched(tasks):
        tasks._given_up.set()
        given_up.set()
        give_up(tasks)

    monkeypatch.setattr(block_files.BlockFiles, "resolved", slow)
    monkeypatch.setattr(job.Job, "_give_up", watched)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        conncomp.label_file(source, tmp_path / target, progress=stop)
    assert not after
    monkeypatch.undo()
    monkeypatch.setattr(volume, "BLOCK", 1)
    conncomp.label_file(source, tmp_path / target)
    np.testing.assert_array_equal(read_labels(tmp_path / target), conncomp.label(VOLUME))
