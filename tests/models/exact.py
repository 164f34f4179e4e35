"""What is exactly known of Potts models, in Weigel's convention: energy -J a satisfied bond, J = 1.

Free energies are functions of beta in decimal arithmetic of so many digits that their differences
give the moments of energy.
"""

from decimal import Decimal, localcontext
from math import prod
from typing import NamedTuple

import numpy as np
from scipy import special

from conncomp.kernels.edges import WHOLE
from conncomp.models import Potts
from models.devices import on_host

DIGITS = 100
STEP = Decimal("1e-20")  # of beta: differences of second order are right to some 30 digits
PI = Decimal(
    "3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253"
    "421170679"
)


class Moments(NamedTuple):
    """Of the number of satisfied bonds, which is minus the energy."""

    mean: float
    variance: float


def moments(log_partition_function, beta):
    """Return the moments of satisfied bonds from ln Z, a function of beta as a Decimal."""
    with localcontext(prec=DIGITS):
        below, at, above = (log_partition_function(Decimal(beta) + k * STEP) for k in (-1, 0, 1))
        return Moments(
            float((above - below) / (2 * STEP)), float((above - 2 * at + below) / STEP**2)
        )


# --------------------------------------------------------------------- Ising model on a torus


def log_kaufman(rows, columns):
    """Return ln Z of the Ising model on a torus, a function of beta.

    B. Kaufman, Phys. Rev. 76, 1232 (1949), eq. 51, as A. E. Ferdinand and M. E. Fisher, Phys.
    Rev. 185, 832 (1969), eqs. 2.1 to 2.6, have it. Lengths of 1 and 2 have self- and double bonds.
    """

    def log_partition_function(beta):
        coupling = beta / 2  # K of the Ising convention
        sinh, cosh = _sinh(beta), _cosh(beta)
        tanh = _sinh(coupling) / _cosh(coupling)
        gammas = [beta + tanh.ln()]  # the only one that changes its sign
        for k in range(1, 2 * columns):
            cosh_gamma = cosh * cosh / sinh - _cos(PI * k / columns)
            gammas.append((cosh_gamma + (cosh_gamma * cosh_gamma - 1).sqrt()).ln())
        halves = [rows * gamma / 2 for gamma in gammas]
        total = sum(
            prod(2 * function(half) for half in halves[parity::2])
            for parity in (0, 1)
            for function in (_cosh, _sinh)
        )
        sites = rows * columns
        ising = (2 * sinh).ln() * sites / 2 + (total / 2).ln()
        # H = -(sum of s_i s_j + bonds)/2, and a torus has two bonds a site.
        return ising + coupling * 2 * sites

    return log_partition_function


def _sinh(x):
    return (x.exp() - (-x).exp()) / 2


def _cosh(x):
    return (x.exp() + (-x).exp()) / 2


def _cos(x):
    term = total = Decimal(1)
    k = 0
    while abs(term) > Decimal(10) ** -DIGITS:
        k += 2
        term *= -x * x / (k * (k - 1))
        total += term
    return total


# ----------------------------------------------------------------------------------- the chain


def log_chain(length, q, periodic=True):
    """Return ln Z of a chain, a function of beta, from the eigenvalues of its transfer matrix."""

    def log_partition_function(beta):
        symmetric, other = beta.exp() + q - 1, beta.exp() - 1
        if not periodic:
            return (q * symmetric ** (length - 1)).ln()
        return (symmetric**length + (q - 1) * other**length).ln()

    return log_partition_function


# ------------------------------------------------------------------------------- all spins


class Levels(NamedTuple):
    """All configurations, pooled by what an update is to get right, in levels.

    `counts` of shape (levels, q) are sites of each state; for q > 2 in descending order.
    """

    satisfied: np.ndarray
    counts: np.ndarray
    multiplicity: np.ndarray

    def probabilities(self, beta):
        weights = np.log(self.multiplicity) + beta * self.satisfied
        return np.exp(weights - special.logsumexp(weights))

    def moments(self, beta):
        probabilities = self.probabilities(beta)
        mean = probabilities @ self.satisfied
        return Moments(mean, probabilities @ (self.satisfied - mean) ** 2)

    def squared_magnetisations(self):
        """Return m^2 of each level."""
        q, sites = self.counts.shape[1], self.counts[0].sum()
        return (q * ((self.counts / sites) ** 2).sum(axis=1) - 1) / (q - 1)


