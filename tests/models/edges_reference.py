"""Models of spins, bond by bond in plain Python: what their updates do.

Random numbers are as ``kernels/core/edge_spins.h`` says; logarithms are those of floating point.
"""

from math import log, prod

import numpy as np

from cell_reference import bonds_of as bonds_of_cells
from conncomp import Graph
from conncomp.generate.random import philox
from models.potts_reference import (
    BOND,
    CHOSEN_SITE,
    CLUSTER,
    COIN,
    METROPOLIS,
    WORD,
    below,
    bond_probability,
    joined,
)

MIRROR, EDGE_BOND, GHOST_BOND = 32, 40, 41
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


class ReferenceClusters:
    """One replica of a model, whose updates turn clusters; `bonds` are (site, site, coupling)."""

    mirror = None

    def __init__(self, bonds, seed, replica, spins):
        self.bonds, self.seed, self.replica, self.step = bonds, seed, replica, 0
        self.spins = list(spins)

    def draw(self, purpose, index, block=0, axis=0):
        high, low = divmod(int(index), 1 << 32)
        counter = low, high | self.replica << 8, self.step, purpose | axis << 8 | block << 16
        return [int(word) for word in philox(self.seed, counter)]

    def below(self, purpose, index, count):
        low, high, *_ = self.draw(purpose, index)
        return below(low | high << 32, count)

    def coin(self, root):
        low, high, *_ = self.draw(COIN, root // WORD)
        return (low | high << 32) >> root % WORD & 1

    def change(self, root, cluster, wolff, chosen):
        if chosen if wolff else self.coin(root):
            for site in cluster:
                self.spins[site] = self.turned(self.spins[site])

    def tied(self):
        """Return the sites whose fields keep their clusters as they are."""
        return set()

    def beside(self):
        """Return (neighbour, coupling) of the bonds of each site but with itself."""
        arcs = [[] for _ in self.spins]
        for u, v, j in self.bonds:
            if u != v:  # else a constant
                arcs[u].append((v, j)), arcs[v].append((u, j))
        return arcs

    def update(self, wolff):
        """Return (active bonds, sizes of clusters, ascending)."""
        self.step += 1
        self.mirror = self.drawn_mirror()
        active = [(u, v) for k, (u, v, j) in enumerate(self.bonds) if self.is_active(k, u, v, j)]
        self.clusters, tied = joined(len(self.spins), active), self.tied()
        self.improved = self.improved_square()
        chosen = self.below(CHOSEN_SITE, 0, len(self.spins))
        for root, cluster in self.clusters.items():
            if tied.isdisjoint(cluster):
                self.change(root, cluster, wolff, chosen in cluster)
        return len(active), sorted(map(len, self.clusters.values()))

    def drawn_mirror(self):
        return None

    def improved_square(self):
        """Return the mean of m^2 over all spins that the clusters could have."""
        return sum(len(cluster) ** 2 for cluster in self.clusters.values()) / len(self.spins) ** 2


class ReferenceEdges(ReferenceClusters):
    """What `conncomp.models.Ising` is to do on a graph, or in a field."""

    up = 1

    def __init__(self, bonds, fields, beta, seed, replica, spins):
        super().__init__(bonds, seed, replica, np.array(spins, int))
        self.spins = np.array(spins, int)
        self.fields, self.beta = fields, beta
        self.bits = range(len(self.spins))  # where words have them

    def gain(self, strength, spin, other):
        """Return half of what different spins, or equal ones, would cost."""
        return strength * spin * other

    def turned(self, spin):
        return -spin

    def is_drawn(self, purpose, index, gain):
        """Return whether a bond that lowers the energy by so much, if it does, is active."""
        u = self.draw(purpose, index // 4)[index % 4]
        return gain > 0 and minus_log(u) < 2 * self.beta * gain

    def is_active(self, k, u, v, j):
        return self.is_drawn(EDGE_BOND, k, self.gain(j, self.spins[u], self.spins[v]))

    def tied(self):
        gains = [self.gain(h, s, self.up) for h, s in zip(self.fields, self.spins, strict=True)]
        return {k for k, gain in enumerate(gains) if self.is_drawn(GHOST_BOND, k, gain)}

    def sweep(self, rule):
        """Offer each site another spin by Metropolis' rule or that of the heat bath."""
        self.step += 1
        beside = self.beside()
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


class ReferenceCells(ReferenceEdges):
    """The same on cells of ``kernels/core/cell_lattice.h``: sites by place, bonds by the list."""

    def __init__(self, model, *drawn):
        cell, borders = model.cell, model.parameters()["periodic"]
        shape, count = model._place.cells.shape, len(cell.sites)
        found = list(bonds_of_cells(cell, shape, borders))
        bonds = [(u, v, model.coupling * sign) for u, v, sign, _ in found]
        super().__init__(bonds, np.zeros(prod(shape) * count), *drawn)
        first = (0,) * (len(shape) - 1), 1
        # Of all kinds that the cell has, though a small lattice with open borders may lack one.
        torus = bonds_of_cells(cell, (1,) * len(shape), ["periodic"] * len(shape))
        kinds = [first, *sorted({key for *_, key in torus} - {first})]
        self.kinds = [kinds.index(key) for *_, key in found]
        self.row = shape[-1] * count

    def is_active(self, k, u, v, j):
        gain, (row, at) = self.gain(j, self.spins[u], self.spins[v]), divmod(u, self.row)
        word, number = row * -(-self.row // WORD) + at // WORD, 0
        for block in range(32 if gain > 0 else 0):
            a, b, c, d = self.draw(BOND, word, block, self.kinds[k])
            for half in (a | b << 32, c | d << 32):
                number = number << 1 | half >> at % WORD & 1
        return gain > 0 and number < bond_probability(self.beta, 2 * gain)


class ReferenceStates(ReferenceEdges):
    """The same of a `conncomp.models.Potts` of q states, with half its inverse temperature."""

    up = 0

    def __init__(self, q, bonds, fields, beta, seed, replica, spins):
        super().__init__(bonds, fields, beta / 2, seed, replica, spins)
        self.q = q

    def gain(self, strength, spin, other):
        return abs(strength) if (spin == other) == (strength > 0) else 0

    def change(self, root, cluster, wolff, chosen):
        if wolff and not chosen:
            return
        if wolff:
            new = (self.spins[root] + 1 + self.below(CLUSTER, root, self.q - 1)) % self.q
        else:
            new = self.below(CLUSTER, root, self.q) if self.q > 2 else self.coin(root)
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


class ReferenceTwoStates(ReferenceStates):
    """The same where couplings may be below 0: an update exchanges two states."""

    change = ReferenceClusters.change

    def drawn_mirror(self):
        words = self.draw(MIRROR, 0)
        first = below(words[0] | words[1] << 32, self.q)
        return first, (first + 1 + below(words[2] | words[3] << 32, self.q - 1)) % self.q

    def gain(self, strength, spin, other):
        in_pair = spin in self.mirror and other in self.mirror
        return super().gain(strength, spin, other) if in_pair else 0

    def turned(self, spin):
        first, second = self.mirror
        return {first: second, second: first}.get(spin, spin)


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
