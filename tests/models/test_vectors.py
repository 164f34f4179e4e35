"""The XY and the Heisenberg model: distributions, trajectories, what is measured, and errors."""

from math import pi, prod, sqrt

import numpy as np
import pytest
from scipy import stats

from conncomp.kernels.cuda.models import vector_spins
from conncomp.models import XY, Heisenberg, simulate
from models import alarms
from models.devices import both, check_updates_at_once, on_host
from models.references import check_updates, raw

DEVICES, MODELS = ["cpu", "cuda"], [XY, Heisenberg]

# ------------------------------------------------------------------------------------ trajectories

# Rows of less than a word, of a word, and of several.
TRAJECTORIES = [
    ((1,), True, 1.0, 1.0),
    ((2,), True, 1.0, 1.0),
    ((70,), True, 1.3, 1.0),
    ((130,), False, 0.9, -1.5),
    ((3, 70), True, 1.1, 1.0),
    ((4, 64), (False, True), 0.8, 1.0),
    ((5, 9), (True, False), 1e-12, 0.5),
    ((1, 20), (True, False), 40.0, 1.0),
    ((3, 12), True, 3e3, 1.0),
    ((40,), True, 9e6, 1.0),
    ((3, 4, 17), (True, False, True), 0.45, 1.0),
    ((2, 3, 2, 8), True, 0.3, -1.0),
    ((6, 16), True, 1.0, 1.0),
    ((4, 4, 8), True, 0.6, 1.0),
]


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("model_type", MODELS)
@pytest.mark.parametrize(("shape", "periodic", "beta", "coupling"), TRAJECTORIES)
def test_trajectories_are_those_of_the_reference(
    device, model_type, shape, periodic, beta, coupling
):
    model = model_type(
        shape,
        beta=beta,
        coupling=coupling,
        periodic=periodic,
        replicas=2,
        first_replica=5,
        seed=2**40 + 7,
        device=device,
    )
    check_updates(model, ("swendsen-wang", "swendsen-wang", "wolff", "swendsen-wang"))


@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("rows", [1, 3, 16])
@pytest.mark.parametrize(
    ("model_type", "shape", "periodic"),
    [
        (XY, (20, 70), True),
        (XY, (17, 130), False),
        (XY, (200,), True),
        (Heisenberg, (3, 5, 64), (True, False, True)),
        (Heisenberg, (2, 3, 4, 9), True),
    ],
)
def test_columns_of_any_height_tell_the_same(
    device, rows, model_type, shape, periodic, monkeypatch
):
    monkeypatch.setattr(vector_spins, "ROWS", rows)
    monkeypatch.setattr(vector_spins, "ROWS_APART", rows)
    monkeypatch.setattr(vector_spins, "LEAST_BLOCKS", 0)
    monkeypatch.setattr(vector_spins, "MOST_CHUNK", 0)  # for small lattices go another way
    models = [model_type(shape, beta=1.0, periodic=periodic, seed=2, device=d) for d in DEVICES]
    records = [model.swendsen_wang(2, clusters=True).records for model in models]
    np.testing.assert_array_equal(*records)
    np.testing.assert_array_equal(*map(raw, models))


# Replicas of one block, of two and of four, with updates of one launch and of several.
AT_ONCE = [
    (XY, (20, 13), True, 1),
    (XY, (90,), False, 2),
    (XY, (4, 5, 6), (True, False, True), None),
    (Heisenberg, (6, 7, 5), True, None),
    (Heisenberg, (3, 2, 3, 9), (False, True, True, False), 2),
]


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("most", [512, 5])
@pytest.mark.parametrize(("model_type", "shape", "periodic", "replicas"), AT_ONCE)
def test_many_updates_at_once_go_as_one_by_one(
    device, most, model_type, shape, periodic, replicas, monkeypatch
):
    monkeypatch.setattr(vector_spins, "LEAST_CHUNK", 32)
    monkeypatch.setattr(vector_spins.VectorSweeps, "most_updates", most)
    how = {"beta": 1.1, "periodic": periodic, "replicas": replicas, "seed": 4}
    wanted = {"clusters": True}, {"measure_every": 3}, {"measure_every": 4, "clusters": True}
    check_updates_at_once(
        lambda engine: engine.sweeps is not None,
        both(device, model_type, shape, **how),
        *(*wanted, {"update": "wolff", "measure_every": 2}),
    )


# -------------------------------------------------------------------------------- the distribution


@pytest.mark.parametrize("coupling", [1.0, -1.0])
@pytest.mark.parametrize("model_type", MODELS)
def test_improved_estimator_has_the_same_mean(model_type, coupling):
    model = model_type((6, 6), beta=0.9, coupling=coupling, replicas=170, seed=7)
    model.step(30)
    series = model.swendsen_wang(40, clusters=True)
    plain = series.squared_magnetisation.mean(axis=0)
    improved = series.improved_squared_magnetisation.mean(axis=0)
    assert alarms.of_mean(plain - improved, 0.0) > alarms.FALSE_ALARM
    assert plain.std() / sqrt(300) < 0.05 * plain.mean()


