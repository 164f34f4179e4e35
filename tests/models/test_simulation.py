"""Long runs: the same whatever interrupts them, and files that are whole or not there."""

import hashlib
import json
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import h5py
import numpy as np
import pytest

from conncomp.models import Potts, simulate
from conncomp.models.checkpoint import Checkpoint, write_checkpoint
from host_cuda.host_gpu import HostGpu

UPDATES = {
    "swendsen-wang": {},
    "wolff": {},
    "few-cluster": {"tile": 4, "p_flip": 0.4},
    "metropolis": {},
}


def new_model(**changes):
    arguments = {"shape": (8, 12), "q": 3, "beta": [0.9, 1.0], "replicas": 2, "seed": 5}
    return Potts(**(arguments | changes))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.checkpoint"


# ------------------------------------------------------------------------------------- what is run


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("clusters", [False, True])
def test_series_are_those_of_the_updates(update, clusters):
    if update == "metropolis" and clusters:
        pytest.skip("has no clusters")
    options = UPDATES[update]
    run = simulate(
        new_model(),
        20,
        update=update,
        thermalise=7,
        measure_every=3,
        clusters=clusters,
        wrapping=clusters,
        **options,
    )
    model = new_model()
    every = {} if update == "metropolis" else {"clusters": clusters, "wrapping": clusters}
    series = getattr(model, update.replace("-", "_"))(27, **every, **options)
    np.testing.assert_array_equal(run.series.records, series.records[7::3])
    np.testing.assert_array_equal(run.updates, range(7, 27, 3))
    assert run.series.clusters_measured == run.series.wrapping_measured == clusters


def test_model_goes_on_where_the_simulation_ended():
    model, whole = new_model(), new_model()
    simulate(model, 10)
    run = simulate(model, 10)
    assert run.updates[0] == model.updates - 10 == 10
    np.testing.assert_array_equal(run.series.records, whole.swendsen_wang(20).records[10:])


def test_single_lattice_has_no_axis_of_replicas():
    run = simulate(new_model(replicas=None, beta=1.0), 6, measure_every=4)
    assert run.series.energy.shape == (2,)
    assert run.arrays["beta"].shape == ()


def test_summaries_count_updates():
    runs = [simulate(new_model(), 400, measure_every=k).summarise() for k in (1, 4)]
    assert [summary.beta for summary in runs[0]] == [0.9, 1.0]
    often, seldom = (summaries[0].energy_time.value for summaries in runs)
    assert seldom >= 0.9 * 4 / 2 > often / 3


# ------------------------------------------------------------------------------------------- output


@pytest.mark.parametrize("replicas", [None, 2])
def test_output_holds_series_and_parameters(tmp_path, replicas):
    model = new_model(replicas=replicas, beta=1.0, coupling=2.0, seed=2**64 - 1)
    run = simulate(
        model,
        20,
        update="few-cluster",
        tile=(4, 6),
        p_flip=0.5,
        thermalise=3,
        clusters=True,
        wrapping=True,
        output=tmp_path / "run.h5",
    )
    with h5py.File(tmp_path / "run.h5") as archive:
        for name in set(archive) - {"beta", "updates"}:
            np.testing.assert_array_equal(archive[name][()], getattr(run.series, name))
        assert len(archive) == 14
        np.testing.assert_array_equal(archive["beta"][()], model.beta)
        np.testing.assert_array_equal(archive["updates"][()], range(3, 23))
        attributes = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in archive.attrs.items()
        }
    assert attributes == run.parameters
    assert attributes["seed"] == 2**64 - 1
    assert attributes["tile"] == [4, 6]


