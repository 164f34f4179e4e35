"""The Ising and the Potts model on any bonds, with fields, one by one in plain Python.

Random numbers are as ``kernels/core/edge_spins.h`` says; logarithms are those of floating point.
"""

from functools import partial
from math import log

import numpy as np

from conncomp import Graph
from conncomp.generate.random import philox
from conncomp.models import Ising
from models.devices import on_host
from models.exact import bonds_of
from models.potts_reference import CHOSEN_SITE, COIN, WORD, below

CLUSTER, METROPOLIS, MIRROR, EDGE_BOND, GHOST_BOND = 3, 5, 32, 40, 41
LEAST = {2: log(16 / 15)}  # of -ln u, where Metropolis takes anything


def in_classes(beside):
    """Return the sites in the order of greedy classes, given (neighbour, coupling) of each."""
    of_site = []
    for site, arcs in enumerate(beside):
        taken = {of_site[to] for to, _ in arcs if to < site}
        of_site.append(min(set(range(len(taken) + 1)) - taken))
    return sorted(range(len(beside)), key=lambda site: of_site[site])


def minus_log(word):
    return -log((word + 0.5) / 2**32)


class ReferenceEdges:
    """One replica of what `conncomp.models.Ising` is to do on a graph, or in a field."""

    def __init__(self, edges, couplings, fields, beta, seed, replica, spins):
        self.edges, self.couplings, self.fields = edges, couplings, fields
        self.beta, self.seed, self.replica, self.step = beta, seed, replica, 0
        self.spins = np.array(spins, int)
        self.bits = range(len(self.spins))  # where words have them

    up = 1

    def gain(self, strength, spin, other):
        """Return half of what different spins, or equal ones, would cost."""
        return strength * spin * other

    def change(self, root, cluster, wolff, chosen):
        low, high, *_ = self.draw(COIN, root // WORD)
        coin = (low | high << 32) >> root % WORD & 1
        if chosen if wolff else coin:
            self.spins[cluster] *= -1

    def energy(self):
        pairs = sum(j * self.spins[u] * self.spins[v] for (u, v), j in self.bonds())
        return -pairs - sum(h * s for h, s in zip(self.fields, self.spins, strict=True))

    def bonds(self):
        return zip(self.edges, self.couplings, strict=True)

    def draw(self, purpose, index, block=0):
        counter = index, self.replica << 8, self.step, purpose | block << 16
        return [int(word) for word in philox(self.seed, counter)]

    def is_active(self, purpose, index, gain):
        """Return whether a bond that lowers the energy by so much, if it does, is active."""
        u = self.draw(purpose, index // 4)[index % 4]
        return gain > 0 and minus_log(u) < 2 * self.beta * gain

    def sweep(self, rule):
        """Offer each site another spin by Metropolis' rule or that of the heat bath."""
        self.step += 1
        beside = [[] for _ in self.spins]
        for (u, v), j in self.bonds():
            if u != v:  # else a constant
                beside[u].append((v, j)), beside[v].append((u, j))
        for site in in_classes(beside):
            self.offer(rule, site, beside[site])

    def offer(self, rule, site, arcs):
        u = self.draw(METROPOLIS, self.bits[site])[0]
        field = self.fields[site] + sum(j * self.spins[to] for to, j in arcs)
        if rule == "heat-bath":
            up = 2 * self.beta * field > minus_log(2**32 - 1 - u) - minus_log(u)
            self.spins[site] = 1 if up else -1
        elif minus_log(u) - LEAST[2] >= max(0, 2 * self.beta * self.spins[site] * field):
            self.spins[site] *= -1

    def update(self, wolff):
        """Return (active bonds, sizes of clusters)."""
        self.step += 1
        clusters = [{site} for site in range(len(self.spins))]
        active = [
            (u, v)
            for k, ((u, v), j) in enumerate(self.bonds())
            if self.is_active(EDGE_BOND, k, self.gain(j, self.spins[u], self.spins[v]))
        ]
        for u, v in active:
            if clusters[u] is not clusters[v]:
                clusters[u] |= clusters[v]
                for site in clusters[v]:
                    clusters[site] = clusters[u]
        low, high, *_ = self.draw(CHOSEN_SITE, 0)
        chosen = below(low | high << 32, len(self.spins))
        tied = {
            site
            for site, h in enumerate(self.fields)
            if self.is_active(GHOST_BOND, site, self.gain(h, self.spins[site], self.up))
        }
        distinct = {min(cluster): sorted(cluster) for cluster in clusters}
        for root, cluster in distinct.items():
            if not tied & set(cluster):
                self.change(root, cluster, wolff, chosen in cluster)
        return len(active), sorted(map(len, distinct.values()))


class ReferenceStates(ReferenceEdges):
    """The same of a `conncomp.models.Potts` of q states, with half its inverse temperature."""

    up = 0

    def __init__(self, q, edges, couplings, fields, beta, seed, replica, spins):
        super().__init__(edges, couplings, fields, beta / 2, seed, replica, spins)
        self.q = q

    def gain(self, strength, spin, other):
        return abs(strength) if (spin == other) == (strength > 0) else 0

    def change(self, root, cluster, wolff, chosen):
        if wolff and not chosen:
            return
        low, high, *_ = self.draw(CLUSTER, root)
        number = low | high << 32
        if wolff:
            new = (self.spins[root] + 1 + below(number, self.q - 1)) % self.q
        elif self.q > 2:
            new = below(number, self.q)
        else:
            low, high, *_ = self.draw(COIN, root // WORD)
            new = (low | high << 32) >> root % WORD & 1
        self.spins[cluster] = new

    def offer(self, rule, site, arcs):
        bit, old = self.bits[site], self.spins[site]

        def gain(state):
            own = self.fields[site] if state == 0 else 0
            return own + sum(j for to, j in arcs if self.spins[to] == state)

        if rule == "heat-bath":
            numbers = [self.draw(METROPOLIS, bit, k // 4)[k % 4] for k in range(self.q)]
            values = [2 * self.beta * gain(k) - log(minus_log(u)) for k, u in enumerate(numbers)]
            self.spins[site] = int(np.argmax(values))
            return
        u, _, low, high = self.draw(METROPOLIS, bit)
        other = (old + 1 + below(low | high << 32, self.q - 1)) % self.q
        least = LEAST.get(self.q, 0) + max(0, 2 * self.beta * (gain(old) - gain(other)))
        if minus_log(u) >= least:
            self.spins[site] = other

    def energy(self):
        pairs = sum(j * (self.spins[u] == self.spins[v]) for (u, v), j in self.bonds())
        return -pairs - sum(h for h, s in zip(self.fields, self.spins, strict=True) if s == 0)


class ReferenceTwoStates(ReferenceStates):
    """The same where couplings may be below 0: an update exchanges two states."""

    def pair(self):
        words = self.draw(MIRROR, 0)
        first = below(words[0] | words[1] << 32, self.q)
        return first, (first + 1 + below(words[2] | words[3] << 32, self.q - 1)) % self.q

    def gain(self, strength, spin, other):
        pair = self.pair()
        return super().gain(strength, spin, other) if spin in pair and other in pair else 0

    def change(self, root, cluster, wolff, chosen):
        low, high, *_ = self.draw(COIN, root // WORD)
        coin = (low | high << 32) >> root % WORD & 1
        if chosen if wolff else coin:
            first, second = self.pair()
            other = {first: second, second: first}
            self.spins[cluster] = [other.get(state, state) for state in self.spins[cluster]]


def references_of(model):
    """Return a reference of each replica of an Ising or a Potts model, at its spins."""
    couplings, fields = bonds_of(model)
    kind = ReferenceEdges
    if not isinstance(model, Ising):
        kind = ReferenceTwoStates if (couplings < 0).any() else ReferenceStates
        kind = partial(kind, model.lattice.states)
    given, first = (model.edges, couplings, fields), model.first_replica
    spins = on_host(model.spins).reshape(model.replicas, -1)
    references = [
        kind(*given, beta, model.seed, first + k, spins[k]) for k, beta in enumerate(model.beta)
    ]
    # A site of rows that are no multiples of 64 is a bit further on.
    row, place = model._layout.words.shape[-1], np.arange(model.sites)
    for reference in references:
        reference.bits = (place // row * (-(-row // 64) * 64) + place % row).tolist()
    return references


def check_updates(model):
    """Hold three updates of all replicas, and what is measured of clusters, against references."""
    references, (couplings, fields) = references_of(model), bonds_of(model)
    measured = not fields.any() and bool((couplings > 0).all())
    for wolff in (False, False, True):
        energies = [reference.energy() for reference in references]
        np.testing.assert_allclose(model.energy(), energies, rtol=1e-7, atol=1e-7)
        bonds = on_host(model.bonds())
        series = (model.wolff if wolff else model.swendsen_wang)(clusters=measured)
        np.testing.assert_allclose(series.energy[0], energies, rtol=1e-7, atol=1e-7)
        expected = [reference.update(wolff) for reference in references]
        spins = on_host(model.spins).reshape(model.replicas, -1)
        np.testing.assert_array_equal(spins, [reference.spins for reference in references])
        assert bonds.sum(axis=1).tolist() == [active for active, _ in expected]
        if measured:
            assert series.active_bonds[0].tolist() == [active for active, _ in expected]
            assert series.clusters[0].tolist() == [len(sizes) for _, sizes in expected]
            assert series.largest_cluster[0].tolist() == [sizes[-1] for _, sizes in expected]
            squares = [sum(n * n for n in sizes) / model.sites**2 for _, sizes in expected]
            np.testing.assert_allclose(series.improved_squared_magnetisation[0], squares)


def small_world(vertices, shortcuts, seed):
    """Return a ring with bonds to the next two vertices, and shortcuts."""
    ring, rng = np.arange(vertices), np.random.default_rng(seed)
    ends = rng.permutation(vertices)[: 2 * shortcuts].reshape(2, -1)
    u, v = (np.concatenate([ring, ring, ends[k]]) for k in (0, 1))
    v[:vertices], v[vertices : 2 * vertices] = (ring + 1) % vertices, (ring + 2) % vertices
    return Graph.from_edges(u, v, vertices)


def random_regular(vertices, degree, seed):
    """Return a graph of `degree` random rings through all vertices, half of that each."""
    rng = np.random.default_rng(seed)
    rings = [rng.permutation(vertices) for _ in range(degree // 2)]
    return Graph.from_edges(
        np.concatenate(rings), np.concatenate([np.roll(ring, 1) for ring in rings]), vertices
    )
