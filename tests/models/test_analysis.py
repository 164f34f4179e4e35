"""Analysis of series against what is known exactly, and whether errors are as large as they say."""

import logging
import sys
from fractions import Fraction

import numpy as np
import pytest

from conncomp.models import (
    Ising,
    SpinGlass,
    collapse,
    crossing,
    glass_equilibration_test,
    logarithmic_bins,
    overlap_distribution,
    reweight,
)
from conncomp.models.results import Overlaps


def curves_of(seed, noise=0.004, sizes=(8, 16, 32, 64)):
    """Return points of L**0.25 f((x - 1) L**0.5), with errors that differ."""
    rng, made = np.random.default_rng(seed), {}
    for size in sizes:
        x = 1 + np.linspace(-1, 1, 9) * 1.5 * size**-0.5
        errors = noise * size**0.25 * rng.uniform(0.5, 1.5, len(x))
        y = size**0.25 * (1 + np.tanh((x - 1) * size**0.5)) + errors * rng.standard_normal(len(x))
        made[size] = np.stack([x, y, errors], axis=1)
    return made


def ratios_of(seed):
    """Return the same as a ratio, which does not grow with the size."""
    return {size: p / [1, size**0.25, size**0.25] for size, p in curves_of(seed).items()}


def assert_normal(estimates, expected):
    """Errors are right by a half: estimates are off by as much as they say."""
    values = np.array([[e.value, e.error] for e in estimates])
    off = (values[:, 0] - expected) / values[:, 1]
    assert 0.6 < off.std() < 1.6
    assert abs(off.mean()) < 4 / np.sqrt(len(off))


# ----------------------------------------------------------------------------------------- crossing


def test_crossings_are_where_lines_cross():
    x = np.linspace(0, 2, 5)
    lines = {4: 3 * (x - 0.7) + 1, 8: 5 * (x - 0.7) + 1, 16: 9 * (x - 0.9) + 2}
    curves = {n: np.stack([x, y, np.full(5, 1e-9)], axis=1)[::-1] for n, y in lines.items()}
    first, second = crossing(dict(reversed(curves.items())), degree=1)
    assert (first.sizes, second.sizes) == ((4, 8), (8, 16))
    assert first.x.value == pytest.approx(0.7)
    assert first.y.value == pytest.approx(1.0)
    assert second.x.value == pytest.approx((8.1 - 2 + 1 - 3.5) / 4)


def test_errors_of_crossings():
    found = [crossing(ratios_of(seed), degree=4)[-1] for seed in range(40)]
    assert_normal([each.x for each in found], 1.0)
    assert_normal([each.y for each in found], 1.0)


def test_curves_are_fitted_where_both_lie():
    """The small size bends far away from where the large one was measured."""
    curves = {}
    for size, x in ((8, np.linspace(0.5, 1.2, 15)), (16, np.linspace(0.95, 1.05, 7))):
        y = 1 + np.tanh((x - 1) * size / 2)
        curves[size] = np.stack([x, y, np.full(len(x), 0.002)], axis=1)
    for degree in (1, 2):
        [found] = crossing(curves, degree=degree)
        assert found.x.value == pytest.approx(1, abs=1e-9)
        assert found.y.value == pytest.approx(1, abs=1e-9)
        assert found.x.error < 0.001
    rounded = {8: curves[8], 16: curves[16] * [1 - 1e-15, 1, 1]}
    assert crossing(rounded)[0].x.value == pytest.approx(1, abs=1e-9)
    with pytest.raises(ValueError, match=r"curves\[8\] has 3 points from x=0.95 to 1.05, where"):
        crossing(curves, degree=3)
    with pytest.raises(ValueError, match=r"curves\[8\] has 0 points from x=1.95 to 2.05"):
        crossing({8: curves[8], 16: curves[16] + [1, 0, 0]})


def test_curves_that_do_not_cross():
    x = np.linspace(0, 1, 4)
    apart = {n: np.stack([x, x + n, np.full(4, 0.1)], axis=1) for n in (4, 8)}
    [found] = crossing(apart)
    assert np.isnan([*found.x, *found.y]).all()


# ----------------------------------------------------------------------------------------- collapse


