"""Several sizes in one command, and a folder that is gone on from, of models of spins."""

from pathlib import Path

import numpy as np
import pytest

from cli.test_command import check_failure
from cli.test_simulate import as_json, check_archive
from conncomp.models import XY, Ising, Potts, SpinGlass, simulate

BETAS = 1 / np.array([3.0, 4.0, 5.0])
MODELS = {
    "ising": lambda shape: Ising(shape, lattice="triangular", beta=BETAS, replicas=3, seed=2),
    "potts": lambda shape: Potts(shape, 3, BETAS, lattice="triangular", replicas=3, seed=2),
    "xy": lambda shape: XY(shape, lattice="triangular", beta=BETAS, replicas=3, seed=2),
    "glass": lambda shape: SpinGlass(shape, beta=BETAS, samples=3, copies=2, seed=2),
}
OWN = {"potts": ["--q", "3"], "glass": ["--samples", "3"]}
OPTIONS = {"glass": {"overlaps": True, "tempering": True}}
OTHER = {"glass": ("--houdayer", "whose houdayer is False, not True")}
SIZES = [(4, 4), (6, 5)]


def words_of(name, sweeps=20, temperatures="3:5:3"):
    sizes = [word for shape in SIZES for word in ("--shape", "x".join(map(str, shape)))]
    common = ["--temperatures", temperatures, "--seed", "2", "--sweeps", str(sweeps)]
    lattice = [] if name == "glass" else ["--lattice", "triangular"]
    return ["simulate", name, *OWN.get(name, []), *sizes, *lattice, *common]


@pytest.mark.parametrize("name", MODELS)
def test_sizes_are_those_of_the_function_and_a_folder_is_gone_on_from(run, report, name):
    folder = ["--folder", "made/here"]
    first = report(*words_of(name), *folder)
    names = sorted(path.name for path in Path("made/here").iterdir())
    assert names == ["4x4.checkpoint", "4x4.h5", "6x5.checkpoint", "6x5.h5"]
    assert first["model"]["shape"] == [[4, 4], [6, 5]]
    assert first["written"]["series"] == "made/here"
    assert report(*words_of(name), *folder)["summaries"] == first["summaries"]
    longer = report(*words_of(name, 40), *folder)["summaries"]
    for k, shape in enumerate(SIZES):
        for sweeps, found in ((20, first["summaries"]), (40, longer)):
            options = OPTIONS.get(name, {})
            there = simulate(MODELS[name](shape), sweeps, thermalise=2, **options)
            own = found[3 * k : 3 * k + 3]
            assert {each.pop("shape") for each in own} == {"x".join(map(str, shape))}
            assert own == as_json(tuple(there.summarise()))
        check_archive(f"made/here/{'x'.join(map(str, shape))}.h5", there)
    other, line = OTHER.get(name, ("--thermalise=3", "whose thermalise is 2, not 3"))
    assert line in check_failure(run(*words_of(name, 40), *folder, other))
    assert check_failure(run(*words_of(name, 40, "3:6:3"), *folder)).endswith(
        "made/here/4x4.checkpoint: is of another simulation, whose beta has other values; give "
        "--folder another one than made/here, or remove what is there of this size, 4x4.checkpoint "
        "and 4x4.h5, to begin anew"
    )


def test_table_and_one_size_in_a_folder(run, report):
    done = run(*words_of("ising"))
    lines = done.stdout.splitlines()
    assert lines[0].split(maxsplit=1)[1].strip() == (
        "Ising model, triangular, 4x4, 6x5 sites, periodic"
    )
    assert lines[-7].split()[:3] == ["size", "temperature", "energy"]
    assert [line.split()[:2] for line in lines[-3:]] == [["6x5", t] for t in ("3", "4", "5")]
    words = ["simulate", "xy", "--shape", "4x4", "--sweeps", "20", "--folder", "one"]
    assert report(*words)["written"]["checkpoint"] == "one/4x4.checkpoint"
    assert sorted(path.name for path in Path("one").iterdir()) == ["4x4.checkpoint", "4x4.h5"]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-o run.h5", "--output is for one --shape; --folder keeps"),
        ("--picture run.png", "--picture is for one --shape"),
        ("--shape 4x4", "--shape '4x4' is given twice; give it once"),
        ("--shape 4xx4", "'4xx4' is not lengths such as 64x64"),
        ("--shape 04x4", "--shape has a size twice"),
    ],
)
def test_bad_options(run, name, options, message):
    assert message in check_failure(run(*words_of(name), *options.split()))


@pytest.mark.parametrize("name", ["ising", "glass"])
def test_a_folder_keeps_what_is_not_of_the_command(run, name):
    Path("made").mkdir()
    Path("made/6x5.h5").write_text("precious")
    words = [*words_of(name), "--folder", "made"]
    assert "is there already" in check_failure(run(*words))
    assert [path.name for path in Path("made").iterdir()] == ["6x5.h5"]
    assert Path("made/6x5.h5").read_text() == "precious"
    Path("made/4x4.checkpoint").write_text("forged")
    assert "is no checkpoint of a simulation" in check_failure(run(*words, "--force"))
    Path("made/4x4.checkpoint").unlink()
    assert run(*words, "--force").exit_code == 0
