"""``conncomp simulate ising``: the same as the function, as tables, pictures and files."""

import re
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image

from cli.test_command import check_failure, snapshot
from cli.test_simulate import as_json, asked, check_painted, planes_of
from conncomp.models import Ising, simulate
from conncomp.models.lattices import LATTICES
from conncomp.models.spins import cuda
from host_cuda.host_gpu import AVAILABLE, HostGpu

BASE = "simulate ising --lattice honeycomb --shape 8x6 --sweeps 60"


def test_report_and_series_are_those_of_the_function(report):
    found = report(
        *BASE.split(), "--temperature", 1.7, "--coupling", 1.5, "--periodic", "1", "--seed", 7,
        "--replicas", 3, "--start", "cold", "--thermalise", 10, "--measure-every", 2, "--clusters",
        "-o", "run.h5"
    )  # fmt: skip
    model = Ising(
        (8, 6),
        lattice="honeycomb",
        temperature=1.7,
        coupling=1.5,
        periodic=[False, True],
        replicas=3,
        seed=7,
        start="cold",
    )
    run = simulate(model, 60, thermalise=10, measure_every=2, clusters=True)
    assert found["model"] == run.parameters
    assert found["summaries"] == as_json(tuple(run.summarise()))
    with h5py.File("run.h5") as archive:
        for name, values in run.series.observables().items():
            np.testing.assert_array_equal(archive[name], values)
        assert archive.attrs["lattice"] == "honeycomb"


def test_fields(run, report):
    words = [*BASE.split(), "--field", "-0.3", "--temperature", "2"]
    found = report(*words)
    ising = simulate(
        Ising((8, 6), lattice="honeycomb", temperature=2.0, field=-0.3), 60, thermalise=6
    )
    assert found["summaries"] == as_json(tuple(ising.summarise()))
    assert found["model"] == ising.parameters
    assert (found["model"]["field"], found["model"]["coupling"]) == (-0.3, 1.0)
    assert "field -0.3" in run(*words).stdout.splitlines()[0]
    assert "leave it out with a field" in check_failure(run(*words, "--clusters"))


@pytest.mark.parametrize("lattice", LATTICES)
def test_lattices_and_updates(report, lattice):
    axes = len(LATTICES[lattice].vectors)
    words = "simulate", "ising", "--shape", "x".join("4" * axes), "--lattice", lattice
    for update in ("swendsen-wang", "wolff"):
        found = report(*words, "--sweeps", 20, "--beta", 0.2, "--update", update)
        model = Ising(4, lattice=lattice, beta=0.2)
        run = simulate(model, 20, thermalise=2, update=update)
        assert found["summaries"] == as_json(tuple(run.summarise()))


@pytest.mark.parametrize(
    ("option", "betas"),
    [
        ("--temperatures 1:2:3", [1, 1 / 1.5, 1 / 2]),
        ("--temperatures 2:1:3", [1 / 2, 1 / 1.5, 1]),
        ("--betas 0:0.5:3", [0, 0.25, 0.5]),
    ],
)
def test_temperatures_side_by_side(run, report, option, betas):
    words = [*BASE.split(), *option.split()]
    found = report(*words, "--replicas", 2, "-o", "run.h5")
    assert [summary["beta"] for summary in found["summaries"]] == betas
    assert [summary["measurements"] for summary in found["summaries"]] == [120] * 3
    with h5py.File("run.h5") as archive:
        np.testing.assert_array_equal(archive["beta"], np.repeat(betas, 2))
    result = run(*words, "--plot", "run.png")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert [line[0] for line in lines[-3:]] == [f"{1 / b:.6g}" if b else "inf" for b in betas]
    with Image.open("run.png") as picture:
        assert min(picture.size) > 500


def test_critical_temperatures_are_the_default(report):
    base = "simulate ising --shape 4x4 --sweeps 4 --coupling 2"
    for lattice in ("square", "triangular", "honeycomb", "kagome"):
        wanted = pytest.approx(0.5 / Ising.critical_temperature(lattice))
        for options in ([], ["--temperature", "critical"]):
            (summary,) = report(*base.split(), "--lattice", lattice, *options)["summaries"]
            assert summary["beta"] == wanted


@pytest.mark.parametrize(
    ("options", "border", "words"),
    [
        ("", True, "Ising model, honeycomb, 8 x 6 cells, periodic"),
        ("--periodic none", False, "Ising model, honeycomb, 8 x 6 cells, open"),
        (
            "--antiperiodic 1",
            [True, "antiperiodic"],
            "Ising model, honeycomb, 8 x 6 cells, periodic along 0, antiperiodic along 1",
        ),
        (
            "--periodic none --antiperiodic 0 --coupling -1",
            ["antiperiodic", False],
            "Ising antiferromagnet, honeycomb, 8 x 6 cells, antiperiodic along 0",
        ),
    ],
)
def test_borders(run, options, border, words):
    done = run(*BASE.split(), "--beta", 0.6, *options.split(), "-o", "run.h5")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].split(maxsplit=1)[1].strip() == words
    coupling = -1 if "coupling" in options else 1
    model = Ising((8, 6), lattice="honeycomb", beta=0.6, periodic=border, coupling=coupling)
    with h5py.File("run.h5") as archive:
        wanted = simulate(model, 60, thermalise=6).series.energy
        np.testing.assert_array_equal(archive["energy"], wanted)


