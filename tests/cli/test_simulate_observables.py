"""``conncomp simulate --observe --wrapping``: what updates measure besides, under its own names."""

import pytest

from cli.test_command import check_failure
from cli.test_simulate import check_found
from conncomp.models import XY, Ising, Potts, simulate

ASKED = [
    ("potts", Potts, {"q": 3, "beta": 0.9}, ["structure"]),
    ("ising", Ising, {"lattice": "kagome", "temperature": 2.0}, ["structure"]),
    (
        "xy",
        XY,
        {"lattice": "triangular", "temperature": 1.4},
        ["structure", "helicity_modulus", "vortices"],
    ),
]


@pytest.mark.parametrize(("name", "model_type", "own", "observe"), ASKED)
def test_observables_are_those_of_the_function(run, report, name, model_type, own, observe):
    words = ["simulate", name, "--shape", "4x6", "--sweeps", "40", "--wrapping", "--clusters"]
    words += [f"--{key}={value}" for key, value in own.items()]
    words += [f"--observe={each}" for each in observe]
    found = report(*words, "-o", "run.h5")
    expected = simulate(
        model_type((4, 6), **own), 40, thermalise=4, clusters=True, wrapping=True, observe=observe
    )
    check_found(found, expected, "run.h5")
    shown = run(*words).stdout
    for each in ("correlation length / L", "wraps along any axis", *observe[1:]):
        assert each.split("_")[0] in shown


def test_what_a_model_has_not_is_refused(run):
    words = "simulate", "clock", "--q", "5", "--shape", "4x4", "--temperature", "1", "--sweeps", "9"
    assert "for XY and Heisenberg models" in check_failure(
        run(*words, "--observe", "helicity_modulus")
    )
