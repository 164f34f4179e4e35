"""Updates of the Potts model against what is exactly known: see `alarms` for when a check fails."""

import zlib
from dataclasses import replace
from functools import cache
from math import exp, log, log1p, sqrt

import numpy as np
import pytest
from scipy import stats

from conncomp.models import Potts
from models import alarms, exact
from models.alarms import FALSE_ALARM

# Updates that forget a hot start on lattices of some 16 sites, with options: after three quarters
# of them the mean energy of 100,000 replicas is the exact one within its error.
UPDATES = {
    "swendsen_wang": (60, {}),
    "wolff": (100, {}),
    "few_cluster": (80, {"p_flip": 0.7}),
    "metropolis": (120, {}),
}
# They tell a probability that is off by three percent at the critical point; many tell one percent.
REPLICAS = 2_300
MANY_REPLICAS = 34_000
ISING_BETA = log(1 + sqrt(2))

levels, graphs = cache(exact.levels), cache(exact.graphs)


def last_measurement(model, update, updates, **options):
    """Return what the last of some updates measured, one sample a replica."""
    run = getattr(model, update)
    run(updates - 1, measure=False, **options)
    measured = run(1, **options)
    return replace(measured, records=measured.records[0])


def sample(update, shape, q, beta, *, periodic=True, replicas=REPLICAS, **measure):
    """Return one measurement of each replica; samples of other arguments are independent."""
    updates, options = UPDATES[update]
    if update == "few_cluster":
        options = {**options, "tile": (1, *shape[1:])}
    seed = zlib.crc32(repr((update, shape, q, beta, periodic, measure)).encode())
    model = Potts(shape, q, beta, periodic=periodic, replicas=replicas, seed=seed)
    return last_measurement(model, update, updates, **options, **measure)


def of_levels(measured, expected, beta):
    """Return the probability of samples by chi-squared over pooled (energy, magnetisation)."""
    table = np.column_stack([expected.satisfied, expected.counts])
    counts = exact.pooled_counts(measured.state_counts)
    rows = np.column_stack([measured.satisfied_bonds, counts])
    found, observed = np.unique(np.concatenate([table, rows]), axis=0, return_counts=True)
    np.testing.assert_array_equal(found, table)  # no sample is of a level that there is not
    return alarms.of_classes(observed - 1, expected.probabilities(beta))


def of_energy(measured, moments):
    return alarms.of_mean(measured.satisfied_bonds, moments.mean, moments.variance)


# ------------------------------------------------------------------------------ all configurations

