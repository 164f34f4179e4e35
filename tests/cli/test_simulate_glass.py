"""``conncomp simulate glass``: the same as the function, as tables and files."""

import numpy as np
import pytest
from PIL import Image

from cli.test_command import check_failure
from cli.test_simulate import as_json, check_archive
from conncomp.models import SpinGlass, glass_equilibration_test, simulate

BASE = "simulate glass --temperatures 1:2:3 --samples 3 --sweeps 12 --thermalise 4 --seed 5"
SIZES = "--shape 3x3x3 --shape 4x4x4"


def run_of(shape, couplings="pm", options=None, sweeps=12, **arguments):
    temperatures = np.linspace(1, 2, 3)
    model = SpinGlass(
        shape, couplings, beta=1 / temperatures, samples=3, copies=2, seed=5, **arguments
    )
    chosen = {"overlaps": True, "tempering": True, **(options or {})}
    return simulate(model, sweeps, thermalise=4, **chosen)


def test_report_and_series_are_those_of_the_function(report):
    found = report(
        *BASE.split(), "--shape", "4x4x4", "--update", "heat-bath", "--houdayer", "--no-tempering",
        "--positive", 0.7, "--dilution", 0.2, "--start", "cold", "--periodic", "0,2",
        "-o", "run.h5"
    )  # fmt: skip
    options = {"tempering": False, "houdayer": True}
    run = run_of(
        (4, 4, 4),
        options=options,
        update="heat-bath",
        positive=0.7,
        dilution=0.2,
        start="cold",
        periodic=[True, False, True],
    )
    wanted = [{"shape": "4x4x4", **s} for s in as_json(tuple(run.summarise()))]
    assert found["summaries"] == wanted
    assert found["model"] == {**run.parameters, "shape": [[4, 4, 4]]}
    check_archive("run.h5", run)


def test_table_picture_and_the_identity_of_gaussian_couplings(run, report):
    words = [*BASE.split(), *SIZES.split(), "--couplings", "gaussian"]
    result = run(*words, "--plot", "run.png")
    lines = result.stdout.splitlines()
    assert lines[0].split(maxsplit=1)[1].strip() == ("Gaussian spin glass, 3x3x3, 4x4x4, 3 samples")
    assert lines[-7].split()[:3] == ["size", "temperature", "xi/L"]
    assert lines[-7].rstrip().endswith("off Katzgraber-Young")
    assert [line.split()[:2] for line in lines[-3:]] == [["4x4x4", t] for t in ("1", "1.5", "2")]
    with Image.open("run.png") as picture:
        assert min(picture.size) > 300
    series = run_of((3, 3, 3), "gaussian").series
    energies = series.energy.mean(axis=0).reshape(3, 3, 2)[:, 0].mean(axis=1)
    links = series.link_overlap.mean(axis=0).reshape(3, 3)[:, 0]
    off = glass_equilibration_test(energies, links, beta=1.0, bonds=81)
    found = report(*words)["summaries"][0]["equilibration_test"]
    assert found == {"value": pytest.approx(off.value), "error": pytest.approx(off.error)}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("--shape 4x4 --sweeps 4", "Give either --temperatures A:B:N or --temperature T."),
        ("--shape 4x4 --sweeps 4 --temperature 0", "must be two temperatures above 0"),
        ("--shape 4x4 --sweeps 4 --temperature 1 --replicas 1", "choose copies=2"),
    ],
)
def test_bad_input(run, words, reason):
    assert reason in check_failure(run("simulate", "glass", *words.split()))