def test_exponents_and_their_errors():
    start = {"critical": 0.97, "nu": 1.6, "exponent": 0.1}
    found = [collapse(curves_of(seed), **start, degree=8) for seed in range(30)]
    assert_normal([each.critical for each in found], 1.0)
    assert_normal([each.nu for each in found], 2.0)
    assert_normal([each.exponent for each in found], 0.25)
    goodness = np.array([each.chi_squared for each in found])
    freedom = found[0].freedom
    assert freedom == 36 - 3 - 9
    assert abs(goodness.mean() - freedom) < 4 * np.sqrt(2 * freedom / len(found))


def test_ratios_keep_the_exponent_0():
    found = collapse(ratios_of(1), critical=1.02, nu=1.5, degree=8)
    assert found.exponent == (0.0, 0.0)
    assert abs(found.nu.value - 2) < 4 * found.nu.error < 0.3
    scaled = [found.scale(size, points) for size, points in ratios_of(1).items()]
    assert np.ptp([points[0, 0] for points in scaled]) < 0.2
    assert found.scale(4, [[found.critical.value, 2.0, 0.1]]).tolist() == [[0.0, 2.0, 0.1]]


def test_what_points_do_not_determine_has_infinite_errors():
    x, none, start = np.linspace(0.8, 1.2, 9), np.zeros(9), {"critical": 0.98, "nu": 1.5}

    def errors_of(of_size, **more):
        curves = {n: np.stack([x, of_size(n), none + 0.01], axis=1) for n in (8, 16, 32)}
        found = collapse(curves, **start, **more)
        values = found.critical, found.nu, found.exponent
        return [value for value, _ in values], [error for _, error in values]

    assert errors_of(lambda n: none) == ([0.98, 1.5, 0.0], [np.inf, np.inf, 0.0])
    assert errors_of(lambda n: none + 3)[1] == [np.inf, np.inf, 0.0]
    assert errors_of(lambda n: none, exponent=0.1)[1] == [np.inf] * 3
    values, errors = errors_of(lambda n: none + n**0.25, exponent=0.1)
    assert errors[:2] == [np.inf, np.inf]
    assert abs(values[2] - 0.25) < errors[2] < 0.01
    values, errors = errors_of(lambda n: (x - 1) * n**0.5, exponent=0.1)  # b + 1 / nu is known
    assert errors[1:] == [np.inf, np.inf]
    assert abs(values[0] - 1) < errors[0] < 0.01
    assert values[2] + 1 / values[1] == pytest.approx(0.5)
    values, errors = errors_of(lambda n: n**0.25 * np.tanh((x - 1) * n**0.5), exponent=0, degree=7)
    assert np.isfinite(errors).all()


GOOD = ratios_of(1)


@pytest.mark.parametrize(
    ("curves", "words"),
    [
        ([1], "must be a dict"),
        ({8: GOOD[8]}, "has 1 sizes"),
        ({8: GOOD[8], -1: GOOD[16]}, "must be above 0"),
        ({8: GOOD[8], np.inf: GOOD[16]}, "must be above 0, and finite"),
        ({8: GOOD[8], "8": GOOD[16]}, "a size of curves='8' must be a number"),
        ({8: GOOD[8], "abc": GOOD[16]}, "a size of curves='abc' must be a number"),
        ({8: GOOD[8], None: GOOD[16]}, "a size of curves=None must be a number"),
        ({1 / 3: GOOD[8], Fraction(1, 3): GOOD[16]}, "as floats; each must be there once"),
        ({8: GOOD[8], 16: GOOD[16][:, :2]}, r"curves\[16\] has shape \(9, 2\)"),
        ({8: GOOD[8], 16: GOOD[16][:2]}, r"curves\[16\] has 2 points; there must be 3"),
        ({8: GOOD[8], 16: GOOD[16] * [1, 1, 0]}, "errors that are not above 0"),
        ({8: GOOD[8], 16: GOOD[16] * [1, np.nan, 1]}, r"curves\[16\]\[0, 1\]=nan must be finite"),
        ({8: GOOD[8], 16: GOOD[16] * [0, 1, 1]}, "a value of x twice"),
    ],
)
def test_bad_curves(curves, words):
    with pytest.raises((TypeError, ValueError), match=words):
        crossing(curves)


