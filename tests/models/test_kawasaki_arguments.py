"""What the Kawasaki model takes and refuses; its state, its parts alone and together."""

import h5py
import numpy as np
import pytest

import conncomp
from conncomp.models import Kawasaki, simulate
from models.devices import both, equal_steps
from models.kawasaki_reference import STEPS


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"shape": (8, 8)}, ValueError, r"shape=\(8, 8\) must have 3 axes for lattice='bcc'"),
        ({"shape": (8, 8, 8), "lattice": "square"}, ValueError, "must have 2 axes"),
        ({"shape": (8, 10, 15)}, ValueError, r"multiples of 4.* nearest is \(8, 8, 16\)"),
        ({"shape": (8, 0, 8)}, ValueError, r"nearest is \(8, 4, 8\)"),
        ({"shape": (2048, 1024, 1024)}, ValueError, "fewer than 2\\*\\*31 sites"),
        ({"lattice": "fcc"}, ValueError, "lattice='fcc' is not one of 'bcc', 'sc', 'square'"),
        ({"temperature": 0}, ValueError, "temperature=0 must be above 0"),
        ({"temperature": np.inf}, ValueError, "temperature=inf must be above 0, and finite"),
        ({"temperature": "hot"}, ValueError, "temperature='hot' is not one of 'critical'"),
        ({"temperature": 5e-324}, ValueError, "temperature=5e-324 must be above 0"),
        ({"temperature": [[1.0], [2.0]]}, ValueError, r"temperature has shape \(2, 1\); .* 2 rep"),
        ({"beta": 0}, ValueError, "beta=0 must be above 0, and finite"),
        ({"beta": np.inf}, ValueError, "beta=inf must be above 0, and finite"),
        ({"beta": 1e-310}, ValueError, "beta=1e-310 must be above 0, and finite"),
        ({"beta": "cold"}, ValueError, "beta='cold' is not one of 'critical'"),
        ({"beta": [1.0, 2.0], "replicas": 1}, ValueError, r"beta has shape \(2,\); .* 1 replicas"),
        ({"beta": 1.0, "temperature": 1.0}, ValueError, "temperature and beta exclude each other"),
        ({"fraction": 0}, ValueError, "fraction=0 must be above 0 and below 1"),
        ({"fraction": 1.0}, ValueError, "fraction=1.0 must be above 0 and below 1"),
        ({"fraction": 1e-9}, ValueError, "fraction=1e-09 of 512 sites is none or all"),
        ({"fraction": [0.1, 0.2], "replicas": 3}, ValueError, "fraction has shape"),
        ({"coupling": 0}, ValueError, "coupling=0 must be above 0"),
        ({"coupling": np.inf}, ValueError, "coupling=inf"),
        ({"start": np.zeros((8, 8), int)}, ValueError, r"start has shape \(8, 8\)"),
        ({"start": np.full((8, 8, 8), 2)}, ValueError, "spins from 2 to 2; they must be 0 or 1"),
        ({"start": np.zeros((8, 8, 8), int)}, ValueError, "without spins of both kinds"),
        ({"start": np.zeros((8, 8, 8))}, TypeError, "start is of dtype float64"),
        (
            {"start": np.eye(8, dtype=int)[None] + np.zeros((8, 1, 1), int), "fraction": 0.5},
            ValueError,
            "leave out fraction, or start",
        ),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        Kawasaki(**{"shape": (8, 8, 8), **arguments})


def test_beta_is_the_inverse_of_temperature():
    shape, lattice = (8, 8), "square"
    model = Kawasaki(shape, lattice=lattice, beta=[0.25, 0.5], replicas=2, seed=3)
    twin = Kawasaki(shape, lattice=lattice, temperature=[4.0, 2.0], replicas=2, seed=3)
    assert model.beta.tolist() == [0.25, 0.5]
    assert model.temperature.tolist() == [4.0, 2.0]
    model.step(5), twin.step(5)
    np.testing.assert_array_equal(model.spins, twin.spins)
    assert Kawasaki(shape, lattice=lattice, beta=0.5).beta == 0.5
    critical = Kawasaki(shape, lattice=lattice, beta="critical", coupling=2.0)
    assert critical.temperature == Kawasaki(shape, lattice=lattice, coupling=2.0).temperature
    assert critical.beta == 1 / critical.temperature


def test_defaults_and_what_is_told():
    model = Kawasaki(8)
    assert model.lattice.shape == (8, 8, 8)
    assert model.temperature == Kawasaki.critical_temperature("bcc")
    assert (model.fraction, model.updates, model.replicas) == (0.5, 0, 1)
    assert model.spins.shape == (8, 8, 8)
    assert Kawasaki((8, 8), lattice="square", coupling=2.0).temperature == pytest.approx(4.53837)
    with pytest.raises(ValueError, match="lattice='hex'"):
        Kawasaki.critical_temperature("hex")
    with pytest.raises(ValueError, match="n=-1"):
        model.step(-1)


