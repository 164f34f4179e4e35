"""XY, Heisenberg, clock and O(n) models on any edges: distributions, trajectories, errors."""

from functools import cache
from math import log, pi, sqrt

import numpy as np
import pytest
from scipy import integrate, special, stats

from conncomp import Graph
from conncomp.kernels.cells import CellLattice
from conncomp.kernels.edges import WHOLE
from conncomp.kernels.spin_glass import RULES
from conncomp.models import (
    ON,
    XY,
    Clock,
    Heisenberg,
    Ising,
    Potts,
    simulate,
)
from conncomp.models._probabilities import logarithm_table
from models import alarms
from models.devices import DEVICES, on_host
from models.edge_vectors_reference import KINDS, Draws, Hours, Numbers, ReferenceEdgeVectors
from models.exact import Exact

pytestmark = pytest.mark.usefixtures("restore_threads")
UPDATES = "swendsen-wang", "wolff", "metropolis"
MODELS = {
    "xy": (XY, {}),
    "heisenberg": (Heisenberg, {}),
    "clock 2": (Clock, {"q": 2}),
    "clock 5": (Clock, {"q": 5}),
    "clock 6": (Clock, {"q": 6}),
    "clock 65536": (Clock, {"q": 65536}),
    "o(4)": (ON, {"n": 4}),
    "o(5)": (ON, {"n": 5}),
    "o(8)": (ON, {"n": 8}),
}


def make(name, shape, **arguments):
    model_type, own = MODELS[name]
    return model_type(shape, **own, **arguments)


def raw(model):
    """Return the integers that spins are, of each replica a list, or a list of tuples."""
    spins = on_host(model.state().arrays[1])
    if spins.ndim == 3 and isinstance(model, ON):
        return [[tuple(map(int, spin)) for spin in replica] for replica in spins]
    return spins.reshape(model.replicas, -1).tolist()


def kind_of(model):
    if isinstance(model, Clock):
        return Hours(model.q)
    return Numbers(model.n) if isinstance(model, ON) else KINDS[model._name]


# ------------------------------------------------------------------------------------ trajectories

RNG = np.random.default_rng(5)
RING = Graph.from_edges([0, 1, 2, 3, 4, 5, 0, 1], [1, 2, 3, 4, 5, 0, 3, 4])
LATTICES = {
    "triangular": ((3, 4), {"lattice": "triangular", "beta": 0.7}),
    "honeycomb": ((4, 9), {"lattice": "honeycomb", "beta": 1.3, "periodic": False}),
    "kagome": ((2, 3), {"lattice": "kagome", "beta": 0.9, "periodic": (True, "antiperiodic")}),
    "bcc": ((2, 3, 3), {"lattice": "bcc", "beta": 0.4, "coupling": -1.5}),
    "fcc": ((2, 2, 3), {"lattice": "fcc", "beta": 0.3}),
    "diamond": ((2, 2, 3), {"lattice": "diamond", "beta": 1.1}),
    "turned": ((3, 70), {"periodic": ("antiperiodic", True), "beta": 0.8}),
    "signs": ((4, 4), {"coupling": RNG.choice([-1.0, 1.0], 32), "beta": 1.2}),
    "graph": (RING, {"beta": 0.9}),
    "weighted": (RING, {"beta": 1.2, "coupling": [1, -2, 0.3, 1, 1, 0.7, -0.1, 4]}),
    "cold": (RING, {"beta": 9e5}),
    "no bond": (Graph.from_edges([], [], 3), {"beta": 1.0}),
    "field": (RING, {"beta": 0.9, "field": RNG.normal(size=6)}),
    "tied": ((3, 4), {"beta": 0.9, "field": -0.7, "coupling": 0.6}),
    "short": ((1, 5), {"beta": 0.9, "lattice": "triangular"}),
}
CASES = [
    *(("xy", place) for place in LATTICES),
    *(
        (name, place)
        for name in MODELS
        for place in ("kagome", "weighted", "field", "short")
        if name != "xy"
    ),
]


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("name", "place"), CASES)
def test_trajectories_are_those_of_the_reference(device, name, place):
    shape, arguments = LATTICES[place]
    drawn = {"replicas": 2, "first_replica": 3, "seed": 2**40 + 7}
    model = make(name, shape, **arguments, **drawn, device=device)
    edges = model._layout.edges
    couplings = np.full(edges.bonds, WHOLE) if edges.couplings is None else edges.couplings
    kind, spins, unit = kind_of(model), raw(model), edges.scale / WHOLE
    references = [
        ReferenceEdgeVectors(
            kind, model.edges, couplings, unit, Draws(model.seed, 3 + k, 0), model.beta[k], spins[k]
        )
        for k in range(2)
    ]
    fields = 0 if edges.fields is None else edges.fields * unit
    if edges.fields is not None:
        [[first]] = raw(make(name, Graph.from_edges([], [], 1), beta=1.0, start="cold"))
        for reference in references:
            reference.fields, reference.first = edges.fields, first
    if isinstance(model, (Clock, ON)):
        for k, reference in enumerate(references):
            starts = [kind.start(reference.draws, site) for site in range(model.sites)]
            assert starts == spins[k]
    for update in ("swendsen-wang", "metropolis", "swendsen-wang", "wolff", "metropolis"):
        vectors = on_host(model.spins).reshape(2, model.sites, -1)
        u, v = model.edges.T
        products = (vectors[:, u] * vectors[:, v]).sum(axis=-1)
        energies = -(products * couplings * unit).sum(axis=1)
        energies -= (vectors[..., 0] * fields).sum(axis=1)
        bonds = on_host(model.bonds())
        if update == "metropolis":
            series = model.metropolis()
            for reference in references:
                reference.metropolis()
        else:
            wolff = update == "wolff"
            sizes = not wolff and edges.fields is None
            series = model.wolff() if wolff else model.swendsen_wang(clusters=sizes)
            expected = [reference.update(wolff) for reference in references]
            assert bonds.sum(axis=1).tolist() == [active for active, _ in expected]
            if sizes:
                assert series.active_bonds[0].tolist() == [active for active, _ in expected]
                assert series.clusters[0].tolist() == [len(sizes) for _, sizes in expected]
                assert series.largest_cluster[0].tolist() == [sizes[-1] for _, sizes in expected]
        assert raw(model) == [reference.spins for reference in references]
        np.testing.assert_allclose(series.energy[0], energies, atol=2e-5 * edges.scale)
        mean = vectors.mean(axis=1)
        np.testing.assert_allclose(series.magnetisation[0], mean, atol=1e-5)