@pytest.mark.soak
def test_helicity_at_the_transition_has_logarithmic_corrections():
    """T_KT = 0.8929 by the method of Weber and Minnhagen: a fit without a free amplitude.

    There pi Y / 2T is 1 + 1/(2 ln L + c) with one c for all sizes, and nowhere else: H. Weber, P.
    Minnhagen, Phys. Rev. B 37, 5986 (1988). c = 2.4 is that of Hasenbusch's eq. 50.
    """
    fits = {}
    for temperature, sizes in ((0.85, (16, 32)), (0.8929, (16, 32, 64)), (0.94, (16, 32))):
        lengths, means = np.array(sizes), []
        for length in sizes:
            model = XY(
                (length, length), temperature=temperature, replicas=3072 // length, seed=length
            )
            series = simulate(model, 120, thermalise=40).series
            means.append(series.helicity_modulus.mean(axis=(0, 2)) * pi / 2 / temperature)
        values = np.array([mean.mean() for mean in means])
        errors = np.array([mean.std() / sqrt(len(mean)) for mean in means])
        constants = np.linspace(-4, 40, 8000)[:, None]
        off = (values - 1 - 1 / (2 * np.log(lengths) + constants)) / errors
        chi = (off**2).sum(axis=1)
        fits[temperature] = chi.min(), float(constants[chi.argmin(), 0])
    chi, constant = fits[0.8929]
    assert stats.chi2.sf(chi, 2) > 1e-4
    assert constant == pytest.approx(2.4, abs=0.8)
    assert fits[0.85][0] > 30
    assert fits[0.94][0] > 30


@pytest.mark.soak
def test_critical_energy_of_three_axes():
    """A. Cucchieri and others, J. Phys. A 35, 6517 (2002): -0.98841(3) a site.

    A torus is off by L^-(3 - 1/nu), with nu = 0.6717.
    """
    means, errors = [], []
    for length in (8, 16):
        model = XY((length,) * 3, replicas=24, seed=5)
        energies = simulate(model, 150, thermalise=40).series.energy.mean(axis=0) / model.sites
        means.append(energies.mean())
        errors.append(energies.std() / sqrt(24))
    factor = 2 ** (3 - 1 / 0.6717)
    error = sqrt((factor * errors[1]) ** 2 + errors[0] ** 2) / (factor - 1)
    assert error < 0.015
    assert abs((factor * means[1] - means[0]) / (factor - 1) + 0.98841) < 4 * error


# M. Campostrini and others, Phys. Rev. B 74, 144506 (2006) and 65, 144520 (2002): of infinite
# lattices, from which those of ten sites a side are off by some 0.01.
BINDER = {XY: 1.2431, Heisenberg: 1.1394}


@pytest.mark.soak
@pytest.mark.parametrize("model_type", MODELS)
def test_binder_ratios_at_the_critical_points_of_three_axes(model_type):
    model = model_type((10, 10, 10), replicas=40, seed=6)
    squares = simulate(model, 250, thermalise=50).series.squared_magnetisation
    by_replica = (squares**2).mean(axis=0), squares.mean(axis=0)
    assert by_replica[1].std() / sqrt(40) < 0.03 * squares.mean()
    ratio = by_replica[0].mean() / by_replica[1].mean() ** 2
    assert ratio == pytest.approx(BINDER[model_type], abs=0.035)


# --------------------------------------------------------------------------------- what is measured


def test_sines_are_right_to_28_digits():
    angles = np.arange(0, 1 << 16, 7)
    turns = 2 * pi * angles / (1 << 16)
    start = np.stack([np.cos(turns), np.sin(turns)], axis=-1)[:, None]
    model = XY((1,), beta=1.0, replicas=len(angles), start=start)
    np.testing.assert_array_equal(raw(model), angles[:, None])
    assert abs(model.magnetisation() - start[:, 0]).max() < 2**-28


def cross(a, b):
    if a.shape[-1] == 3:
        return np.cross(a, b)
    return (a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])[..., None]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("model_type", MODELS)
@pytest.mark.parametrize(
    ("shape", "periodic"),
    [((4, 7), True), ((3, 5), (False, True)), ((2, 3, 4), True), ((1, 2), True), ((66,), False)],
)
def test_measured_is_what_the_vectors_tell(device, model_type, shape, periodic):
    model = model_type(
        shape, beta=0.7, coupling=1.3, periodic=periodic, replicas=2, seed=3, device=device
    )
    measured = model.measure()
    spins, ndim = on_host(model.spins), len(shape)
    energy, helicity = np.zeros(2), np.zeros((2, ndim))
    for axis in range(ndim):
        beside = np.roll(spins, -1, axis=1 + axis)
        products, crossed = (spins * beside).sum(axis=-1), cross(spins, beside)
        if not model.lattice.periodic[axis]:
            inside = [slice(None)] * (ndim + 1)
            inside[1 + axis] = slice(0, -1)
            products, crossed = products[tuple(inside)], crossed[tuple(inside)]
        sums = 1.3 * products.reshape(2, -1).sum(axis=1)
        energy -= sums
        currents = 1.3 * crossed.reshape(2, prod(products.shape[1:]), -1).sum(axis=1)
        squares = (currents**2).mean(axis=-1)
        helicity[:, axis] = (2 / spins.shape[-1] * sums - 0.7 * squares) / model.sites
    np.testing.assert_allclose(model.energy(), energy, atol=1e-6)
    np.testing.assert_allclose(measured.helicity_modulus, helicity, atol=1e-6)
    means = spins.reshape(2, model.sites, -1).mean(axis=1)
    np.testing.assert_allclose(model.magnetisation(), means, atol=1e-7)
    np.testing.assert_allclose(measured.squared_magnetisation, (means**2).sum(axis=1), atol=1e-7)
    if model_type is XY and ndim == 2:
        np.testing.assert_array_equal(measured.vortices, vortices_of(model))