@pytest.mark.parametrize("lattice", STEPS)
def test_structure_has_the_steps(lattice):
    shape = (8,) * (2 if lattice == "square" else 3)
    structure = Kawasaki(shape, lattice=lattice).structure
    wanted = {step for plus in STEPS[lattice] for step in (plus, tuple(-a for a in plus))}
    found = {tuple(int(a) - 1 for a in place) for place in np.argwhere(structure)}
    assert found == wanted | {(0,) * len(shape)}


@pytest.mark.parametrize("lattice", STEPS)
def test_measurements_are_of_the_spins(lattice):
    shape = (8, 12) if lattice == "square" else (8, 4, 12)
    model = Kawasaki(
        shape, lattice=lattice, temperature=3.0, fraction=0.3, replicas=3, coupling=2.0
    )
    model.step(3)
    measured = model.measure()
    for k, spins in enumerate(model.spins):
        signs = 2 * spins.astype(int) - 1
        energy = -2.0 * sum(
            (signs * np.roll(signs, step, range(len(shape)))).sum() for step in STEPS[lattice]
        )
        assert measured.energy[k] == energy
        labels = conncomp.label(spins, structure=model.structure, periodic=True)
        sizes = np.bincount(labels.ravel())[1:]
        assert measured.components[k] == len(sizes)
        assert measured.largest_component[k] == sizes.max()
        assert measured.largest_fraction[k] == sizes.max() / spins.size
        np.testing.assert_array_equal(model.labels()[k], labels)
    single = Kawasaki(shape, lattice=lattice)
    labels, number = single.labels(return_num=True)
    assert labels.shape == shape
    assert number == single.measure().components


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_replicas_alone_are_those_of_many(device):
    temperatures, fractions = np.array([2.0, 4.0, 6.0, 8.0]), np.array([0.1, 0.2, 0.3, 0.6])
    arguments = {"lattice": "bcc", "seed": 5, "device": device}
    many = Kawasaki(
        16, temperature=temperatures, fraction=fractions, replicas=4, first_replica=3, **arguments
    )
    many.step(3)
    for k in range(4):
        alone = Kawasaki(
            16, temperature=temperatures[k], fraction=fractions[k], first_replica=3 + k, **arguments
        )
        alone.step(2)
        alone.step()
        np.testing.assert_array_equal(alone.spins, many.spins[k])
        assert alone.measure().energy == many.measure().energy[k]


def test_what_start_holds_is_copied():
    start = (np.arange(512) % 3 == 0).reshape(8, 8, 8)
    model = Kawasaki(8, start=start, replicas=2)
    np.testing.assert_array_equal(model.spins, np.broadcast_to(start, (2, 8, 8, 8)))
    np.testing.assert_array_equal(model.fraction, [171 / 512] * 2)
    model.spins[...] = 7
    start[...] = True
    assert model.spins.sum() == 342


def test_series_and_parameters_are_written(tmp_path):
    model = Kawasaki(8, temperature=[3.0, 5.0], fraction=[0.2, 0.4], replicas=2, seed=4)
    run = simulate(model, 12, thermalise=3, measure_every=2, output=tmp_path / "run.h5")
    assert run.series.energy.shape == (6, 2)
    assert run.parameters["lattice"] == "bcc"
    np.testing.assert_array_equal(run.arrays["temperature"], [3.0, 5.0])
    with h5py.File(tmp_path / "run.h5") as archive:
        np.testing.assert_array_equal(archive["largest_component"], run.series.largest_component)


@pytest.mark.parametrize("device", ["cuda"])
def test_lattices_that_do_not_fit(device, monkeypatch):
    free = 10_000
    monkeypatch.setattr("host_cuda.host_gpu.HostGpu.free_memory", lambda gpu: free)
    monkeypatch.setattr("conncomp.kernels.cuda.launcher.Gpu.free_memory", lambda gpu: free)
    with pytest.raises(MemoryError, match=r"shape=\(32, 32, 32\) take 81920 bytes.*10000 free"):
        Kawasaki(32, replicas=10, device=device)


@pytest.mark.parametrize("device", ["cuda"])
def test_launches_of_several_sweeps(device, monkeypatch):
    monkeypatch.setattr("conncomp.kernels.cuda.models.kawasaki.MOST_SWEEPS", 3)
    models = both(device, Kawasaki, 8, fraction=0.3, replicas=2, seed=6)
    equal_steps(models, 8)
    assert [model.updates for model in models] == [8, 8]
