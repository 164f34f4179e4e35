"""Analysis of series against loops over what they are defined by."""

import math
from importlib.util import find_spec
from itertools import pairwise

import numpy as np

from conncomp import models

from .target import assert_same


def analysis(choices):
    rng = choices.generator()
    checks = _crossings, _collapses, _reweighting, _reweighting_of_runs, _bins, _identity
    for check in (*checks, _distribution):
        check(choices, rng)


def _crossings(choices, rng):
    """Lines cross where two equations say."""
    x = np.sort(rng.uniform(-1, 1, 3 + choices.below(6)))
    sizes = [2, 5, 9][: 2 + choices.below(2)]
    slopes, offsets = rng.normal(size=(2, len(sizes)))
    curves = {
        size: np.stack([x, slope * x + offset, rng.uniform(1e-9, 2e-9, len(x))], axis=1)
        for size, slope, offset in zip(sizes, slopes, offsets, strict=True)
    }
    found = models.crossing(curves, degree=1)
    assert [each.sizes for each in found] == list(pairwise(sizes))
    for k, each in enumerate(found):
        at = (offsets[k] - offsets[k + 1]) / (slopes[k + 1] - slopes[k])
        if not x[0] + 1e-6 < at < x[-1] - 1e-6:
            assert math.isnan(each.x.value) or abs(each.x.value - at) < 1e-4
            continue
        assert abs(each.x.value - at) < 1e-5
        assert abs(each.y.value - slopes[k] * at - offsets[k]) < 1e-5
        assert 0 < each.x.error < 1e-3 / abs(slopes[k + 1] - slopes[k])
        assert 0 < each.y.error < 1e-3 * (1 + 1 / abs(slopes[k + 1] - slopes[k]))


def _collapses(choices, rng):
    """A parabola in scaled variables is found again."""
    critical, nu, b = 0.5 + rng.uniform(-0.1, 0.1), rng.uniform(0.8, 1.3), rng.uniform(-0.3, 0.3)
    curves = {}
    for size in (4, 8, 16):
        x = critical + np.linspace(-1, 1.5, 9) * size ** (-1 / nu)
        scaled = (x - critical) * size ** (1 / nu)
        y = size**b * (2 + scaled - 0.2 * scaled**2)
        curves[size] = np.stack([x, y, np.full(9, 1e-4)], axis=1)
    found = models.collapse(curves, critical=0.5, nu=1.0, exponent=0.0, degree=2)
    values = found.critical.value, found.nu.value, found.exponent.value
    assert np.allclose(values, (critical, nu, b), atol=1e-4)
    assert all(0 < e.error < 1e-2 for e in (found.critical, found.nu, found.exponent))
    assert found.chi_squared < 1e-4
    assert found.freedom == 27 - 3 - 3
    points = found.scale(16, curves[16])
    assert np.allclose(points[:, 0], np.linspace(-1, 1.5, 9), atol=1e-2)
    assert np.allclose(points[:, 1], curves[16][:, 1] * 16**-b, rtol=1e-2)


def _reweighting(choices, rng):
    """One run, by sums over its rows."""
    rows = 4 + choices.below(30)
    energy, values = rng.normal(size=(2, rows))
    beta, at, bins = 0.4, [0.4, 0.6, -0.3], 2 + choices.below(3)
    found = models.reweight(lambda m: m, values, energy=energy, beta=beta, at=at, bins=bins)
    kept = rows - rows // bins * bins
    for k, other in enumerate(at):
        weights = np.exp(-(other - beta) * energy[kept:])
        assert math.isclose(found.value[k], values[kept:] @ weights / weights.sum())
        assert math.isclose(found.effective[k], weights.sum() ** 2 / (weights**2).sum())
        parts = np.array_split(np.arange(len(weights)), bins)
        left = [np.delete(np.arange(len(weights)), part) for part in parts]
        means = [values[kept:][part] @ weights[part] / weights[part].sum() for part in left]
        error = math.sqrt((bins - 1) * np.var(means))
        assert math.isclose(found.error[k], error, rel_tol=1e-6, abs_tol=1e-9)
    assert_same([found.beta], [np.array(at)])