def test_metropolis_on_lattices_with_kernels_of_their_own():
    """The same spins as on a graph with these bonds."""
    for shape in ((4, 6), (3, 4, 5)):
        plain = XY(shape, beta=0.9, seed=3)
        graph = XY(Graph.from_edges(*plain.edges.T, plain.sites), beta=0.9, seed=3)
        for model in (plain, graph):
            model.metropolis(3, measure=False)
        np.testing.assert_array_equal(plain.angles.ravel(), graph.angles)
        assert plain.energy() == pytest.approx(graph.energy(), abs=1e-6)


# -------------------------------------------------------------------------------- the distribution

TRIANGLE = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
SMALL = {
    "triangle": (TRIANGLE, [1.0, 1.0, 1.0, 1.0], 0.9),
    "frustrated": (TRIANGLE, [1.0, 1.5, -1.0, 0.5], 1.3),
}


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("place", SMALL)
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("q", [2, 3, 4, 5, 8, 16])
def test_clocks_are_those_of_enumeration(q, update, place):
    graph, couplings, beta = SMALL[place]
    model = Clock(graph, q, beta=beta, coupling=couplings, replicas=230, seed=q)
    series = simulate(model, 25, thermalise=25, update=update).series
    exact, means = Exact(model, q), series.energy.mean(axis=0)
    squared = abs(np.exp(2j * pi / q * exact.states).mean(axis=1)) ** 2 @ exact.weights
    assert alarms.of_mean(means, exact.mean) > alarms.FALSE_ALARM
    assert alarms.of_mean(series.squared_magnetisation.mean(axis=0), squared) > alarms.FALSE_ALARM
    assert means.std() / 20 < 0.04 * abs(exact.mean)


def integral(n, x, power):
    """Return the mean of cos^power of the angle to a fixed direction, weighed by exp(x cos)."""
    value = integrate.quad(
        lambda t: np.exp(x * (np.cos(t) - 1)) * np.cos(t) ** power * np.sin(t) ** (n - 2), 0, pi
    )[0]
    return value / integrate.quad(lambda t: np.sin(t) ** (n - 2), 0, pi)[0]


