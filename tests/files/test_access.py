import contextlib
import errno
import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import conncomp
from conncomp.files import access, parts
from conncomp.files.parts import whole
from conncomp.io import atomic_path
from conncomp.models.checkpoint import write_checkpoint
from measured_command import in_python


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "out.txt"
    for text in ("first", "second"):
        with atomic_path(path) as temporary:
            assert temporary.parent == tmp_path
            assert temporary.suffix == ".txt"
            temporary.write_text(text)
        assert path.read_text() == text
    assert os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("exists", [False, True])
def test_failure_leaves_nothing_and_keeps_the_old(tmp_path, failure, exists):
    path = tmp_path / "out.txt"
    if exists:
        path.write_text("old")

    def fail():
        with atomic_path(path) as temporary:
            temporary.write_text("half")
            raise failure

    with pytest.raises(failure):
        fail()
    assert os.listdir(tmp_path) == (["out.txt"] if exists else [])
    assert not exists or path.read_text() == "old"


WRITERS = {module.__file__ for module in (access, parts, contextlib)}


class Interrupts:
    """Raises KeyboardInterrupt before the line of a writer that has some number."""

    def __init__(self, number):
        self.left = number

    def __call__(self, frame, event, argument):
        if frame.f_code.co_filename not in WRITERS:
            return None
        if event == "line":
            self.left -= 1
            if self.left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self


def write_interrupted(writer, path, failure, number):
    """Write a file with an interrupt; return whether it came."""
    interrupts, before = Interrupts(number), sys.gettrace()
    try:
        sys.settrace(interrupts)
        with writer(path) as temporary:
            temporary.write_text("new")
            if failure:
                raise failure
        sys.settrace(None)
    except (KeyboardInterrupt, ValueError):
        pass
    finally:
        sys.settrace(before)
    return interrupts.left < 0


# A file that an interrupt keeps from being closed is closed as Python forgets it.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("writer", [atomic_path, whole])
@pytest.mark.parametrize("failure", [None, ValueError])
@pytest.mark.parametrize("exists", [False, True])
def test_an_interrupt_at_any_line_leaves_nothing(tmp_path, monkeypatch, writer, failure, exists):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # which may take long
    path = tmp_path / "out.txt"
    number, found = 0, set()
    while True:
        path.unlink(missing_ok=True)
        if exists:
            path.write_text("old")
        came = write_interrupted(writer, path, failure, number)
        names = os.listdir(tmp_path)
        assert set(names) <= {"out.txt"}, number
        found.add(path.read_text() if names else None)
        if not came:
            break
        number += 1
    assert number > 20
    assert found == {"old" if exists else None} | ({"new"} if failure is None else set())


