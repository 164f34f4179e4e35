"""Metropolis and heat bath of states on any edges, and clusters of two states: chances, bits."""

from math import sqrt

import numpy as np
import pytest

from conncomp import Graph
from conncomp.models import Ising, Potts, simulate
from models import alarms
from models import test_ising_on_edges as on_edges
from models import test_potts_on_edges as of_states
from models.devices import DEVICES
from models.exact import Exact
from models.references import check_updates

RULES = "metropolis", "heat-bath"
UPDATES = "swendsen-wang", "wolff", *RULES
RNG = np.random.default_rng(8)
FOUR = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])  # a triangle with a tail
MIXED = [1.0, -0.7, -1.6, 0.4]
FIELD = [0.5, -0.3, 0.0, 1.1]
FOUR_SITES = {
    "antiferromagnet": {"coupling": -1.0},
    "mixed": {"coupling": MIXED},
    "field": {"coupling": MIXED, "field": FIELD},
}
KINDS = {"ising": (Ising, 2), **{f"potts {q}": (Potts, q) for q in range(2, 7)}}


def make(name, shape, **arguments):
    model_type, q = KINDS[name]
    return model_type(shape, **({} if name == "ising" else {"q": q}), **arguments)


# ------------------------------------------------------------------------ transitions, four sites


@pytest.mark.soak
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["ising", "potts 2", "potts 3"])
@pytest.mark.parametrize("case", FOUR_SITES)
def test_transitions_of_four_sites_have_their_chances(name, case, rule):
    """Those of each site are in detailed balance, and a sweep is made of them, class by class."""
    model = make(name, FOUR, beta=0.8, **FOUR_SITES[case])
    exact = Exact(model, KINDS[name][1])
    sweep = np.eye(len(exact.states))
    for site in (0, 3, 1, 2):  # 0 and 3 are no neighbours
        matrix = exact.of_site(rule, site)
        flow = exact.weights[:, None] * matrix
        np.testing.assert_allclose(flow, flow.T, atol=1e-15)
        sweep = sweep @ matrix
    each = 3000
    start = np.repeat(exact.states, each, axis=0)
    given = 1 - 2 * start if name == "ising" else start
    arguments = {**FOUR_SITES[case], "replicas": len(start), "seed": 5}
    many = make(name, FOUR, beta=0.8, start=given, **arguments)
    (many.metropolis if rule == "metropolis" else many.heat_bath)(measure=False)
    after = many.spins if name != "ising" else (1 - many.spins) // 2
    counts = np.zeros_like(sweep)
    np.add.at(counts, (np.repeat(np.arange(len(sweep)), each), exact.number(after)), 1)
    for observed, expected in zip(counts, sweep, strict=True):
        assert (observed[expected < 1e-12] == 0).all()
        assert alarms.of_classes(observed, expected) > alarms.FALSE_ALARM


@pytest.mark.soak
@pytest.mark.parametrize("update", ["swendsen-wang", "wolff"])
@pytest.mark.parametrize("case", FOUR_SITES)
def test_clusters_of_two_states_are_in_detailed_balance(case, update):
    """As often from one of 81 states to another as back, and each as often as it is probable."""
    arguments = {**FOUR_SITES[case], "replicas": 40_000, "seed": 6}
    model = Potts(FOUR, 3, 0.8, **arguments)
    exact = Exact(model, 3)
    simulate(model, 1, thermalise=30, update=update)
    counts, number = np.zeros((81, 81)), exact.number(model.spins)
    for _ in range(4):
        (model.wolff if update == "wolff" else model.swendsen_wang)(measure=False)
        before, number = number, exact.number(model.spins)
        np.add.at(counts, (before, number), 1)
    observed = np.bincount(number, minlength=81)
    assert alarms.of_classes(observed, exact.weights) > alarms.FALSE_ALARM
    assert alarms.of_balance(counts, 100) > alarms.FALSE_ALARM


# ------------------------------------------------------------------------ enumeration

SMALL = {
    "triangular": ((3, 3), {"lattice": "triangular", "coupling": -1.0}),
    "honeycomb": ((2, 2), {"lattice": "honeycomb", "field": 0.4}),
    "square": ((2, 4), {"coupling": -1.0, "periodic": (False, True)}),
    "turned": ((3, 3), {"periodic": ("antiperiodic", True)}),
    "kagome": ((1, 2), {"lattice": "kagome", "coupling": RNG.normal(size=12)}),
    "plain": ((3, 3), {}),
    "chain": (7, {"coupling": -0.8, "lattice": "chain", "field": RNG.normal(size=7)}),
    "graph": (FOUR, FOUR_SITES["field"]),
    "no bond": (Graph.from_edges([], [], 3), {"field": [0.5, 0, -1]}),
    "short": ((1, 6), {"coupling": -1.0, "field": 0.3}),
}
ENUMERATED = [
    *(("ising", case, update) for case in SMALL for update in RULES),
    *(("potts 3", case, update) for case in SMALL for update in UPDATES if case != "plain"),
    *(("potts 3", "plain", "heat-bath"), ("potts 5", "graph", "heat-bath")),
    *(("potts 5", "graph", update) for update in ("metropolis", "swendsen-wang")),
]

