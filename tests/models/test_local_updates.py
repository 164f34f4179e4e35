"""Metropolis and heat bath of states on any edges, and clusters of two states: chances, bits."""

from itertools import product
from math import sqrt

import numpy as np
import pytest
from scipy import stats

import conncomp
from conncomp import Graph
from conncomp.kernels.edges import WHOLE
from conncomp.models import Ising, Potts, parallel_tempering, simulate
from models import alarms
from models.edges_reference import ReferenceEdges, ReferenceStates, ReferenceTwoStates, on_host

pytestmark = pytest.mark.usefixtures("restore_threads")
DEVICES = ["cpu", "cuda"]
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
KINDS = {"ising": (Ising, 2), "potts 2": (Potts, 2), "potts 3": (Potts, 3), "potts 5": (Potts, 5)}


def make(name, shape, **arguments):
    model_type, q = KINDS[name]
    return model_type(shape, **({} if name == "ising" else {"q": q}), **arguments)


def bonds_of(model):
    """Return couplings and fields as the kernels have them, with their signs."""
    edges = model._edges if model._edges is not None else model._all_bonds()
    unit = edges.scale / WHOLE
    couplings = np.full(edges.bonds, WHOLE) if edges.couplings is None else edges.couplings
    fields = np.zeros(model.sites) if edges.fields is None else edges.fields
    return unit * couplings, unit * fields


class Exact:
    """All spins of a small model, with their energies and probabilities."""

    def __init__(self, model, q):
        couplings, fields = bonds_of(model)
        self.q, self.sites = q, model.sites
        self.states = np.array(list(product(range(q), repeat=model.sites)))
        u, v = model.edges.T
        if isinstance(model, Ising):
            spins = 1 - 2 * self.states
            self.energies = -(spins[:, u] * spins[:, v] @ couplings + spins @ fields)
        else:
            equal = self.states[:, u] == self.states[:, v]
            self.energies = -(equal @ couplings + (self.states == 0) @ fields)
        weights = np.exp(-model._betas[0] * (self.energies - self.energies.min()))
        self.beta, self.weights = model._betas[0], weights / weights.sum()

    def number(self, states):
        """Return which of `states` these are."""
        return states @ self.q ** np.arange(self.sites)[::-1]

    def of_site(self, rule, site):
        """Return the matrix of transitions when one site is offered another state."""
        matrix = np.zeros((len(self.states),) * 2)
        for k, states in enumerate(self.states):
            others = np.tile(states, (self.q, 1))
            others[:, site] = range(self.q)
            to = self.number(others)
            if rule == "heat-bath":
                matrix[k, to] = self.weights[to] / self.weights[to].sum()
                continue
            most = 15 / 16 if self.q == 2 else 1
            lost = self.beta * (self.energies[to] - self.energies[k])
            matrix[k, to] = most * np.exp(-np.maximum(lost, 0)) / (self.q - 1)
            matrix[k, k] = 0
            matrix[k, k] = 1 - matrix[k].sum()
        return matrix


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
    there, back = (matrix[np.triu_indices(81, 1)] for matrix in (counts, counts.T))
    often = there + back > 20
    assert often.sum() > 100
    chi = ((there - back)[often] ** 2 / (there + back)[often]).sum()
    assert stats.chi2.sf(chi, often.sum()) > alarms.FALSE_ALARM


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


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize(("name", "case", "update"), ENUMERATED)
def test_means_are_those_of_enumeration(name, case, update):
    shape, arguments = SMALL[case]
    model = make(name, shape, beta=0.6, **arguments, replicas=400, seed=3)
    exact = Exact(model, KINDS[name][1])
    series = simulate(model, 20, thermalise=40, update=update).series
    mean = series.energy.mean(axis=0)
    expected = exact.weights @ exact.energies
    assert alarms.of_mean(mean, expected) > alarms.FALSE_ALARM
    assert mean.std() / sqrt(400) < 0.1 * exact.energies.std()
    counts = series.state_counts.mean(axis=0)[:, 0]
    zeros = exact.weights @ (exact.states == 0).sum(axis=1)
    assert alarms.of_mean(counts, zeros) > alarms.FALSE_ALARM


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
    couplings, fields = bonds_of(model)
    q, start = KINDS[name][1], on_host(model.spins).reshape(2, -1)
    mixed = bool((couplings < 0).any())
    reference_type = ReferenceTwoStates if mixed else ReferenceStates
    references = []
    for k in range(2):
        given = model.edges, couplings, fields, model.beta[k], model.seed, 3 + k, start[k]
        references.append(ReferenceEdges(*given) if name == "ising" else reference_type(q, *given))
    # A site of rows that are no multiples of 64 is a bit further on.
    row = model._words_lattice.shape[-1]
    place = np.arange(model.sites)
    clusters, rules = UPDATES if model._edges is not None else RULES, RULES
    for reference in references:
        reference.bits = (place // row * (-(-row // 64) * 64) + place % row).tolist()
    if case == "plain":
        clusters = rules = RULES[1:]  # Metropolis' rule goes by words there
    for update in (*clusters, *rules):
        energies = [reference.energy() for reference in references]
        np.testing.assert_allclose(model.energy(), energies, rtol=1e-6, atol=1e-6)
        kind = model.updater(update=update)
        kind(model.updates + 1)
        for reference in references:
            reference.sweep(update) if update in RULES else reference.update(update == "wolff")
        spins = on_host(model.spins).reshape(2, -1)
        np.testing.assert_array_equal(spins, [reference.spins for reference in references])


@pytest.mark.parametrize("name", ["ising", "potts 3"])
@pytest.mark.parametrize("update", UPDATES)
def test_threads_replicas_and_interruptions_change_nothing(name, update, tmp_path):
    def model(replicas=None, first_replica=0):
        drawn = {"replicas": replicas, "first_replica": first_replica, "seed": 5}
        return make(name, (90, 300), lattice="triangular", coupling=-1.0, beta=0.9, **drawn)

    conncomp.set_num_threads(1)
    one = simulate(model(first_replica=1), 3, update=update)
    conncomp.set_num_threads(3)
    whole, many = model(2), model(2)
    run = simulate(whole, 3, update=update)
    np.testing.assert_array_equal(run.series.records[:, 1], one.series.records)
    simulate(many, 1, update=update, checkpoint=tmp_path / "run")
    parts = simulate(model(2), 3, update=update, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(parts.series.records, run.series.records)


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


def test_tempering_of_an_antiferromagnet():
    model = Potts((3, 3), 3, np.linspace(0.2, 2, 8), replicas=8, coupling=-1.0, seed=1)
    tempering = parallel_tempering(model, 1200, update="heat-bath")
    assert (tempering.acceptance > 0.2).all()
    exact = Exact(Potts((3, 3), 3, tempering.beta[4], coupling=-1.0), 3)
    bins = tempering.series.energy[100:, 4].reshape(100, -1).mean(axis=1)
    assert alarms.of_mean(bins, exact.weights @ exact.energies) > alarms.FALSE_ALARM