@cache
def triangle_energy(n, beta, couplings):
    """Return the energy of three spins with three bonds, by quadrature.

    With the first spin fixed, the second at an angle t, the third sees the sum of both, of length
    h: its weight is the integral of exp(beta h cos).
    """
    a, b, c = couplings

    def weight(beta):
        def of_angle(t):
            h = sqrt(max(a * a + b * b + 2 * a * b * np.cos(t), 0.0))
            return (
                np.exp(beta * (c * np.cos(t) + h)) * integral(n, beta * h, 0) * np.sin(t) ** (n - 2)
            )

        return integrate.quad(of_angle, 0, pi)[0]

    h = 1e-3
    logs = {k: np.log(weight(beta + k * h)) for k in (-2, -1, 1, 2)}
    return -(8 * (logs[1] - logs[-1]) - (logs[2] - logs[-2])) / (12 * h)


@pytest.mark.parametrize("couplings", [(1.0, 1.0, 1.0), (1.0, 0.5, -1.5)])
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(
    ("name", "n"), [("xy", 2), ("heisenberg", 3), ("o(4)", 4), ("o(5)", 5), ("o(8)", 8)]
)
def test_three_spins_are_those_of_quadrature(name, n, update, couplings):
    """Bonds from the third spin to the first and the second have couplings a and b."""
    a, b, c = couplings
    graph = Graph.from_edges([0, 0, 1], [1, 2, 2])
    model = make(name, graph, beta=1.4, coupling=[c, a, b], replicas=285, seed=n)
    means = simulate(model, 30, thermalise=40, update=update).series.energy.mean(axis=0)
    expected = triangle_energy(n, 1.4, couplings)
    assert alarms.of_mean(means, expected) > alarms.FALSE_ALARM
    assert means.std() / sqrt(500) < 0.04 * abs(expected)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(
    ("name", "n"), [("xy", 2), ("heisenberg", 3), ("o(4)", 4), ("o(5)", 5), ("o(8)", 8)]
)
def test_spins_in_fields_are_those_of_quadrature(name, n, update):
    """Two spins in fields are three of which one is fixed; one spin has a ratio of Bessel's."""
    pair = Graph.from_edges([0], [1], 3)
    arguments = {"beta": 1.4, "coupling": 0.5, "field": [1.0, -1.5, 0.8], "replicas": 500}
    model = make(name, pair, **arguments, seed=n)
    series = simulate(model, 30, thermalise=40, update=update).series
    x = 1.4 * 0.8
    alone = special.iv(n / 2, x) / special.iv(n / 2 - 1, x)
    means = series.energy.mean(axis=0)
    expected = triangle_energy(n, 1.4, (1.0, -1.5, 0.5)) - 0.8 * alone
    assert alarms.of_mean(means, expected) > alarms.FALSE_ALARM
    assert means.std() / sqrt(500) < 0.04 * abs(expected)
    assert alarms.of_mean(model.spins[:, 2, 0], alone) > alarms.FALSE_ALARM
    for component in range(1, model.spins.shape[-1]):
        assert alarms.of_mean(model.spins[:, 2, component], 0.0) > alarms.FALSE_ALARM


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("q", [3, 5, 16])
def test_clocks_in_fields_are_those_of_enumeration(q, update):
    model = Clock(2, q, lattice="chain", periodic=False, beta=1.3, field=[0.7, -0.4], replicas=600)
    means = simulate(model, 25, thermalise=25, update=update).series.energy.mean(axis=0)
    assert alarms.of_mean(means, Exact(model, q).mean) > alarms.FALSE_ALARM


