"""Means, errors and autocorrelation times: processes of which all is known."""

import math
import signal
from time import process_time

import numpy as np
import pytest
from emcee.autocorr import integrated_time
from scipy.signal import lfilter

from conncomp.kernels.lattice import Lattice
from conncomp.models import Potts, autocorrelation_time, jackknife, parallel_tempering, summarise
from conncomp.models.results import Measurements
from conncomp.models.spins.measurements import COUNTS, SATISFIED
from interrupts import interrupted_after

# Six sigma: one false alarm in 5e8 tests. Errors of errors are below a tenth, so 7 for pulls.
SIGMAS = 6


def autoregressive(time, rows, replicas, seed):
    """Return x(t + 1) = a x(t) + noise, of variance 1 and mean 0, with this autocorrelation time.

    As rho(t) = a^t, the integrated time is 1/2 + a/(1 - a).
    """
    a = (2 * time - 1) / (2 * time + 1)
    noise = np.random.default_rng(seed).standard_normal((rows, replicas)) * math.sqrt(1 - a**2)
    noise[0] /= math.sqrt(1 - a**2)  # from equilibrium
    return lfilter([1.0], [1.0, -a], noise, axis=0)


@pytest.mark.parametrize("time", [0.5, 2.0, 10.0, 60.0])
@pytest.mark.parametrize(("rows", "replicas"), [(200_000, 1), (20_000, 10)])
def test_autocorrelation_time_of_an_autoregressive_process(time, rows, replicas):
    series = autoregressive(time, rows, replicas, seed=1)
    value, error = autocorrelation_time(series[:, 0] if replicas == 1 else series)
    # What is beyond the window, and the mean that each replica is measured from, are missing.
    bias = time * math.exp(-6) + 2 * time**2 / rows
    assert abs(value - time) < SIGMAS * error + bias
    assert error < 0.25 * time


def test_error_of_an_autocorrelation_time_is_what_it_scatters_by():
    estimates = [autocorrelation_time(autoregressive(5, 5000, 1, seed)) for seed in range(200)]
    scatter = np.std([value for value, _ in estimates])
    claimed = np.mean([error for _, error in estimates])
    assert 0.75 < scatter / claimed < 1.25


def test_autocorrelation_time_of_what_does_not_vary():
    assert np.isnan(autocorrelation_time(np.full(10, 0.1))).all()
    assert np.isnan(autocorrelation_time([3.0])).all()
    noise = np.random.default_rng(1).standard_normal(10_000)
    frozen = np.stack([noise, np.ones_like(noise)], axis=1)  # one replica of two
    assert autocorrelation_time(frozen) == autocorrelation_time(noise)


def test_jackknife_of_a_mean_is_its_standard_error():
    values = np.random.default_rng(1).standard_normal(1000)
    estimate = jackknife(lambda mean: mean, values, bin_length=1)
    assert estimate.value == pytest.approx(values.mean(), rel=1e-12)
    assert estimate.error == pytest.approx(values.std(ddof=1) / math.sqrt(1000), rel=1e-12)
    # Bins of ten, of which the first elements of all are left out as they do not fill one.
    estimate = jackknife(lambda mean: mean, values[3:], bin_length=10)
    bins = values[10:].reshape(-1, 10).mean(axis=1)
    assert estimate.error == pytest.approx(bins.std(ddof=1) / math.sqrt(99), rel=1e-12)


@pytest.mark.soak
@pytest.mark.parametrize(("time", "replicas"), [(0.5, 1), (8, 1), (8, 12), (100, 32)])
def test_errors_are_what_means_scatter_by(time, replicas):
    """Pulls, deviations over errors, have a variance of 1: within 6 sigma of 300 of them."""

    def square(mean):
        return (1 + mean) ** 2

    pulls = []
    for seed in range(300):
        value, error = jackknife(square, autoregressive(time, 6000, replicas, seed))
        pulls.append((value - 1) / error)
    # Fewer than 400 / BIN_TIMES bins make Student's t of it, a little wider.
    assert 0.6 < np.var(pulls) < 1.6


