"""Kernels that a run of all tests asks for are compiled together."""

import numpy as np
import pytest

from conncomp.kernels.cuda.launcher import launch
from host_cuda import asked_for, host_gpu
from host_cuda.host_gpu import AVAILABLE, HostGpu
from specialisations import names_by_file

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="needs Linux and a C++ compiler")

KERNELS = """// In {folder}.
#pragma once
namespace conncomp {{
template <int N>
__global__ void store(int* place) {{
  static_assert(N > 0);
  place[0] = N;
}}
}}  // namespace conncomp
"""


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Return what gives the value that a kernel stores, and how many each compiler was given."""
    (tmp_path / "store.cuh").write_text(KERNELS.format(folder=tmp_path))
    compiled, compile_one = [], host_gpu._compile

    def compile_and_count(name, text, flags, *places):
        compile_one(name, text, flags, *places)
        compiled.append(len(places))

    monkeypatch.setattr(host_gpu, "_compile", compile_and_count)

    def stored(number):
        gpu, place = HostGpu(include=tmp_path), np.zeros(1, np.int32)
        (kernel,) = gpu.load("store.cuh", (f"store<{number}>",))
        launch(kernel, (1, 1), place, shared=0)
        return place[0]

    HostGpu(include=tmp_path).load("store.cuh", ("store<1>",))  # and the executor
    compiled.clear()
    return stored, compiled


def listing(monkeypatch, *numbers):
    names = {"plain store.cuh": tuple(f"store<{n}>" for n in numbers)}
    monkeypatch.setattr(asked_for, "_parts", lambda: names)
    monkeypatch.setenv(asked_for.USED, "1")


def test_some_at_once(stored, monkeypatch):
    stored, compiled = stored
    listing(monkeypatch, *range(1, 20))
    assert [stored(n) for n in (5, 2, 19)] == [5, 2, 19]
    assert compiled == [asked_for.AT_ONCE, 18 - asked_for.AT_ONCE]
    assert stored(30) == 30  # which the list lacks
    assert compiled[2:] == [1]


def test_what_is_asked_for_alone(stored, monkeypatch):
    stored, compiled = stored
    listing(monkeypatch, *range(1, 20))
    monkeypatch.delenv(asked_for.USED)
    assert [stored(n) for n in (5, 2)] == [5, 2]
    assert compiled == [1, 1]


def test_a_list_that_is_older_than_the_kernels(stored, monkeypatch):
    stored, compiled = stored
    listing(monkeypatch, 0, 7)
    assert stored(3) == 3
    assert compiled == [1]


def test_few_tests_do_not_look_ahead(monkeypatch):
    monkeypatch.setenv(asked_for.USED, "")
    asked_for.look_ahead(100)
    assert asked_for.ahead(None, "cuda/graph/ecl.cuh") == ()
    asked_for.look_ahead(asked_for.TESTS_OF_ALL)
    assert asked_for.ahead(None, "cuda/graph/ecl.cuh")


def test_what_is_asked_for_is_written_down(tmp_path, monkeypatch):
    monkeypatch.setenv(asked_for.KEPT, str(tmp_path))
    asked_for.keep(None, "b.cuh", ["two", "one<1>"])
    asked_for.keep("address", "a.cuh", ["three"])
    asked_for.keep(None, "b.cuh", ["one<1>"])
    (kept,) = tmp_path.iterdir()
    text = asked_for.listed(kept.read_text())
    assert text == "address a.cuh\n  three\nplain b.cuh\n  one<1>\n  two\n"
    assert asked_for.listed(text) == text


def test_most_names_of_the_list_are_those_of_drivers():
    """Where they are not, it is time to write it again."""
    text = asked_for.LIST.read_text()
    assert text == asked_for.listed(text)
    parts = asked_for.parts_in(text)
    listed = {f"{part.split()[1]} {name}" for part, names in parts.items() for name in names}
    known = {f"{file} {name}" for file, names in names_by_file().items() for name in names}
    known = {name.replace("conncomp::", "") for name in known}
    assert len(listed & known) > 0.9 * len(listed)
