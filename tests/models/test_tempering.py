"""Parallel tempering: exchanges as they are drawn, and the distributions that they leave alone."""

import copy
import math

import numpy as np
import pytest
from scipy import stats

from conncomp import Graph
from conncomp.generate.random import philox
from conncomp.models import (
    XY,
    Clock,
    Ising,
    Potts,
    SpinGlass,
    parallel_tempering,
    simulate,
    summarise_overlaps,
)
from models import alarms, exact
from models.edges_reference import small_world
from models.exact import Exact

EXCHANGE = 6
FALSE_ALARM = 1e-7  # of each test
ROUNDS = alarms.drawn(20_000)
BETAS = [1.5, 0.2, 0.8, 1.1, 0.5]
# Columns of ascending beta, and the places of their pairs of neighbours in order of columns.
ORDER, PAIRS = [1, 4, 2, 3, 0], [3, 0, 2, 1]


def new_model(**changes):
    arguments = {"shape": (4, 4), "beta": BETAS, "replicas": len(BETAS), "seed": 2**63 + 5}
    return Potts(**(arguments | changes))


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ({}, {}),
        ({"q": 3, "coupling": 2.0, "first_replica": 77}, {"sweeps_between": 3}),
        ({}, {"update": "wolff"}),
        ({}, {"update": "metropolis"}),
        ({}, {"update": "few-cluster", "tile": 2, "p_flip": 0.5}),
    ],
)
def test_exchanges_are_those_that_are_drawn(changes, options):
    model = new_model(**changes)
    tempering = parallel_tempering(model, 40, **options)
    between = options.get("sweeps_between", 1)
    assert model.updates == 40 * between
    np.testing.assert_array_equal(tempering.beta, BETAS)
    betas = tempering.beta[ORDER]
    order, accepted = np.argsort(BETAS), np.zeros(4)
    for number in range(40):
        np.testing.assert_array_equal(tempering.replicas[number, ORDER], order)
        energy = tempering.series.energy[number, ORDER]
        order = order.copy()
        for warmer in range(number % 2, 4, 2):
            index = (warmer + 1) | changes.get("first_replica", 0) << 40
            step = (number + 1) * between
            low, high, _, _ = philox(model.seed, (index & 0xFFFFFFFF, index >> 32, step, EXCHANGE))
            gained = (energy[warmer + 1] - energy[warmer]) * (betas[warmer + 1] - betas[warmer])
            if (low | high << 32) / 2**64 < math.exp(min(gained, 0)):
                order[[warmer, warmer + 1]] = order[[warmer + 1, warmer]]
                accepted[warmer] += 1
    np.testing.assert_array_equal(model.beta[order], sorted(BETAS))
    np.testing.assert_array_equal(tempering.acceptance, accepted[PAIRS] / 20)
    assert 0 < accepted.sum() < 80


def test_energies_are_those_of_the_spins_at_each_temperature():
    model = new_model()
    tempering = parallel_tempering(model, 5, sweeps_between=2)
    alone = new_model(beta=1.0)
    state = alone.state()
    assert tempering.series.energy.shape == (5, 5)
    alone.restore(state._replace(arrays=(state.arrays[0], model.state().arrays[1])))
    np.testing.assert_array_equal(
        tempering.series.energy[-1], alone.energy()[tempering.replicas[-1]]
    )


def test_two_calls_are_one():
    whole = parallel_tempering(new_model(), 21, sweeps_between=2)
    model = new_model()
    first, second = (parallel_tempering(model, k, sweeps_between=2) for k in (8, 13))
    for part in ("records",):
        np.testing.assert_array_equal(
            getattr(whole.series, part),
            np.concatenate([getattr(parts.series, part) for parts in (first, second)]),
        )
    np.testing.assert_array_equal(whole.replicas, np.concatenate([first.replicas, second.replicas]))


@pytest.fixture(scope="module")
def long_run():
    model = new_model()
    parallel_tempering(model, 100, update="metropolis")
    return parallel_tempering(model, ROUNDS, update="metropolis")


@pytest.mark.soak
def test_acceptance_is_exact(long_run):
    """Of independent spins at both temperatures, all 2^16 x 2^16, by classes of energy."""
    levels = exact.levels((4, 4), 2)
    satisfied, which = np.unique(levels.satisfied, return_inverse=True)
    betas = long_run.beta[ORDER]
    shares = [np.bincount(which, levels.probabilities(beta)) for beta in betas]
    for column, k in enumerate(PAIRS):
        lost = (betas[k + 1] - betas[k]) * (satisfied - satisfied[:, np.newaxis])
        wanted = shares[k] @ np.exp(-np.maximum(lost, 0)) @ shares[k + 1]
        # Rounds are not quite independent: a factor of 2 in the error has room for that.
        error = 2 * math.sqrt(wanted * (1 - wanted) / (ROUNDS / 2))
        assert abs(long_run.acceptance[column] - wanted) < stats.norm.isf(FALSE_ALARM) * error


