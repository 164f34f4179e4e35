"""The Kawasaki model against exact distributions: see ``alarms.py`` for false alarms."""

from collections import Counter, defaultdict
from itertools import combinations
from math import exp, sqrt

import numpy as np
import pytest
from scipy import stats

from conncomp.models import Kawasaki, Potts
from models.alarms import FALSE_ALARM, drawn, of_classes, of_mean
from models.kawasaki_reference import STEPS, residues


class Torus:
    """A small periodic lattice, whose sites are numbered in C order."""

    def __init__(self, lattice, shape):
        self.lattice, self.shape = lattice, shape
        self.sites = list(np.ndindex(shape))
        number = {x: k for k, x in enumerate(self.sites)}
        self.next = [[number[self._beside(x, step)] for x in self.sites] for step in STEPS[lattice]]
        self.neighbours = [set() for _ in self.sites]
        for beside in self.next:
            for site, neighbour in enumerate(beside):
                self.neighbours[site].add(neighbour)
                self.neighbours[neighbour].add(site)

    def unsatisfied(self, up):
        """Return how many bonds lead from the sites of a set to others."""
        return sum(len(self.neighbours[site] - up) for site in up)

    def energy(self, up):
        bonds = len(self.sites) * len(self.next)
        return 2 * self.unsatisfied(up) - bonds

    def pairs(self, direction, residue):
        """Return the pairs of a class."""
        return [
            (site, self.next[direction][site])
            for site, x in enumerate(self.sites)
            if residues(self.lattice, direction, x) == residue
        ]

    def _beside(self, x, step):
        return tuple((a + b) % n for a, b, n in zip(x, step, self.shape, strict=True))


def transitions(torus, pairs, up, temperature):
    """Return the probabilities after a substep: pairs decide by the spins before, as in kernels."""
    outcomes = {up: 1.0}
    energy = torus.energy(up)
    for pair in pairs:
        if len(up & set(pair)) != 1:
            continue
        exchanged = up ^ set(pair)
        accepted = 0.75 * min(1.0, exp((energy - torus.energy(exchanged)) / temperature))
        after = defaultdict(float)
        for configuration, probability in outcomes.items():
            after[configuration] += probability * (1 - accepted)
            after[frozenset(configuration ^ set(pair))] += probability * accepted
        outcomes = after
    return outcomes


@pytest.mark.parametrize(
    ("lattice", "shape", "up"),
    [("square", (4, 4), 3), ("square", (4, 4), 5), ("sc", (4, 4, 4), 2), ("bcc", (4, 4, 4), 2)],
)
def test_a_substep_is_in_detailed_balance(lattice, shape, up):
    torus, temperature = Torus(lattice, shape), 3.0
    everything = [frozenset(chosen) for chosen in combinations(range(len(torus.sites)), up)]
    weight = {chosen: exp(-torus.energy(chosen) / temperature) for chosen in everything}
    for direction, residue in [(0, 1), (1, 2), (len(torus.next) - 1, 3)]:
        pairs = torus.pairs(direction, residue)
        flow = {}
        for chosen in everything:
            for after, probability in transitions(torus, pairs, chosen, temperature).items():
                flow[chosen, after] = weight[chosen] * probability
        for (before, after), forward in flow.items():
            assert forward == pytest.approx(flow.get((after, before), 0), rel=1e-12)


def test_configurations_have_their_probabilities():
    torus, temperature, up = Torus("square", (4, 4)), 3.0, 3
    everything = [frozenset(chosen) for chosen in combinations(range(16), up)]
    model = Kawasaki(
        (4, 4),
        lattice="square",
        temperature=temperature,
        fraction=up / 16,
        replicas=drawn(23_000),
        seed=3,
    )
    model.step(40)
    counted = Counter(
        frozenset(np.flatnonzero(spins).tolist()) for spins in model.spins.reshape(-1, 16)
    )
    assert sum(counted[chosen] for chosen in everything) == model.replicas
    weights = np.array([exp(-torus.energy(chosen) / temperature) for chosen in everything])
    observed = np.array([counted[chosen] for chosen in everything])
    assert of_classes(observed, weights / weights.sum()) > FALSE_ALARM


def test_first_spins_are_any_places():
    model = Kawasaki((4, 4), lattice="square", fraction=3 / 16, replicas=drawn(17_000), seed=8)
    everything = list(combinations(range(16), 3))
    counted = Counter(
        tuple(np.flatnonzero(spins).tolist()) for spins in model.spins.reshape(-1, 16)
    )
    observed = np.array([counted[chosen] for chosen in everything])
    assert observed.sum() == model.replicas
    assert of_classes(observed, np.full(len(everything), 1 / len(everything))) > FALSE_ALARM


def energies_of(torus, sets):
    """Return energies that occur, and how many of the sets have each."""
    counted = Counter(torus.energy(frozenset(chosen)) for chosen in sets)
    levels = sorted(counted)
    return np.array(levels), np.array([counted[level] for level in levels], float)


def check_energies(model, levels, multiplicity, temperature):
    energy = model.measure().energy
    weights = multiplicity * np.exp(-(levels - levels.min()) / temperature)
    probabilities = weights / weights.sum()
    observed = np.array([(energy == level).sum() for level in levels])
    assert observed.sum() == len(energy)
    assert of_classes(observed, probabilities) > FALSE_ALARM
    mean = probabilities @ levels
    variance = probabilities @ (levels - mean) ** 2
    assert of_mean(energy, mean, variance) > FALSE_ALARM


