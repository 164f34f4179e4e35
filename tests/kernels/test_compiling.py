"""A line of progress while kernels are compiled, for a person who waits."""

import io
import sys
import threading
import time
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from conncomp import kernels
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


@pytest.mark.parametrize("ahead", [False, True])
def test_a_share_of_shared_memory_is_set_whoever_compiles(ahead, monkeypatch):
    gpu, module = ManyModules(), ("a.cuh", ("f<int>", "g<int>"))
    functions = [SimpleNamespace(preferred_shared_memory_carveout=-1) for _ in range(2)]
    monkeypatch.setattr(gpu, "_compile", lambda *_: functions)
    if ahead:
        gpu.load_at_once([module])
        gpu.load(*module)
    assert [function.preferred_shared_memory_carveout for function in functions] == [-1] * 2
    gpu.load(*module, 50)
    assert [function.preferred_shared_memory_carveout for function in functions] == [50] * 2
    gpu.load(*module)
    assert [function.preferred_shared_memory_carveout for function in functions] == [50] * 2


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


def test_modules_are_compiled_while_a_context_loads_others(monkeypatch):
    terminal = at_terminal(monkeypatch)
    gpu, ahead = ManyModules(), [("b.cuh", ("g<int>",)), ("b.cuh", ("h<int>",))]
    start = time.perf_counter()
    with gpu.loading(ahead):
        gpu.load("a.cuh", ("f<int>",))
    assert time.perf_counter() - start < 0.8
    assert gpu.devices == [3] * 2
    assert terminal.getvalue().count("compiles") == 1
    with gpu.loading(ahead):
        kernels = [gpu.load(*group) for group in ahead]
    assert [kernel.name for of in kernels for kernel in of] == ["g", "h"]
    assert len(gpu.compiled) == 3


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_context_waits_for_its_threads(error):
    gpu, before = ManyModules(), threading.active_count()
    with pytest.raises(error, match="now"), gpu.loading([("b.cuh", ("g<int>",))]):
        raise error("now")
    assert threading.active_count() == before
    assert gpu.compiled == [("g<int>",)]
    gpu.load("b.cuh", ("g<int>",))
    assert gpu.compiled == [("g<int>",)] * 2  # where CuPy finds it


def test_what_fails_in_a_thread_is_told_at_the_end_of_the_context():
    gpu = ManyModules()
    for _ in range(2):
        with pytest.raises(ValueError, match="no such file"), gpu.loading([("none", ("g<int>",))]):
            gpu.load("a.cuh", ("f<int>",))
    assert sorted(gpu.compiled) == [("f<int>",), ("g<int>",), ("g<int>",)]


def test_a_time_limit_does_not_count_what_a_context_waits_for():
    gpu = ManyModules()
    with kernels.time_limit(10):
        before = kernels.seconds_left()
        with gpu.loading([("b.cuh", ("g<int>",))]):
            pass
        assert kernels.seconds_left() > before - 0.2
