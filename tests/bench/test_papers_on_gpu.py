"""``benchmarks/papers_on_gpu.py``, on the host executor with a clock that is not real."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from conncomp.bench import runner
from host_cuda.host_gpu import AVAILABLE, HostGpu

# Before a test puts something else in the place of `conncomp.label`.
spec = spec_from_file_location(
    "papers_on_gpu", Path(__file__).parents[2] / "benchmarks" / "papers_on_gpu.py"
)
module = module_from_spec(spec)
spec.loader.exec_module(module)

# However slow the machine is on which the executor runs.
UNHURRIED = "--limit", "1000", "--seconds", "1000"


@pytest.fixture
def script(gpu, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "MOST_RUNS", 1)
    # Kernels of the host executor take NumPy's arrays, and a millisecond each.
    host = HostGpu()
    monkeypatch.setattr(module, "current_gpu", lambda: host)
    monkeypatch.setattr(module.Cuda, "place", lambda _, data: data)
    monkeypatch.setattr(module.Cuda, "fetch", lambda _, array: array)
    monkeypatch.setattr(gpu.cuda, "get_elapsed_time", lambda *_: 1.0)
    return module


def test_cells(script):
    once = {"seconds": [3.0], "reason": "timed once"}
    assert script._cell(once, 1e-3) == "3.00 s (3,000 D), once"
    given_up = {"seconds": [], "reason": "given up", "at_least": 4.0}
    assert script._cell(given_up, 1e-3) == "> 4.00 s (> 4,000 D)"
    assert script._cell({"seconds": [], "reason": script.WRONG}, None) == script.WRONG


@pytest.mark.skipif(not AVAILABLE, reason="needs Linux and a C++ compiler")
class TestRun:
    def test_all(self, script, capsys):
        script.main(["--size", "40", *UNHURRIED])
        result = json.loads(Path("papers-on-gpu.json").read_text())
        assert result["complete"]
        assert len(result["propagation"]) == 7 * 4
        assert {row["reason"] for row in result["propagation"]} == {None}
        shown = capsys.readouterr().out
        assert "| spiral, 40² | 1.00 ms (1.00 D) | 1.00 ms (1.00 D) |" in shown

    def test_given_up_and_stopped(self, script, capsys):
        script.main(["--size", "40", "--limit", "1e-9", "--seconds", "0"])
        result = json.loads(Path("papers-on-gpu.json").read_text())
        assert not result["complete"]
        (row,) = result["propagation"]
        assert (row["seconds"], row["reason"]) == ([], "given up after 1e-09 s")
        shown = capsys.readouterr().out
        assert "not complete: stopped after 0 s" in shown
        assert "| spiral, 2² | > 1.00 ns | - |" in shown

    def test_wrong_answer(self, script, monkeypatch):
        monkeypatch.setattr(script, "label", lambda values, **_: np.zeros(values.shape))
        with pytest.raises(SystemExit, match="wrong answers"):
            script.main(["--size", "40", "--seconds", "0"])
