"""``conncomp simulate`` of each model: the same as its function, as tables, pictures and files."""

import re

import h5py
import numpy as np
import pytest
from PIL import Image

from cli.test_command import check_failure, snapshot
from cli.test_simulate import (
    BASE,
    CAHN_HILLIARD,
    ISING,
    as_json,
    asked,
    check_archive,
    check_found,
    check_painted,
    check_plot,
    planes_of,
)
from conncomp.models import (
    ON,
    XY,
    CahnHilliard,
    Clock,
    Heisenberg,
    Ising,
    Kawasaki,
    Percolation,
    Potts,
    SpinGlass,
    glass_equilibration_test,
    simulate,
)
from conncomp.models.lattices import LATTICES

GLASS = "simulate glass --temperatures 1:2:3 --samples 3 --sweeps 12 --thermalise 4 --seed 5"
PERCOLATION = "simulate percolation --shape 16x24 --sweeps 40"
BCC = "simulate kawasaki --shape 8x8x8 --sweeps 40"

MOST = (
    "--coupling 1.5 --periodic 1 --seed 7 --replicas 3 --start cold --thermalise 10 "
    "--measure-every 2 --clusters"
)
MADE = {"coupling": 1.5, "seed": 7, "replicas": 3, "start": "cold"}
MEASURED = {"thermalise": 10, "measure_every": 2, "clusters": True}
FEW = "--shape 4x6 --sweeps 20 --temperature 0.9 --antiperiodic 0 --update metropolis --seed 3"
PLACED = {"temperature": 0.9, "periodic": ["antiperiodic", True], "seed": 3}
UPDATED = {"thermalise": 2, "update": "metropolis"}
# The words of a command, the model that the function has, and its options.
RUNS = {
    "potts": (
        f"{BASE} --q 3 --beta 0.9 --wrapping {MOST}",
        lambda: Potts((8, 12), 3, 0.9, periodic=(False, True), **MADE),
        MEASURED | {"wrapping": True},
    ),
    "ising": (
        f"{ISING} --temperature 1.7 {MOST}",
        lambda: Ising((8, 6), lattice="honeycomb", temperature=1.7, periodic=[False, True], **MADE),
        MEASURED,
    ),
    "xy": (
        f"simulate xy --shape 6x8 --sweeps 60 --temperature 0.9 {MOST}",
        lambda: XY((6, 8), temperature=0.9, periodic=[False, True], **MADE),
        MEASURED,
    ),
    "heisenberg": (
        f"simulate heisenberg --shape 3x4x5 --sweeps 60 --temperature 0.9 {MOST}",
        lambda: Heisenberg((3, 4, 5), temperature=0.9, periodic=[False, True, False], **MADE),
        MEASURED,
    ),
    "xy of a lattice": (
        f"simulate xy --lattice triangular {FEW}",
        lambda: XY((4, 6), lattice="triangular", **PLACED),
        UPDATED,
    ),
    "heisenberg of a lattice": (
        f"simulate heisenberg --lattice kagome {FEW}",
        lambda: Heisenberg((4, 6), lattice="kagome", **PLACED),
        UPDATED,
    ),
    "clock": (f"simulate clock --q 5 {FEW}", lambda: Clock((4, 6), q=5, **PLACED), UPDATED),
    "on": (
        f"simulate on --n 6 --lattice honeycomb {FEW}",
        lambda: ON((4, 6), n=6, lattice="honeycomb", **PLACED),
        UPDATED,
    ),
}


@pytest.mark.parametrize(("line", "make", "options"), RUNS.values(), ids=RUNS)
def test_report_and_series_are_those_of_the_function(report, line, make, options):
    words = line.split()
    found = report(*words, "-o", "run.h5", "--picture", "last.png")
    sweeps = int(words[words.index("--sweeps") + 1])
    check_found(found, simulate(make(), sweeps, **options), "run.h5")
    if "--lattice" in words:
        with h5py.File("run.h5") as archive:
            assert archive.attrs["lattice"] == words[words.index("--lattice") + 1]


def test_fields(run, report):
    words = [*ISING.split(), "--field", "-0.3", "--temperature", "2"]
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