@pytest.mark.parametrize("name", ["xy", "heisenberg", "o(4)", "o(5)", "o(8)"])
def test_first_spins_and_mirrors_are_uniform(name):
    model = make(name, (200, 200), beta=0.0, seed=1)
    n = model.spins.shape[-1]
    for _ in range(3):
        spins = model.spins.reshape(-1, n)
        for component in spins.T:
            assert alarms.of_mean(component, 0.0) > alarms.FALSE_ALARM
            assert alarms.of_mean(component**2, 1 / n) > alarms.FALSE_ALARM
            assert alarms.of_mean(component**4, 3 / n / (n + 2)) > alarms.FALSE_ALARM
        first, second, last = spins[:, 0], spins[:, 1], spins[:, -1]
        for mixed in (first * last, first * second):
            assert alarms.of_mean(mixed, 0.0) > alarms.FALSE_ALARM
        assert alarms.of_mean((first * last) ** 2, 1 / n / (n + 2)) > alarms.FALSE_ALARM
        model.metropolis(1, measure=False), model.step()


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("name", ["xy", "clock 5", "o(4)"])
def test_four_spins_are_in_detailed_balance(name, update):
    """From one class of states to another one as often as back.

    Chances of transitions of one cluster update from the stationary distribution are symmetric; a
    sweep of Metropolis is its classes one after the other, so of it the stationary distribution is
    tested alone, and of one class, of which the others are no neighbours, the transitions.
    """
    graph = TRIANGLE if update != "metropolis" else Graph.from_edges([0], [1], 2)
    model = make(name, graph, beta=0.8, replicas=17_000, seed=4)
    simulate(model, 1, thermalise=15)

    def classes():
        vectors = model.spins
        along = (vectors[:, 0] * vectors[:, 1]).sum(axis=-1)
        across = (vectors[:, 0] * vectors[:, -1]).sum(axis=-1)
        return 3 * np.digitize(along, [-0.4, 0.4]) + np.digitize(across, [-0.4, 0.4])

    before = classes()
    if update == "metropolis":
        _offer_first_class(model)
    else:
        model.wolff() if update == "wolff" else model.step()
    counts = np.zeros((9, 9))
    np.add.at(counts, (before, classes()), 1)
    upper = np.triu_indices(9, 1)
    there, back = counts[upper], counts.T[upper]
    often = there + back > 20
    assert often.sum() >= 3
    chi = ((there - back)[often] ** 2 / (there + back)[often]).sum()
    assert stats.chi2.sf(chi, often.sum()) > alarms.FALSE_ALARM


def _offer_first_class(model):
    """Offer the vertices of the first class alone."""
    engine, temperatures = model._local_engine("metropolis")
    engine.offer(model._state.now, model._state.next, 10**6, temperatures, "metropolis")
    arcs, order, bounds = engine._classes()
    model._state.next[...] = model._state.now
    drawn = 10**6, temperatures, logarithm_table(), RULES.index("metropolis")
    engine._offer(model._state.next, *drawn, *arcs, order, bounds[:2])
    model._state.now, model._state.next = model._state.next, model._state.now


def test_critical_points_of_clocks():
    assert Clock((4, 4), 2).temperature == pytest.approx(2 / log(1 + sqrt(2)))
    assert Clock((4, 4), 3).temperature == pytest.approx(1.5 / log(1 + sqrt(3)))
    assert Clock((4, 4), 4).beta == pytest.approx(log(1 + sqrt(2)))


# --------------------------------------------------------------------------- what a model tells


def test_states_starts_and_labels():
    start = np.arange(12).reshape(3, 4) % 5
    model = Clock((3, 4), 5, beta=1.0, start=start)
    np.testing.assert_array_equal(model.states, start)
    np.testing.assert_allclose(model.angles, start * 2 * pi / 5)
    np.testing.assert_allclose(model.spins[..., 1], np.sin(start * 2 * pi / 5))
    model = Heisenberg((2, 2), lattice="honeycomb", beta=1.0, start=np.ones((2, 2, 2, 3)))
    assert model.energy() == pytest.approx(-12, rel=1e-5)
    assert model.coordinates.shape == (8, 2)
    assert model.labels().shape == (2, 2, 2)
    model = ON((3, 3), 6, beta=50.0, start="cold", replicas=2)
    assert model.energy().tolist() == pytest.approx([-18, -18])
    labels, counts = model.labels(return_num=True)
    assert labels.shape == (2, 3, 3)
    np.testing.assert_array_equal(counts, labels.max(axis=(1, 2)))
    given = np.random.default_rng(1).normal(size=(3, 3, 6))
    unit = given / np.linalg.norm(given, axis=-1, keepdims=True)
    assert abs(ON((3, 3), 6, beta=1.0, start=given).spins - unit).max() < 2**-28
    model.step(200)
    assert abs((model.spins**2).sum(axis=-1) - 1).max() < 2**-27
    graphs = simulate(XY(RING, beta=[0.2, 0.4], replicas=2), 12).summarise()
    assert [summary.helicity_modulus for summary in graphs] == [None, None]


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "make",
    [
        lambda **how: XY((3, 3), lattice="kagome", beta=1.0, **how),
        lambda **how: Potts((3, 3), lattice="kagome", beta=1.0, **how),
        lambda **how: Ising((3, 3), lattice="kagome", beta=1.0, field=1.0, **how),
    ],
)
def test_arguments_are_checked_and_memory_is_asked_for_before_bonds_are_made(make, monkeypatch):
    def too_many(lattice):
        raise MemoryError("Unable to allocate an array")

    monkeypatch.setattr(CellLattice, "ends", too_many)
    for name, value in {"seed": -1, "replicas": 0, "first_replica": -1, "device": "tpu"}.items():
        with pytest.raises(ValueError, match=name):
            make(**{name: value})
    with pytest.raises(MemoryError, match=r"the 54 bonds of shape=\(3, 3\), take 864 bytes"):
        make()


