"""``conncomp simulate``: the same as the function, as tables, pictures and files."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image

from cli.test_command import check_failure, snapshot
from conncomp.kernels.cuda import launcher
from conncomp.models import Potts, simulate

BASE = "simulate potts --shape 8x12 --sweeps 200"


def test_report_is_that_of_the_function(report):
    found = report(
        *BASE.split(), "--q", 3, "--beta", 0.9, "--coupling", 1.5, "--periodic", "1", "--seed", 7,
        "--replicas", 3, "--start", "cold", "--thermalise", 10, "--measure-every", 2, "--clusters"
    )  # fmt: skip
    model = Potts(
        (8, 12), 3, 0.9, coupling=1.5, periodic=(False, True), seed=7, replicas=3, start="cold"
    )
    run = simulate(model, 200, thermalise=10, measure_every=2, clusters=True)
    (wanted,) = run.summarise()
    (summary,) = found["summaries"]
    assert found["model"] == run.parameters
    for name, value in wanted._asdict().items():
        assert summary[name] == (value._asdict() if isinstance(value, tuple) else value), name


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ("--update wolff", {"update": "wolff"}),
        ("--update metropolis", {"update": "metropolis"}),
        (
            "--update few-cluster --tile 4x6 --p-flip 0.25",
            {"update": "few-cluster", "tile": (4, 6), "p_flip": 0.25},
        ),
    ],
)
def test_updates(run, options, arguments):
    assert run(*BASE.split(), *options.split(), "-o", "run.h5").exit_code == 0
    wanted = simulate(Potts((8, 12)), 200, thermalise=20, **arguments)
    with h5py.File("run.h5") as archive:
        np.testing.assert_array_equal(archive["energy"], wanted.series.energy)
        assert archive.attrs["update"] == arguments["update"]


def test_temperatures_side_by_side(run, report):
    found = report(*BASE.split(), "--temperatures", "1:1.5:3", "--replicas", 2, "-o", "run.h5")
    betas = [1 / 1.0, 1 / 1.25, 1 / 1.5]
    assert [summary["beta"] for summary in found["summaries"]] == betas
    assert [summary["measurements"] for summary in found["summaries"]] == [400] * 3
    with h5py.File("run.h5") as archive:
        np.testing.assert_array_equal(archive["beta"], np.repeat(betas, 2))
    result = run(*BASE.split(), "--temperatures", "1:1.5:3")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert [line[0] for line in lines[-3:]] == ["1", "1.25", "1.5"]
    assert lines[-4][:2] == ["temperature", "beta"]


def test_table_of_one_temperature(run):
    result = run(*BASE.split(), "--plot", "run.png", "-o", "run.h5", "--checkpoint", "run.save")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].split(maxsplit=1)[1].strip() == "Ising model, 8 x 12, periodic"
    facts = {line.split()[0]: line.split()[-1] for line in lines if line.strip()}
    assert facts["series"] == "run.h5"
    assert facts["picture"] == "run.png"
    assert facts["checkpoint"] == "run.save"
    assert any(re.fullmatch(r"energy a site +-1\.\d+ ± 0\.\d+", line) for line in lines)
    assert any(re.fullmatch(r"beta +0\.881374", line) for line in lines)


def test_short_series_are_told(run):
    assert "beware" in run("simulate", "potts", "--shape", "8x8", "--sweeps", 20).stdout
    assert "beware" not in run(*BASE.split(), "--sweeps", 2000, "--beta", 0.1).stdout


def test_what_does_not_vary_has_no_times(report, run):
    frozen = [*BASE.split(), "--beta", 40, "--start", "cold"]
    (summary,) = report(*frozen)["summaries"]
    assert summary["energy"] == {"value": -2.0, "error": 0.0}
    assert summary["energy_time"] == {"value": None, "error": None}
    assert re.search(r"tau of energy +-$", run(*frozen).stdout, re.MULTILINE)
    assert report(*frozen, "--beta", 0)["summaries"][0]["specific_heat"]["value"] == 0


@pytest.mark.parametrize("options", ["", "--temperatures 1:1.3:4", "--replicas 20"])
def test_pictures(run, options):
    assert run(*BASE.split(), *options.split(), "--plot", "run.png").exit_code == 0
    with Image.open("run.png") as picture:
        assert min(picture.size) > 500
        assert np.ptp(np.asarray(picture)) > 200


@pytest.mark.parametrize("name", ["run.h5", "run.png"])
def test_existing_output_is_refused(run, name):
    option = {".h5": "-o", ".png": "--plot"}[Path(name).suffix]
    Path(name).write_text("precious")
    line = check_failure(run(*BASE.split(), option, name))
    assert line == f"conncomp: {name}: is there already; --force replaces it"
    assert Path(name).read_text() == "precious"
    assert run(*BASE.split(), option, name, "--force").exit_code == 0
    assert Path(name).stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "words"),
    [
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
        ("--q 3 --shape 4x4x4", "no critical temperature is known for --q 3"),
        ("--coupling 0", "--coupling 0.0 must be above 0"),
        ("--periodic 2", "the lattice has 2 axes, so there is no axis 2"),
        ("--periodic true", "--periodic has 1 entries; the lattice has 2 axes"),
        ("--replicas 0", "0 is not in the range"),
        ("--replicas 99999999", "--replicas 99999999 must be"),
        ("--seed -1", "--seed -1 must be"),
        ("--start warm", "'warm' is not one of"),
        ("--sweeps 0", "--sweeps 0 must be"),
        ("--update heat-bath", "'heat-bath' is not one of"),
        ("--update few-cluster", "needs tile and p_flip"),
        ("--update few-cluster --tile 5x5 --p-flip 0.5", "--tile [5, 5] must divide the lattice"),
        ("--update few-cluster --tile 4x4 --p-flip 1", "--p-flip 1.0 must be"),
        ("--tile 4x4", "tile and p_flip are for"),
        ("--update metropolis --clusters", "is not for Metropolis"),
        ("--thermalise -1", "--thermalise -1 must be"),
        ("--measure-every 0", "--measure-every 0 must be"),
        ("--temperatures 1:2", "'1:2' is not A:B:N"),
        ("--temperatures 0:2:3", "--temperatures 0:2:3 must be two temperatures above 0"),
        ("--temperatures 1:inf:3", "must be two temperatures above 0"),
        ("--temperatures 1:2:0", "must be two temperatures above 0"),
        ("--temperatures 1:2:3 --beta 1", "--beta and --temperatures exclude each other"),
        ("--checkpoint-every 0 --checkpoint a", "--checkpoint-every 0.0 must be above 0"),
        ("-o out.npy", "'out.npy' does not end in .h5"),
        ("-o nowhere/out.h5", "there is no directory 'nowhere'"),
        ("-o out.h5 --checkpoint out.h5", "are the same file"),
        ("--sweeps 2000000000 --replicas 1000000", "out of memory"),
    ],
)
def test_bad_input(run, options, words):
    line = check_failure(run(*BASE.split(), *options.split()))
    assert words in line
    assert not snapshot()


def test_without_a_gpu(run, monkeypatch):
    def fail():
        raise RuntimeError("no GPU was found")

    monkeypatch.setattr(launcher, "import_cupy", fail)
    line = check_failure(run(*BASE.split(), "--device", "cuda"))
    assert line == "conncomp: --device cuda: no GPU was found"


def test_damaged_checkpoint_is_one_line(run):
    options = [*BASE.split(), "--checkpoint", "run.save"]
    assert run(*options).exit_code == 0
    assert "whose seed is 0, not 1" in check_failure(run(*options, "--seed", 1))
    Path("run.save").write_bytes(Path("run.save").read_bytes()[:-9])
    assert check_failure(run(*options)).startswith("conncomp: run.save: is damaged")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_goes_on_after_an_end(run, tmp_path, number):
    words = ["simulate", "potts", "--shape", "64x64", "--sweeps", "20000"]
    assert run(*words, "-o", "whole.h5").exit_code == 0
    words += ["-o", "parts.h5", "--checkpoint", "run.save", "--checkpoint-every", "0.01"]
    with subprocess.Popen(
        [sys.executable, "-m", "conncomp", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + 60
        while not Path("run.save").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=60)
    if number == signal.SIGINT:
        assert (process.returncode, stdout, stderr) == (130, "", "conncomp: interrupted\n")
    assert not Path("parts.h5").exists()
    assert run(*words).exit_code == 0
    assert Path("parts.h5").read_bytes() == Path("whole.h5").read_bytes()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs pseudo-terminals")
def test_progress_tells_how_many_updates_are_done(tmp_path):
    reader, terminal = os.openpty()
    words = ["simulate", "potts", "--shape", "64x64", "--sweeps", "4000"]
    subprocess.run(
        [sys.executable, "-m", "conncomp", *words],
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        env=os.environ | {"TERM": "xterm"},
        timeout=60,
        check=True,
    )
    os.close(terminal)
    shown = os.read(reader, 1 << 16)
    os.close(reader)
    assert b"swendsen-wang" in shown
    assert b"/4400" in shown


@pytest.mark.parametrize("library", ["h5py", "emcee.autocorr"])
def test_without_the_extra(run, monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    line = check_failure(run(*BASE.split(), "-o", "run.h5"))
    package = library.partition(".")[0]
    assert line == (
        f"conncomp: this part of conncomp.models needs {package}: pip install 'conncomp[models]'"
    )
    assert not snapshot()


@pytest.mark.parametrize("arguments", ["simulate --help", "simulate potts --help"])
def test_help(run, arguments):
    result = run(*arguments.split())
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: ")
