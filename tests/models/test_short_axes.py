"""Axes of lengths 1, 2 and 3: every update of every model against enumeration or quadrature.

A site of a periodic axis of length 1 has a bond to itself, which is a constant of the energy. A
site of one of length 2 has two bonds to the same neighbour.
"""

from itertools import product

import numpy as np
import pytest

from conncomp.models import ON, XY, Clock, Heisenberg, Ising, Potts, SpinGlass, UnitCell, simulate
from conncomp.models.places import HYPERCUBIC
from models import alarms
from models.devices import both, equal_steps
from models.exact import Exact, of_vectors

BETA, REPLICAS = 0.55, 400
SHAPES = [(1,), (2,), (3,), (1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1), (1, 5), (2, 3), (3, 2)]
SHAPES += [(1, 1, 1), (1, 2, 1), (1, 1, 3), (2, 1, 2), (1, 1, 2, 1), (3, 1, 1, 1)]
# Two sites a cell, bonds of which lead to other cells of the same place where axes are short.
SLANTED = UnitCell(
    [[1.0, 0.0], [0.0, 1.0]],
    [[0.0, 0.0], [0.5, 0.5]],
    [(0, 1, [1, 1]), (0, 0, [1, 0]), (1, 1, [0, 1]), (1, 1, [1, -1])],
)
CASES = {
    "plain": lambda axes: {},
    "antiferromagnet": lambda axes: {"coupling": -0.8},
    "field": lambda axes: {"field": 0.3},
    "first turned": lambda axes: {"periodic": ("antiperiodic", *(True,) * (axes - 1))},
    "last turned": lambda axes: {
        "periodic": (*(True,) * (axes - 1), "antiperiodic"),
        "coupling": -1.0,
    },
    "first open": lambda axes: {"periodic": (False, *(True,) * (axes - 1))},
}
LATTICES = {
    "triangular": (2, 1, {"lattice": "triangular"}),
    "triangular antiferromagnet": (2, 1, {"lattice": "triangular", "coupling": -1.0}),
    "honeycomb": (2, 2, {"lattice": "honeycomb"}),
    "slanted": (2, 2, {"lattice": SLANTED, "coupling": 0.6}),
    "kagome": (2, 3, {"lattice": "kagome", "periodic": (True, "antiperiodic")}),
    "bcc": (3, 1, {"lattice": "bcc"}),
    "fcc": (3, 1, {"lattice": "fcc", "coupling": -0.5}),
}


def places(most):
    """Return shapes and cases of at most so many sites."""
    return [
        *((shape, case) for shape in SHAPES for case in CASES if np.prod(shape) <= most),
        *(
            (shape, case)
            for shape in SHAPES
            for case, (axes, cell, _) in LATTICES.items()
            if len(shape) == axes and cell * np.prod(shape) <= most
        ),
    ]


def make(model_type, shape, case, **options):
    axes = len(shape)
    arguments = CASES[case](axes) if case in CASES else LATTICES[case][2]
    if model_type is Ising and case in CASES:
        arguments["lattice"] = HYPERCUBIC[axes - 1]
    return model_type(shape, beta=BETA, seed=4, **{**arguments, **options})


STATES = {
    "ising": (Ising, {}, 2, 6),
    "potts 2": (Potts, {"q": 2}, 2, 6),
    "potts 3": (Potts, {"q": 3}, 3, 5),
    "potts 5": (Potts, {"q": 5}, 5, 3),
}
UPDATES = "swendsen-wang", "wolff", "metropolis", "heat-bath"


def check(series, mean, squared):
    """Hold the energies of replicas against their mean, and that of their squares."""
    energies, off = series.energy, 1.3  # as squares of energies of both signs may be all the same
    squared += off**2 - 2 * off * mean
    for of_updates, expected in ((energies, mean), ((energies - off) ** 2, squared)):
        of_replicas = of_updates.mean(axis=0)
        if np.ptp(energies) < 1e-4:  # there is one energy
            np.testing.assert_allclose(of_replicas, expected, rtol=1e-5, atol=1e-5)
        else:
            assert alarms.of_mean(of_replicas, expected) > alarms.FALSE_ALARM


def run(model, update):
    return simulate(model, 8, thermalise=30, update=update).series


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(
    ("name", "shape", "case"),
    [(name, *p) for name, (*_, most) in STATES.items() for p in places(most)],
)
def test_energies_of_states_are_those_of_enumeration(name, shape, case, update):
    model_type, own, q, _ = STATES[name]
    model = make(model_type, shape, case, **own, replicas=REPLICAS)
    exact = Exact(model, q)
    check(run(model, update), exact.mean, exact.weights @ exact.energies**2)


