"""Vectors on any edges, bond by bond in plain Python: ``kernels/core/edge_vectors.h``.

Spins are the integers of the contract; logarithms are those of floating point.
"""

from math import isqrt, log

from conncomp.generate.random import philox
from models.edges_reference import in_classes
from models.vector_reference import SINE, Angles, Directions, polynomial, sine

START, CHOSEN_SITE, METROPOLIS, COIN, MIRROR, EDGE_BOND, GHOST_BOND = 1, 4, 5, 7, 32, 40, 41
ONE, WORD = 1 << 30, 64


class Draws:
    """The random numbers of a replica at a step."""

    def __init__(self, seed, replica, step):
        self.seed, self.replica, self.step = seed, replica, step

    def __call__(self, purpose, index, block=0):
        counter = index, self.replica << 8, self.step, purpose | block << 16
        return [int(word) for word in philox(self.seed, counter)]

    def below(self, purpose, index, count):
        low, high, *_ = self(purpose, index)
        return (low | high << 32) * count >> 64


class OfLattices:
    """The kinds of ``vector_reference``."""

    def __init__(self, kind):
        self.projection, self.reflected = kind.projection, kind.reflected
        self.of_block = kind.mirror

    def mirror(self, draws, index):
        return self.of_block(draws(MIRROR, index))


class Hours:
    """Of a clock."""

    def __init__(self, q):
        self.q = q

    def start(self, draws, site):
        return draws.below(START, site, self.q)

    def mirror(self, draws, index):
        return draws.below(MIRROR, index, self.q)

    def reflected(self, mirror, spin):
        return (mirror - spin) % self.q

    def projection(self, mirror, spin):
        turned, within = divmod((2 * spin - mirror) % (2 * self.q), self.q)
        angle = min(within, self.q - within) * ((1 << 48) // self.q) >> 16
        value = polynomial(SINE, angle**2 >> 31) * angle >> 32
        return -value if turned else value


class Numbers:
    """Of four components and more, as tuples."""

    def __init__(self, n):
        self.n, self.width = n, 4 if n == 4 else 8

    def start(self, draws, site):
        return self.drawn(draws, START, site)

    def mirror(self, draws, index):
        return self.drawn(draws, MIRROR, index)

    def drawn(self, draws, purpose, index):
        angles, cuts = draws(purpose, index), draws(purpose, index, 1)
        pairs = (self.n + 1) // 2
        bounds = [0, *sorted(cut >> 2 for cut in cuts[: pairs - 1]), ONE]
        numbers = []
        for begin, end, angle in zip(bounds, bounds[1:], angles, strict=False):
            radius, u = isqrt(end - begin << 30), angle >> 15
            numbers += [radius * sine(v) + (1 << 29) >> 30 for v in (u + (1 << 15), u)]
        numbers = numbers[: self.n]
        if self.n % 2:
            length = isqrt(sum(x * x for x in numbers))
            # Towards 0.
            numbers = [abs(x) * ONE // length * (1 if x >= 0 else -1) for x in numbers]
        return tuple(numbers) + (0,) * (self.width - self.n)

    def projection(self, mirror, spin):
        return sum(s * r for s, r in zip(spin, mirror, strict=True)) >> 30

    def reflected(self, mirror, spin):
        p = self.projection(mirror, spin)
        moved = [s - (p * r + (1 << 28) >> 29) for s, r in zip(spin, mirror, strict=True)]
        excess = sum(s * s for s in moved) - (1 << 60) >> 20
        return tuple(s - (s * excess + (1 << 40) >> 41) for s in moved)


KINDS = {"XY": OfLattices(Angles), "Heisenberg": OfLattices(Directions)}


class ReferenceEdgeVectors:
    """What updates are to do with one replica's spins; couplings are integers of a unit.

    `fields` are such integers, too, of a ghost whose spin is `first`.
    """

    fields, first = None, None

    def __init__(self, kind, edges, couplings, unit, draws, beta, spins):
        self.kind, self.draws, self.beta, self.unit = kind, draws, beta, unit
        self.bonds = [(int(u), int(v), int(j)) for (u, v), j in zip(edges, couplings, strict=True)]
        self.spins = list(spins)

    def weight(self, mirror, u, v, coupling):
        return self.weight_of(mirror, self.spins[u], self.spins[v], coupling)

    def ghost_weight(self, mirror, site):
        field = 0 if self.fields is None else int(self.fields[site])
        return field and self.weight_of(mirror, self.spins[site], self.first, field)

    def weight_of(self, mirror, spin, other, coupling):
        p, q = (self.kind.projection(mirror, spin) for spin in (spin, other))
        return (p * q >> 32) * coupling >> 28

    def exceeds(self, weight, u):
        return weight > 0 and -log((u + 0.5) / 2**32) < 2 * self.beta * self.unit * weight

    def update(self, wolff):
        """Return (active bonds, sizes of clusters)."""
        self.draws.step += 1
        mirror = self.kind.mirror(self.draws, 0)
        clusters, active = [{site} for site in range(len(self.spins))], 0
        for k, (u, v, j) in enumerate(self.bonds):
            number = self.draws(EDGE_BOND, k // 4)[k % 4]
            if not self.exceeds(self.weight(mirror, u, v, j), number):
                continue
            active += 1
            if clusters[u] is not clusters[v]:
                clusters[u] |= clusters[v]
                for site in clusters[v]:
                    clusters[site] = clusters[u]
        chosen = self.draws.below(CHOSEN_SITE, 0, len(self.spins))
        tied = {
            site
            for site in range(len(self.spins))
            if self.exceeds(
                self.ghost_weight(mirror, site), self.draws(GHOST_BOND, site // 4)[site % 4]
            )
        }
        distinct = {min(cluster): sorted(cluster) for cluster in clusters}
        for root, cluster in distinct.items():
            low, high, *_ = self.draws(COIN, root // WORD)
            coin = (low | high << 32) >> root % WORD & 1
            if not tied & set(cluster) and ((chosen in cluster) if wolff else coin):
                for site in cluster:
                    self.spins[site] = self.kind.reflected(mirror, self.spins[site])
        return active, sorted(map(len, distinct.values()))

    def metropolis(self):
        """Offer sites in the order of greedy classes, which is one that no class changes."""
        self.draws.step += 1
        beside = [[] for _ in self.spins]
        for u, v, j in self.bonds:
            if u != v:  # else a constant
                beside[u].append((v, j)), beside[v].append((u, j))
        for site in in_classes(beside):
            mirror = self.kind.mirror(self.draws, site)
            weight = sum(self.weight(mirror, site, to, j) for to, j in beside[site])
            weight += self.ghost_weight(mirror, site)
            if not self.exceeds(weight, self.draws(METROPOLIS, site)[0]):
                self.spins[site] = self.kind.reflected(mirror, self.spins[site])
