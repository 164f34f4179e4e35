"""``conncomp simulate kawasaki``: the same as the function, as tables, pictures and files."""

import h5py
import numpy as np
import pytest
from PIL import Image

from cli.test_command import check_failure
from conncomp.models import Kawasaki, simulate
from conncomp.models.kawasaki import cuda as engines
from host_cuda.host_gpu import AVAILABLE, HostGpu

BASE = "simulate kawasaki --shape 8x8x8 --sweeps 40"


def test_report_and_series_are_those_of_the_function(report):
    found = report(
        *BASE.split(), "--temperatures", "3:6:2", "--fractions", "0.1:0.3:3", "--replicas", 2,
        "--coupling", 1.5, "--seed", 7, "--thermalise", 10, "--measure-every", 8, "-o", "run.h5"
    )  # fmt: skip
    model = Kawasaki(
        8,
        temperature=np.repeat([3.0, 6.0], 6),
        fraction=np.tile(np.repeat([0.1, 0.2, 0.3], 2), 2),
        coupling=1.5,
        replicas=12,
        seed=7,
    )
    run = simulate(model, 40, thermalise=10, measure_every=8)
    assert found["model"] == run.parameters
    assert [point["temperature"] for point in found["summaries"]] == [3.0] * 3 + [6.0] * 3
    shares = [point["fraction"] for point in found["summaries"]]
    assert shares == pytest.approx([51 / 512, 102 / 512, 154 / 512] * 2)
    for k, point in enumerate(found["summaries"]):
        of_point = slice(2 * k, 2 * k + 2)
        assert point["measurements"] == 10
        assert point["energy"]["value"] == pytest.approx(
            run.series.energy[:, of_point].mean() / 512
        )
        largest = run.series.largest_fraction[:, of_point].mean()
        assert point["largest_fraction"]["value"] == pytest.approx(largest)
    with h5py.File("run.h5") as archive:
        for name, values in run.series.observables().items():
            np.testing.assert_array_equal(archive[name], values)
        np.testing.assert_array_equal(archive["temperature"], model.temperature)
        assert archive.attrs["lattice"] == "bcc"


def test_table_plot_and_pictures(run):
    done = run(*BASE.split(), "--plot", "a.png", "--picture", "b.png", "--film", "c.gif")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "Kawasaki dynamics, body-centred cubic, 8 x 8 x 8 sites" in done.stdout
    for name in ("energy a site", "components", "largest component", "spins/s", "6.35435"):
        assert name in done.stdout
    for name in ("a.png", "b.png", "c.gif"):
        with Image.open(name) as image:
            assert min(image.size) >= 8


def test_plots_of_temperatures_and_of_the_square_lattice(run):
    base = "simulate kawasaki --shape 8x12 --lattice square --sweeps 30 --fraction 0.25"
    done = run(*base.split(), "--temperatures", "1:3:3", "--plot", "a.png")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.count(" ± ") == 9
    with Image.open("a.png") as image:
        assert min(image.size) > 500


def test_an_inverse_temperature(report):
    options = *BASE.split(), "--fractions", "0.1:0.3:2", "--replicas", 2, "--seed", 5
    found, same = (
        report(*options, *by)["summaries"] for by in (("--beta", 0.25), ("--temperature", 4))
    )
    assert found == same
    assert [point["temperature"] for point in found] == [4.0, 4.0]


@pytest.mark.skipif(not AVAILABLE, reason="needs Linux and a C++ compiler")
def test_gpu_gives_the_same(report, monkeypatch):
    executor = HostGpu()
    monkeypatch.setattr(engines, "current_gpu", lambda: executor)
    cuda = simulate(Kawasaki(8, device="cuda", seed=1), 40, thermalise=4).series.energy.mean() / 512
    found = report(*BASE.split(), "--seed", 1)["summaries"]
    assert found[0]["energy"]["value"] == pytest.approx(cuda)


def test_a_killed_run_goes_on(run, report):
    options = "--seed", 3, "--fraction", 0.3, "--checkpoint", "kept", "--thermalise", 5
    assert run(*BASE.replace("40", "20").split(), *options).exit_code == 0
    resumed = report(*BASE.split(), *options)["summaries"]
    assert resumed == report(*BASE.split(), *options[:4], "--thermalise", 5)["summaries"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--shape 8x8x9 --sweeps 4", "multiples of 4"),
        ("--shape 8x8 --sweeps 4", "must have 3 axes for --lattice 'bcc'"),
        ("--shape 8x8x8 --sweeps 4 --temperature 0", "temperature"),
        ("--shape 8x8x8 --sweeps 4 --temperature nan", "temperature"),
        ("--shape 8x8x8 --sweeps 4 --temperature warm", "'warm' is not a number or 'critical'"),
        ("--shape 8x8x8 --sweeps 4 --temperature 4:5:2", "'4:5:2' is not a number or 'critical'"),
        ("--shape 8x8x8 --sweeps 4 --fraction 1", "--fraction 1.0 must be above 0 and below 1"),
        ("--shape 8x8x8 --sweeps 4 --fraction 0", "--fraction 0.0 must be above 0 and below 1"),
        ("--shape 8x8x8 --sweeps 4 --fraction nan", "--fraction nan must be above 0"),
        ("--shape 8x8x8 --sweeps 4 --fraction 1e-9", "--fraction 1e-09 of 512 sites is none"),
        ("--shape 8x8x8 --sweeps 4 --fractions 0.2:1:3", "--fraction 1.0 must be above 0"),
        ("--shape 8x8x8 --sweeps 4 --lattice fcc", "fcc"),
        ("--shape 8x8x8 --sweeps 4 --temperature 1 --temperatures 1:2:3", "exclude each other"),
        ("--shape 8x8x8 --sweeps 4 --beta 1 --temperature 1", "--temperature exclude each other"),
        ("--shape 8x8x8 --sweeps 4 --beta 1 --temperatures 1:2:3", "--temperatures exclude each"),
        ("--shape 8x8x8 --sweeps 4 --beta 0", "--beta 0.0 must be above 0"),
        ("--shape 8x8x8 --sweeps 4 --beta inf", "--beta inf must be above 0, and finite"),
        ("--shape 8x8x8 --sweeps 4 --fraction 0.5 --fractions 0.1:0.2:3", "exclude each other"),
        ("--shape 8x8x8 --sweeps 4 --fractions 0.1:nan:3", "must be two numbers"),
        ("--shape 8x8x8 --sweeps 4 --temperatures 1:2:300 --fractions 0.1:0.3:300", "90000 points"),
    ],
)
def test_bad_options(run, options, message):
    assert message in check_failure(run("simulate", "kawasaki", *options.split()))
