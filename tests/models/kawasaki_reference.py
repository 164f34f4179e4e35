"""The Kawasaki model pair by pair, in plain Python.

It follows the contract in ``kernels/core/kawasaki.h``. Spins are a dict by coordinates, and nothing
is held as bits but the random numbers.
"""

from decimal import Decimal, localcontext
from itertools import product
from math import prod

import numpy as np

from conncomp.generate.random import philox

START, CLASS, ACCEPTANCE = 1, 16, 17  # purposes
STEPS = {
    "square": [(1, 0), (0, 1)],
    "sc": [(1, 0, 0), (0, 1, 0), (0, 0, 1)],
    "bcc": [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)],
}
MASK = (1 << 32) - 1


def residues(lattice, direction, x):
    """Return the class of the bond from x among those of its direction."""
    if lattice != "bcc":
        return (x[direction] + 2 * (sum(x) - x[direction])) % 4
    if direction == 3:
        return (2 * x[0] + 3 * x[2]) % 4 * 2 + (x[1] + x[2]) % 2
    q, r = (direction + 1) % 3, (direction + 2) % 3
    return (x[direction] + 2 * x[r]) % 4 * 2 + x[q] % 2


def probability(loss, temperature, coupling):
    """Return 3/4 exp(-4 J loss / T) as 64 bits."""
    with localcontext() as context:
        context.prec = 50
        exponent = -4 * loss * Decimal(coupling) / Decimal(temperature)
        return int(exponent.exp() * 3 * 2**62)


class ReferenceKawasaki:
    """What `conncomp.models.Kawasaki` is to do; `parts` are the domains along each axis."""

    def __init__(
        self, shape, lattice, temperatures, ups, parts, *, coupling=1.0, seed=0, first_replica=0
    ):
        self.shape, self.lattice, self.parts = tuple(shape), lattice, tuple(parts)
        self.steps, self.coupling, self.seed = STEPS[lattice], coupling, seed
        self.classes = [
            (d, c) for d in range(len(self.steps)) for c in range(8 if lattice == "bcc" else 4)
        ]
        self.sites = list(product(*map(range, self.shape)))
        self.numbers = range(first_replica, first_replica + len(temperatures))
        self.temperatures = list(temperatures)
        self.sweeps = 0
        self.spins = [self._start(k, up) for k, up in zip(self.numbers, ups, strict=True)]

    def as_array(self):
        flat = [[spins[x] for x in self.sites] for spins in self.spins]
        return np.array(flat, np.uint8).reshape(-1, *self.shape)

    def neighbour(self, x, step, sign=1):
        return tuple((a + sign * b) % n for a, b, n in zip(x, step, self.shape, strict=True))

    def neighbours(self, x):
        return [self.neighbour(x, step, sign) for step in self.steps for sign in (1, -1)]

    def satisfied(self, replica):
        spins = self.spins[replica]
        return sum(
            spins[x] == spins[self.neighbour(x, step)] for x in self.sites for step in self.steps
        )

    def sweep(self):
        self.sweeps += 1
        for replica in range(len(self.spins)):
            for substep in range(len(self.classes)):
                block = self._draw(replica, substep, self.sweeps, CLASS)
                drawn = int(block[0]) | int(block[1]) << 32
                self.exchange_class(
                    replica, substep, *self.classes[drawn * len(self.classes) >> 64]
                )

    def exchange_class(self, replica, substep, direction, residue):
        step, spins = self.steps[direction], self.spins[replica]
        pairs = [x for x in self.sites if residues(self.lattice, direction, x) == residue]
        words = np.array([self.place(x)[0] for x in pairs])
        drawn = [
            self._draw(replica, words, self.sweeps, ACCEPTANCE | substep << 8 | block << 16)
            for block in range(32)
        ]
        for number, x in enumerate(pairs):
            y = self.neighbour(x, step)
            if spins[x] == spins[y]:
                continue
            before = [(x, n) for n in self.neighbours(x) if n != y]
            before += [(y, n) for n in self.neighbours(y) if n != x]
            satisfied = sum(spins[a] == spins[b] for a, b in before)
            loss = satisfied - (2 * len(self.steps) - 1)
            bit, digits = self.place(x)[1], 0
            for block in drawn:
                for k in (0, 2):
                    word = int(block[k][number]) | int(block[k + 1][number]) << 32
                    digits = digits << 1 | word >> bit & 1
            if digits >= probability(max(loss, 0), self.temperatures[replica], self.coupling):
                continue
            spins[x], spins[y] = spins[y], spins[x]

    def place(self, x):
        """Return the word and the bit of a site."""
        word = bit = 0
        for a, length, count in zip(x, self.shape, self.parts, strict=True):
            domain = length // count
            word, bit = word * domain + a % domain, bit * count + a // domain
        return word, bit

    def _start(self, number, up):
        sites = np.arange(prod(self.shape))
        block = self._philox(number, sites, 0, START)
        digits = (prod(self.shape) - 1).bit_length()
        keys = [
            (int(block[0][i]) | int(block[1][i]) << 32) >> digits << digits | i
            for i in sites.tolist()
        ]
        chosen = set(sorted(keys)[:up])
        return {x: int(key in chosen) for x, key in zip(self.sites, keys, strict=True)}

    def _draw(self, replica, index, step, draw):
        return self._philox(self.numbers[replica], index, step, draw)

    def _philox(self, number, index, step, draw):
        index = np.asarray(index, np.uint64) | np.uint64(number << 40)
        low, high = index & np.uint64(MASK), index >> np.uint64(32)
        return philox(self.seed, (low, high, step, draw))
