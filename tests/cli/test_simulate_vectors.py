"""``conncomp simulate xy`` and ``heisenberg``: the same as the functions, as tables and files."""

import pytest

from cli.test_command import check_failure
from cli.test_simulate import check_found
from conncomp.models import ON, XY, Clock, Heisenberg, simulate

COMMANDS = [("xy", XY, (6, 8)), ("heisenberg", Heisenberg, (3, 4, 5))]


@pytest.mark.parametrize(("name", "model_type", "shape"), COMMANDS)
def test_report_and_series_are_those_of_the_function(report, name, model_type, shape):
    found = report(
        "simulate", name, "--shape", "x".join(map(str, shape)), "--sweeps", 60,
        "--temperature", 0.9, "--coupling", 1.5, "--periodic", "1", "--seed", 7, "--replicas", 3,
        "--start", "cold", "--thermalise", 10, "--measure-every", 2, "--clusters", "-o", "run.h5"
    )  # fmt: skip
    model = model_type(
        shape,
        temperature=0.9,
        coupling=1.5,
        periodic=[axis == 1 for axis in range(len(shape))],
        replicas=3,
        seed=7,
        start="cold",
    )
    run = simulate(model, 60, thermalise=10, measure_every=2, clusters=True)
    check_found(found, run, "run.h5")


ON_EDGES = [
    ("xy", XY, {}, {"lattice": "triangular"}),
    ("heisenberg", Heisenberg, {}, {"lattice": "kagome"}),
    ("clock", Clock, {"q": 5}, {"lattice": None}),
    ("on", ON, {"n": 6}, {"lattice": "honeycomb"}),
]


@pytest.mark.parametrize(("name", "model_type", "own", "place"), ON_EDGES)
def test_other_models_lattices_borders_and_updates(report, name, model_type, own, place):
    words = [f"--{key}={value}" for key, value in {**own, **place}.items() if value is not None]
    found = report(
        "simulate", name, "--shape", "4x6", "--sweeps", 20, "--temperature", 0.9, *words,
        "--antiperiodic", "0", "--update", "metropolis", "--seed", 3, "--picture", "last.png",
    )  # fmt: skip
    borders = ["antiperiodic", True]
    model = model_type((4, 6), **own, **place, temperature=0.9, periodic=borders, seed=3)
    run = simulate(model, 20, thermalise=2, update="metropolis")
    check_found(found, run)


def test_critical_temperatures_are_the_default(run, report):
    (summary,) = report("simulate", "xy", "--shape", "4x4", "--sweeps", 4)["summaries"]
    assert summary["beta"] == pytest.approx(1.1199)
    result = run("simulate", "heisenberg", "--shape", "4x4x4", "--sweeps", 8, "--plot", "run.png")
    assert "1.443" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("xy --shape 9", "of the XY model on 1 axes is known here; give a temperature"),
        (
            "xy --shape 9x9 --temperatures 1e-12:1:2",
            "the inverse of --temperature [1000000000000.0, 1.0]",
        ),
        ("xy --shape 9x9 --field nan", "--field nan must be finite"),
        ("xy --shape 9x9 --field 1 --clusters", "--clusters is of clusters that flip"),
        ("heisenberg --shape 4x4", "no critical temperature of the Heisenberg model on 2 axes"),
        ("clock --q 5 --shape 4x4", "no critical temperature of the Clock model on 2 axes"),
        ("clock --q 1 --shape 4x4 --temperature 1", "--q 1 must be"),
        ("on --n 3 --shape 4x4 --temperature 1", "O(3) is Heisenberg"),
        ("xy --lattice bcc --shape 4x4 --temperature 1", "must have 3 axes"),
        ("xy --shape 4x4 --temperature 0", "--temperature 0.0 must be above 0"),
        ("xy --shape 4x4 --update wolff --clusters", '--clusters is for --update "swendsen-wang"'),
        ("xy --shape 4x4 --update hybrid", "'hybrid' is not one of"),
    ],
)
def test_errors(run, words, message):
    assert message in check_failure(run("simulate", *words.split(), "--sweeps", "4"))