def test_bonds_that_no_machine_holds_are_not_asked_for(monkeypatch):
    monkeypatch.setattr("conncomp.models._arguments.total_memory", lambda: 863)
    monkeypatch.setattr(CellLattice, "ends", lambda lattice: pytest.fail("asked for"))
    with pytest.raises(MemoryError, match=r"the 54 bonds of shape=\(3, 3\), take 864 bytes"):
        XY((3, 3), lattice="kagome", beta=1.0)


@pytest.mark.parametrize("length", [1e-310, 1e-200, 1e200, 1e308])
def test_starts_are_of_any_length(length):
    start = np.full((2, 2, 5), length)
    spins = ON((2, 2), 5, beta=1.0, start=start).spins
    np.testing.assert_allclose(spins, 5**-0.5, atol=1e-8)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Clock((4, 4), 1), "q=1 must be"),
        (lambda: Clock((4, 4), 65537), "q=65537 must be"),
        (lambda: Clock((4, 4), 5), "no critical temperature of the Clock model on 2 axes"),
        (lambda: Clock((2, 2), 5, beta=1.0, start=np.full((2, 2), 5)), "from 5 to 5; they must be"),
        (lambda: Clock((2, 2), 5, beta=1.0, start=np.ones((2, 2))), "of integers"),
        (lambda: XY((2, 2), start=np.ones((2, 2, 2), int)), "int64; it must be of floats"),
        (lambda: XY((2, 2), start=np.zeros((2, 2, 2))), "of length 0, or not finite"),
        (lambda: XY((2, 2), start=np.full((2, 2, 2), np.inf)), "of length 0, or not finite"),
        (lambda: XY((2, 2), start=np.full((2, 2, 2), np.nan)), "of length 0, or not finite"),
        (lambda: ON((4, 4), 3, beta=1.0), r"n=3 must be 4 to 8; O\(3\) is Heisenberg"),
        (lambda: ON((4, 4), 9, beta=1.0), "n=9 must be"),
        (lambda: ON((4, 4), 4), "no critical temperature of the ON model on 2 axes"),
        (lambda: XY(TRIANGLE), "on a graph is known here"),
        (lambda: XY((3, 3), lattice="kagome"), "on this lattice, kagome,"),
        (lambda: XY((3, 3), lattice="cube", beta=1.0), "lattice='cube'"),
        (lambda: XY((3, 3), lattice="cubic", beta=1.0), "must have 3 axes"),
        (lambda: XY(TRIANGLE, lattice="kagome", beta=1.0), "not for a graph"),
        (lambda: XY(Graph.from_edges([0], [0]), beta=1.0), "loop at vertex 0"),
        (lambda: XY(TRIANGLE, beta=1.0, coupling=[1, np.nan, 1, 1]), r"coupling\[1\]=nan must be"),
        (lambda: XY((3, 3), beta=1.0, coupling=np.ones(3)), "one for each of 18 bonds"),
        (lambda: XY((3, 3), beta=1.0, periodic="closed"), "periodic='closed' must be True"),
        (lambda: XY(TRIANGLE, beta=1e8), "times the coupling, below"),
        (lambda: XY(TRIANGLE, beta=1.0).measure().helicity_modulus, "of the XY and the Heisenberg"),
        (lambda: Clock((2, 2), 4).measure().helicity_modulus, "of the XY and the Heisenberg model"),
        (
            lambda: XY((2, 2), periodic="antiperiodic").measure().vortices,
            "XY model on lattices in the plane",
        ),
        (lambda: ON((2, 2), 4, beta=1.0).measure().vortices, "in the plane, were not counted"),
        (lambda: XY((3, 3)).updater(update="metropolis", clusters=True), "clusters=True is for"),
    ],
)
def test_bad_arguments(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
