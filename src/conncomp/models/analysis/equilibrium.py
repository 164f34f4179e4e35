"""Whether a simulation has reached equilibrium: means over times that double."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import check_range
from conncomp.models._arguments import finite, real_numbers

LEAST_AGREEING = 3


class LogarithmicBins(NamedTuple):
    """Means of the rows from `begin` on, before `end`: see `logarithmic_bins`.

    Attributes
    ----------
    begin, end : ndarray of int64
        The last bin ends with the series, and each begins at half of its end.
    mean, error : ndarray of float64
        Over rows and chains; the error is that of independent chains.
    equilibrated : bool
        Whether the last bins agree, each with the last one, by two standard deviations of the
        differences of chains.
    """

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    mean: NDArray[np.float64]
    error: NDArray[np.float64]
    equilibrated: bool


def logarithmic_bins(series: ArrayLike, *, agreeing: int = LEAST_AGREEING) -> LogarithmicBins:
    """Return means of a series over times that double, and whether the last ones agree.

    A series that relaxes slowly looks flat over any short time, but not over times that double.

    Parameters
    ----------
    series : array_like, shape (rows, chains)
        Finite numbers, measured from the beginning on in two independent chains or more: replicas
        from other first spins, or samples of disorder.
    agreeing : int, optional
        How many bins at the end must agree; these need ``2**(agreeing - 1)`` rows.

    Returns
    -------
    LogarithmicBins

    References
    ----------
    H. G. Katzgraber, M. Koerner, A. P. Young, Phys. Rev. B 73, 224432 (2006), section III.

    Examples
    --------
    >>> from conncomp.models import Ising, logarithmic_bins, simulate
    >>> run = simulate(Ising(16, temperature=2.3, replicas=50, seed=1), 1024, update="metropolis")
    >>> bins = logarithmic_bins(run.series.energy)
    >>> bins.end.tolist()[-3:], bins.equilibrated
    ([256, 512, 1024], True)
    """
    least = check_range("agreeing", agreeing, 2, 64)
    array = real_numbers("series", series, "biuf")
    if array.ndim != 2 or array.shape[1] < 2:
        raise ValueError(
            f"series has shape {array.shape}; it must be (rows, chains), with two chains or more"
        )
    if len(array) >> (least - 1) < 1:
        raise ValueError(f"series has {len(array)} rows; {least} bins need {1 << (least - 1)}")
    values = finite("series", array)
    ends = len(values) >> np.arange(len(values).bit_length())[::-1]
    begins = np.append(0, ends[:-1])
    chains = np.array([values[a:b].mean(axis=0) for a, b in zip(begins, ends, strict=True)])

    def error(of_chains: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(of_chains.std(axis=-1, ddof=1) / np.sqrt(chains.shape[1]))

    apart = chains[-least:-1] - chains[-1]
    agree = bool((abs(apart.mean(axis=1)) <= 2 * error(apart)).all())
    return LogarithmicBins(begins, ends, chains.mean(axis=1), error(chains), agree)