def test_distribution_at_each_temperature_is_exact(long_run):
    """Energy and magnetisation against all 2^16 states; one round in 20 is independent enough."""
    levels = exact.levels((4, 4), 2)
    keys = zip(levels.satisfied, levels.counts[:, 0], strict=True)
    classes = {key: k for k, key in enumerate(keys)}
    satisfied, up = long_run.series.satisfied_bonds, long_run.series.state_counts[..., 0]
    for k, beta in enumerate(long_run.beta):
        which = [classes[key] for key in zip(satisfied[::20, k], up[::20, k], strict=True)]
        found = np.bincount(which, minlength=len(classes))
        wanted = levels.probabilities(beta) * len(which)
        rare = wanted < 10
        found, wanted = (np.append(counts[~rare], counts[rare].sum()) for counts in (found, wanted))
        statistic = ((found - wanted) ** 2 / wanted).sum()
        assert stats.chi2.sf(statistic, len(wanted) - 1) > FALSE_ALARM


def test_replicas_visit_all_temperatures(long_run):
    for replica in range(5):
        visits = (long_run.replicas == replica).sum(axis=0)
        assert visits.min() > ROUNDS / 10


@pytest.mark.parametrize(
    ("changes", "arguments", "words"),
    [
        ({"replicas": None, "beta": 1.0}, {}, "one replica"),
        ({}, {"rounds": 0}, "rounds=0"),
        ({}, {"sweeps_between": 0}, "sweeps_between=0"),
        ({}, {"rounds": 1 << 20, "sweeps_between": 1 << 20}, "sweeps_between=1048576"),
        ({}, {"tile": 2}, "for update="),
    ],
)
def test_bad_input(changes, arguments, words):
    model = new_model(**changes)
    with pytest.raises(ValueError, match=words):
        parallel_tempering(model, **({"rounds": 3} | arguments))
    assert model.updates == 0


GRAPH = Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 0, 3, 4])


@pytest.mark.parametrize(
    ("model_type", "q", "shape", "options", "update"),
    [
        (Ising, 2, (3, 3), {"lattice": "triangular"}, "swendsen-wang"),
        (Ising, 2, (3, 3), {"lattice": "triangular", "coupling": -2.0}, "swendsen-wang"),
        (Ising, 2, small_world(9, 3, 1), {"field": 0.5}, "swendsen-wang"),
        (Potts, 3, GRAPH, {"field": 0.5, "q": 3}, "swendsen-wang"),
        (Potts, 3, (3, 3), {"coupling": -1.0, "q": 3}, "heat-bath"),
        (Clock, 6, GRAPH, {"q": 6}, "metropolis"),
    ],
)
def test_replicas_exchange_by_their_energies(model_type, q, shape, options, update):
    betas = np.array([0.1, 0.3, 0.2])
    model = model_type(shape, beta=betas, replicas=3, seed=4, **options)
    tempering = parallel_tempering(model, 3000, update=update)
    assert (tempering.acceptance > 0.2).all()
    assert (np.sort(tempering.replicas, axis=1) == np.arange(3)).all()
    for k, beta in enumerate(betas):
        expected = Exact(model_type(shape, beta=beta, **options), q).mean
        # One round in ten is independent enough.
        assert alarms.of_mean(tempering.series.energy[::10, k], expected) > FALSE_ALARM


def test_two_replicas_try_every_other_round():
    tempering = parallel_tempering(new_model(beta=[0.8, 0.9], replicas=2), 1, update="wolff")
    assert tempering.acceptance.shape == (1,)
    assert not np.isnan(tempering.acceptance).any()
    three = parallel_tempering(new_model(beta=[0.8, 0.9, 1.0], replicas=3), 1)
    assert np.isnan(three.acceptance).tolist() == [False, True]


IN_ANY_ORDER = {
    "Potts": lambda **given: Potts((4, 4), 3, **given),
    "edges": lambda **given: Potts((4, 4), 3, **given, coupling=-1.0),
    "Ising": lambda **given: Ising((4, 4), **given),
    "XY": lambda **given: XY((4, 4), **given),
    "field": lambda **given: XY((4, 4), **given, field=0.5),
    "Clock": lambda **given: Clock((4, 4), 5, **given),
    "SpinGlass": lambda **given: SpinGlass((4, 4), **given),
}


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
@pytest.mark.parametrize("name", IN_ANY_ORDER)
def test_columns_are_in_the_order_that_was_given(name, order):
    """Whatever exchanges have done before, and by a temperature as by its inverse."""
    temperatures = np.array([1.0, 1.6, 2.5, 4.0])[list(order)]
    betas = 1 / temperatures
    by_temperature, by_beta = (
        IN_ANY_ORDER[name](**given, replicas=4, seed=3)
        for given in ({"temperature": temperatures}, {"beta": betas})
    )
    for rounds in (7, 6):
        found = parallel_tempering(by_temperature, rounds)
        np.testing.assert_array_equal(found.beta, betas)
        assert len(np.unique(found.replicas, axis=0)) > 1  # some were exchanged
        for round_, replicas in enumerate(found.replicas[-1:], rounds - 1):
            energies = np.asarray(by_temperature.energy())[replicas]
            np.testing.assert_allclose(found.series.energy[round_], energies)
        np.testing.assert_array_equal(parallel_tempering(by_beta, rounds).replicas, found.replicas)
        if name in ("XY", "field", "Clock"):
            np.testing.assert_array_equal(found.series.beta, betas)
    copied = copy.deepcopy(by_temperature)
    np.testing.assert_array_equal(parallel_tempering(copied, 3).beta, betas)
    colder = IN_ANY_ORDER[name](beta=betas, replicas=4, seed=3)
    energies = parallel_tempering(colder, 300).series.energy.mean(axis=0)
    np.testing.assert_array_equal(np.argsort(energies), np.argsort(temperatures))


