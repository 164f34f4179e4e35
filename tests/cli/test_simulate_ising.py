"""``conncomp simulate ising``: the same as the function, as tables, pictures and files."""

import re

import h5py
import pytest

from cli.test_command import check_failure, snapshot
from cli.test_simulate import ISING as BASE
from cli.test_simulate import asked, check_archive, check_found, check_painted, planes_of
from conncomp.models import Ising, simulate
from conncomp.models.lattices import LATTICES


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
    check_found(found, run, "run.h5")
    with h5py.File("run.h5") as archive:
        assert archive.attrs["lattice"] == "honeycomb"


def test_fields(run, report):
    words = [*BASE.split(), "--field", "-0.3", "--temperature", "2"]
    found = report(*words)
    ising = simulate(
        Ising((8, 6), lattice="honeycomb", temperature=2.0, field=-0.3), 60, thermalise=6
    )
    check_found(found, ising)
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
        check_found(found, run)


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
    check_archive("run.h5", simulate(model, 60, thermalise=6))


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


def test_table(run):
    lines = run(*BASE.split()).stdout.splitlines()
    assert any(re.fullmatch(r"temperature +1\.51865", line) for line in lines)
    assert any(re.fullmatch(r"energy a site +-1\.\d+ ± 0\.\d+", line) for line in lines)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--lattice penrose", "'penrose' is not one of"),
        ("--lattice fcc --shape 4x4x4", "no critical temperature of --lattice 'fcc' is known"),
        ("--shape 8", "--shape [8] must have 2 axes for --lattice 'honeycomb'"),
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
        ("--coupling 0", "--coupling 0.0 must not be 0"),
        ("--coupling -1", "with --coupling -1 is known here"),
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
