"""``conncomp simulate``: the same as the function, as tables, pictures and files."""

import functools
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image, ImageSequence

from cli.test_command import check_failure
from conncomp.cli.simulate import _common
from conncomp.models import CahnHilliard, Ising, Kawasaki, Potts, simulate, simulation
from host_cuda.host_gpu import HostGpu

BASE = "simulate potts --shape 8x12 --sweeps 200"


def asked(base, options):
    """Return the words of a command, some of which the options may replace."""
    words = base.split()
    for option in {"--lattice", "--shape", "--sweeps"} & set(options.split()) & set(words):
        place = words.index(option)
        del words[place : place + 2]
    return [*words, *options.split()]


LARGER = "simulate potts --shape 24x30 --beta 0.7"


def as_json(value):
    """Return what a report has of tuples with names and without, and of what is unknown."""
    if isinstance(value, float) and np.isnan(value):
        return None
    if hasattr(value, "_asdict"):
        return {name: as_json(part) for name, part in value._asdict().items()}
    return [as_json(part) for part in value] if isinstance(value, tuple) else value


def check_archive(path, run):
    """Check that a file has the series of a run."""
    with h5py.File(path) as archive:
        for name, values in run.series.observables().items():
            np.testing.assert_array_equal(archive[name], values, name)


def check_found(found, run, path=None):
    """Check that a report, and a file, are of a run."""
    assert found["model"] == run.parameters
    assert found["summaries"] == as_json(tuple(run.summarise()))
    if path is not None:
        check_archive(path, run)


def check_plot(path):
    with Image.open(path) as picture:
        assert min(picture.size) > 500
        assert np.ptp(np.asarray(picture)) > 200


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


ISING = "simulate ising --lattice honeycomb --shape 8x6 --sweeps 60"
KAWASAKI = "simulate kawasaki --shape 8x8x8 --sweeps 60"
CAHN_HILLIARD = "simulate cahn-hilliard --shape 24x20 --sweeps 60"


@pytest.mark.parametrize(
    ("base", "option", "betas"),
    [
        (BASE, "--temperatures 1:1.5:3", [1, 1 / 1.25, 1 / 1.5]),
        (ISING, "--temperatures 1:2:3", [1, 1 / 1.5, 1 / 2]),
        (ISING, "--temperatures 2:1:3", [1 / 2, 1 / 1.5, 1]),
        (ISING, "--betas 0:0.5:3", [0, 0.25, 0.5]),
        ("simulate xy --shape 6x8 --sweeps 30", "--temperatures 1:2:3", [1, 1 / 1.5, 1 / 2]),
        ("simulate heisenberg --shape 3x4x5 --sweeps 30", "--temperatures 1:2:3", [1, 2 / 3, 0.5]),
    ],
)
def test_temperatures_side_by_side(run, report, base, option, betas):
    words = [*base.split(), *option.split()]
    found = report(*words, "--replicas", 2, "--update", "wolff", "-o", "run.h5")
    assert [summary["beta"] for summary in found["summaries"]] == betas
    sweeps = int(base.split()[-1])
    assert [summary["measurements"] for summary in found["summaries"]] == [2 * sweeps] * 3
    with h5py.File("run.h5") as archive:
        np.testing.assert_array_equal(archive["beta"], np.repeat(betas, 2))
    result = run(*words, "--plot", "run.png", "--picture", "clusters.png")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert [line[0] for line in lines[-3:]] == [f"{1 / b:.6g}" if b else "inf" for b in betas]
    assert lines[-4][:2] == ["temperature", "beta" if base in (BASE, ISING) else "energy"]
    assert ("vortices" in result.stdout) == ("xy" in base)
    check_plot("run.png")


@pytest.mark.soak
def test_table_of_one_temperature(run):
    result = run(*BASE.split(), "--plot", "run.png", "-o", "run.h5", "--checkpoint", "run.save")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].split(maxsplit=1)[1].strip() == "Ising model, 8 x 12, periodic"
    facts = {line.split()[0]: line.split()[-1] for line in lines if line.strip()}
    assert facts["series"] == "run.h5"
    assert facts["plot"] == "run.png"
    assert facts["checkpoint"] == "run.save"
    assert any(re.fullmatch(r"energy a site +-1\.\d+ ± 0\.\d+", line) for line in lines)
    assert any(re.fullmatch(r"beta +0\.881374", line) for line in lines)


# ------------------------------------------------------------------------- pictures of components


def planes_of(path):
    """Return the frames of a picture, as arrays of RGB."""
    with Image.open(path) as picture:
        return [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(picture)]


def components_of(plane):
    """Number the colours of a picture: each component has one, which its neighbours have not."""
    packed = plane.astype(np.int64) @ [1 << 16, 1 << 8, 1]
    return np.unique(packed, return_inverse=True)[1].reshape(packed.shape)


def check_painted(plane, labels):
    """Check that a picture shows labels: where these differ between neighbours, colours do."""
    colours = components_of(plane)
    assert colours.shape == labels.shape
    for axis in (0, 1):
        np.testing.assert_array_equal(
            np.diff(colours, axis=axis) != 0, np.diff(labels, axis=axis) != 0
        )


