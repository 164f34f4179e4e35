"""``conncomp simulate cahn-hilliard``: the same as the function, as tables, pictures and files."""

import h5py
import pytest

from cli.test_command import check_failure
from cli.test_simulate import CAHN_HILLIARD as BASE
from cli.test_simulate import check_archive
from conncomp.models import CahnHilliard, simulate

PHYSICS = "--mobility 0.7 --b 1.3 --u 0.9 --K 0.6 --dx 1.2 --dt 0.02 --mean 0.1 --amplitude 0.3"
ARGUMENTS = {
    **{"mobility": 0.7, "b": 1.3, "u": 0.9, "K": 0.6, "dx": 1.2, "dt": 0.02},
    **{"mean": 0.1, "amplitude": 0.3, "noise": 0.01, "dtype": "float64"},
}


def test_report_and_series_are_those_of_the_function(report):
    found = report(
        *BASE.split(), *PHYSICS.split(), "--noise", 0.01, "--dtype", "float64", "--seed", 7,
        "--replicas", 3, "--thermalise", 10, "--measure-every", 8, "--threshold", 0.05,
        "-o", "run.h5"
    )  # fmt: skip
    model = CahnHilliard((24, 20), **ARGUMENTS, seed=7, replicas=3)
    run = simulate(model, 60, thermalise=10, measure_every=8, threshold=0.05)
    assert found["model"] == run.parameters
    summaries = found["summaries"]
    assert summaries["time"] == pytest.approx(66 * 0.02)
    assert summaries["energy"] == run.series.energy[-1].mean()
    assert summaries["components below"] == run.series.components[-1, :, 1].mean()
    check_archive("run.h5", run)
    with h5py.File("run.h5") as archive:
        assert archive.attrs["threshold"] == 0.05


def test_one_phase_has_no_domain_size(report):
    assert report(*BASE.split(), "--mean", 0.8)["summaries"]["domain size"] is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--dt 0.03", "--dt 0.03 is above the stable bound of explicit steps, 0.025"),
        ("--K 0", "--K 0.0 must be above 0"),
        ("--threshold nan", "--threshold nan must be finite"),
        ("--dtype float16", "'float16' is not one of 'float32', 'float64'"),
    ],
)
def test_bad_input(run, options, words):
    done = run(*BASE.split(), *options.split())
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())


def test_four_axes_are_refused(run):
    done = run("simulate", "cahn-hilliard", "--shape", "4x4x4x4", "--sweeps", 3)
    assert "--shape [4, 4, 4, 4] must have two or three lengths" in check_failure(done)


def test_a_run_that_leaves_all_bounds_is_one_line(run):
    line = check_failure(run(*BASE.split(), "--noise", "1e9"))
    assert "the field has left all bounds; make the model with a smaller dt than 0.02" in line
