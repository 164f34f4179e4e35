"""``conncomp bench paper``, on the CPU and on the host executor with a clock that is not real."""

import json
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from conncomp.bench import devices
from conncomp.bench.papers import PAPERS
from conncomp.bench.papers.hawick_2010 import kawasaki, phase_separation
from conncomp.bench.papers.hawick_2010.laboratory import Laboratory as Laboratory2010
from conncomp.bench.papers.weigel_2011 import clusters, fits, laboratory
from conncomp.bench.papers.weigel_2011.laboratory import AUTO, Laboratory, of_tiles
from conncomp.grid import labelling
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.models import Potts, _cahn_hilliard_cuda, _cuda, _kawasaki_cuda
from host_cuda.host_gpu import AVAILABLE, HostGpu

FIGURES = PAPERS["weigel-2011"].figures
ON_CPU = [name for name, figure in FIGURES.items() if figure.on_cpu]
ON_GPU = ALGORITHMS["cuda"]  # before a test puts others in their place
COMMAND = "paper", "weigel-2011", "--size", "tiny", "-o", "out"


def written():
    return json.loads(Path("out/weigel-2011.json").read_text())


@pytest.fixture
def host(gpu, monkeypatch):
    """Let the host executor be the GPU; each kernel, and each call, takes longer than the last."""
    if not AVAILABLE:
        pytest.skip("there is nothing that the host executor needs")
    executor, milliseconds = HostGpu(), count(1)
    monkeypatch.setitem(ALGORITHMS, "cuda", ON_GPU)
    for module in (laboratory, _cuda, _cahn_hilliard_cuda, _kawasaki_cuda):
        monkeypatch.setattr(module, "current_gpu", lambda: executor)
    monkeypatch.setattr(devices.Cuda, "fetch", lambda _, array: array)
    monkeypatch.setattr(gpu.cuda, "get_elapsed_time", lambda *_: float(next(milliseconds)))
    return executor


@pytest.fixture
def on_host(host):
    device = devices.Cuda()
    with device.current():
        yield Laboratory(device, "tiny")


