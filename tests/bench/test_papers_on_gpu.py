"""``benchmarks/papers_on_gpu.py``, on the host executor with a clock that is not real."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from conncomp.bench import runner
from host_cuda.host_gpu import AVAILABLE, HostGpu
from reference import components_by_search

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


@pytest.mark.parametrize("size", [2, 5, 12])
def test_roots_of_bonds(script, size):
    bonds = np.random.default_rng(size).integers(0, 4, (size, size)).astype(np.uint8)
    index = np.arange(size * size).reshape(size, size)
    arcs = []
    for axis in (0, 1):
        chosen = bonds >> axis & 1 != 0
        arcs.append(np.stack([index[chosen], np.roll(index, -1, axis)[chosen]], 1))
    expected = components_by_search(size * size, np.concatenate(arcs))
    np.testing.assert_array_equal(script.roots_of_bonds(bonds).ravel(), expected)


def test_best_tile(script):
    def row(side, size=64):
        local, sew = 3e-9 * side**script.D_MIN, 2e-7 / side
        phases = [{"local_self_label": local * size**2, "sew": sew * size**2}]
        return {"size": size, "tile": side, "phases": phases}

    best = script.best_tile([row(16), row(32)])
    sides = np.linspace(1, 64, 6301)
    assert best == pytest.approx(sides[np.argmin(3e-9 * sides**1.13 + 2e-7 / sides)], abs=0.02)
    assert script.best_tile([row(8)]) is None


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
        assert len(result["tiles"]) == 2 * (5 * 5 - 1)
        assert {row["reason"] for part in ("propagation", "tiles") for row in result[part]} == {
            None
        }
        assert set(result["tiles"][0]["phases"][0]) > {"start_labels", "sew", "flatten_tiles"}
        shown = capsys.readouterr().out
        assert "| spiral, 40² | 1.00 ms (1.00 D) | 1.00 ms (1.00 D) |" in shown
        assert "Eq. 24" in shown

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

    def test_picture(self, script):
        pytest.importorskip("matplotlib")
        script.main(["--size", "40", *UNHURRIED, "--picture", "out.png"])
        assert Path("out.png").stat().st_size > 10_000
