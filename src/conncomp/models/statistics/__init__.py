"""What series tell: means with errors, autocorrelation times, and what speaks against both."""

from conncomp.models.statistics.estimates import (
    Estimate,
    autocorrelation_time,
    fitting_bin_length,
    jackknife,
    jackknife_by_bins,
)

__all__ = [
    "Estimate",
    "autocorrelation_time",
    "fitting_bin_length",
    "jackknife",
    "jackknife_by_bins",
]
