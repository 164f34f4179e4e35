"""Statistics of series of simulations: means, errors, autocorrelation times, and doubts in words.

A series drifts if its means over times that double, up to its second half, are not the same: H. G.
Katzgraber, M. Koerner, A. P. Young, Phys. Rev. B 73, 224432 (2006), section III. The error of a
difference is that of independent chains, if there are many, or of so many autocorrelation times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_integer, check_range, shown
from conncomp._arrays import as_numpy, check_kind
from conncomp.models._arguments import check_callable, finite, real_numbers
from conncomp.models.protocol import Floats

# A. D. Sokal's window: the autocorrelation function is summed up to so many times what it sums to.
WINDOW = 6
# Means of bins of so many autocorrelation times are independent, up to 3 % of their error; fewer
# bins than these do not tell what their spread is.
BIN_TIMES, LEAST_BINS = 20, 8
# Of autocorrelation functions: how many lags are looked at first, and rows of a piece at least.
LEAST_LAGS, PIECE = 1 << 10, 1 << 14


class Estimate(NamedTuple):
    """An estimate with its statistical error, of one standard deviation.

    Attributes
    ----------
    value, error : float
    """

    value: float
    error: float


def autocorrelation_time(series: ArrayLike) -> Estimate:
    """Estimate how many measurements it takes until one is independent of an earlier one.

    This is the integrated autocorrelation time 1/2 + rho(1) + rho(2) + ..., 1/2 for independent
    measurements; the error of a mean is that of independent ones times sqrt(2 tau). The sum ends
    at a window of six times its value [1]_. Its error is that of [2]_.

    Parameters
    ----------
    series : array_like, shape (rows,) or (rows, replicas)
        Measurements, one after the other. The autocorrelation functions of replicas are averaged.

    Returns
    -------
    Estimate
        Both numbers are NaN if nothing varies, if some of it is not finite, or if the sum is not
        above 0, which that of too few measurements may be.

    References
    ----------
    .. [1] A. D. Sokal, "Monte Carlo methods in statistical mechanics", Cargese lectures (1996).
    .. [2] U. Wolff, Comput. Phys. Commun. 156, 143 (2004), equation 42.

    Examples
    --------
    >>> import numpy as np
    >>> from conncomp.models import autocorrelation_time
    >>> noise = np.random.default_rng(1).standard_normal(100_000)
    >>> round(autocorrelation_time(noise).value, 1)
    0.5
    """
    chains = _as_chains("series", series)
    with np.errstate(invalid="ignore", over="ignore"):
        spread = np.ptp(chains, axis=0)
    varying = [chain for chain, each in zip(chains.T, spread, strict=True) if each != 0]
    if not varying or not np.isfinite(spread).all():
        return Estimate(nan, nan)
    time, number = _integrated_time(varying), len(varying) * len(chains)
    if not time > 0:
        return Estimate(nan, nan)
    return Estimate(time, time * sqrt(4 * (WINDOW * time + 0.5 - time) / number))


def jackknife(
    function: Callable[..., Any], *series: ArrayLike, bin_length: int | None = None
) -> Estimate:
    """Estimate a function of means, and its error, from bins that are left out in turn.

    Parameters
    ----------
    function : callable
        Of the means of the series; it must work on arrays.
    *series : array_like, shape (rows,) or (rows, replicas)
        All of one shape. Replicas are independent, and of one distribution.
    bin_length : int, optional
        How many rows are averaged into one, so that bins are independent, and eight are left; by
        default 20 times the longest autocorrelation time of these series, but few enough for eight
        bins, if there are as many measurements. Rows at the beginning that do not fill a bin are in
        none.

    Returns
    -------
    Estimate
        The error is NaN of fewer than two bins.

    Examples
    --------
    >>> import numpy as np
    >>> from conncomp.models import jackknife
    >>> values = np.random.default_rng(1).standard_normal(10_000)
    >>> variance = jackknife(lambda mean, square: square - mean**2, values, values**2)
    >>> abs(variance.value - 1) < 4 * variance.error < 0.1
    True
    """
    check_callable("function", function, "of means, such as lambda mean: mean")
    if not series:
        raise ValueError("series is missing; give one or more after the function")
    each = [_as_chains("series", values) for values in series]
    if len({chains.shape for chains in each}) > 1:
        shapes = ", ".join(str(np.shape(values)) for values in series)
        raise ValueError(f"series have shapes {shapes}; all must have the same")
    chains = np.stack(each)
    if bin_length is None:
        longest = fitting_bin_length([autocorrelation_time(chain) for chain in chains])
        return jackknife_by_bins(function, *chains, bin_length=longest)
    length, (_, rows, replicas) = as_integer("bin_length", bin_length), chains.shape
    longest = max(1, rows // -(-LEAST_BINS // replicas))
    if not 1 <= length <= longest:
        raise ValueError(
            f"bin_length={shown(bin_length)} must be from 1 to {longest}: of longer bins there are "
            f"fewer than {LEAST_BINS} in {rows} rows of {replicas} replicas"
        )
    return _jackknife(function, chains, rows // length, length)


def _as_chains(name: str, series: ArrayLike) -> Floats:
    given = as_numpy(series, name)
    check_kind(given, "biuf", series, name, "of numbers")
    values = given.astype(np.float64, copy=False)
    if values.ndim not in (1, 2) or values.size == 0:
        raise ValueError(
            f"{name} has shape {values.shape}; it must be (rows,) or (rows, replicas), not empty"
        )
    return values.reshape(len(values), -1)


def _integrated_time(chains: list[Floats]) -> float:
    """Return 1/2 + rho(1) + ... up to a window of WINDOW times that."""
    rows, lags = len(chains[0]), LEAST_LAGS
    while True:
        lags = min(lags, rows)
        times = np.cumsum(_autocorrelations(chains, lags)) - 0.5
        closed = np.arange(lags) >= WINDOW * times
        if closed.any() or lags == rows:
            return float(times[closed.argmax() if closed.any() else -1])
        lags *= 8


def _autocorrelations(chains: list[Floats], lags: int) -> Floats:
    """Return rho(0), rho(1), ..., averaged over chains, by Fourier transforms of short pieces."""
    rows = len(chains[0])
    length = 1 << (min(rows, max(PIECE, 3 * lags)) + lags - 2).bit_length()
    piece = length - lags + 1  # so that nothing correlates around the end
    total = np.zeros(lags)
    for chain in chains:
        mean, sums = chain.mean(), np.zeros(lags)
        for begin in range(0, rows, piece):
            centred = chain[begin : begin + length] - mean
            first, both = (np.fft.rfft(part, length) for part in (centred[:piece], centred))
            sums += np.fft.irfft(first.conj() * both, length)[:lags]
        total += sums / sums[0]
    return total / len(chains)


def jackknife_by_bins(
    function: Callable[..., Any], *series: NDArray[Any], bin_length: int
) -> Estimate:
    """Do as `jackknife`, in bins that are shorter where there would be too few of them."""
    chains = np.stack([_as_chains("series", each) for each in series])
    _, rows, replicas = chains.shape
    count = min(rows, max(rows // bin_length, -(-LEAST_BINS // replicas)))
    return _jackknife(function, chains, count, rows // count)


def fitting_bin_length(times: list[Estimate]) -> int:
    """Return how many rows a bin needs, given autocorrelation times, to be independent."""
    return max([1, *(ceil(BIN_TIMES * time) for time, _ in times if time > 0)])


def _jackknife(function: Callable[..., Any], chains: Floats, count: int, length: int) -> Estimate:
    """Do as `jackknife`, of (series, rows, replicas), in so many bins of a length a replica."""
    number, rows, replicas = chains.shape
    value = float(function(*chains.mean(axis=(1, 2))))
    kept = chains[:, rows - count * length :].reshape(number, count, length, replicas)
    bins: Floats = kept.mean(axis=2).reshape(number, -1)
    left = bins.shape[1] - 1
    if left < 1:
        return Estimate(value, nan)
    left_out = (bins.sum(axis=1, keepdims=True) - bins) / left
    return Estimate(value, sqrt(left * np.var(function(*left_out))))


# With fewer autocorrelation times than that, the time itself is a guess.
ENOUGH_TIMES = 100
# So many errors apart, means are not by chance; so many chains tell how large errors are.
APART, MANY_CHAINS = 4.0, 16
# Fewer rows tell nothing of times that double; fewer of a single chain tell no time of it.
LEAST_ROWS, LEAST_OF_CHAIN = 8, 64


def are_enough(rows: int, *times: Estimate) -> bool:
    """Return whether a series has `ENOUGH_TIMES` of each of its autocorrelation times."""
    return all(not max(0.5, time) * ENOUGH_TIMES > rows for time, _ in times)


def doubts_of(series: Mapping[str, Floats], times: Mapping[str, Estimate]) -> tuple[str, ...]:
    """Return what speaks against equilibrium, a sentence each.

    `series` are (rows,) or (rows, chains); `times` are the autocorrelation times, in rows, of those
    that are held against the length of the series.
    """
    doubts = []
    for name, values in series.items():
        rows, time = len(values), times.get(name)
        if time is not None and not are_enough(rows, time):
            number = rows / max(0.5, time.value)
            doubts.append(
                f"{rows} measurements are {number:.2g} autocorrelation times of the {name}, fewer "
                f"than {ENOUGH_TIMES}: errors may be too small"
            )
        drift = _drift(values.reshape(rows, -1), time)
        doubts += [f"the {name} drifts: {drift}; thermalise longer"] if drift else []
    return tuple(doubts)


def _drift(chains: Floats, time: Estimate | None) -> str:
    """Return in words which mean is apart from that of the second half, "" if none is."""
    rows, number = chains.shape
    many = number >= MANY_CHAINS
    if rows < LEAST_ROWS or not np.isfinite(chains).all():
        return ""
    if not many and (rows < LEAST_OF_CHAIN or time is None or not time.value > 0):
        return ""
    last = chains[rows // 2 :].mean(axis=0)
    for begin in (rows // 8, rows // 4):
        early = chains[begin : 2 * begin].mean(axis=0)
        apart = early - last
        if many or time is None:
            error = float(apart.std(ddof=1)) / sqrt(number)
        else:
            independent = number / (2 * max(0.5, time.value))
            error = float(chains.std()) * sqrt((1 / begin + 2 / rows) / independent)
        if abs(apart.mean()) > APART * error > 0:
            return (
                f"its mean is {float(early.mean()):.6g} from measurement {begin} on and "
                f"{float(last.mean()):.6g} in the second half, "
                f"{abs(float(apart.mean())) / error:.1f} errors apart"
            )
    return ""


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
    mean: Floats
    error: Floats
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

    def error(of_chains: Floats) -> Floats:
        return np.asarray(of_chains.std(axis=-1, ddof=1) / np.sqrt(chains.shape[1]))

    apart = chains[-least:-1] - chains[-1]
    agree = bool((abs(apart.mean(axis=1)) <= 2 * error(apart)).all())
    return LogarithmicBins(begins, ends, chains.mean(axis=1), error(chains), agree)
