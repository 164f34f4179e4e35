"""What models are measured to be, from spins and fields as NumPy has them."""

import math
from itertools import pairwise

import numpy as np

from models.kawasaki_reference import STEPS

from ..reference import wrapping_axes

ROUNDING = 1e-9


def equal_along(spins, axis, closed):
    """Return for each site whether there is a next one along an axis, and it has the same spin."""
    equal = spins == np.roll(spins, -1, axis)
    if not closed:
        equal[(slice(None),) * axis + (slice(-1, None),)] = False
    return equal


def satisfied_bonds(spins, periodic):
    """Return for each axis and site whether the bond to the next one is between equal spins."""
    wraps = wrapping_axes(spins.ndim, periodic)
    return np.stack([equal_along(spins, axis, wrap) for axis, wrap in enumerate(wraps)])


def magnetisation(counts):
    q, sites = len(counts), sum(counts)
    if q == 2:
        return (counts[0] - counts[1]) / sites
    return (q * max(counts) / sites - 1) / (q - 1)


def cluster_sizes(roots):
    """Return the sizes of clusters, given roots, -1 where there is none."""
    return np.unique(roots[roots >= 0], return_counts=True)[1].tolist()


def improved_moments(sizes, q):
    """Return the means of m² and m⁴ over all states that clusters of these sizes could take."""
    sites = sum(sizes)
    squares = sum((size / sites) ** 2 for size in sizes)
    fourths = sum((size / sites) ** 4 for size in sizes)
    return squares, ((q + 1) * squares**2 - 2 * fourths) / (q - 1)


def windings(bases, ndim):
    """Return along which axes some cluster wraps, and the highest rank of one."""
    bases = np.array(bases).reshape(-1, ndim, ndim)
    return bases.any(axis=(0, 1)), int(bases.any(axis=2).sum(axis=1).max(initial=0))


def size_classes(sizes, number):
    """Return how many sizes are from 2^k to 2^(k + 1) - 1, for k from 0 on."""
    return [sum(size.bit_length() == k + 1 for size in sizes) for k in range(number)]


def exchange_energy(spins, lattice, coupling):
    """Return -J sum of s_i s_j over the bonds of a periodic lattice, for spins of 0 and 1."""
    signs = 2 * spins.astype(int) - 1
    steps = STEPS[lattice]
    axes = tuple(range(spins.ndim))
    return -coupling * sum(int((signs * np.roll(signs, step, axes)).sum()) for step in steps)


def exchange_structure(lattice):
    """Return the neighbours of a site as an array, as `label_by_flood_fill` takes them."""
    steps = STEPS[lattice]
    structure = np.zeros((3,) * len(steps[0]), bool)
    for step in steps:
        for sign in (1, -1):
            structure[tuple(1 + sign * move for move in step)] = True
    return structure


def autocorrelation_time(chains, window=6):
    """Return the integrated autocorrelation time of chains, shape (rows, chains), and its error.

    The functions of chains that vary are averaged, and summed up to the first row that is no less
    than `window` times the sum so far. NaN unless the sum is above 0.
    """
    chains = chains[:, np.ptp(chains, axis=0) > 0]
    if chains.size == 0:
        return math.nan, math.nan
    deviations = chains - chains.mean(axis=0)
    rows = len(chains)
    correlations = []
    for lag in range(rows):
        products = (deviations[: rows - lag] * deviations[lag:]).sum(axis=0)
        correlations.append(float((products / (deviations**2).sum(axis=0)).mean()))
    times = np.cumsum(correlations) - 0.5
    wide = np.flatnonzero(np.arange(rows) >= window * times)
    time = float(times[wide[0]] if len(wide) else times[-1])
    if not time > ROUNDING:
        return math.nan, math.nan
    return time, time * math.sqrt(4 * (window * time + 0.5 - time) / chains.size)


def is_autocorrelation_time(found, chains, factor=1):
    """Tell whether an estimate, over `factor`, is that time, however ties at the window end."""
    for slack in (0, -ROUNDING, ROUNDING):
        expected = factor * np.array(autocorrelation_time(chains, 6 + slack))
        if np.allclose(found, expected, rtol=1e-6, atol=0, equal_nan=True):
            return True
    return math.isfinite(found[0]) and 0 < found[0] <= factor * ROUNDING


def jackknife(function, series, bins):
    """Return a function of means of series, (series, rows, chains), and its error.

    `bins` of so many rows each, the last ones, are left out in turn, of each chain by themselves.
    """
    value = float(function(*series.mean(axis=(1, 2))))
    size = series.shape[1] // bins
    ends = series.shape[1] - size * np.arange(bins, -1, -1)
    means = np.stack([series[:, a:b].mean(axis=1) for a, b in pairwise(ends.tolist())], axis=1)
    means = means.reshape(len(series), -1)
    count = means.shape[1]
    if count < 2:
        return value, math.nan
    without = [float(function(*np.delete(means, k, axis=1).mean(axis=1))) for k in range(count)]
    return value, math.sqrt((count - 1) * np.var(without))


def bins_of(rows, replicas, length):
    """Return how many bins of `length` rows there are: with all replicas eight at least."""
    return min(rows, max(rows // length, -(-8 // replicas)))


def is_function_of(values, roots):
    """Tell whether elements of one root have one value."""
    return bool((values.ravel() == values.ravel()[roots.ravel()]).all())
