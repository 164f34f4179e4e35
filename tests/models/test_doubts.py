"""What speaks against equilibrium is said in words, and of equilibrium nothing is."""

import numpy as np
import pytest

from conncomp.models import Ising, Potts, SpinGlass, simulate
from conncomp.models.spin_glass.disorder import OverlapSummary, with_identity
from conncomp.models.statistics.estimates import Estimate, autocorrelation_time, doubts_of


def told(series):
    return doubts_of({"energy": series}, {"energy": autocorrelation_time(series)})


@pytest.mark.parametrize("chains", [1, 4, 40])
def test_independent_rows_leave_no_doubt(chains):
    """In 200 series; four errors of two bins each are a false alarm in 8,000, or of chains 800."""
    rng = np.random.default_rng(1)
    found = [told(rng.normal(size=(512, chains))) for _ in range(200)]
    assert sum(map(bool, found)) < 3
    assert told(np.full((512, chains), 2.5)) == ()


@pytest.mark.parametrize("chains", [1, 4, 40])
def test_series_that_drift_are_told(chains):
    rows = np.arange(1024)[:, None]
    noise = np.random.default_rng(2).normal(size=(1024, chains))
    # Of few chains errors are those of the autocorrelation time of what does not drift.
    time = autocorrelation_time(noise)
    (text,) = doubts_of({"energy": noise - 3 * np.exp(-rows / 250)}, {"energy": time})
    assert "the energy drifts: its mean is -" in text
    assert "from measurement 128 on" in text


def test_short_series_are_told():
    walk = np.cumsum(np.random.default_rng(3).normal(size=400))
    assert any("autocorrelation times of the energy, fewer than 100" in text for text in told(walk))
    short = np.random.default_rng(4).normal(size=30)
    assert told(short)[0].startswith("30 measurements are ")


def test_summaries_say_whether_a_run_is_in_equilibrium():
    model = Ising((48, 48), temperature=2.0, replicas=40, seed=3)
    (cold,) = simulate(model, 128, update="metropolis").summarise()
    assert any("drifts" in text for text in cold.doubts)
    assert not cold.enough
    potts = Potts((8, 8), beta=0.5, replicas=4, seed=1)
    (quiet,) = simulate(potts, 600, thermalise=50).summarise()
    assert quiet.enough
    assert quiet.doubts == ()


def test_summaries_of_glasses_say_so():
    def run(thermalise, beta, length=4):
        glass = SpinGlass((length,) * 3, "gaussian", beta=beta, samples=100, copies=2, seed=2)
        options = {"overlaps": True}
        return simulate(glass, 40, thermalise=thermalise, **options).summarise()

    (summary,) = run(200, 0.5)
    assert abs(summary.equilibration_test.value) < 4 * summary.equilibration_test.error
    assert summary.doubts == ()
    (early,) = run(0, 1.5, 8)
    assert any("identity of Katzgraber and Young is off by" in text for text in early.doubts)
    assert any("overlap drifts" in text for text in early.doubts)


@pytest.mark.parametrize("samples", [2, 15, 16])
def test_errors_of_few_samples_tell_nothing(samples):
    """Their own errors are a guess: four of them are often by chance."""
    one = Estimate(0.5, 0.1)
    summary = OverlapSummary(1.0, samples, one, one, one, one)
    doubts = with_identity(summary, Estimate(1.0, 0.2)).doubts
    assert bool(doubts) == (samples >= 16)
