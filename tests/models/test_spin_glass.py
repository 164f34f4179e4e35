"""Spin glasses: against the reference, exact energies, chances of transitions, and exact lines."""

from functools import cache
from itertools import product
from math import tanh

import numpy as np
import pytest

import conncomp
from conncomp.generate.random import philox
from conncomp.models import SpinGlass
from models import alarms
from models.alarms import FALSE_ALARM
from models.devices import both, equal_steps, on_host
from models.spin_glass_reference import NUMBER, ReferenceGlass

DEVICES, RULES = ("cpu", "cuda"), ("metropolis", "heat-bath")
# Shapes, with the axes that are open.
LATTICES = [
    ((9,), ()),
    ((2,), ()),
    ((4, 6), ()),
    ((5, 3), ()),
    ((4, 18), (0,)),
    ((1, 5), (1,)),
    ((2, 4, 10), ()),
    ((3, 4, 2), (2,)),
    ((2, 2, 2, 4), ()),
    ((1, 3, 2, 2), (3,)),
]
KINDS = ("pm", "diluted", "gaussian", "field")


@cache
def bonds_and_fields(shape, kind, samples):
    """Return couplings with few digits, as then their sums are not rounded; and fields."""
    rng = np.random.default_rng(len(shape) + len(kind))
    size = samples, len(shape), *shape
    if kind in ("gaussian", "field"):
        couplings = np.round(rng.normal(size=size) * 2**12) / 2**12
    else:
        couplings = rng.choice([-0.75, 0.75], size)
    if kind == "diluted":
        couplings[rng.random(size) < 0.3] = 0
    fields = np.zeros((samples, *shape))
    if kind == "field":
        fields = np.round(rng.normal(size=fields.shape) * 2**12) / 2**12
    return couplings, fields


BETAS, FIRST, SEED = [0.0, 0.3, 1.1, 4.0], 61, 2**40 + 3


def periodic(shape, opened):
    return tuple(axis not in opened for axis in range(len(shape)))


@cache
def sweeps_of_the_reference(shape, opened, kind, rule):
    couplings, fields = bonds_and_fields(shape, kind, 2)
    references = [
        ReferenceGlass(
            shape, periodic(shape, opened), couplings[k // 4], fields[k // 4], BETAS[k % 4], rule,
            FIRST + k, SEED,
        )
        for k in range(8)
    ]  # fmt: skip
    found = []
    for sweeps in (0, 1, 2):
        for _, reference in product(range(sweeps), references):
            reference.sweep()
        spins = [reference.as_array() for reference in references]
        found.append((np.array(spins), [reference.energy() for reference in references]))
    return found


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("shape", "opened"), LATTICES)
def test_sweeps_are_those_of_the_reference(shape, opened, kind, rule, device):
    couplings, fields = bonds_and_fields(shape, kind, 2)
    model = SpinGlass(
        shape,
        couplings,
        beta=BETAS,
        periodic=periodic(shape, opened),
        field=fields if kind == "field" else None,
        update=rule,
        first_replica=FIRST,
        seed=SEED,
        device=device,
    )
    assert model.replicas == 8
    for sweeps, (spins, energies) in enumerate(sweeps_of_the_reference(shape, opened, kind, rule)):
        model.step(sweeps)
        np.testing.assert_array_equal(on_host(model.spins), spins)
        np.testing.assert_allclose(model.energy(), energies, rtol=1e-12, atol=1e-9)


# ---------------------------------------------------------------------------- exact energies


def every_state(sites):
    return 1 - 2 * (np.arange(1 << sites)[:, None] >> np.arange(sites) & 1)


def exact_mean(model, betas):
    """Return the mean energy at each beta, over all states of a model's sample."""
    lattice, couplings = model.lattice, model.couplings[0]
    states = every_state(lattice.sites).reshape(-1, *lattice.shape)
    energies = np.zeros(len(states))
    for axis in range(lattice.ndim):
        bonds = couplings[axis] * states * np.roll(states, -1, axis=1 + axis)
        energies -= bonds.reshape(len(states), -1).sum(axis=1)
    energies += model._bonds.constant[0]
    if model._fields_given is not None:
        energies -= states.reshape(len(states), -1) @ model._fields_given[0].reshape(-1)
    weights = np.exp(-np.outer(betas, energies - energies.min()))
    return weights @ energies / weights.sum(axis=1)


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("shape", "opened"), [((7,), ()), ((3, 4), ()), ((4, 4), (1,)), ((2, 2, 3), ()), ((2,) * 4, ())]
)
def test_energies_are_those_of_enumeration(shape, opened, kind, rule):
    betas = np.array([0.0, 0.2, 0.4])
    couplings, fields = bonds_and_fields(shape, kind, 1)
    model = SpinGlass(
        shape,
        couplings[0],
        beta=betas,
        copies=256,
        field=fields[0] if kind == "field" else None,
        periodic=periodic(shape, opened),
        update=rule,
        seed=5,
    )
    model.step(60)
    means = np.zeros(model.replicas)
    for _ in range(10):
        model.step(2)
        means += model.energy() / 10
    for samples, expected in zip(means.reshape(3, -1), exact_mean(model, betas), strict=True):
        assert alarms.of_mean(samples, expected) > FALSE_ALARM


