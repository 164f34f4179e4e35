"""Spin glasses spin by spin, in plain Python.

It follows the contract in ``kernels/core/spin_glass.h``. Spins are ±1 in a dict by coordinates, and
couplings of any size are Python's numbers.
"""

from decimal import Decimal, localcontext
from itertools import product
from math import exp, log

import numpy as np

from conncomp.generate.random import philox

START, DIGITS, NUMBER = 1, 24, 25  # purposes
MASK = (1 << 32) - 1


def draw(seed, site, replica, step, draw):
    index = site | (replica // 64) << 40
    return [int(word) for word in philox(seed, (index & MASK, index >> 32, step, draw))]


def halves(block):
    return block[0] | block[1] << 32, block[2] | block[3] << 32


class ReferenceGlass:
    """One replica of `conncomp.models.SpinGlass`, whose number is `replica`."""

    def __init__(self, shape, periodic, couplings, field, beta, rule, replica, seed):
        self.shape, self.periodic, self.rule = tuple(shape), periodic, rule
        self.couplings, self.field, self.beta = couplings, field, beta
        self.replica, self.seed, self.sweeps = replica, seed, 0
        self.sites = list(product(*map(range, self.shape)))
        self.number = {x: k for k, x in enumerate(self.sites)}
        bit = replica % 64
        self.spins = {}
        for x in self.sites:
            first, _ = halves(draw(seed, self.number[x], replica, 0, START))
            self.spins[x] = 2 * (first >> bit & 1) - 1

    def as_array(self):
        return np.array([self.spins[x] for x in self.sites], int).reshape(self.shape)

    def step_along(self, x, axis, way):
        """Return the next site along an axis, or None over an open border."""
        at = x[axis] + way
        if not 0 <= at < self.shape[axis]:
            if not self.periodic[axis]:
                return None
            at %= self.shape[axis]
        return (*x[:axis], at, *x[axis + 1 :])

    def bonds_of(self, x):
        """Yield the other end and the coupling of each bond of a site, but with itself."""
        for axis in range(len(self.shape)):
            for way in (1, -1):
                other = self.step_along(x, axis, way)
                if other is not None and other != x:
                    yield other, self.couplings[(axis, *(x if way == 1 else other))]

    def energy(self):
        energy = -sum(self.field[x] * self.spins[x] for x in self.sites)
        for x in self.sites:
            for axis in range(len(self.shape)):
                other = self.step_along(x, axis, 1)
                if other is not None:
                    energy -= self.couplings[(axis, *x)] * self.spins[x] * self.spins[other]
        return energy

    def colour(self, x):
        rings = [
            closed and n % 2 == 1 and n > 1
            for n, closed in zip(self.shape, self.periodic, strict=True)
        ]
        each = [
            2 if ring and a == n - 1 else a % 2
            for a, n, ring in zip(x, self.shape, rings, strict=True)
        ]
        return sum(each) % (3 if any(rings) else 2)

    def sweep(self):
        self.sweeps += 1
        for x in sorted(self.sites, key=self.colour):
            self.spins[x] = self.new_spin(x)

    def in_bits(self):
        acting = {abs(J) for x in self.sites for _, J in self.bonds_of(x)}
        return len(acting - {0}) <= 1 and not any(self.field.flat)

    def new_spin(self, x):
        spin = self.spins[x]
        h = self.field[x] + sum(J * self.spins[other] for other, J in self.bonds_of(x))
        if self.in_bits():
            return self.by_digits(x, spin, h)
        bit = self.replica % 64
        block = self.draw(x, NUMBER | (bit // 4) << 16)
        u = (block[bit % 4] + 0.5) / 2**32
        if self.rule == "heat-bath":
            return 1 if log(u / (1 - u)) < 2 * self.beta * h else -1
        return -spin if u < 15 / 16 * exp(-max(0, 2 * self.beta * spin * h)) else spin

    def by_digits(self, x, spin, h):
        number = 0
        for block in range(32):
            for word in halves(self.draw(x, DIGITS | block << 16)):
                number = number << 1 | word >> self.replica % 64 & 1
        with localcontext() as context:
            context.prec = 60
            change = 2 * Decimal(float(h)) * Decimal(self.beta)
            if self.rule == "heat-bath":
                # Whether it is as the field wants it.
                happens = number < int(2**64 / (1 + (-abs(change)).exp()))
                return 1 if (h > 0) == happens else -1
            happens = number < int(min(1, (-spin * change).exp()) * 15 * 2**60)
        return -spin if happens else spin

    def draw(self, x, purpose):
        return draw(self.seed, self.number[x], self.replica, self.sweeps, purpose)
