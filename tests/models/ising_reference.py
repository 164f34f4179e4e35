"""The Ising model on lattices of unit cells bond by bond, in plain Python.

Sites are found by the places where they lie, bonds by the cell's list, and random numbers as
``kernels/core/cell_lattice.h`` says; nothing is held as bits, and clusters are sets.
"""

from math import prod

import numpy as np

from cell_reference import bonds_of
from models.potts_reference import (
    BOND,
    CHOSEN_SITE,
    COIN,
    WORD,
    ReferencePotts,
    below,
    bond_probability,
)


class ReferenceIsing:
    """What `conncomp.models.Ising` is to do on lattices of which `Potts` has none."""

    def __init__(self, shape, cell, beta, coupling, borders, seed, spins, first_replica=0):
        self.shape, self.count, self.beta, self.coupling = shape, len(cell.sites), beta, coupling
        self.sites, self.step = prod(shape) * self.count, 0
        self.row = shape[-1] * self.count
        self.spins, self.first, self.seed = np.array(spins, int), first_replica, seed
        self.bonds = list(bonds_of(cell, shape, borders))
        first = (0,) * (len(shape) - 1), 1
        # Of all kinds that the cell has, though a small lattice with open borders may lack one.
        torus = bonds_of(cell, (1,) * len(shape), ["periodic"] * len(shape))
        others = {key for *_, key in torus} - {first}
        self.kinds = [first, *sorted(others)]

    def energy(self, k):
        return -self.coupling * sum(
            sign * self.spins[k, u] * self.spins[k, v] for u, v, sign, _ in self.bonds
        )

    def update(self, wolff=False):
        """Return (active bonds, sizes of clusters) of each replica."""
        self.step += 1
        return [self._update(k, wolff) for k in range(len(self.spins))]

    def _draw(self, purpose, index, k, axis=0, block=0):
        return ReferencePotts._draw(self, purpose, index, self.first + k, self.step, axis, block)

    def _number(self, k, owner, kind):
        """Return the number of 64 bits that is drawn for a bond."""
        row, at = divmod(owner, self.row)
        word = row * -(-self.row // WORD) + at // WORD
        halves = [int(h) for b in range(32) for h in self._draw(BOND, word, k, kind, b)]
        return sum((half >> at % WORD & 1) << 63 - digit for digit, half in enumerate(halves))

    def _update(self, k, wolff):
        probability = bond_probability(self.beta, 2 * abs(self.coupling))
        clusters = [{site} for site in range(self.sites)]
        active = 0
        for owner, other, sign, key in self.bonds:
            satisfied = self.coupling * sign * self.spins[k, owner] * self.spins[k, other] > 0
            if satisfied and self._number(k, owner, self.kinds.index(key)) < probability:
                active += 1
                if clusters[owner] is not clusters[other]:
                    clusters[owner] |= clusters[other]
                    for site in clusters[other]:
                        clusters[site] = clusters[owner]
        chosen = below(int(self._draw(CHOSEN_SITE, 0, k)[0]), self.sites)
        distinct = {min(cluster): sorted(cluster) for cluster in clusters}
        for root, cluster in distinct.items():
            coin = int(self._draw(COIN, root // WORD, k)[0]) >> root % WORD & 1
            if (chosen in cluster) if wolff else coin:
                self.spins[k, cluster] *= -1
        return active, sorted(map(len, distinct.values()))