@pytest.mark.parametrize(
    ("shape", "replicas"), [((24, 30), None), ((24, 30), 2), ((5, 24, 30), None)]
)
def test_picture_of_the_last_state(run, shape, replicas):
    words = f"simulate potts --shape {'x'.join(map(str, shape))} --sweeps 20 --beta 0.7".split()
    words += [] if replicas is None else ["--replicas", replicas]
    assert run(*words, "--picture", "run.png").exit_code == 0
    model = Potts(shape, 2, 0.7, replicas=replicas)
    model.step(22)
    labels = model.labels()
    labels = labels if replicas is None else labels[0]
    check_painted(planes_of("run.png")[0], labels if labels.ndim == 2 else labels[2])


def test_picture_of_one_axis_is_a_strip(run):
    words = asked(BASE, "--shape 50 --beta 2 --picture a.png")
    assert run(*words).exit_code == 0
    assert planes_of("a.png")[0].shape == (32, 50, 3)


@pytest.mark.parametrize("replicas", [[], ["--replicas", 2]])
def test_film_has_a_frame_for_every_so_many_measurements(run, replicas):
    words = [*LARGER.split(), *replicas, "--sweeps", 20, "--thermalise", 3, "--measure-every", 2]
    result = run(*words, "--film", "run.gif", "--film-every", 4)
    assert (result.exit_code, result.stderr) == (0, "")
    frames, model = planes_of("run.gif"), Potts((24, 30), 2, 0.7)
    assert len(frames) == 3
    model.step(3)
    for frame in frames:
        check_painted(frame, model.labels())
        model.step(8)


def test_film_has_a_hundred_frames_unless_told(run, report):
    found = report(*LARGER.split(), "--sweeps", 1000, "--film", "run.gif")
    assert len(planes_of("run.gif")) == 100
    assert found["written"]["film"] == "run.gif"


def test_film_of_a_large_lattice_is_thinned_out(run, monkeypatch):
    monkeypatch.setattr(_common, "LONGEST_SIDE", 10)
    words = [*LARGER.split(), "--sweeps", 5, "--film", "run.gif"]
    assert run(*words).exit_code == 0
    assert planes_of("run.gif")[0].shape == (8, 10, 3)
    monkeypatch.setattr(_common, "MOST_PIXELS", 2 * 80)
    line = check_failure(run(*words, "--force"))
    assert "5 frames of 10 x 8 pixels, and at most 2 are taken; give --film-every 3" in line
    assert run(*words, "--force", "--film-every", "3").exit_code == 0


@pytest.mark.parametrize("shape", [(24, 30), (5, 24, 30)])
def test_film_of_lattices_on_a_gpu(tmp_path, monkeypatch, shape):
    gpu = HostGpu()
    monkeypatch.setattr("conncomp.models.base.current_gpu", lambda: gpu)
    for device in ("cpu", "cuda"):
        film = _common.Film(shape, 2)
        simulate(Potts(shape, beta=0.7, replicas=2, device=device), 5, watch=film)
        film.write(tmp_path / f"{device}.gif")
    assert (tmp_path / "cpu.gif").read_bytes() == (tmp_path / "cuda.gif").read_bytes()
    assert len(planes_of(tmp_path / "cpu.gif")) == 3


# ----------------------------------------------------------------------------- what the user reads


def test_short_series_are_told(run):
    assert "beware" in run("simulate", "potts", "--shape", "8x8", "--sweeps", 20).stdout
    assert "beware" not in run(*asked(BASE, "--sweeps 2000 --beta 0.1")).stdout


def test_what_does_not_vary_has_no_times(report, run):
    cold = [*BASE.split(), "--start", "cold", "--beta"]
    frozen = [*cold, 40]
    (summary,) = report(*frozen)["summaries"]
    assert summary["energy"] == {"value": -2.0, "error": 0.0}
    assert summary["energy_time"] == {"value": None, "error": None}
    assert re.search(r"tau of energy +-$", run(*frozen).stdout, re.MULTILINE)
    assert report(*cold, 0)["summaries"][0]["specific_heat"]["value"] == 0


@pytest.mark.parametrize("options", ["", "--replicas 20"])
def test_plots(run, options):
    assert run(*BASE.split(), *options.split(), "--plot", "run.png").exit_code == 0
    check_plot("run.png")


@pytest.mark.parametrize(
    ("base", "names", "least"),
    [
        (
            KAWASAKI,
            [
                "Kawasaki dynamics, body-centred cubic, 8 x 8 x 8 sites",
                *("energy a site", "components", "largest component", "spins/s", "6.35435"),
            ],
            8,
        ),
        (
            CAHN_HILLIARD,
            [
                *("Cahn-Hilliard equation, 24 x 20 cells, dt = 0.02", "at time 1.3", "energy"),
                *("mean of the field", "domain size", "components above", "cells/s"),
            ],
            20,
        ),
    ],
)
def test_table_plot_and_pictures(run, base, names, least):
    done = run(*base.split(), "--plot", "a.png", "--picture", "b.png", "--film", "c.gif")
    assert (done.exit_code, done.stderr) == (0, "")
    assert [name for name in names if name not in done.stdout] == []
    for name in ("a.png", "b.png", "c.gif"):
        with Image.open(name) as image:
            assert min(image.size) >= least