class TestCommand:
    def test_all_on_a_gpu(self, run, host):
        done = run(*COMMAND, "--device", "cuda")
        assert (done.exit_code, done.stderr) == (0, "")
        result = written()
        assert (result["format"], result["device"]) == ("conncomp-paper", "cuda")
        assert list(result["figures"]) == list(FIGURES)
        assert all(findings["rows"] for findings in result["figures"].values())
        pictures = {path.name for path in Path("out").glob("*.png")}
        assert len(pictures) == len(FIGURES)
        assert pictures >= {"figure-2.png", "figure-14.png", "table-1.png", "autocorrelation.png"}
        assert "Fig. 14" in done.stdout

    def test_all_on_the_cpu(self, run):
        done = run(*COMMAND)
        assert (done.exit_code, done.stderr) == (0, "")
        assert list(written()["figures"]) == ON_CPU

    def test_some(self, run):
        run(*COMMAND, "--figure", "13", "--figure", "11")
        assert list(written()["figures"]) == ["11", "13"]
        assert {path.name for path in Path("out").iterdir()} == {
            "weigel-2011.json",
            "figure-11.png",
            "figure-13.png",
        }

    def test_output_that_exists(self, run):
        assert run(*COMMAND, "--figure", "11").exit_code == 0
        before = Path("out/weigel-2011.json").stat().st_mtime_ns
        done = run(*COMMAND, "--figure", "11")
        assert done.exit_code == 2
        assert "weigel-2011.json is there already; --force replaces it" in done.stderr
        assert Path("out/weigel-2011.json").stat().st_mtime_ns == before
        assert run(*COMMAND, "--figure", "11", "--force").exit_code == 0

    def test_refused(self, run):
        assert "there is no '7'; there are 2, 6," in run(*COMMAND, "--figure", "7").stderr
        assert "is of kernels for a GPU" in run(*COMMAND, "--figure", "8").stderr
        assert not Path("out").exists()

    def test_interrupted(self, run, monkeypatch):
        """What is done stays."""

        def interrupt(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(Laboratory, "serial_sweep", interrupt)
        done = run(*COMMAND, "--figure", "10", "--figure", "11")
        assert done.exit_code == 130
        assert list(written()["figures"]) == ["10"]
        assert "Fig. 10" in done.stdout


class TestHawick:
    COMMAND = "paper", "hawick-2010", "--size", "tiny", "--figure", "18", "-o", "out"

    def findings(self):
        return json.loads(Path("out/hawick-2010.json").read_text())["figures"]["18"]

    def test_figure_18_on_the_cpu(self, run):
        done = run(*self.COMMAND)
        assert (done.exit_code, done.stderr) == (0, "")
        findings, scale = self.findings(), phase_separation.SCALES["tiny"]
        ways = {row["way"] for row in findings["rows"]}
        assert ways == {"the default", "CahnHilliard.labels", "CPU, one thread"}
        assert [row["length"] for row in findings["rows"]] == [16] * 3 + [32] * 3
        labellings = [row["labellings"] for row in findings["rows"][:3]]
        assert labellings == [4, 4, scale.steps // scale.every // scale.slow_every]
        for row in findings["rows"]:
            whole = row["seconds"] + scale.every * row["step_seconds"]
            assert row["share_of_run"] == pytest.approx(row["seconds"] / whole)
        assert findings["simulation"]["dt"] == pytest.approx(0.02)
        assert findings["published"]["CPU II over kernel D"] == 13
        assert Path("out/figure-18.png").stat().st_size > 1000

    def test_figure_18_on_a_gpu(self, run, host, monkeypatch):
        monkeypatch.setattr(labelling, "current_gpu", lambda: host)
        monkeypatch.setattr(labelling, "move_to_gpu", lambda xp, array: array)
        monkeypatch.setattr(labelling, "move_from_gpu", lambda array, out: np.copyto(out, array))
        done = run(*self.COMMAND, "--device", "cuda")
        assert (done.exit_code, done.stderr) == (0, "")
        findings = self.findings()
        ways = {row["way"] for row in findings["rows"]}
        assert {"kernel A", "kernel B", "kernel C", "kernel D"} < ways
        assert findings["fits"]["CPU, one thread over kernel D"] > 0

    def test_figures_of_exchange_dynamics(self, run):
        command = *self.COMMAND[:4], "-o", "out", "--figure", "2", "--figure", "3"
        done = run(*command)
        assert (done.exit_code, done.stderr) == (0, "")
        quench, surface = (
            json.loads(Path("out/hawick-2010.json").read_text())["figures"][name] for name in "23"
        )
        [row] = quench["rows"]
        assert len(quench["minority"]) == round(0.2 * 8**3)
        assert len(quench["largest"]) == row["largest_component"]
        assert set(quench["largest"]) <= set(quench["minority"])
        assert [(row["temperature"], row["fraction"]) for row in surface["rows"]] == [
            (pytest.approx(over * 6.35435, rel=1e-5), pytest.approx(share))
            for over in (0.3, 0.9, 1.5)
            for share in (1 / 6, 1 / 3, 1 / 2)
        ]
        for row in surface["rows"]:
            assert 0 < row["largest_of_system"] <= row["fraction"] + 1 / 8**3
        assert surface["simulation"]["sweeps"] == 20
        files = {"hawick-2010.json", "figure-2.png", "figure-3.png"}
        assert {path.name for path in Path("out").iterdir()} == files

    def test_figures_of_exchange_dynamics_on_a_gpu(self, run, host):
        command = *self.COMMAND[:4], "--figure", "2", "--figure", "3", "-o"
        assert run(*command, "cpu").exit_code == 0
        done = run(*command, "cuda", "--device", "cuda")
        assert (done.exit_code, done.stderr) == (0, "")
        cpu, cuda = (
            json.loads(Path(folder, "hawick-2010.json").read_text())["figures"]
            for folder in ("cpu", "cuda")
        )
        assert cuda == cpu

    def test_a_surface_goes_on_from_its_checkpoint(self, tmp_path):
        laboratory, path = Laboratory2010(devices.Cpu(), "tiny"), tmp_path / "checkpoint"
        whole = kawasaki.surface(laboratory)
        first = kawasaki.surface(laboratory, path)
        begin = path.stat().st_mtime_ns
        assert kawasaki.surface(laboratory, path) == first == whole
        assert path.stat().st_mtime_ns > begin

    def test_labels_that_differ_are_noticed(self):
        labels = {"the default": np.zeros(4), "kernel A": np.ones(4)}
        with pytest.raises(RuntimeError, match="kernel A and the default differ on a field of 2"):
            phase_separation._check(labels, 2)


class TestLaboratory:
    @pytest.mark.parametrize("way", [AUTO, of_tiles("sewing", 8), of_tiles("relaxation", 8)])
    def test_stages(self, on_host, way):
        row = on_host.sweep(32, way)
        stages = [row[f"{name}_ns"] for name in ("activation", "local", "consolidation", "flip")]
        assert min(stages) > 0
        assert on_host.sweep(32, way) == row

    def test_equilibrium_is_shared(self, on_host):
        spins = on_host.model(16).spins
        for model in (on_host.model(16, of_tiles("sewing", 4)), on_host.model(16, serial=True)):
            np.testing.assert_array_equal(model.spins, spins)

    def test_wrong_labels_are_noticed(self, on_host, monkeypatch):
        monkeypatch.setattr(laboratory, "label_bonds", lambda bonds, **_: np.zeros(bonds.shape))
        with pytest.raises(RuntimeError, match="wrong labels"):
            on_host.labelling(16, 4, "sewing")

    def test_relaxations(self, on_host, monkeypatch):
        """A path along a row lowers labels until they are those of its first tile."""
        bonds = np.zeros((16, 16), np.uint8)
        bonds[0, :-1] = 2
        monkeypatch.setattr(on_host, "bonds", lambda _: [bonds])
        assert 1 <= on_host.labelling(16, 4, "relaxation")["relaxations"] <= 3
        bonds[:] = 0
        assert on_host.labelling(16, 8, "relaxation")["relaxations"] == 0
        assert on_host.labelling(16, 4, "sewing")["relaxations"] == 0

    def test_flipped_share(self):
        model = Potts((8, 8), seed=3)

        def flip_a_row():
            spins = model.spins
            spins[0] = 1 - spins[0]
            model.restore(Potts((8, 8), start=spins).state())

        assert clusters.flipped_share(model, flip_a_row, 3) == 1 / 8


class TestFits:
    def test_power_law(self):
        law = fits.power_law([1, 2, 4, 8], [3, 3 * 2**1.08, 3 * 4**1.08, 3 * 8**1.08])
        assert law == pytest.approx((3, 1.08, 0), abs=1e-9)
        assert fits.power_law([4, 4], [1, 2]) is None
        scattered = fits.power_law([1, 2, 4], [1, 2.2, 4])
        assert scattered.error > 0.01

    def test_errors_weigh(self):
        law = fits.power_law([1, 2, 4], [1, 2, 100], [1e-3, 2e-3, 1e5])
        assert law.exponent == pytest.approx(1, abs=1e-3)
        assert law.error == pytest.approx(1e-3 * np.sqrt(2) / np.log(2), rel=0.01)

    def test_sum_of_terms(self):
        u, v = np.array([1, 2, 3, 4.0]), np.array([1, 1, 2, 2.0])
        assert fits.sum_of_terms(u, v, 5 * u + 7 * v) == pytest.approx((5, 7, 0))
        assert fits.sum_of_terms(u[:2], v[:2], u[:2]) is None

    def test_best_tiles(self):
        """They are where the times that they follow from are least."""
        sides = np.linspace(1, 200, 19_901)
        of_sewing = 3e-9 * sides**fits.D_MIN + 2e-7 / sides
        best = sides[np.argmin(of_sewing)]
        assert fits.best_tile_of_sewing(3e-9, 2e-7) == pytest.approx(best, abs=0.02)
        relaxed = 3e-9 * sides**fits.D_MIN + 2e-10 * 512**fits.D_MIN / sides ** (fits.D_MIN + 1)
        best = sides[np.argmin(relaxed)]
        assert fits.best_tile_of_relaxation(3e-9, 2e-10, 512) == pytest.approx(best, abs=0.02)

    def test_levels(self):
        assert fits.levels(64, 16) == 3
