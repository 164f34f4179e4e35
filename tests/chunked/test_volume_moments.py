"""`label_file` stopped at every moment: by a kill, a full disk, or another process."""

import errno
import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import conncomp
from conncomp.chunked.volumes import volume
from measured_command import in_python, measured
from volume_sources import read_labels, write_zarr

zarr = pytest.importorskip("zarr")

RNG = np.random.default_rng(12)
FIRST, SECOND = (RNG.integers(0, 2, (4, 6, 5)).astype(np.uint8) for _ in range(2))

# Forks for each moment: one process is killed before it changes a file for the k-th time, the next
# one labels what it left. No thread is started before.
KILLED = """
import json, os, shutil, sys
import numpy as np, zarr
import conncomp
from conncomp.chunked.volumes import volume
from conncomp.chunked.volumes.formats import slices
volume.BLOCK, slices.SLAB = 1, 60
sys.dont_write_bytecode = True
target, step, moment = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.truncate"}

def kill_before(moment):
    left = [moment]
    def hook(event, given):
        is_write = event == "open" and (given[2] or 0) & (os.O_RDWR | os.O_WRONLY)
        if is_write or event in CHANGES:
            left[0] -= 1
            if left[0] == 0:
                os._exit(9)
    sys.addaudithook(hook)

def in_a_process(function, *given):
    pid = os.fork()
    if pid == 0:
        try:
            function(*given)
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def check(name):
    read = np.load(target) if target.endswith(".npy") else zarr.open_array(target, mode="r")[...]
    np.testing.assert_array_equal(read, np.load(f"labels-{name}.npy"), strict=True)

def label(moment):
    conncomp.set_num_threads(1)
    kill_before(moment)
    conncomp.label_file("first.npy", target)

def label_another():
    conncomp.set_num_threads(1)
    try:
        conncomp.label_file("second.npy", target)
    except ValueError as error:
        assert "as source differ; remove it to begin anew" in str(error), error
    except FileExistsError:
        check("first")
    else:
        check("second")
        shutil.rmtree(target) if os.path.isdir(target) else os.remove(target)

def label_on():
    conncomp.set_num_threads(1)
    try:
        conncomp.label_file("first.npy", target)
    except FileExistsError as error:
        # Between the last removals: there is nothing to go on with.
        assert error.filename == target, error
        left = f"{target}.partial"
        assert not os.path.exists(left) or set(os.listdir(left)) <= {"conncomp.lock"}
    check("first")

status, found = 9, []
while status == 9:
    moment += step
    status = in_a_process(label, moment)
    assert status in (0, 9), status
    assert in_a_process(label_another) == 0, moment
    assert in_a_process(label_on) == 0, moment
    found.append(sorted(name for name in os.listdir() if name.startswith("l.")))
    for name in os.listdir():
        if name.startswith("l."):
            shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)
print(json.dumps([moment, found]))
"""