SMALL = [
    *(((4, 4), 2, True, scale * ISING_BETA) for scale in (0.6, 1, 1.3)),
    *(((3, 3), q, True, scale * log(1 + sqrt(q))) for q in (3, 4) for scale in (0.7, 1.2)),
]
MORE = [  # self- and double bonds, open borders, one to four axes
    ((2, 2, 2, 2), 2, True, 0.3),
    ((2, 2, 4), 2, (True, False, True), 0.5),
    ((1, 3, 4), 2, (True, True, False), 0.9),
    ((4, 4), 2, False, 1.0),
    ((2, 4), 3, True, 0.8),
    ((1, 8), 3, True, 1.5),
    ((7,), 4, False, 1.5),
    ((2, 3), 5, (True, False), 1.0),
]


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(
    ("shape", "q", "periodic", "beta", "replicas"),
    [*((*case, REPLICAS) for case in SMALL), *((*case, REPLICAS // 2) for case in MORE)],
)
def test_configurations_of_small_lattices(update, shape, q, periodic, beta, replicas):
    expected = levels(shape, q, periodic)
    measured = sample(update, shape, q, beta, periodic=periodic, replicas=replicas)
    assert of_levels(measured, expected, beta) > FALSE_ALARM
    assert of_energy(measured, expected.moments(beta)) > FALSE_ALARM


def test_open_borders_by_metropolis():
    """Sites with fewer bonds are offered flips by another count."""
    test_configurations_of_small_lattices("metropolis", (4, 4), 2, False, 1.0, REPLICAS // 2)


# What independent samples tell does not depend on what they are made by.
@pytest.mark.soak
@pytest.mark.parametrize("update", UPDATES)
def test_probability_off_by_one_percent_fails(update):
    """At the critical point of 4 x 4: the energy tells, and so do the configurations."""
    p = 1 - exp(-ISING_BETA)
    expected = levels((4, 4), 2)
    measured = sample(update, (4, 4), 2, -log1p(-1.01 * p), replicas=MANY_REPLICAS)
    assert of_energy(measured, expected.moments(ISING_BETA)) < FALSE_ALARM
    assert of_levels(measured, expected, ISING_BETA) < 1e-5


@pytest.mark.soak
@pytest.mark.parametrize(("shape", "q"), [((3, 3), 2), ((3, 3), 3), ((2, 4), 4), ((1, 6), 5)])
@pytest.mark.parametrize("scale", [0.7, 1.1])
def test_clusters_are_those_of_fortuin_and_kasteleyn(shape, q, scale):
    """The joint distribution of active bonds, clusters, and the largest one."""
    beta = scale * log(1 + sqrt(q))
    expected = graphs(shape)
    measured = sample("swendsen_wang", shape, q, beta, clusters=True)
    rows = np.column_stack([expected.active, expected.clusters, expected.largest])
    table, classes = np.unique(rows, axis=0, return_inverse=True)
    probabilities = np.bincount(classes.ravel(), expected.probabilities(beta, q))
    samples = np.column_stack([measured.active_bonds, measured.clusters, measured.largest_cluster])
    found, observed = np.unique(np.concatenate([table, samples]), axis=0, return_counts=True)
    np.testing.assert_array_equal(found, table)
    assert alarms.of_classes(observed - 1, probabilities) > FALSE_ALARM


# ------------------------------------------------------------------------- the partition function


def of_series(measured, moments):
    """Return the probabilities of the mean and the variance of satisfied bonds.

    Replicas are independent samples of both, means over their sweeps; the variance is about the
    exact mean.
    """
    satisfied = measured.satisfied_bonds
    variances = ((satisfied - moments.mean) ** 2).mean(axis=0)
    return (
        alarms.of_mean(satisfied.mean(axis=0), moments.mean),
        alarms.of_mean(variances, moments.variance),
    )


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize(
    ("length", "beta", "replicas", "sweeps"),
    [
        *((n, k * ISING_BETA, 570, 20) for n in (8, 16, 32) for k in (0.8, 1, 1.1)),
        pytest.param(256, ISING_BETA, 8, 300, marks=pytest.mark.soak),  # 0.1 % off the infinite one
    ],
)
def test_energy_and_specific_heat_of_kaufman(length, beta, replicas, sweeps):
    model = Potts((length, length), 2, beta, replicas=replicas, start="cold", seed=length)
    model.swendsen_wang(150 if length == 256 else 40, measure=False)
    moments = exact.moments(exact.log_kaufman(length, length), beta)
    assert min(of_series(model.swendsen_wang(sweeps), moments)) > FALSE_ALARM


@pytest.mark.soak
@pytest.mark.parametrize(
    ("update", "sweeps"), [("wolff", 200), ("few_cluster", 100), ("metropolis", 300)]
)
@pytest.mark.parametrize("scale", [0.7, 1.05])
def test_energy_and_specific_heat_of_all_updates(update, sweeps, scale):
    """Of a torus of 8 x 6, a little off the critical point, where Metropolis is fast."""
    beta = scale * ISING_BETA
    options = {"tile": 2, "p_flip": 0.4} if update == "few_cluster" else {}
    model = Potts((6, 8), 2, beta, replicas=1150, seed=1)
    run = getattr(model, update)
    run(sweeps, measure=False, **options)
    found = of_series(run(20, **options), exact.moments(exact.log_kaufman(6, 8), beta))
    assert min(found) > FALSE_ALARM


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("q", [2, 3, 17, 255])
@pytest.mark.parametrize("beta", [0.7, 2.5])
def test_chain(periodic, q, beta):
    """Of 100 sites, in two words; the transfer matrix has its moments."""
    model = Potts(100, q, beta, periodic=periodic, replicas=570, seed=q)
    model.swendsen_wang(30 + 3 * round(exp(beta)), measure=False)
    moments = exact.moments(exact.log_chain(100, q, periodic), beta)
    assert min(of_series(model.swendsen_wang(20), moments)) > FALSE_ALARM


# ----------------------------------------------------------------------------------- estimators


@pytest.mark.parametrize(
    ("shape", "q", "beta"),
    [((16, 16), 2, 0.88), ((70, 9), 3, 1.0), ((6, 6, 6), 2, 0.44), ((30,), 5, 2.0)],
)
def test_active_bonds_are_p_of_the_satisfied_ones(shape, q, beta):
    """Given the spins they are binomial, and those of two sweeps independent."""
    model = Potts(shape, q, beta, replicas=115, seed=2)
    measured = model.swendsen_wang(200)
    p = 1 - exp(-beta)
    satisfied, active = measured.satisfied_bonds.sum(), measured.active_bonds.sum()
    assert stats.binomtest(int(active), int(satisfied), p).pvalue > FALSE_ALARM
    assert stats.binomtest(int(active), int(satisfied), 1.01 * p).pvalue < FALSE_ALARM


@pytest.mark.parametrize(("shape", "q"), [((4, 4), 2), ((3, 3), 3), ((3, 3), 4)])
def test_magnetisation_is_exact(shape, q):
    """The moments of plain and of improved estimators, from all configurations."""
    beta = Potts.critical_beta(q)
    expected = levels(shape, q)
    probabilities, squared = expected.probabilities(beta), expected.squared_magnetisations()
    measured = sample("swendsen_wang", shape, q, beta, clusters=True)
    for power, estimates in (
        (1, measured.squared_magnetisation),
        (1, measured.improved_squared_magnetisation),
        (2, measured.fourth_magnetisation),
        (2, measured.improved_fourth_magnetisation),
    ):
        assert alarms.of_mean(estimates, probabilities @ squared**power) > FALSE_ALARM


# ------------------------------------------------------------------------------ the critical point


def powers(*exponents):
    """Return corrections L^exponent."""
    return lambda lengths: [lengths**exponent for exponent in exponents]


def with_logarithm(lengths):
    """Return that of q = 4: J. Salas, A. D. Sokal, J. Stat. Phys. 88, 567 (1997)."""
    return [lengths**-0.5 * np.log(lengths) ** -0.75]


# Of the infinite lattice: states, axes, energy a site, corrections of a length, and how far others
# may put the limit off. The energy of the cubic lattice is from <s_i s_j> = 0.3302022(5) of
# M. Hasenbusch, Phys. Rev. B 82, 174433 (2010).
LIMITS = {
    "q=3": (3, 2, exact.critical_energy(3), powers(-0.8), 0.002),
    "q=4": (4, 2, exact.critical_energy(4), with_logarithm, 0.02),
    "3-D": (2, 3, -1.5 * (1 + 0.3302022), powers(-1.413), 0.002),
}
FEW = {"q=3": [(8, 170), (16, 115), (32, 85), (64, 34)], "3-D": [(8, 115), (12, 57), (16, 34)]}
FEW["q=4"] = FEW["q=3"]
MANY = {
    "q=3": [(2**k, 2 ** (14 - k)) for k in range(5, 10)],
    "3-D": [(16, 512), (32, 128), (64, 32)],
}
MANY["q=4"] = MANY["q=3"]


@pytest.mark.parametrize("model", LIMITS)
@pytest.mark.parametrize(
    ("device", "lattices", "sweeps"),
    [
        pytest.param("cpu", FEW, 400, marks=pytest.mark.soak),
        pytest.param("cuda", MANY, 4000, marks=pytest.mark.gpu),
    ],
)
def test_critical_energy_of_the_infinite_lattice(model, device, lattices, sweeps):
    """Extrapolated from some lengths, each with so many replicas, by least squares."""
    q, ndim, expected, corrections, left_out = LIMITS[model]
    lengths = np.array([length for length, _ in lattices[model]])
    p = 1 - exp(-Potts.critical_beta(q, ndim))
    means, errors = [], []
    for length, count in lattices[model]:
        shape = (length,) * ndim
        of_length = Potts(shape, q, replicas=count, start="cold", seed=length, device=device)
        of_length.swendsen_wang(sweeps, measure=False)
        energy = of_length.swendsen_wang(sweeps).energy / length**ndim
        means.append(energy.mean())
        errors.append(energy.mean(axis=0).std(ddof=1) / sqrt(count))
        # An error of 1 % in p changes beta by this, and the energy by the specific heat times that.
        seen = energy.var() * length**ndim * 0.01 * p / (1 - p)
    terms = np.column_stack([np.ones(len(lengths)), *corrections(lengths.astype(float))])
    weighted = terms / np.array(errors)[:, None]
    covariance = np.linalg.inv(weighted.T @ weighted)
    limit = (covariance @ weighted.T @ np.divide(means, errors))[0]
    error = sqrt(covariance[0, 0])
    off = max(abs(limit - expected) - left_out, 0)
    assert 2 * stats.norm.sf(off / error) > FALSE_ALARM
    assert left_out - error * stats.norm.ppf(FALSE_ALARM / 2) < seen / 2