def test_critical_temperatures_of_lattices_are_the_default(report):
    base = "simulate ising --shape 4x4 --sweeps 4 --coupling 2"
    for lattice in ("square", "triangular", "honeycomb", "kagome"):
        wanted = pytest.approx(0.5 / Ising.critical_temperature(lattice))
        for options in ([], ["--temperature", "critical"]):
            (summary,) = report(*base.split(), "--lattice", lattice, *options)["summaries"]
            assert summary["beta"] == wanted


def test_critical_temperatures_are_the_default(run, report):
    (summary,) = report("simulate", "xy", "--shape", "4x4", "--sweeps", 4)["summaries"]
    assert summary["beta"] == pytest.approx(1.1199)
    result = run("simulate", "heisenberg", "--shape", "4x4x4", "--sweeps", 8, "--plot", "run.png")
    assert "1.443" in result.stdout


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
    done = run(*ISING.split(), "--beta", 0.6, *options.split(), "-o", "run.h5")
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
    seconds = report(*ISING.split(), "--update", update)["seconds"]["simulating"]
    assert counted[0] * seconds == pytest.approx(8 * 6 * 2 * 66)


@pytest.mark.parametrize("replicas", [None, 2])
def test_pictures_have_the_sites_of_cells_side_by_side(run, replicas):
    several = [] if replicas is None else ["--replicas", replicas]
    shown = ["--picture", "last.png", "--film", "run.gif"]
    assert run(*ISING.split(), *several, *shown).exit_code == 0
    model = Ising((8, 6), lattice="honeycomb", replicas=replicas)
    model.step(66)
    labels = model.labels().reshape(-1, 8, 12)[0]
    check_painted(planes_of("last.png")[0], labels)
    frames = planes_of("run.gif")
    assert [frame.shape for frame in frames] == [(8, 12, 3)] * 60
    last = Ising((8, 6), lattice="honeycomb", replicas=replicas)
    last.step(65)
    check_painted(frames[-1], last.labels().reshape(-1, 8, 12)[0])


def test_table_of_an_ising_model(run):
    lines = run(*ISING.split()).stdout.splitlines()
    assert any(re.fullmatch(r"temperature +1\.51865", line) for line in lines)
    assert any(re.fullmatch(r"energy a site +-1\.\d+ ± 0\.\d+", line) for line in lines)


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


