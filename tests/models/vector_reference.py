"""The XY and the Heisenberg model bond by bond, in plain Python: ``kernels/core/vector_spins.h``.

Spins are the integers of the contract, and integers are Python's, which have no width; clusters
are sets.
"""

from decimal import Decimal, localcontext
from itertools import product
from math import isqrt, prod

from conncomp.generate.random import philox

COIN, CHOSEN_SITE, MIRROR, VECTOR_BOND = 7, 4, 32, 33
MASK, WORD, AXES = 0xFFFFFFFF, 64, 4
SINE = (235834, 5506309, 80430268, 684554253, 2774394665, 3373259426)
POWER = (246920, 2774097, 20609764, 119183791, 515881616, 1488522224)


def polynomial(coefficients, x):
    """Return c_n - x (c_(n-1) - x (...)), where x is in units of 2**-32."""
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = coefficient - (value * x >> 32)
    return value


def sine(u):
    """Return sin(2 pi u / 2**17) in units of 2**-30."""
    turned, half = divmod(u % (1 << 17), 1 << 16)
    angle = min(half, (1 << 16) - half)
    value = polynomial(SINE, 2 * angle**2) * angle >> 16
    return -value if turned else value


def power(f):
    """Return 2**-(f / 2**32) in units of 2**-31."""
    return (1 << 31) - (polynomial(POWER, f) * f >> 32)


def signed(number, bits=32):
    return (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


class Angles:
    components = 2

    @staticmethod
    def mirror(drawn):
        return drawn[0] >> 16

    @staticmethod
    def projection(mirror, spin):
        return sine(2 * spin - mirror)

    @staticmethod
    def reflected(mirror, spin):
        return (mirror - spin) % (1 << 16)


class Directions:
    components = 3

    @staticmethod
    def mirror(drawn):
        last, angle = signed(drawn[0]) >> 1, drawn[1] >> 15
        radius = isqrt((1 << 60) - last**2)
        return [
            *(radius * sine(u) + (1 << 29) >> 30 for u in (angle + (1 << 15), angle)),
            last,
        ]

    @staticmethod
    def numbers(spin):
        return [signed(spin >> 21 * k, 21) for k in range(3)]

    @classmethod
    def projection(cls, mirror, spin):
        return sum(s * r for s, r in zip(cls.numbers(spin), mirror, strict=True)) >> 19

    @classmethod
    def reflected(cls, mirror, spin):
        p = cls.projection(mirror, spin)
        moved = [
            s - (p * r + (1 << 39) >> 40) for s, r in zip(cls.numbers(spin), mirror, strict=True)
        ]
        excess = sum(s * s for s in moved) - (1 << 38)
        made = [s - (s * excess + (1 << 38) >> 39) for s in moved]
        return sum((s % (1 << 21)) << 21 * k for k, s in enumerate(made))


def exponent(beta, coupling):
    """Return 2 beta |J| / ln 2, exactly to 60 digits."""
    with localcontext(prec=60):
        return 2 * Decimal(beta) * abs(Decimal(coupling)) / Decimal(2).ln()


class ReferenceVectors:
    """What an update is to do with one replica's spins, a list of integers in C order."""

    def __init__(self, kind, shape, periodic, beta, coupling, seed, replica, spins):
        self.kind, self.shape, self.periodic = kind, shape, periodic
        self.coupling, self.seed, self.replica, self.step = coupling, seed, replica, 0
        self.spins = [int(spin) for spin in spins]
        # A strength has 32 digits, or as many as are above 2**-58; of one above 32 products of more
        # than 32 are alike.
        strength = exponent(beta, coupling)
        self.right, self.left, self.most = 31, 3, (1 << 29) - 1
        if strength >= 32:
            above = 0
            while strength >= 64 << above:
                above += 1
            self.right, self.left, self.most = 0, 4 + above, (1 << 28 - above) - 1
        unit = Decimal(2) ** (30 - self.left)
        while self.right > 0 and strength * unit * 2**self.right >= 1 << 32:
            self.right -= 1
        self.factor = int(strength * unit * 2**self.right)

    def draw(self, purpose, index, axis=0):
        words = philox(
            self.seed,
            (index & MASK, index >> 32 | self.replica << 8, self.step, purpose | axis << 8),
        )
        return [int(word) for word in words]

    def bonds(self):
        """Yield (site, next site, axis of four) for each bond."""
        sites = {at: k for k, at in enumerate(product(*map(range, self.shape)))}
        for at, site in sites.items():
            for axis, length in enumerate(self.shape):
                if at[axis] + 1 == length and not self.periodic[axis]:
                    continue
                to = (*at[:axis], (at[axis] + 1) % length, *at[axis + 1 :])
                yield site, sites[to], axis + AXES - len(self.shape)

    def is_active(self, p, q, site, axis):
        row, x = divmod(site, self.shape[-1])
        word = row * -(-self.shape[-1] // WORD) + x // WORD
        drawn = self.draw(VECTOR_BOND, 16 * word + x % 16, axis)[x % WORD // 16]
        if p * q * self.coupling <= 0:
            return False
        product = min(abs(p) * abs(q) >> 32, self.most)
        x = ((product << self.left) * self.factor >> 32) >> self.right
        whole, part = divmod(x, 1 << 26)
        return drawn >> 1 >= power(part << 6) >> min(whole, 31)

    def update(self, wolff=False):
        """Return (active bonds, sizes of clusters, sum of the squares of their projections)."""
        self.step += 1
        sites, kind = prod(self.shape), self.kind
        mirror = kind.mirror(self.draw(MIRROR, 0))
        p = [kind.projection(mirror, spin) for spin in self.spins]
        clusters, active = [{site} for site in range(sites)], 0
        for site, other, axis in self.bonds():
            if not self.is_active(p[site], p[other], site, axis):
                continue
            active += 1
            if clusters[site] is not clusters[other]:
                clusters[site] |= clusters[other]
                for member in clusters[other]:
                    clusters[member] = clusters[site]
        low, high, _, _ = self.draw(CHOSEN_SITE, 0)
        chosen = (low | high << 32) * sites >> 64
        distinct = {min(cluster): sorted(cluster) for cluster in clusters}
        for root, cluster in distinct.items():
            low, high, _, _ = self.draw(COIN, root // WORD)
            coin = (low | high << 32) >> root % WORD & 1
            if (chosen in cluster) if wolff else coin:
                for site in cluster:
                    self.spins[site] = kind.reflected(mirror, self.spins[site])
        sums = (abs(sum(p[site] for site in cluster)) for cluster in distinct.values())
        squares = sum(((of_cluster + (1 << 13)) >> 14) ** 2 for of_cluster in sums)
        return active, sorted(map(len, distinct.values())), squares