def pooled_counts(counts):
    """Return counts of states, those of equivalent configurations the same."""
    return counts if counts.shape[-1] == 2 else -np.sort(-counts, axis=-1)


def levels(shape, q, periodic=True):
    """Return the `Levels` of a small lattice."""
    sites = prod(shape)
    numbers = np.arange(q**sites, dtype=np.int32)
    states = np.stack([(numbers // q**k % q).astype(np.int8) for k in range(sites)])
    satisfied = np.zeros(len(numbers), np.int16)
    for first, second in bond_ends(shape, periodic):
        satisfied += states[first] == states[second]
    counts = np.stack([(states == state).sum(axis=0, dtype=np.int16) for state in range(q)], axis=1)
    rows = np.column_stack([satisfied, pooled_counts(counts)])
    unique, multiplicity = np.unique(rows, axis=0, return_counts=True)
    return Levels(unique[:, 0].astype(int), unique[:, 1:].astype(int), multiplicity)


def bonds_of(model):
    """Return couplings and fields as the kernels have them, with their signs."""
    edges = model._layout.edges if model._layout.edges is not None else model._state.all_bonds()
    unit = edges.scale / WHOLE
    couplings = np.full(edges.bonds, WHOLE) if edges.couplings is None else edges.couplings
    fields = np.zeros(model.sites) if edges.fields is None else edges.fields
    return unit * couplings, unit * fields


def vectors_of(model):
    """Return spins as vectors of floats: of Potts' states the one that a spin has is 1."""
    spins = np.reshape(on_host(model.spins), (model.replicas, model.sites, -1))
    if isinstance(model, Potts):
        return np.eye(model.lattice.states)[spins[..., 0]]
    return spins.astype(float)


def bonds_by_edge(model):
    """Return which bonds the next update makes active, in the order of `edges`."""
    bonds = on_host(model.bonds()).astype(bool)
    if bonds.ndim < 3 and bonds.shape[-1] == len(model.edges):
        return bonds.reshape(model.replicas, -1)
    planes, cells = bonds.reshape(len(bonds), model.replicas, -1), model._place.cells
    of_edges = []
    for kind in cells.kinds:
        owners = cells.ends_of_kind(kind)[1 if any(kind.step) else 0]
        axis = kind.step.index(-1) if any(kind.step) else len(kind.step)
        of_edges.append(planes[axis][:, owners])
    return np.concatenate(of_edges, axis=1)


class Exact:
    """All spins of a small model, with their energies and probabilities.

    Of a plane they are hours of a clock; of two hours are those of the Ising model.
    """

    def __init__(self, model, q):
        couplings, fields = bonds_of(model)
        self.q, self.sites = q, model.sites
        self.states = np.indices((q,) * model.sites).reshape(model.sites, -1).T
        u, v = model.edges.T

        def pair(a, b):
            return a == b if isinstance(model, Potts) else np.cos(2 * np.pi / q * (a - b))

        pairs = pair(self.states[:, u], self.states[:, v]) @ couplings
        self.energies = -(pairs + pair(self.states, 0) @ fields)
        weights = np.exp(-model._state.betas[0] * (self.energies - self.energies.min()))
        self.beta, self.weights = model._state.betas[0], weights / weights.sum()
        self.mean = self.weights @ self.energies

    def number(self, states):
        """Return which of `states` these are."""
        return states @ self.q ** np.arange(self.sites)[::-1]

    def of_site(self, rule, site):
        """Return the matrix of transitions when one site is offered another state."""
        matrix = np.zeros((len(self.states),) * 2)
        for k, states in enumerate(self.states):
            others = np.tile(states, (self.q, 1))
            others[:, site] = range(self.q)
            to = self.number(others)
            if rule == "heat-bath":
                matrix[k, to] = self.weights[to] / self.weights[to].sum()
                continue
            most = 15 / 16 if self.q == 2 else 1
            lost = self.beta * (self.energies[to] - self.energies[k])
            matrix[k, to] = most * np.exp(-np.maximum(lost, 0)) / (self.q - 1)
            matrix[k, k] = 0
            matrix[k, k] = 1 - matrix[k].sum()
        return matrix


def of_vectors(model):
    """Return the mean of the energy and of its square: of spins of a plane by enumeration.

    Of those of more components there are at most three, and no field: the first one is along one
    axis, the second in a plane with it, and the third anywhere.
    """
    n = model.spins.shape[-1]
    if n == 2:
        exact = Exact(model, getattr(model, "q", 24))  # hours, of which 24 are as good as all
        return exact.mean, exact.weights @ exact.energies**2
    t, of_t = special.roots_gegenbauer(40, (n - 2) / 2)
    w, of_w = special.roots_gegenbauer(40, (n - 3) / 2) if n > 3 else special.roots_chebyt(40)
    t, u, w = np.meshgrid(t, t, w, indexing="ij")
    third = t * u + np.sqrt((1 - t**2) * (1 - u**2)) * w
    cosines = {(0, 0): 1.0, (0, 1): t, (0, 2): u, (1, 2): third}
    energy = np.zeros(t.shape)
    for ends, coupling in zip(model.edges, bonds_of(model)[0], strict=True):
        u, v = sorted(ends.tolist())
        energy = energy - coupling * cosines[(0, 0) if u == v else (u, v)]
    weights = np.exp(-model._state.betas[0] * (energy - energy.min()))
    weights *= of_t[:, None, None] * of_t[None, :, None] * of_w
    weights /= weights.sum()
    return (weights * energy).sum(), (weights * energy**2).sum()


def phases_of(model):
    """Return exp(i k.r) of each site, by the axes that have a smallest wave vector."""
    cells, vectors = model._place.cells, np.array(model._place.cell.vectors)
    closed, waves = zip(cells.shape, cells.periodic, cells.antiperiodic, strict=True), {}
    for axis, (length, is_closed, turns) in enumerate(closed):
        if length > 1 and is_closed and not turns:
            reciprocal = 2 * np.pi * np.linalg.inv(vectors)[:, axis] / length
            waves[axis] = np.exp(1j * model.coordinates @ reciprocal)
    return waves


def bond_ends(shape, periodic=True):
    """Return pairs of sites, numbered in C order, one for each bond; equal for a self-bond."""
    closed = (periodic,) * len(shape) if isinstance(periodic, bool) else periodic
    numbers = np.arange(prod(shape)).reshape(shape)
    ends = []
    for axis, (length, closes) in enumerate(zip(shape, closed, strict=True)):
        bonds = length if closes else length - 1
        first = np.take(numbers, np.arange(bonds), axis)
        second = np.take(numbers, (np.arange(bonds) + 1) % length, axis)
        ends += zip(first.ravel().tolist(), second.ravel().tolist(), strict=True)
    return ends


# ------------------------------------------------------------------------------- all bonds


class Graphs(NamedTuple):
    """All sets of active bonds of a small lattice, as Fortuin and Kasteleyn weigh them.

    C. M. Fortuin, P. W. Kasteleyn, Physica 57, 536 (1972). The lattice has so many `bonds`.
    """

    bonds: int
    active: np.ndarray
    clusters: np.ndarray
    largest: np.ndarray

    def probabilities(self, beta, q):
        p = -np.expm1(-beta)
        weights = p**self.active * (1 - p) ** (self.bonds - self.active) * float(q) ** self.clusters
        return weights / weights.sum()


def graphs(shape, periodic=True):
    """Return the `Graphs` of a lattice of 20 bonds at most."""
    ends, sites = bond_ends(shape, periodic), prod(shape)
    sets = np.arange(1 << len(ends))
    is_active = [(sets >> k & 1).astype(bool) for k in range(len(ends))]
    roots = np.tile(np.arange(sites, dtype=np.int8)[:, None], len(sets))
    for _ in range(sites):
        for (first, second), active in zip(ends, is_active, strict=True):
            lower = np.minimum(roots[first], roots[second])
            for site in (first, second):
                roots[site][active] = lower[active]
    sizes = np.stack([(roots == root).sum(axis=0) for root in range(sites)])
    return Graphs(
        len(ends), sum(is_active, np.int64(0)), (sizes > 0).sum(axis=0), sizes.max(axis=0)
    )


def critical_energy(q):
    """Return the energy a site of the square lattice at ln(1 + sqrt(q)), for q up to 4.

    R. J. Baxter, J. Phys. C 6, L445 (1973): the lattice is its own dual.
    """
    return -(1 + 1 / np.sqrt(q))