def test_kawasaki_dynamics_of_points(report):
    found = report(
        *BCC.split(), "--temperatures", "3:6:2", "--fractions", "0.1:0.3:3", "--replicas", 2,
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
    options = *BCC.split(), "--fractions", "0.1:0.3:2", "--replicas", 2, "--seed", 5
    found, same = (
        report(*options, *by)["summaries"] for by in (("--beta", 0.25), ("--temperature", 4))
    )
    assert found == same
    assert [point["temperature"] for point in found] == [4.0, 4.0]


PHYSICS = "--mobility 0.7 --b 1.3 --u 0.9 --K 0.6 --dx 1.2 --dt 0.02 --mean 0.1 --amplitude 0.3"
ARGUMENTS = {
    **{"mobility": 0.7, "b": 1.3, "u": 0.9, "K": 0.6, "dx": 1.2, "dt": 0.02},
    **{"mean": 0.1, "amplitude": 0.3, "noise": 0.01, "dtype": "float64"},
}


def test_cahn_hilliard_equation(report):
    found = report(
        *CAHN_HILLIARD.split(), *PHYSICS.split(), "--noise", 0.01, "--dtype", "float64",
        "--seed", 7, "--replicas", 3, "--thermalise", 10, "--measure-every", 8, "--threshold", 0.05,
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
    assert report(*CAHN_HILLIARD.split(), "--mean", 0.8)["summaries"]["domain size"] is None


def test_percolation(report):
    more = "--kind bond --p 0.45 --periodic 1 --seed 3 --replicas 2 --measure-every 3"
    found = report(*PERCOLATION.split(), *more.split())
    model = Percolation((16, 24), "bond", p=0.45, periodic=(False, True), seed=3, replicas=2)
    run = simulate(model, 40, measure_every=3)
    assert found["model"] == run.parameters
    assert found["model"]["thermalise"] == 0
    for name, estimate in run.series.summarise()._asdict().items():
        assert found["summaries"][name] == estimate._asdict(), name


def test_files_of_percolation(run, tmp_path):
    files = {name: tmp_path / name for name in ("run.h5", "plot.png", "picture.png")}
    result = run(
        *PERCOLATION.split(), "--output", files["run.h5"], "--plot", files["plot.png"], "--picture",
        files["picture.png"], "--lattice", "triangular"
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "percolation of sites of a triangular lattice" in result.stdout
    assert all(path.stat().st_size for path in files.values())
    wanted = simulate(Percolation((16, 24), lattice="triangular"), 40)
    with h5py.File(files["run.h5"]) as archive:
        np.testing.assert_array_equal(archive["clusters"], wanted.series.clusters)
        np.testing.assert_array_equal(archive["wraps"], wanted.series.wraps)
        assert archive.attrs["kind"] == "site"


def run_of(shape, couplings="pm", options=None, sweeps=12, **arguments):
    temperatures = np.linspace(1, 2, 3)
    model = SpinGlass(
        shape, couplings, beta=1 / temperatures, samples=3, copies=2, seed=5, **arguments
    )
    chosen = {"overlaps": True, "tempering": True, **(options or {})}
    return simulate(model, sweeps, thermalise=4, **chosen)


def test_glass(report):
    found = report(
        *GLASS.split(), "--shape", "4x4x4", "--update", "heat-bath", "--houdayer", "--no-tempering",
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
    words = [*GLASS.split(), *["--shape", "3x3x3", "--shape", "4x4x4"], "--couplings", "gaussian"]
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


BAD = {
    BASE: [
        ("--shape 0x8", "--shape [0, 8] must have lengths of 1 or more"),
        ("--shape 8x-8", "must have lengths of 1 or more"),
        ("--shape 2x2x2x2x2", "must have 1 to 4 axes"),
        ("--shape 8,8", "'8,8' is not lengths such as 64x64"),
        ("--shape", "'--shape' requires an argument"),
        ("--q 1", "--q 1 must be from 2 to 255"),
        ("--q 256", "--q 256 must be"),
        ("--beta -1", "--beta -1.0 must be finite"),
        ("--beta nan", "--beta nan must be finite"),
        ("--beta warm", "'warm' is not a number or 'critical'"),
        (
            "--beta 0.5:0.6",
            "'0.5:0.6' is not a number or 'critical'; several need a run each, or an option that "
            "takes A:B:N.",
        ),
        ("--q 3 --shape 4x4x4", "no critical temperature is known for --q 3"),
        ("--coupling 0", "--coupling 0.0 must not be 0"),
        ("--periodic 2", "the lattice has 2 axes, so there is no axis 2"),
        ("--periodic true", "--periodic has 1 entries; the lattice has 2 axes"),
        ("--replicas 0", "0 is not in the range"),
        ("--replicas 99999999", "--replicas 99999999 must be"),
        ("--seed -1", "--seed -1 must be"),
        ("--start warm", "'warm' is not one of"),
        ("--sweeps 0", "--sweeps 0 must be"),
        ("--update warm", "'warm' is not one of"),
        ("--update few-cluster", "needs tile and p_flip"),
        ("--update few-cluster --tile 5x5 --p-flip 0.5", "--tile [5, 5] must divide the lattice"),
        ("--update few-cluster --tile 4x4 --p-flip 1", "--p-flip 1.0 must be"),
        ("--tile 4x4", "--tile is for --update few-cluster; give both"),
        ("--update metropolis --clusters", '--clusters is not for --update "metropolis"'),
        ("--thermalise -1", "--thermalise -1 must be"),
        ("--measure-every 0", "--measure-every 0 must be"),
        ("--temperatures 1:2", "'1:2' is not A:B:N"),
        ("--temperatures 0:2:3", "--temperatures 0:2:3 must be two temperatures above 0"),
        ("--temperatures 1:inf:3", "must be two temperatures above 0"),
        ("--temperatures 1e-320:2:3", "has 9.99989e-321, of which no number is the inverse"),
        ("--temperatures 1:2:0", "must be two temperatures above 0"),
        ("--checkpoint-every 0 --checkpoint a", "--checkpoint-every 0.0 must be above 0"),
        ("--film out.gif --film-every 0", "0 is not in the range"),
        ("--film out.png", "'out.png' does not end in .gif"),
        ("--picture out.gif", "'out.gif' does not end in .png"),
        ("--picture a.png --plot a.png", "are the same file"),
        (
            "--sweeps 5000 --film out.gif --film-every 1",
            "--film would have 5000 frames of 12 x 8 pixels, and at most 1000 are taken; give "
            "--film-every 5 or more",
        ),
        ("--shape 0x8 --film out.gif", "--shape [0, 8] must have lengths of 1 or more"),
        ("--sweeps -5 --film out.gif", "--sweeps -5 must be"),
        ("--measure-every 0 --film out.gif", "--measure-every 0 must be"),
        ("-o out.npy", "'out.npy' does not end in .h5"),
        ("-o nowhere/out.h5", "there is no directory 'nowhere'"),
        ("-o out.h5 --checkpoint out.h5", "are the same file"),
        ("--sweeps 2000000000 --replicas 1000000", "out of memory"),
    ],
    ISING: [
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
    BCC: [
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
    CAHN_HILLIARD: [
        ("--dt 0.03", "--dt 0.03 is above the stable bound of explicit steps, 0.025"),
        ("--K 0", "--K 0.0 must be above 0"),
        ("--threshold nan", "--threshold nan must be finite"),
        ("--dtype float16", "'float16' is not one of 'float32', 'float64'"),
        ("--shape 4x4x4x4", "--shape [4, 4, 4, 4] must have two or three lengths"),
        (
            "--noise 1e9",
            "the field has left all bounds; make the model with a smaller dt than 0.02",
        ),
    ],
    PERCOLATION: [
        ("--p 2", "--p 2.0 must be from 0 to 1"),
        ("--p often", "'often' is not a number or 'critical'"),
        ("--p 0.5:0.6", "'0.5:0.6' is not a number or 'critical'"),
        ("--lattice fcc", "must have 3 axes for --lattice 'fcc'"),
        ("--kind vertex", "'vertex' is not one of"),
    ],
    "simulate glass --shape 4x4 --sweeps 4": [
        ("", "Give either --temperatures A:B:N or --temperature T."),
        ("--temperature 0", "must be two temperatures above 0"),
        ("--temperature 1 --replicas 1", "choose copies=2"),
    ],
    "simulate xy --shape 9x9 --sweeps 4": [
        ("--shape 9", "of the XY model on 1 axes is known here; give a temperature"),
        ("--temperatures 1e-12:1:2", "the inverse of --temperature [1000000000000.0, 1.0]"),
        ("--field nan", "--field nan must be finite"),
        ("--field 1 --clusters", "--clusters is of clusters that flip"),
        ("--lattice bcc --temperature 1", "must have 3 axes"),
        ("--temperature 0", "--temperature 0.0 must be above 0"),
        ("--update wolff --clusters", '--clusters is for --update "swendsen-wang"'),
        ("--update hybrid", "'hybrid' is not one of"),
    ],
    "simulate heisenberg --shape 4x4 --sweeps 4": [
        ("", "no critical temperature of the Heisenberg model on 2 axes"),
    ],
    "simulate clock --shape 4x4 --sweeps 4": [
        ("--q 5", "no critical temperature of the Clock model on 2 axes"),
        ("--q 1 --temperature 1", "--q 1 must be"),
    ],
    "simulate on --n 3 --shape 4x4 --sweeps 4": [("--temperature 1", "O(3) is Heisenberg")],
}


@pytest.mark.parametrize(
    ("base", "options", "words"), [(base, *row) for base in BAD for row in BAD[base]]
)
def test_bad_options(run, base, options, words):
    assert words in check_failure(run(*asked(base, options)))
    assert not snapshot()