def vortices_of(model):
    """Return how many plaquettes angles turn around, given the borders."""
    angles = on_host(model.angles)
    corners = [angles]
    for axis, step in ((2, -1), (1, -1), (2, 1)):
        corners.append(np.roll(corners[-1], step, axis=axis))
    around = [
        (end - begin + pi) % (2 * pi) - pi
        for begin, end in zip(corners, [*corners[1:], angles], strict=True)
    ]
    turns = np.rint(sum(around) / (2 * pi)).astype(int)
    rows, columns = (slice(None) if closed else slice(0, -1) for closed in model.lattice.periodic)
    return abs(turns[:, rows, columns]).reshape(2, -1).sum(axis=1)


def test_vortices_of_a_vortex():
    y, x = np.mgrid[:6, :6] - 2.5
    start = np.stack([x, y], axis=-1) / np.hypot(x, y)[..., None]
    assert XY((6, 6), beta=1.0, start=start, periodic=False).measure().vortices == 1
    assert XY((6, 6), beta=1.0, start="cold").measure().vortices == 0
    with pytest.raises(ValueError, match="of the XY model on lattices in the plane"):
        _ = Heisenberg((6, 6), beta=1.0).measure().vortices
    with pytest.raises(ValueError, match=r"update with clusters=True"):
        _ = XY((6, 6), beta=1.0).swendsen_wang().clusters


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("model_type", MODELS)
def test_lengths_stay_one(device, model_type):
    model = model_type((4, 5), beta=1.0, seed=1, device=device)
    model.step(1000 if device == "cpu" else 5)
    assert abs((on_host(model.spins) ** 2).sum(axis=-1) - 1).max() < 2**-17


def test_first_spins_that_are_given():
    given = np.random.default_rng(1).normal(size=(3, 4, 3))
    unit = given / np.linalg.norm(given, axis=-1, keepdims=True)
    model = Heisenberg((3, 4), beta=1.0, start=given, replicas=2)
    assert abs(model.spins - unit).max() < 2**-19
    alone = Heisenberg((3, 4), beta=1.0, start=given)
    alone.step(2), model.step(2)
    np.testing.assert_array_equal(raw(alone)[0], raw(model)[0])
    cold = XY((3, 4), beta=1.0, start="cold", coupling=2.0)
    assert cold.energy() == -48.0
    assert cold.magnetisation().tolist() == [1.0, 0.0]
    assert cold.measure().helicity_modulus.tolist() == [2.0, 2.0]
    assert XY((8, 8)).temperature == pytest.approx(0.8929, abs=1e-4)
    assert Heisenberg((4, 4, 4)).beta == pytest.approx(0.693003)


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"shape": (4,)}, "no critical temperature of the XY model on 1 axes"),
        ({"coupling": -1.0}, "with coupling=-1 is known here; give a temperature"),
        ({"coupling": 0}, "coupling=0 must not be 0"),
        ({"temperature": 0.0}, "temperature=0.0 must be above 0, and finite"),
        ({"temperature": 1e-30}, "must not be negative and, times the coupling, below 1e"),
        ({"temperature": 1.0, "beta": 1.0}, "temperature and beta exclude each other"),
        ({"beta": -1.0}, "must not be negative"),
        ({"beta": [1.0, 2.0], "replicas": 3}, "beta has shape"),
        ({"periodic": [True]}, "periodic"),
        ({"start": np.zeros((4, 4, 2))}, "vectors without a direction"),
        ({"start": np.full((4, 4, 2), np.inf)}, "vectors without a direction"),
        ({"start": np.ones((4, 4))}, "start has shape"),
        ({"start": np.ones((4, 4, 2), int)}, "of 2 numbers along the last axis"),
        ({"shape": (1 << 16, 1 << 15)}, r"fewer than 2\*\*31 sites"),
    ],
)
def test_bad_arguments(arguments, words):
    arguments = {"shape": (4, 4), **arguments}
    with pytest.raises((ValueError, TypeError), match=words):
        XY(arguments.pop("shape"), **arguments)


def test_updates_that_are_none():
    with pytest.raises(ValueError, match="update='hybrid'"):
        XY((4, 4)).updater(update="hybrid")
    with pytest.raises(ValueError, match='clusters=True is for update="swendsen-wang"'):
        XY((4, 4)).updater(update="wolff", clusters=True)