# ------------------------------------------------------------------------- chances of transitions


def chances_of_colour(reference, colour, states, energy_of):
    """Return the matrix of transitions when the sites of one colour are updated."""
    sites = len(reference.sites)
    matrix = np.eye(1 << sites)
    for site, x in enumerate(reference.sites):
        if reference.colour(x) != colour:
            continue
        flipped = np.arange(1 << sites) ^ 1 << site
        change = reference.beta * (energy_of[flipped] - energy_of)
        if reference.rule == "heat-bath":
            flips = 1 / (1 + np.exp(change))
        else:
            flips = 15 / 16 * np.minimum(1, np.exp(-change))
        of_site = np.diag(1 - flips)
        of_site[np.arange(1 << sites), flipped] = flips
        weights = np.exp(-reference.beta * energy_of)
        np.testing.assert_allclose(weights[:, None] * of_site, (weights[:, None] * of_site).T)
        matrix = matrix @ of_site
    return matrix


@pytest.mark.soak
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["pm", "field"])
@pytest.mark.parametrize("shape", [(2, 2), (3,)])
def test_transitions_have_their_chances(shape, kind, rule, device):
    """Each site's are in detailed balance, and sweeps are made of them, by their frequencies."""
    couplings, fields = bonds_and_fields(shape, kind, 1)
    sites, beta = int(np.prod(shape)), 0.4
    closed = (True,) * len(shape)
    reference = ReferenceGlass(shape, closed, couplings[0], fields[0], beta, rule, 0, 0)
    states, each = every_state(sites), 3000 if device == "cpu" else 400
    energy_of = np.empty(1 << sites)
    for number, state in enumerate(states):
        reference.spins = dict(zip(reference.sites, state.tolist(), strict=True))
        energy_of[number] = reference.energy()
    expected = np.eye(1 << sites)
    for colour in range(3):
        expected = expected @ chances_of_colour(reference, colour, states, energy_of)
    start = np.repeat(states, each, axis=0).reshape(-1, *shape)
    model = SpinGlass(
        shape,
        couplings[0],
        beta=beta,
        field=fields[0],
        replicas=len(start),
        start=start,
        update=rule,
        device=device,
    )
    model.step()
    after = (on_host(model.spins).reshape(len(start), -1) < 0) @ (1 << np.arange(sites))
    for number, ends in enumerate(after.reshape(-1, each)):
        observed = np.bincount(ends, minlength=1 << sites)
        assert alarms.of_classes(observed, expected[number]) > FALSE_ALARM


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("beta", [1e7, 1e8, 1e9, 1e300])
def test_spins_without_bonds_are_free_at_low_temperatures(beta, rule, device):
    """Units of the fields are larger than a temperature then."""
    free, replicas = 8, 1024 if device == "cpu" else 256
    couplings, fields = np.zeros((1, free + 3)), np.zeros(free + 3)
    couplings[0, :2] = 3, -1
    closed, options = (True,), {"update": rule, "replicas": replicas, "seed": SEED}
    model = SpinGlass(fields.shape, couplings, beta=beta, device=device, **options)
    references = [
        ReferenceGlass(fields.shape, closed, couplings, fields, beta, rule, k, SEED)
        for k in range(4)
    ]
    for reference in references:
        reference.sweep(), reference.sweep()
    model.step(2)
    spins = on_host(model.spins)
    np.testing.assert_array_equal(spins[:4], [reference.as_array() for reference in references])
    assert alarms.of_mean(spins[:, 3:].ravel().astype(float), 0, 1) > FALSE_ALARM


# A seed with which the first number of the first sweep is 131, so that -ln u takes 32 bits.
RARE = 1004973


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("beta", [0.0, 5e-324, 1e-12])
@pytest.mark.parametrize("rule", RULES)
def test_the_rarest_numbers_decide_at_high_temperatures(rule, beta, device):
    assert philox(RARE, (0, 0, 1, NUMBER))[0] == 131
    couplings, fields, closed = np.array([[1.0, 2.0, 0.5, 3.0]]), np.zeros(4), (True,)
    for start in product((-1, 1), repeat=4):
        reference = ReferenceGlass((4,), closed, couplings, fields, beta, rule, 0, RARE)
        reference.spins = dict(zip(reference.sites, start, strict=True))
        model = SpinGlass(
            4, couplings, beta=beta, start=np.array(start), update=rule, seed=RARE, device=device
        )
        model.step()
        reference.sweep()
        np.testing.assert_array_equal(on_host(model.spins), reference.as_array())


