"""The binomial distribution, by which means for numbers become means at a probability."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

# Beyond so many standard deviations, and so many more, a binomial distribution is below 1e-30.
TAIL, LEAST_TAIL = 12, 80


def binomial(count: int, p: float) -> tuple[int, NDArray[np.float64]]:
    """Return the binomial distribution where it is above 1e-30: the first number, probabilities.

    By ratios of neighbours from the largest one, which neither overflow nor cancel.
    """
    if p in (0.0, 1.0):
        return int(count * p), np.ones(1)
    mode = min(int((count + 1) * p), count)
    reach = int(TAIL * sqrt(count * p * (1 - p))) + LEAST_TAIL
    begin, end = max(mode - reach, 0), min(mode + reach, count)
    numbers = np.arange(begin, end, dtype=np.float64)
    rises = np.log((count - numbers) / (numbers + 1)) + (np.log(p) - np.log1p(-p))
    logarithms = np.concatenate([[0.0], np.cumsum(rises)])
    weights = np.exp(logarithms - logarithms[mode - begin])
    return begin, weights / weights.sum()


def numbers_between(count: int, low: float, high: float) -> range:
    """Return the numbers of which `binomial` gives some at any p from `low` to `high`."""
    begin, _ = binomial(count, low)
    last, weights = binomial(count, high)
    # Modes and reaches are rounded, so a larger p may begin one earlier.
    return range(max(begin - 1, 0), min(last + len(weights), count) + 1)
