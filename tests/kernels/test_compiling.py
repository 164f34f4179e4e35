"""A line of progress while kernels are compiled, for a person who waits."""

import io
import sys
import time
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from conncomp.kernels.cuda import compiling
from conncomp.kernels.cuda.launcher import Gpu


class Terminal(io.StringIO):
    def isatty(self):
        return True


class SlowGpu(Gpu):
    """One that compiles for so many seconds."""

    def __init__(self, seconds):
        self._kernels, self.seconds = {}, seconds

    def _compile(self, file, names):
        time.sleep(self.seconds)
        if file == "none":
            raise ValueError("no such file")
        return [print for _ in names]


def at_terminal(monkeypatch, patience=0.02):
    """Let a terminal be standard error, as pytest itself does between a fixture and a test."""
    monkeypatch.setattr(compiling, "PATIENCE", patience)
    monkeypatch.setattr(sys, "stderr", Terminal())
    return sys.stderr


def test_a_line_is_shown_and_taken_away(monkeypatch):
    terminal = at_terminal(monkeypatch)
    gpu = SlowGpu(0.2)
    gpu.load("cuda/graph/ecl.cuh", ("ecl_low<int32_t>",))
    line = (
        f"{compiling.CLEARED}conncomp compiles kernels for this GPU, this once: cuda/graph/ecl.cuh"
    )
    assert terminal.getvalue() == line + compiling.CLEARED
    gpu.load("cuda/graph/ecl.cuh", ("ecl_low<int32_t>",))
    assert terminal.getvalue() == line + compiling.CLEARED


def test_what_is_soon_compiled_is_not_told(monkeypatch):
    terminal = at_terminal(monkeypatch, 10)
    SlowGpu(0).load("cuda/graph/ecl.cuh", ("ecl_low<int32_t>",))
    assert terminal.getvalue() == ""


def test_the_line_is_taken_away_where_compilation_fails(monkeypatch):
    terminal = at_terminal(monkeypatch)
    with pytest.raises(ValueError, match="no such file"):
        SlowGpu(0.2).load("none", ("ecl_low<int32_t>",))
    assert terminal.getvalue().endswith(compiling.CLEARED)


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_programs_are_told_nothing(monkeypatch, stream):
    monkeypatch.setattr(compiling, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", stream)
    SlowGpu(0.05).load("cuda/graph/ecl.cuh", ("ecl_low<int32_t>",))
    assert stream is None or stream.getvalue() == ""


class ManyModules(SlowGpu):
    """One that takes a second for three modules if it compiles one after the other."""

    def __init__(self):
        super().__init__(0.3)
        self.devices, self.compiled = [], []
        self.device = 3
        self.xp = SimpleNamespace(cuda=SimpleNamespace(Device=self._current))

    def _current(self, device):
        self.devices.append(device)
        return nullcontext()

    def _compile(self, file, names):
        self.compiled.append(names)
        return super()._compile(file, names)


def test_modules_are_compiled_at_once(monkeypatch):
    terminal = at_terminal(monkeypatch)
    gpu = ManyModules()
    groups = [("a.cuh", ("f<int>",)), ("a.cuh", ("g<int>", "h<int>")), ("b.cuh", ("f<int>",))]
    start = time.perf_counter()
    gpu.load_at_once(groups)
    assert time.perf_counter() - start < 0.8
    assert gpu.devices == [3] * 3
    assert terminal.getvalue().count("a.cuh") == 1
    gpu.load_at_once(groups)
    kernels = [gpu.load(*group) for group in groups]
    assert [[kernel.name for kernel in of] for of in kernels] == [["f"], ["g", "h"], ["f"]]
    assert sorted(gpu.compiled) == [("f<int>",), ("f<int>",), ("g<int>", "h<int>")]


def test_one_missing_module_takes_no_thread():
    gpu = ManyModules()
    gpu.load("a.cuh", ("f<int>",))
    gpu.load_at_once([("a.cuh", ("f<int>",)), ("a.cuh", ("g<int>",))])
    assert gpu.devices == []
    assert gpu.compiled == [("f<int>",), ("g<int>",)]


def test_a_module_that_fails_is_told_and_asked_for_again():
    gpu = ManyModules()
    for _ in range(2):
        with pytest.raises(ValueError, match="no such file"):
            gpu.load_at_once([("a.cuh", ("f<int>",)), ("none", ("g<int>",))])
