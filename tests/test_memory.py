"""How much memory there is: what files of Linux say, and what is said without them."""

import sys
from pathlib import Path

import pytest

from conncomp import _memory

GIB = 1 << 30


@pytest.fixture
def files(monkeypatch):
    """The files of the system: no others are there."""
    texts = {}

    def read_text(path):
        if str(path) not in texts:
            raise FileNotFoundError(path)
        return texts[str(path)]

    monkeypatch.setattr(Path, "read_text", read_text)
    return texts


def test_this_machine():
    assert 1 << 20 < _memory.available_memory() <= _memory.total_memory()
    assert 0 < _memory.free_memory() <= _memory.available_memory() + GIB
    assert 1 << 20 < _memory.resident_memory() <= _memory.peak_memory() + (64 << 20)


def test_files_of_linux(files):
    files["/proc/meminfo"] = "MemTotal:  9 kB\nMemAvailable:    8388608 kB\n"
    files["/proc/self/status"] = "Name:\tpython\nVmHWM:\t  30 kB\nVmRSS:\t  20 kB\n"
    assert _memory.available_memory() == _memory.free_memory() == 8 * GIB
    assert (_memory.resident_memory(), _memory.peak_memory()) == (20 * 1024, 30 * 1024)


@pytest.mark.parametrize("names", _memory.GROUPS)
def test_group_of_the_process(files, names):
    files["/proc/meminfo"] = "MemAvailable: 8388608 kB\n"
    for limit, used, free in (("max", 1, 8 * GIB), (3 * GIB, GIB, 2 * GIB), (GIB, 2 * GIB, 0)):
        files |= dict(zip(names, (f"{limit}\n", f"{used}\n"), strict=True))
        assert _memory.free_memory() == free


def test_without_files(files, monkeypatch):
    assert 1 << 20 < _memory.available_memory() <= _memory.total_memory()
    assert 1 << 20 < _memory.resident_memory() == _memory.peak_memory()
    monkeypatch.delattr("os.sysconf")
    assert (_memory.available_memory(), _memory.total_memory()) == (None, 0)
    assert _memory.free_memory() == sys.maxsize
