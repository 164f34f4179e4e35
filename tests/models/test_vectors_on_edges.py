"""XY, Heisenberg, clock and O(n) models on any edges: distributions, trajectories, errors."""

from math import log, pi, sqrt

import numpy as np
import pytest
from scipy import special

from conncomp import Graph
from conncomp.kernels.cells import CellLattice
from conncomp.kernels.updates import LOCAL_RULES
from conncomp.models import ON, XY, Clock, Heisenberg, Ising, Potts, simulate
from conncomp.models._probabilities import logarithm_table
from models import alarms
from models.devices import DEVICES
from models.exact import Exact, of_vectors
from models.references import check_updates, references_of

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
    if isinstance(model, (Clock, ON)):
        for reference in references_of(model):
            starts = [reference.kind.start(reference, site) for site in range(model.sites)]
            assert starts == reference.spins
    check_updates(model, ("swendsen-wang", "metropolis", "swendsen-wang", "wolff", "metropolis"))


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
THREE = Graph.from_edges([0, 0, 1], [1, 2, 2])
CONTINUOUS = ["xy", "heisenberg", "o(4)", "o(5)", "o(8)"]
SMALL = {
    "triangle": (TRIANGLE, {"beta": 0.9}),
    "frustrated": (TRIANGLE, {"beta": 1.3, "coupling": [1.0, 1.5, -1.0, 0.5]}),
    "fields": (2, {"lattice": "chain", "periodic": False, "beta": 1.3, "field": [0.7, -0.4]}),
}


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("place", SMALL)
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("q", [2, 3, 4, 5, 8, 16])
def test_clocks_are_those_of_enumeration(q, update, place):
    shape, arguments = SMALL[place]
    model = Clock(shape, q, **arguments, replicas=230, seed=q)
    series = simulate(model, 25, thermalise=25, update=update).series
    exact, means = Exact(model, q), series.energy.mean(axis=0)
    squared = abs(np.exp(2j * pi / q * exact.states).mean(axis=1)) ** 2 @ exact.weights
    assert alarms.of_mean(means, exact.mean) > alarms.FALSE_ALARM
    assert alarms.of_mean(series.squared_magnetisation.mean(axis=0), squared) > alarms.FALSE_ALARM
    assert means.std() / 20 < 0.04 * abs(exact.mean)


@pytest.mark.parametrize("couplings", [(1.0, 1.0, 1.0), (-1.5, 1.0, 0.5)])
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_three_spins_are_those_of_quadrature(name, update, couplings):
    model = make(name, THREE, beta=1.4, coupling=couplings, replicas=285, seed=2)
    means = simulate(model, 30, thermalise=40, update=update).series.energy.mean(axis=0)
    expected, _ = of_vectors(model)
    assert alarms.of_mean(means, expected) > alarms.FALSE_ALARM
    assert means.std() / sqrt(500) < 0.04 * abs(expected)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_spins_in_fields_are_those_of_quadrature(name, update):
    """Two spins in fields are three of which one is fixed; one spin has a ratio of Bessel's."""
    pair = Graph.from_edges([0], [1], 3)
    arguments = {"beta": 1.4, "coupling": 0.5, "field": [1.0, -1.5, 0.8], "replicas": 500}
    model = make(name, pair, **arguments, seed=2)
    series = simulate(model, 30, thermalise=40, update=update).series
    n, x = model.spins.shape[-1], 1.4 * 0.8
    alone = special.iv(n / 2, x) / special.iv(n / 2 - 1, x)
    means = series.energy.mean(axis=0)
    expected = of_vectors(make(name, THREE, beta=1.4, coupling=[0.5, 1.0, -1.5]))[0] - 0.8 * alone
    assert alarms.of_mean(means, expected) > alarms.FALSE_ALARM
    assert means.std() / sqrt(500) < 0.04 * abs(expected)
    assert alarms.of_mean(model.spins[:, 2, 0], alone) > alarms.FALSE_ALARM
    for component in range(1, n):
        assert alarms.of_mean(model.spins[:, 2, component], 0.0) > alarms.FALSE_ALARM


@pytest.mark.parametrize("name", CONTINUOUS)
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
@pytest.mark.parametrize(
    ("name", "place"),
    [("xy", 2), ("heisenberg", 2), *((name, TRIANGLE) for name in ("xy", "clock 5", "o(4)"))],
)
def test_few_spins_are_in_detailed_balance(name, place, update):
    """From one class of states to another one as often as back.

    Chances of transitions of one cluster update from the stationary distribution are symmetric; a
    sweep of Metropolis is its classes one after the other, so of it the stationary distribution is
    tested alone, and of one class, of which the others are no neighbours, the transitions.
    """
    options = {"periodic": False} if place == 2 else {}
    if update == "metropolis":
        place, options = Graph.from_edges([0], [1], 2), {}
    model = make(name, place, beta=0.8, **options, replicas=17_000, seed=4)
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
    assert alarms.of_balance(counts, 3) > alarms.FALSE_ALARM


def _offer_first_class(model):
    """Offer the vertices of the first class alone."""
    engine, temperatures = model._state.local_engine("metropolis")
    engine.offer(model._state.now, model._state.next, 10**6, temperatures, "metropolis")
    arcs, order, bounds = engine._classes()
    model._state.next[...] = model._state.now
    drawn = 10**6, temperatures, logarithm_table(), LOCAL_RULES.index("metropolis")
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