def test_bad_arguments_of_scaling():
    with pytest.raises(ValueError, match="degree=0"):
        crossing(GOOD, degree=0)
    with pytest.raises(ValueError, match="has 18 points; degree=17 needs 21 or more"):
        collapse({8: GOOD[8], 16: GOOD[16]}, critical=1.0, degree=17)
    with pytest.raises(ValueError, match="nu=0"):
        collapse(GOOD, critical=1.0, nu=0)
    with pytest.raises(ValueError, match="critical=nan"):
        collapse(GOOD, critical=np.nan)
    for far in ({"nu": 1e-9}, {"exponent": 1e9}, {"exponent": -1e9}):
        with pytest.raises(ValueError, match="curves cannot be scaled by"):
            collapse(GOOD, critical=1.0, **far)


def test_bad_arguments_of_scale():
    found = collapse(ratios_of(1), critical=1.02, nu=1.5, degree=8)
    for arguments, words in [
        (("8", GOOD[8]), "size='8' must be a number"),
        ((0, GOOD[8]), "size=0 must be above 0"),
        ((8, GOOD[8][:, :2]), r"points has shape \(9, 2\)"),
        ((8, [["a", "b", "c"]]), "points"),
        ((8, GOOD[8] * np.inf), r"points\[0, 0\]=inf must be finite"),
        ((1e300, GOOD[8] * 1e200), r"size=1e\+300 is too far"),
    ]:
        with pytest.raises((TypeError, ValueError), match=words):
            found.scale(*arguments)
    assert found.scale(8, GOOD[8][::-1]).tolist() == found.scale(8, GOOD[8])[::-1].tolist()


# ------------------------------------------------------------------------------------- reweighting


def exact_heat(energies, beta):
    weights = np.exp(-beta * (energies - energies.min()))
    weights = weights / weights.sum()
    return energies**2 @ weights - (energies @ weights) ** 2


@pytest.mark.parametrize("betas", [[0.3], [0.2, 0.45]])
def test_reweighted_means_and_their_errors(betas):
    wanted, lattice = [0.25, 0.3, 0.35], Ising((3, 4))
    states = 1 - 2 * (np.arange(1 << 12)[:, None] >> np.arange(12) & 1)
    energies = -np.prod(states[:, lattice.edges], axis=-1).sum(axis=1)
    expected = np.array([exact_heat(energies, beta) for beta in wanted])
    off = []
    for seed in range(12 if len(betas) == 1 else 4):  # pymbar takes its time
        model = Ising((3, 4), beta=betas, replicas=len(betas), seed=seed)
        model.step(20)
        energy = model.swendsen_wang(2000).energy
        moments = energy, energy**2
        found = reweight(lambda m, s: s - m**2, *moments, energy=energy, beta=betas, at=wanted)
        off.append((found.value - expected) / found.error)
    # Of 20 bins the error is off by a sixth, and those at one seed go together.
    assert 0.5 < np.sqrt(np.square(off).mean()) < 1.6
    assert (abs(np.mean(off, axis=0)) < 4 / np.sqrt(len(off))).all()


def test_nothing_to_reweight():
    energy = np.random.default_rng(1).normal(size=(100, 2))
    found = reweight(lambda mean: mean, energy, energy=energy, beta=[0.5, 0.5], at=0.5)
    assert found.value[0] == pytest.approx(energy.mean())
    assert found.error[0] == pytest.approx(energy.reshape(20, 10).mean(axis=1).std() / np.sqrt(19))
    assert found.effective[0] == pytest.approx(200)
    far = reweight(lambda mean: mean, energy, energy=energy, beta=[0.5, 0.5], at=9.5)
    assert far.effective[0] < 5
    none = reweight(lambda mean: mean, energy, energy=energy, beta=[0.5, 0.5], at=[])
    assert [len(each) for each in none] == [0, 0, 0, 0]


def runs_at(betas, rows):
    """Return energies of a Gaussian density of states: at beta, of mean -100 beta and variance."""
    normal = np.random.default_rng(1).normal(size=(rows, len(betas)))
    return 10 * normal - 100 * np.array(betas)