def test_jackknife_of_a_variance():
    values = 3 + 2 * np.random.default_rng(1).standard_normal((1000, 4))
    value, error = jackknife(lambda mean, square: square - mean**2, values, values**2)
    assert abs(value - 4) < SIGMAS * error
    assert error == pytest.approx(4 * math.sqrt(2 / 4000), rel=0.2)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([],), {}, r"series has shape \(0,\)"),
        ((np.ones((2, 2, 2)),), {}, r"series has shape \(2, 2, 2\)"),
        (([1.0, 2.0],), {"bin_length": 0}, "bin_length=0 must be from 1 to 1"),
    ],
)
def test_bad_input(arguments, options, words):
    with pytest.raises(ValueError, match=words):
        jackknife(lambda mean: mean, *arguments, **options)


def test_one_measurement_has_no_error():
    value, error = jackknife(lambda mean: mean, [2.0])
    assert value == 2
    assert math.isnan(error)


def two_level(lattice, rows, replicas, seed):
    """Return measurements of made-up spins: all equal, or none magnetised, by a fair coin."""
    records = np.zeros((rows, replicas, COUNTS + lattice.states), np.int64)
    ordered = np.random.default_rng(seed).integers(0, 2, (rows, replicas)).astype(bool)
    records[..., SATISFIED] = np.where(ordered, lattice.bonds, 0)
    records[..., COUNTS:] = lattice.sites // lattice.states
    records[ordered, COUNTS:] = 0
    records[ordered, COUNTS + 1] = lattice.sites
    return Measurements(records, lattice, 2.0, False)


@pytest.mark.parametrize("q", [2, 4])
def test_summary_of_what_is_known(q):
    lattice = Lattice((4, 4), (True, True), q)
    series = two_level(lattice, 5000, 3, seed=1)
    (summary,) = summarise(series, [0.5] * 3, measure_every=7)
    assert (summary.beta, summary.measurements, summary.enough) == (0.5, 15_000, True)
    # m is 0 or -1 (q = 2) or 1, and the energy 0 or -64.
    known = {
        "energy": -2.0,
        "specific_heat": 0.25 * 32**2 / 16,
        "magnetisation": 0.5,
        "susceptibility": 0.5 * 16 / 4,
        "squared_magnetisation": 0.5,
        "binder_ratio": 2.0,
        "energy_time": 3.5,
        "magnetisation_time": 3.5,
    }
    for name, exact in known.items():
        value, error = getattr(summary, name)
        # The variance of a fair coin has a derivative of 0 there, so its error is too small.
        assert abs(value - exact) < SIGMAS * error + 2e-3 * exact, name
        assert error < 0.1 * abs(exact), name


def test_replicas_of_one_beta_are_taken_together():
    lattice = Lattice((4, 4), (True, True), 2)
    series = two_level(lattice, 100, 4, seed=1)
    summaries = summarise(series, [0.7, 0.3, 0.7, 0.5])
    assert [(s.beta, s.measurements) for s in summaries] == [(0.7, 200), (0.3, 100), (0.5, 100)]
    alone = summarise(Measurements(series.records[:, 1], lattice, 2.0, False), 0.3)
    assert alone == summaries[1:2]


def test_improved_estimators_agree_and_are_used():
    model = Potts((8, 8), 3, 0.8, replicas=8, seed=5)
    model.swendsen_wang(100, measure=False)
    with_clusters = model.swendsen_wang(2000, clusters=True)
    without = Measurements(with_clusters.records, model.lattice, model.coupling, False)
    (improved,), (plain,) = summarise(with_clusters, 0.8), summarise(without, 0.8)
    for name in ("squared_magnetisation", "binder_ratio"):
        (a, error), (b, other_error) = getattr(improved, name), getattr(plain, name)
        assert abs(a - b) < SIGMAS * math.hypot(error, other_error)
        assert a != b
    assert improved.squared_magnetisation.error < plain.squared_magnetisation.error


def test_short_series_are_told():
    lattice = Lattice((4, 4), (True, True), 2)
    assert not summarise(two_level(lattice, 40, 1, seed=1), 1.0)[0].enough
    with pytest.raises(ValueError, match="series is empty"):
        summarise(two_level(lattice, 0, 1, seed=1), 1.0)
    with pytest.raises(ValueError, match="beta has 2 values"):
        summarise(two_level(lattice, 9, 3, seed=1), [1.0, 2.0])