def test_samples_and_copies_have_one_order():
    betas = [0.5, 1.0, 0.25]
    model = SpinGlass((4, 4), beta=betas, samples=2, copies=2, seed=1)
    found = parallel_tempering(model, 9)
    np.testing.assert_array_equal(found.beta, betas * 4)
    np.testing.assert_array_equal(model.overlaps().beta, betas * 2)
    np.testing.assert_array_equal(model.overlaps().sample, [0] * 3 + [1] * 3)
    run = simulate(model, 5, overlaps=True, tempering=True)
    np.testing.assert_array_equal(run.series.beta, np.tile(np.repeat(betas, 2), 2))
    np.testing.assert_array_equal(run.series.pair_beta, betas * 2)
    assert [summary.beta for summary in run.summarise()] == betas
    energies = SpinGlass((4, 4), beta=np.repeat(betas, 2), replicas=6, seed=1)
    assert summarise_overlaps([energies.overlaps()], (4, 4))[1].beta == 1.0


@pytest.mark.parametrize(("kind", "critical"), [(Potts, 0.8814), (Ising, 0.4407)])
def test_wrapping_is_that_of_the_next_update(kind, critical):
    arguments = {"beta": [critical * k for k in (0.8, 1.0, 1.2)], "replicas": 3, "seed": 4}
    rounds = {"sweeps_between": 20, "wrapping": True}
    measured = parallel_tempering(kind((8, 8), **arguments), 1, **rounds).series.observables()
    wanted = kind((8, 8), **arguments).swendsen_wang(21, wrapping=True).observables()
    np.testing.assert_array_equal(measured["wraps"][0], wanted["wraps"][20])
    np.testing.assert_array_equal(measured["rank"][0], wanted["rank"][20])
    assert 0 < measured["wraps"].sum() < measured["wraps"].size


def test_sizes_of_clusters_are_not_measured():
    with pytest.raises(ValueError, match="clusters=True is measured in updates"):
        parallel_tempering(new_model(), 2, clusters=True)
    series = parallel_tempering(new_model(), 2, clusters=True, observe="structure").series
    assert "improved_structure" in series.observables()


KEPT = [
    (Potts, {"shape": (6, 4), "q": 3}, ["swendsen-wang", "wolff", "metropolis", "heat-bath"], ()),
    (Ising, {"shape": (6, 4), "field": 0.1}, ["swendsen-wang", "metropolis"], ()),
    (Ising, {"shape": (6, 4)}, ["swendsen-wang", "wolff", "heat-bath"], "structure"),
    (Ising, {"shape": small_world(24, 8, 1)}, ["swendsen-wang", "metropolis"], ()),
    (XY, {"shape": (6, 4)}, ["swendsen-wang", "metropolis"], ("structure", "helicity_modulus")),
    (Clock, {"shape": (6, 4), "q": 5}, ["wolff", "metropolis"], "structure"),
    (SpinGlass, {"shape": (4, 4, 2)}, ["metropolis"], ()),
]


@pytest.mark.parametrize(
    ("kind", "arguments", "update", "observe"),
    [(kind, given, update, see) for kind, given, updates, see in KEPT for update in updates],
)
def test_a_kept_update_follows_exchanges_and_restored_temperatures(
    kind, arguments, update, observe
):
    """As one that is made after them does."""
    model = kind(**arguments, beta=[0.2, 0.3, 0.4, 0.5], seed=1)
    before, options = model.state(), {"observe": observe} if observe else {}
    if kind is not SpinGlass:
        options["update"] = update
    kept = model.updater(**options)
    parallel_tempering(model, 20)
    for state in (model.state(), before):
        found = []
        for made in (kept, None):
            model.restore(state)
            change = made or model.updater(**options)
            records = change.new_records(2)
            for number, record in enumerate(records, model.updates + 1):
                change(number, record)
            found.append([records, *model.state().arrays])
        for ours, expected in zip(*found, strict=True):
            np.testing.assert_array_equal(ours, expected)