def test_permissions_are_those_of_any_new_file_or_of_the_old(tmp_path):
    (tmp_path / "plain").write_text("")
    path = tmp_path / "out.txt"
    with atomic_path(path):
        pass
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
    path.chmod(0o640)
    with atomic_path(path):
        pass
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_follows_a_symbolic_link(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    with atomic_path(tmp_path / "link.txt") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_device_gets_a_copy():
    with atomic_path(os.devnull) as temporary:
        temporary.write_text("gone")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_pipe_gets_a_copy_of_what_is_complete(tmp_path):
    pipe = tmp_path / "pipe.npy"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    with pytest.raises(ZeroDivisionError), atomic_path(pipe) as temporary:
        temporary.write_text(str(1 / 0))
    with atomic_path(pipe) as temporary, temporary.open("wb") as file:
        file.write(b"first")
        file.seek(0)  # which no pipe can
        file.write(b"F")
    reader.join(timeout=10)
    assert received == [b"First"]
    assert os.listdir(tmp_path) == ["pipe.npy"]


def test_the_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    path = tmp_path / "out.txt"
    log = []

    def note(descriptor, fsync=os.fsync):
        where = os.readlink(f"/proc/self/fd/{descriptor}")
        log.append((Path(where).name.partition("-")[0], path.exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    with atomic_path(path) as temporary:
        temporary.write_text("new")
    assert log == [(".out.conncomp", False), (tmp_path.name.partition("-")[0], True)]


def test_an_error_on_the_way_names_the_target(tmp_path):
    path = tmp_path / "out.txt"

    def fail(name):
        with atomic_path(path) as temporary:
            raise OSError(errno.ENOSPC, "No space left on device", name and str(temporary))

    for name in (None, "temporary"):
        with pytest.raises(OSError, match="No space left") as caught:
            fail(name)
        assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    with pytest.raises(OSError, match="other") as caught, atomic_path(path):
        raise OSError(errno.EIO, "other", "input.npy")
    assert caught.value.filename == "input.npy"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_a_full_device(tmp_path):
    (tmp_path / "full.npy").symlink_to("/dev/full")
    for size in (10, 1 << 20):
        with pytest.raises(OSError, match="No space left") as caught:
            conncomp.write_image(tmp_path / "full.npy", np.zeros(size, np.uint8))
        assert caught.value.filename == str(tmp_path / "full.npy")


LIMITED = """
import resource, signal, sys
import numpy as np
import conncomp
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
random = np.random.default_rng(0).integers(0, 1 << 30, (300, 300), np.int32)
for name in ("a.npy", "a.npz", "a.tif", "a.png"):
    try:
        conncomp.write_image(name, random % (1 << 16) if name == "a.png" else random)
    except OSError as error:
        print(error.filename, error.strerror)
"""


def test_a_disk_that_fills_up(tmp_path):
    (tmp_path / "a.npy").write_bytes(b"old")
    result = in_python(LIMITED, cwd=tmp_path)
    names = [f"{name} File too large" for name in ("a.npy", "a.npz", "a.tif", "a.png")]
    assert (result.stdout.splitlines(), result.stderr) == (names, "")
    assert os.listdir(tmp_path) == ["a.npy"]
    assert (tmp_path / "a.npy").read_bytes() == b"old"


HOLDING = """
import sys
from conncomp.io import atomic_path
with atomic_path(sys.argv[1]) as temporary:
    print(temporary, flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_process_left_is_removed_but_not_what_a_living_one_writes(tmp_path):
    path = tmp_path / "out [1].npy"
    other = tmp_path / ".out [1].conncomp-link.npy"

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDING, path], stdin=-1, stdout=-1, text=True
        )
        return process, Path(process.stdout.readline().rstrip())

    killed, orphan = start()
    with killed:
        killed.kill()
    assert orphan.exists()
    (tmp_path / "precious.npy").write_text("kept")
    other.symlink_to("precious.npy")
    living, temporary = start()
    with living:
        assert not orphan.exists()
        write = [path, temporary, tmp_path / "precious.npy", other]
        with atomic_path(path):
            pass
        assert sorted(tmp_path.iterdir()) == sorted(write)
        living.communicate("", timeout=60)
    assert living.returncode == 0
    assert sorted(tmp_path.iterdir()) == sorted(set(write) - {temporary})


def test_a_drive_without_locks(tmp_path, monkeypatch):
    def fail(descriptor, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", fail)
    (tmp_path / ".out.conncomp-0.txt").touch()
    with atomic_path(tmp_path / "out.txt"):
        pass
    assert sorted(os.listdir(tmp_path)) == [".out.conncomp-0.txt", "out.txt"]


def test_a_name_that_is_not_utf_8(tmp_path):
    path = tmp_path / os.fsdecode(b"\xff\xe9.npy")
    conncomp.write_image(path, np.eye(3))
    assert os.listdir(os.fsencode(tmp_path)) == [b"\xff\xe9.npy"]
    assert (conncomp.read_image(path) == np.eye(3)).all()


def test_a_link_that_leads_to_itself(tmp_path):
    (tmp_path / "a.npy").symlink_to("b.npy")
    (tmp_path / "b.npy").symlink_to("a.npy")
    with pytest.raises(OSError, match="symbolic links"), atomic_path(tmp_path / "a.npy"):
        pass
    assert sorted(os.listdir(tmp_path)) == ["a.npy", "b.npy"]


def test_names_what_cannot_be_written(tmp_path):
    with pytest.raises(IsADirectoryError, match=str(tmp_path)), atomic_path(tmp_path):
        pass
    path = tmp_path / "absent" / "out.txt"
    with pytest.raises(FileNotFoundError) as caught, atomic_path(path):
        pass
    assert caught.value.filename == str(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_respects_permissions(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match=str(path)), atomic_path(path):
        pass
    tmp_path.chmod(0o555)
    with pytest.raises(PermissionError, match="new"), atomic_path(tmp_path / "new.txt"):
        pass
    tmp_path.chmod(0o755)


TAKERS = {
    "Graph.read": conncomp.Graph.read,
    "read_image": conncomp.read_image,
    "write_image": lambda path: conncomp.write_image(path, [[1]]),
    "write_view": lambda path: conncomp.write_view(path, [[1]]),
    "atomic_path": lambda path: atomic_path(path).__enter__(),
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize(
    ("path", "error"),
    [
        (None, TypeError),
        (10**6, TypeError),  # not the file that has this descriptor
        (["a.npy"], TypeError),
        (np.arange(3), TypeError),
        (b"a.npy", TypeError),
        ("a\0.npy", ValueError),
    ],
)
def test_what_is_no_path(tmp_path, monkeypatch, taker, path, error):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match="path="):
        TAKERS[taker](path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("free", [0, 999, 1000])
def test_what_has_no_room_is_not_begun(tmp_path, monkeypatch, free):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=free))
    path = tmp_path / "a.npy"
    if free == 1000:
        with atomic_path(path, 1000) as temporary:
            temporary.write_bytes(bytes(1000))
        return
    with pytest.raises(OSError, match="free on the disk; choose another") as caught:
        atomic_path(path, 1000).__enter__()
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    with pytest.raises(OSError, match="free on the disk"):
        conncomp.write_image(path, np.zeros(1000, np.uint8))
    graph = conncomp.ClusterPairs()
    graph.add(np.arange(900), np.arange(900) + 1)
    with pytest.raises(OSError, match="free on the disk"):
        graph.save(tmp_path / "a.clusters")
    with pytest.raises(OSError, match="free on the disk"):
        write_checkpoint(tmp_path / "a.checkpoint", {}, [np.zeros(1000)])
    assert os.listdir(tmp_path) == []
