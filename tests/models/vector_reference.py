"""Spins that are vectors, bond by bond in plain Python.

Those of lattices follow ``kernels/core/vector_spins.h``, and those on any edges
``kernels/core/edge_vectors.h``. Spins are the integers of the contract, and integers are Python's,
which have no width; logarithms are those of floating point.
"""

from decimal import Decimal, localcontext
from itertools import product
from math import isqrt

from conncomp.kernels.edges import WHOLE
from conncomp.models import ON, Clock
from models.edges_reference import (
    EDGE_BOND,
    GHOST_BOND,
    METROPOLIS,
    MIRROR,
    WORD,
    ReferenceClusters,
    in_classes,
    minus_log,
)

START, VECTOR_BOND = 1, 33
AXES, ONE = 4, 1 << 30
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
    def mirror(draws, index):
        return draws.draw(MIRROR, index)[0] >> 16

    @staticmethod
    def projection(mirror, spin):
        return sine(2 * spin - mirror)

    @staticmethod
    def reflected(mirror, spin):
        return (mirror - spin) % (1 << 16)


class Directions:
    components = 3

    @staticmethod
    def mirror(draws, index):
        drawn = draws.draw(MIRROR, index)
        last, angle = signed(drawn[0]) >> 1, drawn[1] >> 15
        radius = isqrt((1 << 60) - last**2)
        return [*(radius * sine(u) + (1 << 29) >> 30 for u in (angle + (1 << 15), angle)), last]

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
        angles, cuts = draws.draw(purpose, index), draws.draw(purpose, index, 1)
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


class ReferenceMirrors(ReferenceClusters):
    """What updates are to do with the spins of one replica, which are reflected."""

    def drawn_mirror(self):
        return self.kind.mirror(self, 0)

    def turned(self, spin):
        return self.kind.reflected(self.mirror, spin)


class ReferenceVectors(ReferenceMirrors):
    """The spins of lattices."""

    def __init__(self, model, beta, seed, replica, spins):
        self.kind, self.shape = KINDS[model._name], model.lattice.shape
        sites = {at: k for k, at in enumerate(product(*map(range, self.shape)))}
        bonds = []  # (site, next site, axis of four)
        for (at, site), (axis, length) in product(sites.items(), enumerate(self.shape)):
            if at[axis] + 1 < length or model.lattice.periodic[axis]:
                to = (*at[:axis], (at[axis] + 1) % length, *at[axis + 1 :])
                bonds.append((site, sites[to], axis + AXES - len(self.shape)))
        super().__init__(bonds, seed, replica, spins)
        self.coupling = model.coupling
        # A strength has 32 digits, or as many as are above 2**-58; of one above 32 products of more
        # than 32 are alike.
        strength = exponent(beta, self.coupling)
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

    def drawn_mirror(self):
        mirror = super().drawn_mirror()
        self.projections = [self.kind.projection(mirror, spin) for spin in self.spins]
        return mirror

    def is_active(self, k, u, v, axis):
        row, x = divmod(u, self.shape[-1])
        word = row * -(-self.shape[-1] // WORD) + x // WORD
        drawn = self.draw(VECTOR_BOND, 16 * word + x % 16, axis=axis)[x % WORD // 16]
        p, q = self.projections[u], self.projections[v]
        if p * q * self.coupling <= 0:
            return False
        product = min(abs(p) * abs(q) >> 32, self.most)
        x = ((product << self.left) * self.factor >> 32) >> self.right
        whole, part = divmod(x, 1 << 26)
        return drawn >> 1 >= power(part << 6) >> min(whole, 31)

    def improved_square(self):
        sums = (abs(sum(self.projections[k] for k in each)) for each in self.clusters.values())
        squares = sum(((of_cluster + (1 << 13)) >> 14) ** 2 for of_cluster in sums)
        return self.kind.components / len(self.spins) ** 2 / 2**32 * squares


class ReferenceEdgeVectors(ReferenceMirrors):
    """Spins on any edges; couplings, and `fields` of a ghost of spin `first`, are integers."""

    def __init__(self, model, first, beta, seed, replica, spins):
        edges = model._layout.edges
        couplings = [WHOLE] * edges.bonds if edges.couplings is None else edges.couplings.tolist()
        super().__init__(
            list(zip(*model.edges.T.tolist(), couplings, strict=True)), seed, replica, spins
        )
        self.beta, self.unit = beta, edges.scale / WHOLE
        self.fields = [0] * len(spins) if edges.fields is None else edges.fields.tolist()
        self.kind, self.first = kind_of(model), first

    def improved_square(self):
        return None

    def weight(self, mirror, spin, other, coupling):
        p, q = (self.kind.projection(mirror, spin) for spin in (spin, other))
        return (p * q >> 32) * coupling >> 28

    def exceeds(self, weight, u):
        return weight > 0 and minus_log(u) < 2 * self.beta * self.unit * weight

    def is_active(self, k, u, v, j):
        number = self.draw(EDGE_BOND, k // 4)[k % 4]
        return self.exceeds(self.weight(self.mirror, self.spins[u], self.spins[v], j), number)

    def tied(self):
        return {
            k
            for k, (spin, field) in enumerate(zip(self.spins, self.fields, strict=True))
            if field
            and self.exceeds(
                self.weight(self.mirror, spin, self.first, field),
                self.draw(GHOST_BOND, k // 4)[k % 4],
            )
        }

    def sweep(self, rule):
        """Offer sites in the order of greedy classes, which is one that no class changes."""
        self.step += 1
        beside = self.beside()
        for site in in_classes(beside):
            mirror, spin = self.kind.mirror(self, site), self.spins[site]
            weight = sum(self.weight(mirror, spin, self.spins[to], j) for to, j in beside[site])
            if self.fields[site]:
                weight += self.weight(mirror, spin, self.first, self.fields[site])
            if not self.exceeds(weight, self.draw(METROPOLIS, site)[0]):
                self.spins[site] = self.kind.reflected(mirror, spin)


KINDS = {"XY": Angles, "Heisenberg": Directions}


def kind_of(model):
    """Return of which kind the spins of a model are."""
    if isinstance(model, Clock):
        return Hours(model.q)
    return Numbers(model.n) if isinstance(model, ON) else KINDS[model._name]