@pytest.mark.parametrize("update", ["swendsen-wang", "metropolis", "heat-bath"])
def test_speed_counts_sites_not_cells(report, monkeypatch, update):
    counted = []
    monkeypatch.setattr(
        "conncomp.cli.simulate._common.speed_row",
        lambda speed, *more: counted.append(speed) or ("speed", "-"),
    )
    seconds = report(*BASE.split(), "--update", update)["seconds"]["simulating"]
    assert counted[0] * seconds == pytest.approx(8 * 6 * 2 * 66)


@pytest.mark.parametrize("replicas", [None, 2])
def test_pictures_have_the_sites_of_cells_side_by_side(run, replicas):
    several = [] if replicas is None else ["--replicas", replicas]
    shown = ["--picture", "last.png", "--film", "run.gif"]
    assert run(*BASE.split(), *several, *shown).exit_code == 0
    model = Ising((8, 6), lattice="honeycomb", replicas=replicas)
    model.step(66)
    labels = model.labels().reshape(-1, 8, 12)[0]
    check_painted(planes_of("last.png")[0], labels)
    frames = planes_of("run.gif")
    assert [frame.shape for frame in frames] == [(8, 12, 3)] * 60
    last = Ising((8, 6), lattice="honeycomb", replicas=replicas)
    last.step(65)
    check_painted(frames[-1], last.labels().reshape(-1, 8, 12)[0])


@pytest.mark.skipif(not AVAILABLE, reason="needs Linux and a C++ compiler")
def test_gpu_gives_the_same(report, monkeypatch):
    executor = HostGpu()
    monkeypatch.setattr(cuda, "current_gpu", lambda: executor)
    model = Ising((8, 6), lattice="honeycomb", seed=1, device="cuda")
    (wanted,) = simulate(model, 60, thermalise=6).summarise()
    (found,) = report(*BASE.split(), "--seed", 1)["summaries"]
    assert found == as_json(wanted)


def test_a_killed_run_goes_on(run):
    options = "--seed", 3, "--thermalise", 5, "--checkpoint", "kept"
    assert run(*BASE.split(), *options[:4], "-o", "whole.h5").exit_code == 0
    assert run(*BASE.replace("60", "20").split(), *options).exit_code == 0
    assert run(*BASE.split(), *options, "-o", "parts.h5").exit_code == 0
    assert Path("parts.h5").read_bytes() == Path("whole.h5").read_bytes()
    line = check_failure(run(*BASE.replace("honeycomb", "kagome").split(), *options))
    assert "whose lattice is 'honeycomb', not 'kagome'" in line


def test_table(run):
    lines = run(*BASE.split()).stdout.splitlines()
    assert any(re.fullmatch(r"temperature +1\.51865", line) for line in lines)
    assert any(re.fullmatch(r"energy a site +-1\.\d+ ± 0\.\d+", line) for line in lines)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--lattice penrose", "'penrose' is not one of"),
        ("--lattice fcc --shape 4x4x4", "no critical temperature of --lattice 'fcc' is known"),
        ("--shape 8", "--shape [8] must have 2 axes for this lattice"),
        ("--shape 8x0", "--shape (8, 0) must have lengths of 1 or more"),
        ("--shape 8x0 --film out.gif", "--shape (8, 0) must have lengths of 1 or more"),
        ("--temperature 0", "--temperature 0.0 must be above 0"),
        ("--temperature nan", "--temperature nan must be above 0"),
        ("--temperature warm", "'warm' is not a number or 'critical'"),
        ("--temperatures 0:2:3", "--temperatures 0:2:3 must be two temperatures above 0"),
        ("--temperatures 1:2", "'1:2' is not A:B:N, two temperatures and how many"),
        ("--beta -1", "--beta -1.0 must be finite, and not negative"),
        ("--beta critical", "'critical' is not a valid float"),
        ("--betas -1:1:3", "--betas -1:1:3 must not be negative"),
        ("--betas 0:nan:3", "--betas 0:nan:3 must be two numbers"),
        ("--betas 0:1:99999", "from 1 to 65536 of them"),
        ("--betas 0:1:65536 --replicas 257", "--replicas 16842752 must be"),
        ("--temperature 1 --beta 1", "--temperature and --beta exclude each other"),
        ("--temperatures 1:2:2 --betas 1:2:2", "--temperatures and --betas exclude each other"),
        ("--coupling 0", "--coupling 0.0 must not be 0"),
        ("--coupling -1", "--coupling -1 below 0 has no critical temperature here"),
        ("--coupling -1 --beta 1 --clusters", "--clusters gives the magnetisation of clusters"),
        ("--periodic 2", "--periodic: the lattice has 2 axes, so there is no axis 2"),
        ("--antiperiodic 2", "--antiperiodic: the lattice has 2 axes, so there is no axis 2"),
        ("--antiperiodic true", "--antiperiodic has 1 entries; the lattice has 2 axes"),
        ("--antiperiodic some", "'some' is not 'all', 'none', axes such as '0,2'"),
        ("--update heat-bath --clusters", '--clusters is not for --update "heat-bath"'),
        ("--update few-cluster", "'few-cluster' is not one of"),
        ("--start warm", "'warm' is not one of"),
        ("--seed -1", "--seed -1 must be"),
        ("--film out.gif --film-every 1 --sweeps 5000", "5000 frames of 12 x 8 pixels"),
    ],
)
def test_bad_options(run, options, words):
    assert words in check_failure(run(*asked(BASE, options)))
    assert not snapshot()