def _reweighting_of_runs(choices, rng):
    """Several runs, by the equations of many histograms, one after the other until they hold."""
    if find_spec("pymbar") is None:
        return
    rows, betas = 60 + 20 * choices.below(5), np.array([0.2, 0.5, 0.9])[: 2 + choices.below(2)]
    energy = rng.normal(size=(rows, len(betas))) - betas
    values, at = energy**2, [0.3, 0.5]
    found = models.reweight(lambda m: m, values, energy=energy, beta=betas, at=at, bins=3)
    kept = rows % 3
    flat, free = energy[kept:].ravel(), np.zeros(len(betas))
    for _ in range(2000):
        drawn = np.log(np.exp(free[:, None] - betas[:, None] * flat).sum(axis=0))
        again = -np.log(np.exp(-betas[:, None] * flat - drawn).sum(axis=1))
        again -= again[0]
        if abs(again - free).max() < 1e-12:
            break
        free = again
    drawn = np.log(np.exp(free[:, None] - betas[:, None] * flat).sum(axis=0))
    for k, other in enumerate(at):
        weights = np.exp(-other * flat - drawn)
        mean = values[kept:].ravel() @ weights / weights.sum()
        assert math.isclose(found.value[k], mean, rel_tol=1e-5)
        effective = weights.sum() ** 2 / (weights**2).sum()
        assert math.isclose(found.effective[k], effective, rel_tol=1e-5)
        assert 0 < found.error[k] < 10


def _bins(choices, rng):
    series = rng.normal(size=(4 + choices.below(60), 2 + choices.below(4)))
    found = models.logarithmic_bins(series)
    end, ends = len(series), []
    while end > 0:
        ends.append(end)
        end //= 2
    assert found.end.tolist() == ends[::-1]
    assert found.begin.tolist() == [0, *ends[:0:-1]]
    chains = [series[a:b].mean(axis=0) for a, b in zip(found.begin, found.end, strict=True)]
    assert np.allclose(found.mean, np.mean(chains, axis=1))
    errors = np.std(chains, axis=1, ddof=1) / math.sqrt(series.shape[1])
    assert np.allclose(found.error, errors)
    apart = np.array(chains[-3:-1]) - chains[-1]
    spread = apart.std(axis=1, ddof=1) / math.sqrt(series.shape[1])
    assert found.equilibrated == bool((abs(apart.mean(axis=1)) <= 2 * spread).all())


def _identity(choices, rng):
    energy, links = rng.normal(size=(2, 2 + choices.below(5)))
    beta, bonds = choices.pick([0.5, 0.0, 2.0]), 1 + choices.below(9)
    found = models.glass_equilibration_test(energy, links, beta=beta, bonds=bonds, variance=0.5)
    each = [e / bonds + beta * 0.5 * (1 - q) for e, q in zip(energy, links, strict=True)]
    assert math.isclose(found.value, np.mean(each), abs_tol=1e-12)
    error = np.std(each, ddof=1) / math.sqrt(len(each))
    assert math.isclose(found.error, error, abs_tol=1e-12)


def _distribution(choices, rng):
    samples, bins = 2 + choices.below(3), 1 + choices.below(9)
    sample, none = np.arange(samples), np.zeros(samples)
    moments = [
        models.results.Overlaps(
            np.full(samples, 0.7), sample, none, rng.uniform(-1, 1, samples), none, none
        )
        for _ in range(1 + choices.below(4))
    ]
    found = models.overlap_distribution(moments, 0.7, bins=bins)
    edges = np.linspace(-1, 1, bins + 1)
    counts = [np.histogram([m.overlap[k] for m in moments], edges)[0] for k in range(samples)]
    densities = np.array(counts) / len(moments) * bins / 2
    assert_same([found.edges], [edges])
    assert np.allclose(found.density, densities.mean(axis=0))
    assert np.allclose(found.error, densities.std(axis=0) / math.sqrt(samples - 1))
