"""What speaks against equilibrium in series of measurements, in words.

How: a series is short if it has few of its autocorrelation times. It drifts if its means over times
that double, of which the last one is its second half, are not the same: H. G. Katzgraber, M.
Koerner, A. P. Young, Phys. Rev. B 73, 224432 (2006), section III. The error of a difference is that
of independent chains, where there are many of them, else that of so many autocorrelation times.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from conncomp.models.statistics import Estimate

# With fewer autocorrelation times than that, the time itself is a guess.
ENOUGH_TIMES = 100
# So many errors apart, means are not by chance; so many chains tell how large errors are.
APART, MANY_CHAINS = 4.0, 16
# Fewer rows tell nothing of times that double; fewer of a single chain tell no time of it.
LEAST_ROWS, LEAST_OF_CHAIN = 8, 64


def are_enough(rows: int, times: Mapping[str, Estimate]) -> bool:
    """Whether a series has `ENOUGH_TIMES` of each of its autocorrelation times."""
    return all(not max(0.5, time) * ENOUGH_TIMES > rows for time, _ in times.values())


def doubts_of(
    series: Mapping[str, NDArray[np.float64]], times: Mapping[str, Estimate]
) -> tuple[str, ...]:
    """Return what speaks against equilibrium, a sentence each.

    `series` are (rows,) or (rows, chains); `times` are the autocorrelation times, in rows, of those
    that are held against the length of the series.
    """
    doubts = []
    for name, values in series.items():
        rows, time = len(values), times.get(name)
        if time is not None and not are_enough(rows, {name: time}):
            number = rows / max(0.5, time.value)
            doubts.append(
                f"{rows} measurements are {number:.2g} autocorrelation times of the {name}, fewer "
                f"than {ENOUGH_TIMES}: errors may be too small"
            )
        drift = _drift(values.reshape(rows, -1), time)
        if drift is not None:
            begin, early, late, apart = drift
            doubts.append(
                f"the {name} drifts: its mean is {early:.6g} from measurement {begin} on and "
                f"{late:.6g} in the second half, {apart:.1f} errors apart; thermalise longer"
            )
    return tuple(doubts)


def _drift(
    chains: NDArray[np.float64], time: Estimate | None
) -> tuple[int, float, float, float] | None:
    """Return where a mean begins that is apart from the last one, both means, and how far."""
    rows, number = chains.shape
    many = number >= MANY_CHAINS
    if rows < LEAST_ROWS or not np.isfinite(chains).all():
        return None
    if not many and (rows < LEAST_OF_CHAIN or time is None or not time.value > 0):
        return None
    last = chains[rows // 2 :].mean(axis=0)
    for begin in (rows // 8, rows // 4):
        early = chains[begin : 2 * begin].mean(axis=0)
        apart = early - last
        if many:
            error = float(apart.std(ddof=1)) / sqrt(number)
        else:
            assert time is not None
            independent = number / (2 * max(0.5, time.value))
            error = float(chains.std()) * sqrt((1 / begin + 2 / rows) / independent)
        if abs(apart.mean()) > APART * error > 0:
            means = float(early.mean()), float(last.mean())
            return begin, *means, abs(float(apart.mean())) / error
    return None