@pytest.mark.parametrize("q", [2, 3])
@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (2, 2), (3, 1)])
def test_few_clusters(shape, q):
    model = Potts(shape, q, BETA, replicas=REPLICAS, seed=4)
    exact = Exact(model, q)
    series = simulate(
        model, 8, thermalise=60, update="few-cluster", tile=(1, shape[1]), p_flip=0.7
    ).series
    check(series, exact.mean, exact.weights @ exact.energies**2)


# ------------------------------------------------------------------------------------- vectors


# And the most sites: three of those of three components and more, which here are in no field.
VECTORS = {
    "XY": (XY, {}, 4),
    "Clock 3": (Clock, {"q": 3}, 6),
    "Clock 6": (Clock, {"q": 6}, 4),
    "Heisenberg": (Heisenberg, {}, 3),
    "ON 4": (ON, {"n": 4}, 3),
    "ON 5": (ON, {"n": 5}, 3),
}


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("update", ["swendsen-wang", "wolff", "metropolis"])
@pytest.mark.parametrize(
    ("name", "shape", "case"),
    [
        (name, *place)
        for name, (*_, most) in VECTORS.items()
        for place in places(most)
        if most > 3 or place[1] != "field"
    ],
)
def test_energies_of_vectors_are_those_of_quadrature(name, shape, case, update):
    model_type, own, _ = VECTORS[name]
    model = make(model_type, shape, case, **own, replicas=REPLICAS)
    check(run(model, update), *of_vectors(model))


# ------------------------------------------------------------------------------------- glasses


@pytest.mark.parametrize("rule", ["metropolis", "heat-bath"])
@pytest.mark.parametrize("couplings", ["pm", "gaussian"])
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if np.prod(shape) <= 6], ids=str)
def test_energies_of_glasses_are_those_of_enumeration(shape, couplings, rule):
    periodic = tuple(k % 3 != 1 or length > 2 for k, length in enumerate(shape))
    options = {"couplings": couplings, "periodic": periodic, "update": rule, "seed": 4}
    model = SpinGlass(shape, **options, beta=BETA, copies=REPLICAS)
    spins = np.array(list(product((-1, 1), repeat=int(np.prod(shape)))), np.int8)
    start = spins.reshape(-1, *shape)
    levels = SpinGlass(shape, **options, beta=BETA, copies=len(start), start=start).energy()
    weights = np.exp(-BETA * (np.atleast_1d(levels) - np.min(levels)))
    weights /= weights.sum()
    model.step(30)
    series = simulate(model, 8).series
    check(series, weights @ levels, weights @ levels**2)


# ------------------------------------------------------------------------------------- trajectories

TRAJECTORIES = [
    *((Ising, {}, update) for update in UPDATES),
    *((Potts, {"q": q}, update) for q in (2, 3) for update in UPDATES),
    *(
        (model_type, own, update)
        for model_type, own in ((XY, {}), (Heisenberg, {}), (Clock, {"q": 5}), (ON, {"n": 5}))
        for update in ("swendsen-wang", "wolff", "metropolis")
    ),
]
ON_BOTH = [((1, 6), "plain"), ((1, 1, 3), "antiferromagnet"), ((2, 1), "plain"), ((1, 2), "field")]
ON_BOTH += [((2, 1), "triangular"), ((1,), "plain"), ((3, 1), "last turned")]


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize(("model_type", "own", "update"), TRAJECTORIES)
@pytest.mark.parametrize(("shape", "case"), ON_BOTH)
def test_both_devices_go_the_same_way(device, shape, case, model_type, own, update):
    models = both(device, make, model_type, shape, case, **own, replicas=3)
    runs = [simulate(model, 4, update=update) for model in models]
    np.testing.assert_array_equal(*(run.series.records for run in runs))
    equal_steps(models, 0)


@pytest.mark.parametrize(
    ("model_type", "own", "update"),
    [case for case in TRAJECTORIES if case[2] in ("metropolis", "heat-bath")],
)
@pytest.mark.parametrize("coupling", [1.0, -0.7])
def test_a_bond_to_itself_changes_energies_and_no_spin(model_type, own, update, coupling):
    options = {**own, "replicas": 4, "coupling": coupling}
    ring = make(model_type, (1, 6), "plain", **options)
    assert (ring.edges[:, 0] == ring.edges[:, 1]).sum() == 6
    chain = make(model_type, (6,), "plain", **options)
    shifted, plain = (simulate(model, 6, update=update).series.energy for model in (ring, chain))
    np.testing.assert_allclose(shifted, plain - 6 * coupling, atol=1e-4)
    np.testing.assert_array_equal(ring.spins.reshape(chain.spins.shape), chain.spins)
