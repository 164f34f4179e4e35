"""Every state of small lattices is reached from every state, by all updates.

What is reached has its probability: see `test_physics`, `test_short_axes`, `test_kawasaki_physics`.
"""

from itertools import combinations, product
from math import comb, prod

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from conncomp.models import Kawasaki, Potts
from models import alarms, exact
from models.alarms import FALSE_ALARM

SHAPES = [
    *((1,), (2,), (3,), (8,)),
    *((2, 1), (2, 2), (2, 3), (3, 3), (4, 4)),
    *((1, 2, 3), (2, 2, 2), (3, 2, 2)),
    (1, 2, 1, 3),
]

LATTICES = [
    (shape, q, periodic)
    for shape, q, periodic in product(SHAPES, (2, 3, 4), (True, False))
    if q ** prod(shape) <= 1 << 12
]
UPDATES = "swendsen_wang", "wolff", "few_cluster", "metropolis"


def options_of(update, shape):
    """Return the options of an update: of few-cluster a chosen site in each row."""
    return {"tile": (1, *shape[1:]), "p_flip": 0.7} if update == "few_cluster" else {}


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(("shape", "q", "periodic"), LATTICES)
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


# ---------------------------------------------------------------------------------------- exchanges


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