# At the lowest temperature it takes some hundred sweeps to leave a stripe that is bent.
@pytest.mark.parametrize(
    ("temperature", "sweeps", "replicas"), [(1.8, 1000, 1150), (2.269, 200, 2900), (5.0, 60, 2900)]
)
def test_energies_on_4_by_4_are_those_of_enumeration(temperature, sweeps, replicas):
    torus = Torus("square", (4, 4))
    levels, multiplicity = energies_of(torus, combinations(range(16), 8))
    model = Kawasaki(
        (4, 4), lattice="square", temperature=temperature, replicas=drawn(replicas), seed=21
    )
    model.step(sweeps)
    check_energies(model, levels, multiplicity, temperature)


@pytest.mark.soak
@pytest.mark.parametrize(("lattice", "temperature"), [("sc", 3.0), ("bcc", 4.0)])
def test_energies_on_4_by_4_by_4_are_those_of_enumeration(lattice, temperature):
    torus, up = Torus(lattice, (4, 4, 4)), 4
    # By translation, one of those that are up can be the first site.
    sets = ((0, *chosen) for chosen in combinations(range(1, 64), up - 1))
    levels, multiplicity = energies_of(torus, sets)
    model = Kawasaki(
        (4, 4, 4),
        lattice=lattice,
        temperature=temperature,
        fraction=up / 64,
        replicas=drawn(2_300),
        seed=22,
    )
    model.step(150)
    check_energies(model, levels, multiplicity, temperature)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("lattice", "shape", "temperature"), [("square", (8, 8), 2.6), ("sc", (4, 4, 4), 5.0)]
)
def test_energies_are_those_of_clusters_without_magnetisation(lattice, shape, temperature):
    clusters = Potts(shape, 2, 2 / temperature, replicas=drawn(34_000), seed=5)
    clusters.step(20)
    measured = clusters.measure()
    energy_of_potts = measured.energy[measured.magnetisation == 0]
    sites = int(np.prod(shape))
    wanted = 2 * energy_of_potts + sites * len(shape)  # in the Ising convention
    assert len(wanted) > drawn(300)
    model = Kawasaki(shape, lattice=lattice, temperature=temperature, replicas=drawn(2_300), seed=6)
    model.step(100)
    energy = model.measure().energy
    error = sqrt(energy.var() / len(energy) + wanted.var() / len(wanted))
    assert 2 * stats.norm.sf(abs(energy.mean() - wanted.mean()) / error) > FALSE_ALARM


@pytest.mark.parametrize(("lattice", "shape"), [("square", (4, 8)), ("bcc", (4, 4, 8))])
def test_a_lone_spin_walks_at_random(lattice, shape):
    start = np.zeros(shape, np.uint8)
    start.flat[5] = 1
    model = Kawasaki(
        shape, lattice=lattice, temperature=1.0, start=start, replicas=drawn(2_900), seed=9
    )
    model.step(60)
    places = model.spins.reshape(model.replicas, -1).argmax(axis=1)
    observed = np.bincount(places, minlength=start.size)
    assert of_classes(observed, np.full(start.size, 1 / start.size)) > FALSE_ALARM


@pytest.mark.parametrize(
    ("lattice", "shape"), [("square", (12, 8)), ("sc", (8, 8, 4)), ("bcc", (16, 16, 16))]
)
def test_no_spin_is_made_or_lost(lattice, shape):
    fractions = np.linspace(0.05, 0.95, 7)
    model = Kawasaki(
        shape, lattice=lattice, temperature=np.geomspace(0.1, 50, 7), fraction=fractions, replicas=7
    )
    axes = tuple(range(1, len(shape) + 1))
    first = model.spins.sum(axis=axes, dtype=int)
    np.testing.assert_array_equal(first, np.floor(fractions * np.prod(shape) + 0.5))
    for _ in range(5):
        model.step(3)
        np.testing.assert_array_equal(model.spins.sum(axis=axes, dtype=int), first)
    np.testing.assert_array_equal(model.fraction * np.prod(shape), first)


def test_phases_separate_below_the_critical_temperature():
    temperatures = np.array([0.5, 0.9, 1.3]) * Kawasaki.critical_temperature("bcc")
    model = Kawasaki(16, temperature=temperatures, fraction=0.2, replicas=3, seed=2)
    model.step(300)
    measured = model.measure()
    assert (np.diff(measured.energy) > 0).all()
    assert measured.largest_component[0] > 0.9 * 819
    assert measured.components[0] < measured.components[2]


def test_spins_that_begin_four_sites_apart_part():
    """All pairs of a class attempted, they would move alike for ever."""
    torus, temperature = Torus("square", (8, 8)), 2.0
    start = np.zeros((8, 8), np.uint8)
    start[0, 0] = start[4, 4] = 1
    model = Kawasaki(
        (8, 8),
        lattice="square",
        temperature=temperature,
        start=start,
        replicas=drawn(2_900),
        seed=10,
    )
    model.step(150)
    distances = Counter()
    for spins in model.spins.reshape(-1, 64):
        (one, two) = (torus.sites[site] for site in np.flatnonzero(spins))
        for first, second in ((one, two), (two, one)):
            distances[(second[0] - first[0]) % 8, (second[1] - first[1]) % 8] += 1
    # Each pair is counted twice, as two opposite distances: of those one half is looked at.
    half = [x for x in torus.sites[1:] if x <= tuple(-a % 8 for a in x)]
    multiplicity = np.array([1 if x == tuple(-a % 8 for a in x) else 2 for x in half])
    energies = np.array([torus.energy(frozenset((0, torus.sites.index(x)))) for x in half])
    weights = multiplicity * np.exp(-(energies - energies.min()) / temperature)
    observed = np.array([distances[x] // (2 if x == tuple(-a % 8 for a in x) else 1) for x in half])
    assert observed.sum() == model.replicas
    assert of_classes(observed, weights / weights.sum()) > FALSE_ALARM