def test_what_an_update_does_not_measure_is_not_written(tmp_path):
    simulate(new_model(), 3, update="metropolis", output=tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as archive:
        assert "active_bonds" not in archive
        assert "clusters" not in archive
        assert "wraps" not in archive
        assert "tile" not in archive.attrs


def test_existing_output_is_refused_before_anything_starts(tmp_path):
    output = tmp_path / "run.h5"
    output.write_text("precious")
    model = new_model()
    with pytest.raises(FileExistsError, match="force=True replaces it"):
        simulate(model, 3, output=output)
    assert model.updates == 0
    assert output.read_text() == "precious"
    simulate(model, 3, output=output, force=True)
    assert h5py.is_hdf5(output)


@pytest.mark.parametrize(
    ("name", "error"), [("folder", IsADirectoryError), ("nowhere/run.h5", FileNotFoundError)]
)
def test_output_that_cannot_be_written_is_told_first(tmp_path, name, error):
    (tmp_path / "folder").mkdir()
    model = new_model()
    with pytest.raises(error):
        simulate(model, 3, output=tmp_path / name, force=True)
    assert model.updates == 0


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"sweeps": 0}, ValueError, "sweeps=0 must be from 1"),
        ({"thermalise": 1 << 32}, ValueError, "thermalise="),
        ({"measure_every": 0}, ValueError, "measure_every=0"),
        ({"update": "few-cluster"}, ValueError, "needs tile and p_flip"),
        ({"update": "few-cluster", "tile": 4, "p_flip": 1.0}, ValueError, "p_flip=1.0"),
        ({"update": "few-cluster", "tile": 5, "p_flip": 0.5}, ValueError, "tile=5 must divide"),
        ({"tile": 4}, ValueError, "for update="),
        ({"update": "metropolis", "clusters": True}, ValueError, "clusters=True"),
        ({"update": "metropolis", "wrapping": True}, ValueError, "wrapping=True"),
        ({"checkpoint_every": 0}, ValueError, "checkpoint_every=0"),
        ({"output": "same", "checkpoint": "./same"}, ValueError, "the same file, same"),
    ],
)
def test_bad_arguments(tmp_path, monkeypatch, arguments, error, words):
    monkeypatch.chdir(tmp_path)
    model = new_model()
    with pytest.raises(error, match=re.escape(words)):
        simulate(model, **({"sweeps": 3} | arguments))
    assert model.updates == 0
    assert not list(tmp_path.iterdir())


# --------------------------------------------------------------------------------- kill and resume


class Interrupter:
    """Ends an update of an engine as Ctrl-C does, after it has written what it wants to."""

    def __init__(self, model, at):
        self.engine, self.at, self.calls = model._engine, at, 0

    def __getattr__(self, name):
        return getattr(self.engine, name)

    def update(self, *arguments):
        self.calls += 1
        self.engine.update(*arguments)
        if self.calls == self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("same_model", [True, False])
