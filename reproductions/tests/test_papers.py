"""``python -m reproductions``, on the CPU and on the host executor, by a clock that is not real."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conncomp.bench import devices
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.kernels.exchange import ExchangeLattice
from conncomp.models import Potts, base
from reproductions import PAPERS, fits
from reproductions.claims import Claim
from reproductions.hawick_2010 import kawasaki, phase_separation
from reproductions.laboratory import Laboratory as Laboratory2010
from reproductions.tests.paper_results import files, written
from reproductions.weigel_2011 import clusters, laboratory, sweeps
from reproductions.weigel_2011.laboratory import AUTO, Laboratory, of_tiles
from reproductions.weigel_2011.tiles import (
    D_MIN,
    best_tile_of_relaxation,
    best_tile_of_sewing,
    levels,
    sum_of_terms,
)

EXHIBITS = PAPERS["weigel-2011"].exhibits
ON_CPU = [name for name, exhibit in EXHIBITS.items() if "cpu" in exhibit.seconds]
ON_GPU = ALGORITHMS["cuda"]  # before a test puts others in their place
COMMAND = "weigel-2011", "-o", "out"


@pytest.fixture
def host(executor, monkeypatch):
    """Let the host executor be the GPU."""
    monkeypatch.setitem(ALGORITHMS, "cuda", ON_GPU)
    for module in (laboratory, base):
        monkeypatch.setattr(module, "current_gpu", lambda: executor)
    monkeypatch.setattr(devices.Cuda, "fetch", lambda _, array: array)
    return executor


@pytest.fixture
def on_host(host):
    device = devices.Cuda()
    with device.current():
        yield Laboratory(device, "small")


class TestCommand:
    @pytest.mark.soak
    def test_all_on_a_gpu(self, run, host):
        done = run(*COMMAND, "--all", "--device", "cuda")
        assert files(".json") == files(".png") == set(EXHIBITS)
        for name in EXHIBITS:
            result = written(name)
            assert (result["format"], result["device"]) == ("conncomp-paper", "cuda")
            assert (result["paper"], result["exhibit"]) == ("weigel-2011", name)
            assert result["rows"]
            assert result["took_seconds"] > 0
        assert "Fig. 14" in done.stdout

    def test_all_on_the_cpu(self, run):
        run(*COMMAND, "--all")
        assert files(".json") == set(ON_CPU)

    def test_some(self, run):
        run(*COMMAND, "--figure", "13", "--table", "1", "--exhibit", "figure-11")
        assert files(".json") == files(".png") == {"figure-11", "figure-13", "table-1"}

    @pytest.mark.soak
    def test_all_goes_on(self, run, monkeypatch):
        """What is done stays, and is not done again."""
        run(*COMMAND, "--figure", "10")
        before = Path("out/figure-10.json").stat().st_mtime_ns

        def interrupt(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Laboratory, "serial_sweep", interrupt)
            run(*COMMAND, "--all", code=130)
        assert files(".json") == {"figure-10"}
        run(*COMMAND, "--all")
        assert files(".json") == set(ON_CPU)
        assert Path("out/figure-10.json").stat().st_mtime_ns == before

    def test_output_that_exists(self, run):
        run(*COMMAND, "--figure", "11")
        before = Path("out/figure-11.json").stat().st_mtime_ns
        done = run(*COMMAND, "--figure", "11", code=2)
        assert "figure-11.json is there already; --force replaces it" in done.stderr
        assert Path("out/figure-11.json").stat().st_mtime_ns == before
        run(*COMMAND, "--figure", "11", "--force")

    @pytest.mark.parametrize("text", ["", "[]", "{}", "null", "[" * 10**5, "\xff"])
    def test_output_that_is_no_result(self, run, text):
        Path("out").mkdir()
        Path("out/figure-10.json").write_text(text, encoding="latin-1")
        done = run(*COMMAND, "--all", code=2)
        assert "figure-10.json is there already, and is no result of a paper" in done.stderr

    def test_output_of_another_size(self, run):
        run(*COMMAND, "--figure", "11")
        done = run(*COMMAND, "--all", "--size", "paper", code=2)
        assert (
            "figure-11.json is there already, with size 'small' instead of 'paper'" in done.stderr
        )

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--figure", "7"], "weigel-2011 has no figure-7; there are figure-2, figure-6,"),
            (["--table", "2"], "weigel-2011 has no table-2; there are"),
            (["--exhibit", "nothing"], "weigel-2011 has no nothing; there are"),
            (["--figure", "8"], "figure-8 is of kernels for a GPU; use --device cuda"),
            (["--figure", "10", "--all"], "--all is everything"),
            ([], "Say --figure N, --table N"),
        ],
    )
    def test_refused(self, run, arguments, message):
        done = run(*COMMAND, *arguments, code=2)
        assert message in done.stderr
        assert not Path("out").exists()

    def test_no_output(self, run):
        assert "Missing option '-o'" in run("weigel-2011", "--all", code=2).stderr

    @pytest.mark.parametrize("name", PAPERS)
    def test_list(self, run, name):
        done = run(name, "--list")
        assert all(exhibit in done.stdout for exhibit in PAPERS[name].exhibits)

    def test_judged_again(self, run, monkeypatch):
        """Results are judged and drawn by this version, and nothing is measured."""
        run(*COMMAND, "--figure", "10", "--figure", "11")
        rows = written("figure-10")["rows"]
        claims = [Claim("a", "b", True, of_inputs=False)]
        told = replace(EXHIBITS["figure-10"], claims=lambda findings: claims)
        monkeypatch.setitem(EXHIBITS, "figure-10", told)
        Path("out/figure-10.png").unlink()
        run(*COMMAND, "--all", "--judge")
        assert [claim["holds"] for claim in written("figure-10")["claims"]] == [True]
        assert written("figure-10")["rows"] == rows
        assert files(".png") == {"figure-10", "figure-11"}
        assert "figure-12.json" in run(*COMMAND, "--figure", "12", "--judge", code=2).stderr
        Path("out/figure-10.json").write_text('{"size": "small", "device": "cpu"}')
        other = run(*COMMAND, "--figure", "10", "--judge", code=2)
        assert "figure-10.json is of another version, without 'rows'" in other.stderr

    def test_data_of_no_paper(self, run):
        done = run(*COMMAND, "--figure", "10", "--data", ".", code=2)
        assert "--data: weigel-2011 measures nothing that was published as data" in done.stderr

    def test_claims(self, run, monkeypatch):
        """What the paper says is shown beside what was measured."""
        claims = [
            Claim("twice as fast", "1.5 times", False, "as it is", of_inputs=False),
            Claim("a", "b", True, of_inputs=False),
            Claim("of the paper's lattices", "b", True),
        ]
        told = replace(EXHIBITS["figure-10"], claims=lambda findings: claims)
        monkeypatch.setitem(EXHIBITS, "figure-10", told)
        shown = run(*COMMAND, "--figure", "10").stdout
        assert "twice as fast" in shown
        assert "does not hold" in shown
        assert [claim["holds"] for claim in written("figure-10")["claims"]] == [False, True, None]


def give_up(monkeypatch, *names):
    """Let labellings of these names take longer than the limit."""
    limited = phase_separation._limited

    def limit(call, name, given_up):
        def late():
            raise TimeoutError

        return limited(late if name in names else call, name, given_up)

    monkeypatch.setattr(phase_separation, "_limited", limit)


class TestHawick:
    COMMAND = "hawick-2010", "--figure", "18", "-o", "out"

    def test_figure_18_on_the_cpu(self, run):
        run(*self.COMMAND)
        findings, scale = written("figure-18"), phase_separation.SCALES["small"]
        ways = {row["way"] for row in findings["rows"]}
        assert ways == {"the default", "CahnHilliard.labels", "CPU I", "CPU II"}
        assert [row["length"] for row in findings["rows"]] == [16] * 4 + [32] * 4
        labellings = [row["labellings"] for row in findings["rows"][:4]]
        assert labellings == [4, 4, *[scale.steps // scale.every // scale.slow_every] * 2]
        for row in findings["rows"]:
            whole = row["seconds"] + scale.every * row["step_seconds"]
            assert row["share_of_run"] == pytest.approx(row["seconds"] / whole)
        assert findings["simulation"]["dt"] == pytest.approx(0.02)
        assert findings["published"]["CPU II over kernel D"] == 13
        assert Path("out/figure-18.png").stat().st_size > 1000

    def test_figure_18_on_a_gpu(self, run, host, arrays_on_host):
        run(*self.COMMAND, "--device", "cuda")
        findings = written("figure-18")
        ways = {row["way"] for row in findings["rows"]}
        assert {"kernel A", "kernel B", "kernel C", "kernel D"} < ways
        assert findings["fits"]["CPU II over kernel D"] > 0
        rounds = {row["way"]: row["rounds"] for row in findings["rows"] if row["length"] == 32}
        assert 2 <= rounds["kernel D"] <= 9
        assert rounds["kernel B"] < rounds["kernel A"]
        assert rounds["the default"] is None
        *_, of_rounds = findings["claims"]
        assert of_rounds["value"] == rounds["kernel D"]
        assert of_rounds["holds"] is None  # of a toy

    def test_figure_18_of_codes_that_are_given_up(self, run, monkeypatch):
        """What takes too long is left out, and claims do not miss it."""
        give_up(monkeypatch, "CPU I", "CPU II")
        run(*self.COMMAND)
        ways = {row["way"] for row in written("figure-18")["rows"]}
        assert ways == {"the default", "CahnHilliard.labels"}

    def test_figure_18_of_kernels_that_are_given_up(self, run, host, arrays_on_host, monkeypatch):
        give_up(monkeypatch, "CPU I", "kernel B")
        run(*self.COMMAND, "--device", "cuda")
        findings = written("figure-18")
        assert not {"CPU I", "kernel B"} & {row["way"] for row in findings["rows"]}
        holds = {claim["says"]: claim["holds"] for claim in findings["claims"]}
        assert holds["of Kernels A to C only A is slower than CPU I (6.3.1)"] is None

    def test_figures_of_exchange_dynamics(self, run):
        command = self.COMMAND[0], "-o", "out", "--figure", "2", "--figure", "3"
        run(*command)
        quench, surface = (written(f"figure-{name}") for name in "23")
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
        assert files("") == {"figure-2", "figure-3"}  # no checkpoint is left

    def test_figures_of_exchange_dynamics_on_a_gpu(self, run, host):
        command = self.COMMAND[0], "--figure", "2", "--figure", "3", "-o"
        run(*command, "cpu")
        run(*command, "cuda", "--device", "cuda")
        for name in ("figure-2", "figure-3"):
            cpu, cuda = (
                json.loads(Path(folder, f"{name}.json").read_text()) for folder in ("cpu", "cuda")
            )
            assert cuda["rows"] == cpu["rows"]

    def test_sites_lie_as_in_a_body_centred_lattice(self):
        """The steps to neighbours are the eight half diagonals of a cube."""
        structure = ExchangeLattice((8, 8, 8), "bcc").structure
        steps = np.argwhere(structure).T - 1
        neighbours = kawasaki.places(steps[:, np.abs(steps).any(axis=0)]).T
        half = {(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)}
        assert sorted(map(tuple, neighbours.tolist())) == sorted(half)

    def test_a_surface_goes_on_from_its_checkpoint(self, tmp_path):
        laboratory, path = Laboratory2010(devices.Cpu(), "small"), tmp_path / "checkpoint"
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

    def test_time_over_flips(self):
        """It is a ratio of sums: a mean of ratios, or medians over means, would be another one."""
        seconds, flipped = [1e-6, 1e-6, 4e-6], [10, 100, 390]
        ns, error = clusters.spent(seconds, flipped)
        assert ns == pytest.approx(12)
        # Of resampled updates, as an independent way to the error.
        draws = np.random.default_rng(1).integers(0, 200, (4000, 200))
        many = 1 + np.arange(200) % 20
        times = 1e-9 * (500 + 7 * many)
        ns, error = clusters.spent(times, many)
        resampled = 1e9 * times[draws].sum(1) / many[draws].sum(1)
        assert error == pytest.approx(resampled.std(), rel=0.1)

    def test_few_clusters_with_errors(self, run):
        run(*COMMAND, "--figure", "14")
        for row in written("figure-14")["rows"]:
            assert row["ns"] == pytest.approx(1e9 * row["seconds"] / max(row["flipped"], 1))
            assert row["speed_up"] == pytest.approx(row["serial_ns"] / row["ns"])
            assert row["speed_up_error"] > 0

    def test_lengths_of_the_table(self):
        """A lattice that is shorter than his says so."""
        row = {"length": 8192, "published": {"length": 16384}}
        assert sweeps._lengths(row) == "L = 16384 (here 8192)"
        assert sweeps._lengths({"length": 512, "published": {"length": 512}}) == "L = 512"

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
        assert sum_of_terms(u, v, 5 * u + 7 * v) == pytest.approx((5, 7, 0))
        assert sum_of_terms(u[:2], v[:2], u[:2]) is None

    def test_best_tiles(self):
        """They are where the times that they follow from are least."""
        sides = np.linspace(1, 200, 19_901)
        of_sewing = 3e-9 * sides**D_MIN + 2e-7 / sides
        best = sides[np.argmin(of_sewing)]
        assert best_tile_of_sewing(3e-9, 2e-7) == pytest.approx(best, abs=0.02)
        relaxed = 3e-9 * sides**D_MIN + 2e-10 * 512**D_MIN / sides ** (D_MIN + 1)
        best = sides[np.argmin(relaxed)]
        assert best_tile_of_relaxation(3e-9, 2e-10, 512) == pytest.approx(best, abs=0.02)

    def test_levels(self):
        assert levels(64, 16) == 3