@pytest.mark.parametrize(
    ("base", "make"),
    [
        (ISING, functools.partial(Ising, (8, 6), lattice="honeycomb")),
        (KAWASAKI, functools.partial(Kawasaki, 8)),
        (CAHN_HILLIARD, functools.partial(CahnHilliard, (24, 20))),
    ],
)
def test_gpu_gives_the_same(report, monkeypatch, base, make):
    executor = HostGpu()
    monkeypatch.setattr("conncomp.models.base.current_gpu", lambda: executor)
    there = simulate(make(device="cuda", seed=1), 60, thermalise=6)
    report(*base.split(), "--seed", 1, "-o", "run.h5")
    check_archive("run.h5", there)


@pytest.mark.parametrize(
    ("words", "other", "line"),
    [
        (
            f"{ISING} --seed 3 --thermalise 5",
            "--lattice kagome",
            "whose lattice is 'honeycomb', not 'kagome'",
        ),
        (f"{KAWASAKI} --fraction 0.3 --thermalise 5", "--seed 3", "whose seed is 0, not 3"),
        (
            f"{CAHN_HILLIARD} --noise 0.1 --measure-every 7 --thermalise 3",
            "--seed 3",
            "whose seed is 0, not 3",
        ),
    ],
)
def test_a_shorter_run_goes_on(run, words, other, line):
    kept = "--checkpoint", "kept"
    assert run(*words.split(), "-o", "whole.h5").exit_code == 0
    assert run(*asked(words, "--sweeps 20"), *kept).exit_code == 0
    assert run(*words.split(), *kept, "-o", "parts.h5").exit_code == 0
    assert Path("parts.h5").read_bytes() == Path("whole.h5").read_bytes()
    assert line in check_failure(run(*asked(words, other), *kept))


@pytest.mark.parametrize(
    ("option", "name"),
    [("-o", "run.h5"), ("--plot", "run.png"), ("--picture", "run.png"), ("--film", "run.gif")],
)
def test_existing_output_is_refused(run, option, name):
    Path(name).write_text("precious")
    line = check_failure(run(*BASE.split(), option, name))
    assert line == f"conncomp: {name}: is there already; --force replaces it"
    assert Path(name).read_text() == "precious"
    assert run(*BASE.split(), option, name, "--force").exit_code == 0
    assert Path(name).stat().st_size > 100


def test_damaged_checkpoint_is_one_line(run):
    options = [*BASE.split(), "--checkpoint", "run.save"]
    assert run(*options).exit_code == 0
    assert "whose seed is 0, not 1" in check_failure(run(*options, "--seed", 1))
    Path("run.save").write_bytes(Path("run.save").read_bytes()[:-9])
    assert check_failure(run(*options)).startswith("conncomp: run.save: is damaged")


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGKILL, marks=pytest.mark.soak), signal.SIGINT]
)
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
        assert (process.returncode, stdout) == (130, "")
        kept = r"conncomp: interrupted; [\d,]+ of 22,000 updates are kept in run\.save: the same "
        assert re.fullmatch(kept + "command goes on\n", stderr)
    assert not Path("parts.h5").exists()
    assert run(*words).exit_code == 0
    assert Path("parts.h5").read_bytes() == Path("whole.h5").read_bytes()


@pytest.mark.parametrize(
    "model", ["potts", "ising", "xy", "percolation", "glass --temperature 2", "kawasaki"]
)
def test_an_interrupt_says_what_is_kept(run, monkeypatch, model):
    """After three updates, which a checkpoint has."""
    words = ["simulate", *model.split(), "--shape", "8x8", "--sweeps", "50", "--thermalise", "3"]
    words += ["--lattice", "square"] if model == "kawasaki" else []
    nothing = "conncomp: interrupted; nothing is kept: with {} it goes on where it ended"
    real = simulation.make_updates

    def make_two(update, numbers, *more):
        if numbers and numbers[0] > 2:
            raise KeyboardInterrupt
        return real(update, numbers, *more)

    monkeypatch.setattr(simulation, "make_updates", make_two)
    assert check_failure(run(*words), 130) == nothing.format("--checkpoint FILE")
    found = check_failure(run(*words, "--checkpoint", "run.save"), 130)
    kept = "conncomp: interrupted; 3 of 53 updates are kept in run.save: the same command goes on"
    assert found == kept
    if model not in ("percolation", "kawasaki"):
        several = [*words, "--shape", "4x4"]
        assert check_failure(run(*several), 130) == nothing.format("--folder DIR")
        found = check_failure(run(*several, "--folder", "made"), 130)
        assert "updates are kept in made/8x8.checkpoint: the same command goes on" in found
    monkeypatch.setattr(simulation, "make_updates", real)
    assert run(*words, "--checkpoint", "run.save").exit_code == 0