def test_goes_on_after_ctrl_c(tmp_path, path, same_model):
    options = {"thermalise": 9, "measure_every": 4, "clusters": True, "wrapping": True}
    options["checkpoint"] = path
    simulate(new_model(), 60, **options | {"checkpoint": None, "output": tmp_path / "whole.h5"})
    model, interruptions = new_model(), 0
    for at in (1, 2, 3, 6, 8, 13, 20):
        if not same_model:
            model = new_model()
        engine = model._engine
        model._state._engine = Interrupter(model, at)
        with pytest.raises(KeyboardInterrupt):
            simulate(model, 60, **options)
        model._state._engine = engine
        interruptions += at - 1
        assert model.updates == interruptions
        with Checkpoint(path) as checkpoint:
            assert checkpoint.facts["updates"] == interruptions
    simulate(model if same_model else new_model(), 60, output=tmp_path / "parts.h5", **options)
    assert (tmp_path / "parts.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()


SCRIPT = """
import sys
from conncomp.models import Potts, simulate
from conncomp.models import simulation
simulation.PACE = 1e-3
model = Potts((16, 16), 3, [0.9, 1.0], replicas=2, seed=5)
print("started", flush=True)
simulate(model, 1000, thermalise=100, measure_every=3, clusters=True, wrapping=True,
         output=sys.argv[1], checkpoint=sys.argv[2], checkpoint_every=1e-9)
"""


@contextmanager
def started(*arguments):
    command = [sys.executable, "-c", SCRIPT, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process


def test_goes_on_after_being_killed_at_any_moment(tmp_path, path):
    """SIGKILL again and again, while a checkpoint is written more often than not."""
    with started(tmp_path / "whole.h5", tmp_path / "whole.checkpoint") as process:
        seconds = time.perf_counter()
        assert process.wait(120) == 0
        seconds = time.perf_counter() - seconds
    moments, kills, steps = random.Random(1), 0, [0]
    for attempt in range(40):  # which have more and more time, as the machine may be slower now
        with started(tmp_path / "parts.h5", path) as process:
            try:
                process.wait(moments.uniform(0.0, seconds * (1 + attempt) / 6))
            except subprocess.TimeoutExpired:
                process.kill()
                kills += process.wait() == -signal.SIGKILL
        if (tmp_path / "parts.h5").exists():
            break
        if path.exists():
            with Checkpoint(path) as checkpoint:
                steps.append(checkpoint.facts["updates"])
    assert kills >= 2
    assert steps == sorted(steps)
    assert (tmp_path / "parts.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()
    # What the killed ones left behind is gone, too.
    assert len(list(tmp_path.iterdir())) == 4


def test_more_sweeps_follow(tmp_path, path):
    simulate(new_model(), 30, checkpoint=path)
    more = simulate(new_model(), 50, checkpoint=path, output=tmp_path / "parts.h5")
    simulate(new_model(), 50, output=tmp_path / "whole.h5")
    assert (tmp_path / "parts.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()
    assert len(more.series.energy) == 50
    with pytest.raises(ValueError, match="has made 50 updates already, of 40 that are wanted"):
        simulate(new_model(), 40, checkpoint=path)


def test_checkpoint_that_is_done_gives_the_series_again(path):
    first = simulate(new_model(), 30, checkpoint=path)
    model = new_model()
    again = simulate(model, 30, checkpoint=path)
    np.testing.assert_array_equal(first.series.records, again.series.records)
    np.testing.assert_array_equal(model.spins, simulate_and_get_spins(30))


def simulate_and_get_spins(sweeps):
    model = new_model()
    model.swendsen_wang(sweeps, measure=False)
    return model.spins


def test_checkpoints_are_as_often_as_asked_for(path, monkeypatch):
    written = []
    monkeypatch.setattr(
        "conncomp.models.simulation.write_checkpoint",
        lambda path, facts, arrays: written.append(facts["updates"]),
    )
    monkeypatch.setattr("conncomp.models.simulation.PACE", 1e-9)
    simulate(new_model(), 5, checkpoint=path)
    assert written == [0, 5]
    simulate(new_model(), 5, checkpoint=path, checkpoint_every=1e-9)
    assert written[2:] == [0, 1, 2, 3, 4, 5, 5]


# --------------------------------------------------------------------------- what cannot be written

FULL = """
import resource, signal, sys
from pathlib import Path
from conncomp.models import Potts, simulate
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
path = None if sys.argv[2] == "none" else sys.argv[2]
try:
    simulate(Potts((64, 64), 2, 0.9, seed=5), 1000, output=sys.argv[1], checkpoint=path)
except OSError as error:
    print(error.errno, error.filename)
"""


@pytest.mark.parametrize("target", ["output", "checkpoint"])
def test_disk_full_leaves_what_was_there(tmp_path, path, target):
    """As seen through a limit of the sizes of files: an error of the system, EFBIG for ENOSPC."""
    output = tmp_path / "run.h5"
    simulate(Potts((64, 64), 2, 0.9, seed=5), 100, checkpoint=path)
    before = path.read_bytes()
    arguments = [output, "none" if target == "output" else path, 20_000]
    done = subprocess.run(
        [sys.executable, "-c", FULL, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["27", str(output if target == "output" else path)]
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before
    # There is room again.
    run = simulate(Potts((64, 64), 2, 0.9, seed=5), 1000, checkpoint=path)
    whole = simulate(Potts((64, 64), 2, 0.9, seed=5), 1000)
    np.testing.assert_array_equal(run.series.records, whole.series.records)


# ------------------------------------------------------------------------------- bad checkpoints


@pytest.fixture
def content(path):
    """The bytes of a good checkpoint, which is there."""
    simulate(new_model(), 4, checkpoint=path)
    return path.read_bytes()


def check_refused(path, words=None):
    """Check that a checkpoint is refused in one line, and the model and the file left alone."""
    model, before = new_model(), path.read_bytes()
    with pytest.raises(ValueError, match=words) as caught:
        simulate(model, 20, checkpoint=path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    assert model.updates == 0
    assert path.read_bytes() == before


def test_any_damage_is_seen(path, content):
    head = content.index(b"\n", content.index(b"\n") + 1)
    places = random.Random(1).sample(range(head, len(content)), 60)
    for place in [*range(0, head, 7), *places]:
        for bit in (0, 7):
            damaged = bytearray(content)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            check_refused(path)


def test_anything_cut_short_or_added_to_is_seen(path, content):
    for length in [*range(0, len(content), 37), len(content) - 1]:
        path.write_bytes(content[:length])
        check_refused(path)
    path.write_bytes(content + b"\0")
    check_refused(path, "is damaged")


@pytest.mark.parametrize("kind", ["text", "hdf5", "npz"])
def test_other_files_are_no_checkpoints(tmp_path, path, kind):
    if kind == "text":
        path.write_text("to do: buy milk\n")
    elif kind == "hdf5":
        simulate(new_model(), 3, output=path)
    else:
        np.savez(tmp_path / "a.npz", np.ones(3))
        (tmp_path / "a.npz").rename(path)
    check_refused(path, "is no checkpoint of a simulation")


def test_what_is_no_file_is_no_checkpoint(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", ""):
        with pytest.raises((ValueError, IsADirectoryError)):
            simulate(new_model(), 3, checkpoint=tmp_path / name)


@pytest.mark.parametrize(
    ("model", "arguments", "words"),
    [
        ({"q": 4}, {}, "another simulation, whose q is 3, not 4"),
        ({"shape": (8, 11)}, {}, "shape is [8, 12], not [8, 11]"),
        ({"periodic": (True, False)}, {}, "periodic is [True, True], not [True, False]"),
        ({"beta": [0.9, 1.1]}, {}, "beta has other values"),
        ({"coupling": 2.0}, {}, "coupling is 1.0, not 2.0"),
        ({"seed": 6}, {}, "seed is 5, not 6"),
        ({"replicas": 3, "beta": 1.0}, {}, "replicas is 2, not 3"),
        ({"first_replica": 1}, {}, "first_replica is 0, not 1"),
        ({"start": "cold"}, {}, "began with another state"),
        ({}, {"update": "wolff"}, "update is 'swendsen-wang', not 'wolff'"),
        ({}, {"thermalise": 1}, "thermalise is 0, not 1"),
        ({}, {"measure_every": 2}, "measure_every is 1, not 2"),
        ({}, {"clusters": True}, "clusters is False, not True"),
        ({}, {"wrapping": True}, "wrapping is False, not True"),
    ],
)
@pytest.mark.usefixtures("content")
def test_checkpoint_of_something_else_is_refused(path, model, arguments, words):
    before = path.read_bytes()
    other = new_model(**model)
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        simulate(other, 20, checkpoint=path, **arguments)
    assert str(path) in str(caught.value)
    copied = pickle.loads(pickle.dumps(caught.value))  # as from a process that simulates
    assert str(copied) == str(caught.value)
    assert other.updates == 0
    assert path.read_bytes() == before


@pytest.mark.usefixtures("content")
def test_model_that_has_moved_is_refused(path):
    model = new_model()
    model.swendsen_wang(3)
    with pytest.raises(ValueError, match="began with another state"):
        simulate(model, 20, checkpoint=path)


@pytest.mark.usefixtures("content")
def test_checkpoint_of_another_version_is_refused(path, monkeypatch):
    monkeypatch.setattr("conncomp.models.simulation.version", lambda name: "99.0")
    check_refused(path, "is of another conncomp, whose version is '.*', not '99.0'")
    monkeypatch.undo()
    monkeypatch.setattr("conncomp.models.simulation.CONTRACT", 4)
    check_refused(path, "is of another conncomp, whose contract is 3, not 4")
    content = path.read_bytes().replace(b"checkpoint 1", b"checkpoint 2", 1)
    path.write_bytes(content)
    check_refused(path, "is a checkpoint of format '2'; this conncomp reads format 1")


def forge(path, change, *arrays):
    """Write a checkpoint with other facts or arrays, and the SHA-256 that belongs to them."""
    state = new_model().state()
    with Checkpoint(path) as checkpoint:
        facts = checkpoint.facts
        good = [*state.arrays, np.zeros((4, 2, 17), np.int64)]
        checkpoint.read(good)
    change(facts)
    write_checkpoint(path, facts, [*arrays, *good[len(arrays) :]])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda facts: facts.pop("updates"), "no numbers of updates"),
        (lambda facts: facts.update(updates=4.0), "no numbers"),
        (lambda facts: facts.update(updates=True), "no numbers"),
        (lambda facts: facts.update(updates=-1), "no numbers"),
        (lambda facts: facts.update(updates=10**30), "no numbers"),
        (lambda facts: facts.update(updates=5), "holds 1360 bytes of arrays; 1632"),
        (lambda facts: facts.update(updates=3), "holds "),
        (lambda facts: facts.update(updates=2**31), "has made 2147483648 updates already"),
        (lambda facts: facts.update(start=None), "no numbers"),
        (lambda facts: facts.update(start={}), "no numbers"),
        (lambda facts: facts["start"].update(updates=10**30), "no numbers"),
        (lambda facts: facts["start"].update(updates=9), "has made -5 updates"),
        (lambda facts: facts["start"].update(arrays="0" * 64), "began with another state"),
        (lambda facts: facts.pop("q"), "q is None, not 3"),
        (lambda facts: facts.update(more=1), "more is 1, not None"),
        (lambda facts: facts.update(shape=[2**62, 2**62]), "shape is"),
    ],
)
@pytest.mark.usefixtures("content")
def test_forged_facts_are_refused(path, change, words):
    forge(path, change)
    check_refused(path, words)


@pytest.mark.usefixtures("content")
def test_forged_arrays_are_refused(path):
    betas, spins = new_model().state().arrays
    for words, reason in [
        (np.full_like(spins, 2**64 - 1), "bits beyond the rows"),
        (np.full_like(spins, 3), "states of q = 3 or more"),
    ]:
        forge(path, lambda facts: None, betas, words)
        check_refused(path, reason)
        simulate(new_model(), 4, checkpoint=path.with_name("good"))
        path.write_bytes(path.with_name("good").read_bytes())
    forge(path, lambda facts: None, np.array([np.nan, 1.0]))
    check_refused(path, "must be finite")


@pytest.mark.parametrize("facts", [b"[]", b"1", b"{", b"[" * 60_000, b'"' + b"x" * 70_000, b""])
def test_facts_that_are_none_are_refused(path, facts):
    content = b"conncomp checkpoint 1\n" + facts + b"\n"
    path.write_bytes(content + hashlib.sha256(content).digest())
    check_refused(path, "has no facts of a simulation")


def test_facts_are_one_line_of_json(path, content):
    line = content.split(b"\n")[1]
    assert json.loads(line)["shape"] == [8, 12]
    assert Path(path).stat().st_size == len(content)


# ----------------------------------------------------------------------------------------- progress


def test_progress_is_told_until_the_end(monkeypatch):
    from conncomp.models import simulation

    told = []
    report = nullcontext(lambda done, total: told.append((done, total)))
    monkeypatch.setattr(simulation, "_display", lambda name, shows: report)
    monkeypatch.setattr(simulation, "PACE", 1e-9)
    simulate(new_model(), 3, thermalise=1)
    assert told == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]


def test_progress_is_silent_without_a_terminal(capfd):
    simulate(new_model(), 3, progress=True)
    assert capfd.readouterr() == ("", "")


# -------------------------------------------------------------------------------------------- GPUs


@pytest.fixture(params=["host executor", pytest.param("GPU", marks=pytest.mark.gpu)])
def _gpu(request, monkeypatch):
    if request.param == "GPU":
        return
    gpu = HostGpu()
    monkeypatch.setattr("conncomp.models.base.current_gpu", lambda: gpu)


@pytest.mark.usefixtures("_gpu")
@pytest.mark.parametrize("devices", [("cuda", "cpu"), ("cpu", "cuda"), ("cuda", "cuda")])
def test_goes_on_on_another_device(tmp_path, path, devices):
    options = {"thermalise": 2, "measure_every": 2, "clusters": True, "wrapping": True}
    model = {"shape": (12, 70)}
    simulate(new_model(**model), 10, output=tmp_path / "whole.h5", **options)
    for device, sweeps in zip(devices, (5, 10), strict=True):
        output = tmp_path / f"{sweeps}.h5"
        placed = new_model(device=device, **model)
        simulate(placed, sweeps, checkpoint=path, output=output, **options)
    assert (tmp_path / "10.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()


def test_series_as_a_dataset():
    xarray = pytest.importorskip("xarray")
    run = simulate(Potts((4, 6), beta=[0.4, 0.8], replicas=2, seed=1), 9, measure_every=3)
    found = run.to_xarray()
    assert isinstance(found, xarray.Dataset)
    assert found.energy.dims == ("update", "replica")
    assert found.state_counts.dims == ("update", "replica", "state_counts_2")
    np.testing.assert_array_equal(found.energy, run.series.energy)
    assert found["update"].values.tolist() == [0, 3, 6]
    assert found.beta.values.tolist() == [0.4, 0.8]
    assert found.attrs["sweeps"] == 9
    single = simulate(Potts((4, 6), beta=0.4, seed=1), 5).to_xarray()
    assert single.energy.dims == ("update",)
