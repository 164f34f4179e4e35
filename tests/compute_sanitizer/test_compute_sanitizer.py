"""NVIDIA's compute-sanitizer on every kernel, and that it is every kernel."""

import json
import subprocess
import sys

import pytest

from compute_sanitizer import sanitize
from compute_sanitizer.everything import PARTS
from compute_sanitizer.sanitize import EVERYTHING, Outcome, attempt, find_sanitizer, probe
from host_cuda.host_gpu import AVAILABLE, SANITIZERS, run_sanitized, sanitizer_library
from signatures import misfits
from specialisations import template_of, templates

host = pytest.mark.skipif(not AVAILABLE, reason="needs Linux and a C++ compiler")


@pytest.fixture(scope="module")
def works():
    """Return a function that skips where a tool does not work, as under some virtual machines."""
    reasons = {}

    def check(tool):
        if tool not in reasons:
            reasons[tool] = probe(tool, 100)
        if find_sanitizer() is None or "not supported" in (reasons[tool] or ""):
            pytest.skip(reasons[tool])
        assert reasons[tool] is None

    return check


@pytest.mark.gpu
@pytest.mark.parametrize("tool", sanitize.TOOLS)
def test_mistakes_are_found(works, tool):
    """An access beyond an array, a missing barrier; but not what is right."""
    works(tool)


@pytest.mark.gpu
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("tool", sanitize.TOOLS)
def test_everything(works, tool, part):
    works(tool)
    result = attempt(part, tool, 500)
    assert result.outcome == "passed", result.output[-10_000:]


@host
@pytest.mark.soak
def test_every_kernel_is_run(tmp_path):
    """On the host executor, whose answers are those of the CPU; a new driver needs a part.

    What a kernel is launched with are parameters of its own, to the types behind pointers.
    The tests of each room run its kernels there, too; what no part launches, `sanitize.py` lists
    when it is run on a GPU.
    """
    command = [sys.executable, EVERYTHING, *PARTS, "--host", "--launched", tmp_path / "launched"]
    code, output = sanitize.run(command, 900)
    assert code == 0, output[-5000:]
    lines = (tmp_path / "launched").read_text().splitlines()
    assert {template_of(line) for line in lines} == templates()
    assert misfits(lines) == []


# Models, whose kernels no other test runs so.
SANITIZED = "kawasaki", "tempering"


@pytest.mark.soak
@host
@pytest.mark.parametrize("part", SANITIZED)
@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_sanitized(sanitizer, part):
    if sanitizer_library(sanitizer) is None:
        pytest.skip(f"no runtime of the {sanitizer} sanitizer")
    code, output = run_sanitized(sanitizer, EVERYTHING, part, "--host")
    assert (code, "everything ran" in output) == (0, True), output[-10_000:]


# A stand-in for compute-sanitizer: it runs the command, and finds what is asked of it.
STAND_IN = """#!{python}
import os, subprocess, sys
command = [word for word in sys.argv[1:] if not word.startswith("--")]
if "-c" in command:
    wrong = "threadIdx.x + 1" in command[-1] or not command[-1].count("syncthreads")
    sys.exit(86 if wrong else 0)
if command[2] == "forests":
    print("========= ERROR SUMMARY: 3 errors"); sys.exit(86)
if command[2] == "growing":
    import time; time.sleep(60)
if command[2] == "paths":
    os.kill(os.getpid(), 9)
print("everything ran"); print("========= ERROR SUMMARY: 0 errors")
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    tool = tmp_path / "compute-sanitizer"
    tool.write_text(STAND_IN.format(python=sys.executable))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


@pytest.mark.soak
def test_whatever_becomes_of_parts_the_others_are_run(stand_in):
    """No GPU is needed for that: plain runs fail of it, which keeps nothing from going on."""
    parts = ["forests", "growing", "paths", "strong"]
    outcomes, unusable = sanitize.sanitize(parts, ["memcheck"], 15, jobs=4)
    assert not unusable
    assert {o.outcome for o in outcomes if o.tool == "none"} <= {"failed", "passed", "timed out"}
    found = {o.part: (o.outcome, o.errors) for o in outcomes if o.tool == "memcheck"}
    assert found == {
        "forests": ("errors", 3),
        "growing": ("timed out", None),
        "paths": ("failed", None),
        "strong": ("passed", 0),
    }


def test_no_time_is_left(stand_in):
    outcomes, _ = sanitize.sanitize(["strong"], [], 0.5, jobs=1)
    assert [o.outcome for o in outcomes] == ["not run"]


def test_what_is_missing_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(sanitize, "find_sanitizer", lambda: None)
    monkeypatch.setattr(
        sanitize, "attempt", lambda part, tool, left: Outcome(part, "none", "failed")
    )
    monkeypatch.setattr(sys, "argv", ["sanitize.py", str(tmp_path / "new"), "--parts", "paths"])
    with pytest.raises(SystemExit, match="True"):
        sanitize.main()
    summary = json.loads((tmp_path / "new" / "summary.json").read_text())
    assert "neither on PATH" in summary["tools that do not work here"]["memcheck"]
    assert [part["outcome"] for part in summary["parts"]] == ["failed"]


def test_kernels_that_are_left_out_are_listed():
    of_part = Outcome("paths", "memcheck", "passed", 0, ["a.cuh f"])
    late = Outcome("graphs", "memcheck", "timed out", None, ["a.cuh g"])
    summary = sanitize.summary_of([of_part, late], {}, {"a.cuh f", "a.cuh g"})
    assert summary["kernels in parts that passed"] == {"memcheck": 1}
    assert summary["kernels left out"] == {"memcheck": ["a.cuh g"]}


def test_the_script_is_one_command():
    done = subprocess.run(
        [sys.executable, EVERYTHING.with_name("sanitize.py"), "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "summary.json" in done.stdout
