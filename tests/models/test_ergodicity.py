"""Every state is reached, by all updates, and energies are those of enumeration.

Lattices have few states, with lengths of 1, 2 and 3, closed and open, and begin hot, cold and
staggered. Replicas of several temperatures and starts run side by side; see `alarms` for when a
check fails.
"""

from functools import cache
from itertools import combinations, product
from math import comb, prod

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from conncomp.models import Kawasaki, Potts
from models import alarms, exact
from models.alarms import FALSE_ALARM
from models.test_kawasaki_physics import Torus, energies_of

MOST_STATES, MOST_REACHED = 1 << 16, 1 << 12
SHAPES = [
    *((1,), (2,), (3,), (8,)),
    *((2, 1), (2, 2), (2, 3), (3, 3), (4, 4)),
    *((1, 2, 3), (2, 2, 2), (3, 2, 2)),
    (1, 2, 1, 3),
]


def states_of(case):
    shape, q, _ = case
    return q ** prod(shape)


LATTICES = [
    case for case in product(SHAPES, (2, 3, 4), (True, False)) if states_of(case) <= MOST_STATES
]
UPDATES = {"swendsen_wang": 15, "wolff": 40, "few_cluster": 40, "metropolis": 40}
BETAS = (0.0, 0.1, 0.5, 1.289)
STARTS = ("hot", "cold", "staggered")
EACH, MEASURED = 32, 10  # replicas of each temperature and start, and their measurements

levels = cache(exact.levels)


def options_of(update, shape):
    """Return the options of an update: of few-cluster a chosen site in each row."""
    return {"tile": (1, *shape[1:]), "p_flip": 0.7} if update == "few_cluster" else {}


def staggered(shape, q):
    """Return states that repeat along the sum of coordinates, each twice."""
    return np.indices(shape).sum(axis=0) // 2 % q


def first_states(shape, q, start, replicas):
    rng = np.random.default_rng(prod(shape))
    states = {
        "hot": rng.integers(0, q, (replicas, *shape)),
        "cold": 0,
        "staggered": staggered(shape, q),
    }
    return np.broadcast_to(states[start], (replicas, *shape))


def share(expected, beta):
    """Return the probability of the most probable number of satisfied bonds."""
    return np.bincount(expected.satisfied, expected.probabilities(beta)).max()