# ------------------------------------------------------------------------------------ exact lines


@pytest.mark.soak
@pytest.mark.parametrize("shape", [(3, 4), (8, 8), (4, 4, 4)])
def test_energies_on_the_line_of_nishimori_vary_no_more_than_they_may(shape):
    """There [<E^2>] is known, too, and [<E>^2] at least [<E>]^2, so the heat has an upper bound.

    H. Nishimori, Prog. Theor. Phys. 66, 1169 (1981). Copies differ by [<E^2> - <E>^2].
    """
    beta, samples = 0.5, 3000
    bonds, mean = len(shape) * np.prod(shape), tanh(beta)
    model = SpinGlass(
        shape, "pm", beta=[beta], positive=(1 + mean) / 2, samples=samples, copies=2, seed=5
    )
    model.step(80)
    energy = model.energy().reshape(samples, 2)
    squares, bound = (energy**2).mean(axis=1), bonds * (1 - mean**2)
    assert alarms.of_mean(squares, (bonds * mean) ** 2 + bound) > FALSE_ALARM
    varied = (energy[:, 0] - energy[:, 1]) ** 2 / 2
    error = varied.std() / samples**0.5
    assert varied.mean() < bound + 5 * error
    assert varied.mean() > 0.3 * bound
    assert error < 0.05 * bound


# ---------------------------------------------------------------------------- the same trajectory


@pytest.mark.parametrize("kind", ["pm", "gaussian"])
def test_threads_replicas_beside_and_interruptions_change_nothing(kind):
    betas = np.linspace(0.2, 1.5, 40)

    def build(betas=betas, **options):
        return SpinGlass((4, 6, 10), kind, beta=betas, seed=7, dilution=0.1, **options)

    conncomp.set_num_threads(1)
    model = build(samples=2)
    model.step(4)
    conncomp.set_num_threads(3)
    other = build(samples=2)
    other.step(2)
    again = build(samples=2)
    again.restore(other.state())
    again.step(2)
    np.testing.assert_array_equal(again.spins, model.spins)
    alone = build(betas[:1], first_replica=40, first_sample=1)
    alone.step(4)
    np.testing.assert_array_equal(alone.spins[0], model.spins[40])
    np.testing.assert_array_equal(alone.couplings[0], model.couplings[1])


@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("kind", ["pm", "gaussian"])
def test_larger_lattices_are_the_same_on_a_gpu(kind, device):
    equal_steps(both(device, SpinGlass, (8, 9, 20), kind, beta=np.linspace(0, 2, 70), seed=1), 2)


# --------------------------------------------------------------------------------- bad arguments

J = np.ones((2, 4, 4))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"couplings": J * np.nan}, r"couplings\[0, 0, 0\]=nan must be finite"),
        ({"couplings": J[0]}, r"couplings has shape \(4, 4\); it must have \(2, 4, 4\)"),
        ({"couplings": "wave"}, "couplings='wave'"),
        ({"beta": -1.0}, r"beta=-1\.0 must be finite, and not negative"),
        ({"beta": None, "temperature": 0}, "temperature=0 must be finite, and above 0"),
        ({"beta": None}, "beta or temperature must be given"),
        ({"temperature": 1}, "beta or temperature must be given, and not both"),
        ({"replicas": 3, "samples": 2}, "replicas=3 must be a multiple of samples=2"),
        ({"replicas": 3, "beta": [1, 2]}, "there are 2 temperatures"),
        ({"couplings": "pm", "positive": 2}, "positive=2 must be from 0 to 1"),
        ({"positive": 0.5}, 'positive=0.5 is for couplings="pm"; leave it out'),
        ({"couplings": "gaussian", "positive": 0.7}, 'positive=0.7 is for couplings="pm"'),
        ({"dilution": 0.0}, "dilution=0.0 is for couplings that are drawn"),
        ({"couplings": "pm", "dilution": 1}, "dilution=1 must be 0 or more, and below 1"),
        ({"field": np.inf}, r"field\[0, 0\]=inf must be finite"),
        ({"field": np.ones(3)}, r"field has shape \(3,\)"),
        ({"start": np.zeros((4, 4), int)}, "start has spins other than 1 and -1"),
        ({"couplings": J * 1e308, "field": 1.0}, "couplings and fields of up to"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        SpinGlass((4, 4), **{"couplings": J, "beta": 1.0, **options})