@pytest.mark.parametrize("betas", [[0.0, 0.1, 2.0], [2.0, 0.0, 0.1], [2.0, 0.1, 0.1]])
def test_runs_must_overlap(betas):
    energy = runs_at(betas, 100)
    with pytest.raises(
        ValueError, match=r"runs at beta=0\.1 and 2 have too few energies in common"
    ):
        reweight(lambda mean: mean, energy, energy=energy, beta=betas, at=1.0)


def test_few_measurements_that_are_shared():
    from pymbar import MBAR

    def call(betas):
        energy = runs_at(betas, 100)
        return reweight(lambda mean: mean, energy, energy=energy, beta=betas, at=0.15, bins=2)

    for overlapping in ([0.3, 0.0], [0.6, 0.0, 0.3], list(np.arange(12) * 0.03)):
        found = call(overlapping)
        assert abs(found.value[0] + 15) < 8
    with pytest.raises(ValueError, match=r"they share 2\.2 measurements, and must share 4; give"):
        call([0.0, 0.4])
    betas = [0.0, 0.05, 0.1, 0.15, 0.55]
    reduced = np.outer(betas, runs_at(betas, 100).T)
    solved = MBAR(reduced, np.full(5, 100), solver_protocol="robust")
    shared = 100 * solved.compute_overlap()["matrix"][:4, 4].sum()
    with pytest.raises(ValueError, match=f"beta=0.15 and 0.55 .* share {shared:.2g} measurements"):
        call(betas)


def test_pymbar_may_warn_but_for_when_it_is_imported(monkeypatch, caplog):
    for name in [name for name in sys.modules if name.partition(".")[0] == "pymbar"]:
        monkeypatch.delitem(sys.modules, name)
    logger = logging.getLogger("pymbar")
    monkeypatch.setattr(logger, "level", logging.INFO)
    betas, energy = [0.0, 0.05], runs_at([0.0, 0.05], 50)
    found = reweight(lambda mean: mean, energy, energy=energy, beta=betas, at=0.02, bins=2)
    assert abs(found.value[0] + 2) < 5
    assert logger.level == logging.INFO
    assert not [each for each in caplog.records if "JAX" in each.message.upper()]


def test_bad_arguments_of_reweighting(monkeypatch):
    energy, apart = np.zeros((100, 2)), np.tile([-10.0, 10.0], (100, 1))

    def call(*series, **arguments):
        given = {"energy": energy, "beta": (0.5, 0.6), "at": 0.5, **arguments}
        return reweight(lambda mean: mean, *series, **given)

    for arguments, words in [
        ({"beta": 0.5}, "beta has 1 values; there must be one for each of 2 runs"),
        ({"energy": energy * np.nan}, r"energy\[0, 0\]=nan must be finite"),
        ({"energy": energy[:50]}, "of the shape of energy"),
        ({"at": np.inf}, "at=inf must be finite"),
        ({"at": [0.5, 1e308], "energy": apart}, "at=.* is too large for energies"),
        ({"beta": (0.5, 1e308), "energy": apart}, "beta=.* is too large for energies"),
        ({"energy": apart * 1e307}, "is too large for energies"),
        ({"bins": 1}, "bins=1"),
        ({"bins": 101}, "bins=101"),
    ]:
        with pytest.raises(ValueError, match=words):
            call(energy, **arguments)
    with pytest.raises(ValueError, match="series must be one or more"):
        call()
    with pytest.raises(ValueError, match="energy has 1 row; errors need two or more"):
        call(energy[:1], energy=energy[:1])
    with pytest.raises(TypeError, match="function=3 must be a function of means"):
        reweight(3, energy, energy=energy, beta=(0.5, 0.6), at=0.5)
    monkeypatch.setitem(sys.modules, "pymbar", None)
    with pytest.raises(ImportError, match=r"conncomp\[analysis\]"):
        call(energy)
    assert call(energy, beta=(0.5, 0.5)).value == [0.0]


# ------------------------------------------------------------------------------------- equilibrium


