"""``conncomp simulate kawasaki``: the same as the function, as tables, pictures and files."""

import h5py
import numpy as np
import pytest

from cli.test_command import check_failure
from cli.test_simulate import asked, check_archive, check_plot
from conncomp.models import Kawasaki, simulate

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
    check_archive("run.h5", run)
    with h5py.File("run.h5") as archive:
        np.testing.assert_array_equal(archive["temperature"], model.temperature)
        assert archive.attrs["lattice"] == "bcc"


def test_plots_of_temperatures_and_of_the_square_lattice(run):
    base = "simulate kawasaki --shape 8x12 --lattice square --sweeps 30 --fraction 0.25"
    done = run(*base.split(), "--temperatures", "1:3:3", "--plot", "a.png")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.count(" ± ") == 9
    check_plot("a.png")


def test_an_inverse_temperature(report):
    options = *BASE.split(), "--fractions", "0.1:0.3:2", "--replicas", 2, "--seed", 5
    found, same = (
        report(*options, *by)["summaries"] for by in (("--beta", 0.25), ("--temperature", 4))
    )
    assert found == same
    assert [point["temperature"] for point in found] == [4.0, 4.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--shape 8x8x9", "multiples of 4"),
        ("--shape 8x8", "must have 3 axes for --lattice 'bcc'"),
        ("--temperature 0", "temperature"),
        ("--temperature nan", "temperature"),
        ("--temperature warm", "'warm' is not a number or 'critical'"),
        ("--temperature 4:5:2", "'4:5:2' is not a number or 'critical'"),
        ("--fraction 1", "--fraction 1.0 must be above 0 and below 1"),
        ("--fraction 0", "--fraction 0.0 must be above 0 and below 1"),
        ("--fraction nan", "--fraction nan must be above 0"),
        ("--fraction 1e-9", "--fraction 1e-09 of 512 sites is none"),
        ("--fractions 0.2:1:3", "--fraction 1.0 must be above 0"),
        ("--lattice fcc", "fcc"),
        ("--beta 0", "--beta 0.0 must be above 0"),
        ("--beta inf", "--beta inf must be above 0, and finite"),
        ("--fractions 0.1:nan:3", "must be two numbers"),
        ("--temperatures 1:2:300 --fractions 0.1:0.3:300", "90000 points"),
    ],
)
def test_bad_options(run, options, message):
    assert message in check_failure(run(*asked(BASE, options)))
