"""Statistical checks: how likely it is that chance alone is as far from what is expected.

A check fails below `FALSE_ALARM`. The files of this folder make fewer than 2,000 of them, so that
all are passed but for a probability below 1e-2, tails of distributions that are normal or
chi-squared in the limit only included. Seeds are fixed: a check that was passed will be, and so a
rarer alarm would only ask for more samples to tell the same fault, by 1.7 times at 1e-10.

Each engine is also held, to the last bit, against a reference that does what its contract says,
and what the contract says of a step is shown to be in detailed balance, or ergodic, by enumeration.
So where many samples take long, a run has a third of those of a soak (`drawn`): what it tells is
1.7 times as far off.
"""

import numpy as np
from scipy import stats

import dealt

FALSE_ALARM = 1e-6
LEAST_EXPECTED = 20  # in a class of a chi-squared test


def drawn(soaked):
    """Return how many samples a run draws of those that a soak does."""
    return soaked if dealt.SOAK else -(-soaked // 3)


def of_classes(observed, probabilities):
    """Return the chi-squared probability of classes, pooled until `LEAST_EXPECTED` are expected."""
    expected = probabilities * observed.sum()
    number, filling, numbers = 0, 0.0, []
    for value in expected:
        numbers.append(number)
        filling += value
        if filling >= LEAST_EXPECTED:
            number, filling = number + 1, 0.0
    # What is left at the end goes to the class before.
    numbers = np.minimum(numbers, number - 1)
    observed, expected = (np.bincount(numbers, values) for values in (observed, expected))
    assert len(expected) > 1
    return stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1)


def of_balance(counts, least):
    """Return the probability that classes change back as often; `least` pairs are frequent."""
    there, back = (matrix[np.triu_indices(len(counts), 1)] for matrix in (counts, counts.T))
    often = there + back > LEAST_EXPECTED
    assert often.sum() >= least
    chi = ((there - back)[often] ** 2 / (there + back)[often]).sum()
    return stats.chi2.sf(chi, often.sum())


def of_mean(samples, expected, variance=None):
    """Return the two-sided probability of a mean of samples; without `variance`, Student's t."""
    samples = np.asarray(samples, float)
    off = abs(samples.mean() - expected)
    if variance is not None:
        return 2 * stats.norm.sf(off / np.sqrt(variance / len(samples)))
    error = samples.std(ddof=1) / np.sqrt(len(samples))
    return 2 * stats.t.sf(off / error, len(samples) - 1)