@pytest.mark.soak
@pytest.mark.parametrize(("target", "step", "after"), [("l.npy", 1, 15), ("l.zarr", 5, 0)])
def test_killed_before_changes_of_files(tmp_path, target, step, after):
    """Whatever was left: another source gets its own labels or an error, the same goes on."""
    for name, array in (("first", FIRST), ("second", SECOND)):
        np.save(tmp_path / f"{name}.npy", array)
        np.save(tmp_path / f"labels-{name}.npy", conncomp.label(array))
    done = in_python(KILLED, target, str(step), str(after), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    moments, found = json.loads(done.stdout)
    assert moments > 30
    # But for a kill between the last two removals, nothing is left beside the target.
    assert all(names in ([target], [target, f"{target}.partial"]) for names in found)
    assert sum(len(names) == 2 for names in found) <= 3


class FullDisk(io.FileIO):
    """Files of which the k-th write, counted over all of them, writes a half and then fails."""

    left = 0

    def write(self, content):
        FullDisk.left -= 1
        if FullDisk.left == 0:
            super().write(memoryview(content).cast("B")[: len(content) // 2])
        if FullDisk.left <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(content)


def open_on_a_full_disk(path, mode="r", buffering=-1, *text, **more):
    if not set("wax+") & set(mode):
        return OPEN(path, mode, buffering, *text, **more)
    raw = FullDisk(path, mode.replace("b", ""))
    file = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
    return file if "b" in mode else io.TextIOWrapper(file, *text, **more)


OPEN = io.open


def error_of(source, target):
    """Label; return the error of the system, if there is one."""
    try:
        conncomp.label_file(source, target)
    except OSError as error:
        return error
    return None


@pytest.mark.parametrize("target", ["l.zarr", "l.npy"])
def test_a_disk_that_is_full_at_any_write(tmp_path, monkeypatch, target):
    """Nothing half-written has the name of labels, or is taken for whole when there is room."""
    monkeypatch.setattr(volume, "BLOCK", 1)
    source = write_zarr(tmp_path / "v.zarr", FIRST, (2, 3, 5))
    wanted, failed = conncomp.label(FIRST), 0
    for k in RNG.permutation(40)[:16]:
        with monkeypatch.context() as patch:
            patch.setattr(io, "open", open_on_a_full_disk)
            FullDisk.left = int(k) + 1
            error = error_of(source, tmp_path / target)
        if error is not None:
            failed += 1
            assert (error.errno, (tmp_path / target).exists()) == (errno.ENOSPC, False)
            assert f"{target}.partial" in str(error.filename)
            conncomp.label_file(source, tmp_path / target)
        np.testing.assert_array_equal(read_labels(tmp_path / target), wanted)
        assert sorted(os.listdir(tmp_path)) == [target, "v.zarr"]
        (tmp_path / target).rename(tmp_path.parent / f"{tmp_path.name}-{k}")
    assert failed > 9


HOLDING = """
import sys, time, conncomp
from conncomp.chunked.volumes import volume
volume.BLOCK = 1
def wait(done, total):
    print(done, flush=True)
    time.sleep(20)
conncomp.label_file(sys.argv[1], sys.argv[2], progress=wait)
"""


def test_one_process_at_a_time(tmp_path, monkeypatch):
    """The other one is told who has the target, and goes on when that is killed."""
    monkeypatch.setattr(volume, "BLOCK", 1)
    source = write_zarr(tmp_path / "v.zarr", FIRST, (2, 3, 5))
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, source, tmp_path / "l.zarr"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline()
        with pytest.raises(FileExistsError, match=rf"in use by process {process.pid} of .*wait"):
            conncomp.label_file(source, tmp_path / "l.zarr")
        process.send_signal(signal.SIGKILL)
    conncomp.label_file(source, tmp_path / "l.zarr")
    np.testing.assert_array_equal(read_labels(tmp_path / "l.zarr"), conncomp.label(FIRST))

    def again(done, total):
        conncomp.label_file(source, tmp_path / "m.zarr")

    with pytest.raises(FileExistsError, match=f"in use by process {os.getpid()} of"):
        conncomp.label_file(source, tmp_path / "m.zarr", progress=again)


def test_a_lock_that_is_no_file_of_ours(tmp_path):
    """A link in its place is not written through."""
    np.save(tmp_path / "v.npy", FIRST)
    (tmp_path / "l.npy.partial").mkdir()
    (tmp_path / "other").write_text("other")
    (tmp_path / "l.npy.partial/conncomp.lock").symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match=r"l\.npy\.partial"):
        conncomp.label_file(tmp_path / "v.npy", tmp_path / "l.npy")
    assert (tmp_path / "other").read_text() == "other"


@pytest.mark.soak
def test_memory_is_a_limit(tmp_path):
    """Of a volume of ten times the limit; measured by the system."""
    array = zarr.create_array(
        store=str(tmp_path / "v.zarr"), shape=(250, 1000, 1250), chunks=(50, 100, 125), dtype="f8"
    )
    array[:, 500, 500] = 1
    array[7, 3] = 2
    assert array.nbytes >= 10 * 250_000_000
    source, target = str(tmp_path / "v.zarr"), str(tmp_path / "l.zarr")
    status, found, error, peak = measured(source, "-o", target, "--memory", "250M")
    assert (status, error) == (0, "")
    assert [one["size"] for one in json.loads(found)["largest"]] == [1250]
    assert json.loads(found)["foreground"] == 1500
    assert peak <= 250_000_000