@pytest.mark.parametrize(
    ("time", "rows", "replicas"), [(0.5, 70_000, 1), (3, 1000, 7), (400, 60_000, 2), (2, 9, 30)]
)
def test_autocorrelation_time_is_that_of_another_implementation(time, rows, replicas):
    """Sokal's window by emcee, whose time is twice ours."""
    series = autoregressive(time, rows, replicas, seed=2)
    (twice,) = integrated_time(series[:, :, None], c=3, tol=0, quiet=True)
    assert autocorrelation_time(series).value == pytest.approx(twice / 2, rel=1e-9)


def test_autocorrelation_times_are_above_zero():
    """What alternates decorrelates at once; of few rows the sum may be anything."""
    assert np.isnan(autocorrelation_time([0.0, 1.0] * 50)).all()
    assert np.isnan(autocorrelation_time([0.0, np.inf, 1.0, 2.0])).all()
    assert np.isnan(autocorrelation_time(np.array([[0.0, 1.0], [np.nan, 0.5], [2.0, 1.5]]))).all()


def test_autocorrelation_time_can_be_interrupted():
    """Within 0.2 s of processor time, which others on the machine do not change."""
    series = np.random.default_rng(1).standard_normal(6_000_000)
    for delay in (0.1, 0.2, 0.3, 0.4):
        due = process_time() + delay
        with interrupted_after(delay, signal.ITIMER_PROF):
            while True:
                autocorrelation_time(series)
        assert process_time() - due < 0.2


def mean_of(mean):
    return mean


SERIES = Potts((4, 4), replicas=2, seed=1).swendsen_wang(20)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: jackknife(mean_of), ValueError, "series is missing"),
        (
            lambda: jackknife(mean_of, np.ma.array([1.0, 2.0], mask=[0, 1])),
            ValueError,
            "series has masked elements",
        ),
        (
            lambda: autocorrelation_time(np.ma.array([1.0, 2.0], mask=[0, 1])),
            ValueError,
            "series has masked elements",
        ),
        (
            lambda: jackknife(mean_of, np.ones(100), bin_length=13),
            ValueError,
            "bin_length=13 must be from 1 to 12: of longer bins there are fewer than 8 in 100 rows",
        ),
        (lambda: jackknife(mean_of, np.ones((100, 2)), bin_length=50), ValueError, "from 1 to 25"),
        (
            lambda: jackknife(mean_of, np.ones(9), np.ones((9, 2))),
            ValueError,
            r"series have shapes \(9,\), \(9, 2\)",
        ),
        (lambda: jackknife(mean_of, ["a"]), TypeError, "series is of dtype <U1; it must be of num"),
        (lambda: summarise(None, 1), TypeError, "series=None must be Measurements"),
        (lambda: summarise(SERIES, -1), ValueError, "beta=-1 must be finite, and not negative"),
        (lambda: summarise(SERIES, [1.0, math.inf]), ValueError, "must be finite"),
        (
            lambda: summarise(SERIES, 1, measure_every=-3),
            ValueError,
            "measure_every=-3 must be from 1 to",
        ),
        (lambda: parallel_tempering(None, 3), TypeError, "model=None must be a Potts"),
    ],
)
def test_errors_say_what_is_wrong(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_bins_are_as_long_as_they_are_to_be():
    """Of 31 rows, three bins of eight replicas have ten rows each, not the 15 that two could."""
    values = np.random.default_rng(1).standard_normal((31, 8))
    bins = values[1:].reshape(3, 10, 8).mean(axis=1)
    estimate = jackknife(mean_of, values, bin_length=10)
    assert estimate.error == pytest.approx(bins.std(ddof=1) / math.sqrt(24), rel=1e-12)
    bins = values[3:].reshape(2, 14, 8).mean(axis=1)
    estimate = jackknife(mean_of, values, bin_length=14)
    assert estimate.error == pytest.approx(bins.std(ddof=1) / math.sqrt(16), rel=1e-12)


def test_very_large_inverse_temperatures():
    (summary,) = summarise(SERIES, 1e200)
    assert np.isnan(summary.specific_heat).all()
    assert math.isfinite(summary.energy.value)