def check_mean(samples, expected):
    """Samples are means over a replica's measurements, independent of each other."""
    if np.ptp(samples) < 1e-12:  # all the same: there is one energy, or one in each measurement
        assert samples[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    else:
        assert alarms.of_mean(samples, expected) > FALSE_ALARM


@pytest.mark.soak
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(("shape", "q", "periodic"), LATTICES)
def test_energies_are_those_of_enumeration(update, shape, q, periodic):
    expected = levels(shape, q, periodic)
    # Where one level is nearly all there is, means over few measurements are not normal.
    betas = [beta for beta in BETAS if beta == 0 or share(expected, beta) < 0.8]
    groups = list(product(betas, STARTS))
    model = Potts(
        shape,
        q,
        np.repeat([beta for beta, _ in groups], EACH),
        periodic=periodic,
        replicas=len(groups) * EACH,
        start=np.concatenate([first_states(shape, q, start, EACH) for _, start in groups]),
        seed=prod(shape),
    )
    run, options = getattr(model, update), options_of(update, shape)
    run(UPDATES[update], measure=False, **options)
    means = run(MEASURED, **options).satisfied_bonds.mean(axis=0).reshape(len(groups), EACH)
    for (beta, _), samples in zip(groups, means, strict=True):
        check_mean(samples, expected.moments(beta).mean)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(
    ("shape", "q", "periodic"),
    [case for case in LATTICES if case[1] ** prod(case[0]) <= MOST_REACHED],
)
def test_every_state_is_reached_from_every_state(update, shape, q, periodic):
    """By transitions that are observed from a replica that begins in each state."""
    sites = prod(shape)
    place = q ** np.arange(sites)
    every = np.arange(q**sites)[:, None] // place % q
    copies = -(-256 // len(every))
    start = np.tile(every, (copies, 1)).reshape(-1, *shape)
    model = Potts(shape, q, 0.05, periodic=periodic, replicas=len(start), start=start, seed=sites)
    run, options = getattr(model, update), options_of(update, shape)
    states = [model.spins.reshape(len(start), -1) @ place]
    for _ in range(20):
        run(measure=False, **options)
        states.append(model.spins.reshape(len(start), -1) @ place)
    before, after = np.concatenate(states[:-1]), np.concatenate(states[1:])
    flips_one_site = update == "wolff" and q == 2 and sites == 1
    assert period_of(before, after, len(every)) == (2 if flips_one_site else 1)


def period_of(before, after, states):
    """Return what all cycles of transitions are multiples of; every state is on one with every."""
    graph = coo_array((np.ones(len(before), bool), (before, after)), (states, states)).tocsr()
    assert connected_components(graph, connection="strong")[0] == 1
    order, parents = breadth_first_order(graph, 0)
    steps = np.zeros(states, int)
    for state in order[1:]:
        steps[state] = steps[parents[state]] + 1
    return int(np.gcd.reduce(steps[before] + 1 - steps[after]))


# -------------------------------------------------------------------------------------- what failed


def test_diagonal_stripes_do_not_stay():
    """All flips of them cost nothing, and made them anew; against Kaufman's energy."""
    beta, stripes = 0.1, np.add.outer(range(64), range(64)) // 2 % 2
    model = Potts((64, 64), 2, beta, start=stripes, replicas=12, seed=1)
    model.metropolis(40, measure=False)
    energies = model.metropolis(20).energy
    expected = -exact.moments(exact.log_kaufman(64, 64), beta).mean
    assert alarms.of_mean(energies.mean(axis=0), expected) > FALSE_ALARM


@pytest.mark.parametrize(
    ("shape", "beta", "expected"), [((2, 2), 0.5, -6.145), ((3,), 1.289, -2.63)]
)
def test_energies_that_were_too_high(shape, beta, expected):
    model = Potts(shape, 2, beta, replicas=2000)
    model.metropolis(50, measure=False)
    means = model.metropolis(20).energy.mean(axis=0)
    moments = exact.levels(shape, 2).moments(beta)
    assert -moments.mean == pytest.approx(expected, abs=0.005)
    assert alarms.of_mean(means, -moments.mean) > FALSE_ALARM


# ---------------------------------------------------------------------------------------- exchanges


def sector_starts(up):
    """Return spins of 4 x 4 of which so many are up: by chance, side by side, in stripes."""
    rng = np.random.default_rng(up)
    stripes = np.argsort(staggered((4, 4), 2).ravel(), kind="stable")
    orders = [*(rng.permutation(16) for _ in range(EACH)), np.arange(16), stripes]
    return np.array([np.isin(np.arange(16), order[-up:]) for order in orders])


@pytest.mark.parametrize("up", range(1, 9))
def test_energies_of_exchanges_are_those_of_the_sector(up):
    temperatures = (3.0, 5.0, 1e6)
    torus = Torus("square", (4, 4))
    energies, multiplicity = energies_of(torus, combinations(range(16), up))
    hot, cold, stripes = np.split(sector_starts(up), [EACH, EACH + 1])
    starts = np.concatenate([hot, np.repeat(cold, EACH, axis=0), np.repeat(stripes, EACH, axis=0)])
    replicas = len(temperatures) * len(starts)
    model = Kawasaki(
        (4, 4),
        lattice="square",
        temperature=np.repeat(temperatures, len(starts)),
        replicas=replicas,
        start=np.tile(starts, (len(temperatures), 1)).reshape(-1, 4, 4).astype(int),
        seed=up,
    )
    model.step(60)
    sampled = []
    for _ in range(MEASURED):
        model.step(2)
        sampled.append(model.measure().energy)
    means = np.mean(sampled, axis=0).reshape(len(temperatures), len(STARTS), EACH)
    for temperature, of_starts in zip(temperatures, means, strict=True):
        weights = multiplicity * np.exp(-(energies - energies.min()) / temperature)
        for samples in of_starts:
            check_mean(samples, weights @ energies / weights.sum())


@pytest.mark.parametrize("up", [1, 2, 3, 4, 13, 15])
def test_every_place_is_reached_by_exchanges(up):
    every = np.array([np.isin(np.arange(16), places) for places in combinations(range(16), up)])
    copies = -(-256 // len(every))
    start = np.tile(every, (copies, 1)).reshape(-1, 4, 4).astype(int)
    model = Kawasaki(
        (4, 4), lattice="square", temperature=50.0, replicas=len(start), start=start, seed=up
    )
    place = 1 << np.arange(16)
    names = np.full(1 << 16, -1)
    names[every @ place] = np.arange(comb(16, up))
    states = [names[model.spins.reshape(-1, 16) @ place]]
    for _ in range(20):
        model.step()
        states.append(names[model.spins.reshape(-1, 16) @ place])
    assert period_of(np.concatenate(states[:-1]), np.concatenate(states[1:]), len(every)) == 1