def test_logarithmic_bins():
    rows = np.arange(11)[:, None] + [0.0, 1.0, -1.0]
    bins = logarithmic_bins(rows)
    assert list(zip(bins.begin, bins.end, strict=True)) == [(0, 1), (1, 2), (2, 5), (5, 11)]
    np.testing.assert_allclose(bins.mean, [0, 1, 3, 7.5])
    np.testing.assert_allclose(bins.error, np.std([0, 1, -1], ddof=1) / np.sqrt(3))
    assert not bins.equilibrated


def test_what_relaxes_is_not_equilibrated():
    noise = np.random.default_rng(1).normal(size=(1024, 100))
    assert logarithmic_bins(noise).equilibrated
    slow = noise + 10 / (1 + np.arange(1024))[:, None] ** 0.3
    assert not logarithmic_bins(slow).equilibrated
    for bad, words in [
        (noise[:, :1], "two chains or more"),
        (noise[:3], "has 3 rows; 3 bins need 4"),
        (noise * np.nan, r"series\[0, 0\]=nan must be finite"),
        ([["a"]], "series"),
    ]:
        with pytest.raises((ValueError, TypeError), match=words):
            logarithmic_bins(bad)


def exact_glass(couplings, edges, beta):
    """Return energy and link overlap of one sample of four spins by enumeration."""
    states = 1 - 2 * (np.arange(16)[:, None] >> np.arange(4) & 1)
    pairs = states[:, edges[:, 0]] * states[:, edges[:, 1]]
    energies = -pairs @ couplings
    weights = np.exp(-beta * (energies - energies.min()))
    means = weights / weights.sum() @ pairs
    return -means @ couplings, (means**2).mean()


def test_katzgraber_and_young_hold_in_equilibrium_only():
    rng, edges = np.random.default_rng(1), np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
    drawn = 0.7 * rng.normal(size=(4000, 5))
    known = {"beta": 1.3, "bonds": 5, "variance": 0.49}
    samples = np.array([exact_glass(couplings, edges, 1.3) for couplings in drawn]).T
    off = glass_equilibration_test(*samples, **known)
    assert abs(off.value) < 4 * off.error < 0.1
    hot = np.array([exact_glass(couplings, edges, 1.1) for couplings in drawn]).T
    assert glass_equilibration_test(*hot, **known).value > 5 * off.error
    with pytest.raises(ValueError, match="energy is of 4000 samples, link_overlap of 3"):
        glass_equilibration_test(samples[0], samples[1][:3], **known)
    with pytest.raises(ValueError, match="two samples or more"):
        glass_equilibration_test([1.0], [1.0], **known)
    with pytest.raises(ValueError, match="beta=-1"):
        glass_equilibration_test(*samples, beta=-1, bonds=5)


def test_a_glass_in_equilibrium_passes():
    glass = SpinGlass((4, 4), "gaussian", beta=0.7, samples=400, copies=2, seed=1)
    glass.step(100)
    energies, links = np.zeros((2, 400))
    for _ in range(20):
        glass.step(5)
        energies += glass.energy().reshape(400, 2).mean(axis=1) / 20
        links += glass.overlaps().link_overlap / 20
    off = glass_equilibration_test(energies, links, beta=0.7, bonds=32)
    assert abs(off.value) < 4 * off.error < 0.1


def test_distribution_of_overlaps():
    def moment(q):
        beta, none = np.array([0.5, 1.0, 0.5, 1.0]), np.zeros(4)
        sample = np.array([0, 0, 7, 7])
        return Overlaps(beta, sample, np.zeros((4, 2)), np.array(q), none, np.zeros((4, 1)))

    measured = [moment([-1.0, 0.9, 0.2, 0.9]), moment([1.0, 0.9, 0.3, 0.9])]
    found = overlap_distribution(measured, 0.5, bins=4)
    assert found.edges.tolist() == [-1.0, -0.5, 0.0, 0.5, 1.0]
    assert found.density.tolist() == [0.5, 0.0, 1.0, 0.5]
    assert found.error.tolist() == [0.5, 0.0, 1.0, 0.5]
    for arguments, words in [
        (([], 0.5), "measured is empty"),
        ((measured, 0.6), "beta=0.6 is none of those that were measured: 0.5, 1"),
        (([1], 0.5), "must be of SpinGlass.overlaps"),
    ]:
        with pytest.raises((ValueError, TypeError), match=words):
            overlap_distribution(*arguments)
