import os
import stat

import pytest

from conncomp.io import atomic_path


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


def test_writes_to_a_device_directly():
    with atomic_path(os.devnull) as temporary:
        temporary.write_text("gone")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


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