SMALL |= {f"Ising, {case}": given for case, given in on_edges.SMALL.items()}
SMALL |= {f"Potts, {case}": (s, given) for case, (s, _, given) in of_states.SMALL.items()}
ENUMERATED += [("ising", f"Ising, {case}", u) for case in on_edges.SMALL for u in UPDATES[:2]]
ENUMERATED += [
    (f"potts {q}", f"Potts, {case}", u)
    for case, (_, q, _) in of_states.SMALL.items()
    for u in UPDATES[:2]
]


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize(("name", "case", "update"), ENUMERATED)
def test_means_are_those_of_enumeration(name, case, update):
    shape, given = SMALL[case]
    given = given if {"beta", "temperature"} & set(given) else {"beta": 0.6, **given}
    model, q = make(name, shape, **given, replicas=400, seed=3), KINDS[name][1]
    exact = Exact(model, q)
    series = simulate(model, 20, thermalise=40, update=update).series
    mean = series.energy.mean(axis=0)
    assert alarms.of_mean(mean, exact.mean) > alarms.FALSE_ALARM
    assert mean.std() / sqrt(400) < 0.1 * exact.energies.std()
    counts = np.stack([(exact.states == state).sum(axis=1) for state in range(q)])
    found = series.state_counts.mean(axis=0).T
    for number, expected in zip(found, counts @ exact.weights, strict=True):
        assert alarms.of_mean(number, expected) > alarms.FALSE_ALARM
    squares = (q * ((counts / model.sites) ** 2).sum(axis=0) - 1) / (q - 1) @ exact.weights
    found = series.squared_magnetisation.mean(axis=0)
    assert alarms.of_mean(found, squares) > alarms.FALSE_ALARM


def test_ground_states_of_antiferromagnets():
    """Of three colours on the square and the triangular lattice, where all bonds can differ."""
    for lattice, coupling in (("square", -1.0), ("triangular", -1.0)):
        model = Potts((6, 9), 3, 12.0, lattice=lattice, coupling=coupling, seed=1)
        assert (model.swendsen_wang(400).energy[-1] == 0) == (model.energy() == 0)
        if lattice == "square":
            assert model.energy() == 0
    bipartite = Ising(
        (8, 8), coupling=-1.0, beta=3.0, seed=1, start=1 - 2 * (np.indices((8, 8)).sum(0) % 2)
    )
    assert bipartite.energy() == -128
    assert bipartite.heat_bath(5).energy[-1] < -120


# ------------------------------------------------------------------------ trajectories

TRAJECTORIES = [
    *(("ising", case) for case in ("triangular", "honeycomb", "square", "turned", "graph")),
    ("ising", "no bond"),
    *((name, "short") for name in ("ising", "potts 3")),
    *(("potts 3", case) for case in ("triangular", "honeycomb", "kagome", "graph", "plain")),
    *(("potts 2", "graph"), ("potts 5", "graph"), ("potts 5", "square")),
]
WIDE = (2, 70), {"coupling": -1.0, "periodic": False}
LONG = (3, 67), {"lattice": "kagome", "coupling": RNG.normal(size=1206), "field": -0.2}


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("name", "case"),
    [*TRAJECTORIES, ("ising", WIDE), ("potts 5", WIDE), ("ising", LONG), ("potts 3", LONG)],
    ids=str,
)
def test_trajectories_are_those_of_the_reference(device, name, case):
    shape, arguments = SMALL[case] if isinstance(case, str) else case
    model = make(
        name, shape, beta=0.6, **arguments, replicas=2, first_replica=3, seed=2**40, device=device
    )
    updates = (*(UPDATES if model._layout.edges is not None else RULES), *RULES)
    if case == "plain":
        updates = RULES[1:] * 2  # Metropolis' rule goes by words there
    check_updates(model, updates)


def test_rules_may_change_and_fields_do_not_matter_where_there_are_none():
    """On a graph with these bonds spins go the same way, where rows are whole words."""
    lattice = Ising((4, 64), coupling=-1.0, beta=0.7, seed=1)
    pairs = lattice.edges
    graph = Ising(
        Graph.from_edges(*pairs.T, 256),
        coupling=-1.0,
        beta=0.7,
        start=lattice.spins.reshape(-1),
        seed=1,
    )
    for rule in ("metropolis", "heat_bath"):
        for model in (lattice, graph):
            getattr(model, rule)(3, measure=False)
        np.testing.assert_array_equal(lattice.spins.reshape(-1), graph.spins)
