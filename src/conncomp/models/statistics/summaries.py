"""Summaries of series of spin models: means, errors and autocorrelation times by temperature."""

from __future__ import annotations

from functools import partial
from math import inf, isfinite, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import check_range, shown
from conncomp.models._arguments import as_numbers, distinct
from conncomp.models.observables.series import EVENTS, ObservedSeries, happens
from conncomp.models.protocol import MOST_UPDATES, Floats
from conncomp.models.statistics.estimates import (
    Estimate,
    are_enough,
    autocorrelation_time,
    doubts_of,
    fitting_bin_length,
    jackknife_by_bins,
)


class WrappingSummary(NamedTuple):
    """In which share of the measurements some cluster wraps.

    Attributes
    ----------
    along : tuple of Estimate
        Along each axis.
    any_axis, all_axes, cross : Estimate
        Along any axis; along all of them, by one cluster or by several; and in full rank, by one:
        in two dimensions as a cross, where `all_axes` has helices, too.
    """

    along: tuple[Estimate, ...]
    any_axis: Estimate
    all_axes: Estimate
    cross: Estimate


class Summary(NamedTuple):
    """The summary of one inverse temperature, None where not measured: see `summarise`.

    Attributes
    ----------
    beta : float
    measurements : int
        Of all replicas of this inverse temperature.
    energy : Estimate
        A site.
    specific_heat : Estimate
        A site: beta^2 times the variance of the lattice's energy, over the sites.
    magnetisation : Estimate
        The mean of `Measurements.magnetisation` without its sign; of vectors, the mean length of
        the mean spin.
    susceptibility : Estimate
        beta times the sites, times the variance of what `magnetisation` is the mean of; of vectors,
        times `squared_magnetisation` over the components of a spin, as in the disordered phase.
    squared_magnetisation : Estimate
        The mean of m^2, by the improved estimator where clusters were measured.
    binder_ratio : Estimate
        <m^4>/<m^2>^2, likewise, but for vectors: 1 where all spins are equal, (q + 1)/(q - 1) where
        they are random.
    energy_time, magnetisation_time : Estimate
        The integrated autocorrelation times of energy and m^2, in updates.
    enough : bool
        Whether the series has 100 of these times. Errors are too small where it has not.
    wrapping : WrappingSummary or None
    helicity_modulus : Estimate or None
        The mean over the axes.
    vortices : Estimate or None
        A site.
    correlation_length, correlation_ratio : Estimate or None
        Of the second moment, in the unit of the model's ``coordinates``, and as a share of the
        length of the lattice: ``sqrt(S(0) / S(k) - 1) / (|k| sin(pi / L) / (pi / L))``, of L cells
        along the axis, whose squares are averaged over the axes; on hypercubic lattices that is
        over ``2 sin(pi / L)``. S(0) is m^2 times the sites and S(k) ``structure``, by improved
        estimators where clusters were measured.
    doubts : tuple of str
        What speaks against equilibrium, a sentence each, if anything: a series of fewer than 100 of
        its times, or means over times that double and differ.
    """

    beta: float
    measurements: int
    energy: Estimate
    specific_heat: Estimate
    magnetisation: Estimate
    susceptibility: Estimate
    squared_magnetisation: Estimate
    binder_ratio: Estimate
    energy_time: Estimate
    magnetisation_time: Estimate
    enough: bool
    wrapping: WrappingSummary | None = None
    helicity_modulus: Estimate | None = None
    vortices: Estimate | None = None
    correlation_length: Estimate | None = None
    correlation_ratio: Estimate | None = None
    doubts: tuple[str, ...] = ()


class SummaryColumns(NamedTuple):
    """The series of all replicas at one inverse temperature, for a `Summary`.

    Arrays are (rows, replicas): `energy` a site; `magnitude` and `squares` of the magnetisation;
    `moments`, m^2 and m^4 of the Binder ratio, and `improved`, m^2 otherwise. `components` are a
    vector's. `others` are functions of means, with the series of these; "wrapping" has axes and
    rank.
    """

    energy: Floats
    magnitude: Floats
    squares: Floats
    moments: tuple[Floats, Floats]
    improved: Floats
    components: int | None
    others: dict[str, tuple[Any, ...]]


def summarise(
    series: ObservedSeries, beta: float | ArrayLike, *, measure_every: int = 1
) -> list[Summary]:
    """Return means, errors and autocorrelation times for each inverse temperature.

    Errors are those of `jackknife`, with bins of 20 times the longer autocorrelation time.

    Parameters
    ----------
    series : Measurements or VectorMeasurements
        Of equilibrium: without what came before.
    beta : float or array_like of float
        The inverse temperature of all replicas or of each. Those of one are taken together.
    measure_every : int, optional
        How many updates are between two measurements.

    Returns
    -------
    list of Summary
        In the order in which inverse temperatures come first in `beta`.

    Examples
    --------
    >>> from conncomp.models import Potts, summarise
    >>> model = Potts((16, 16), beta=[0.4, 0.8], replicas=2, seed=1)
    >>> series = model.swendsen_wang(1000)
    >>> [summary.energy.value < -1 for summary in summarise(series, model.beta)]
    [True, True]
    """
    if not hasattr(series, "summary_columns"):
        raise TypeError(
            f"series={shown(series)} must be Measurements, which the updates of Potts return, or "
            "those of another spin model"
        )
    every = check_range("measure_every", measure_every, 1, MOST_UPDATES)
    betas = as_numbers("beta", beta).reshape(-1)
    if not ((betas >= 0) & (betas < inf)).all():
        raise ValueError(f"beta={shown(beta)} must be finite, and not negative")
    if series.records.size == 0:
        raise ValueError("series is empty; measure at least once")
    records = series.records.reshape(len(series.records), -1, series.records.shape[-1])
    if len(betas) not in (1, records.shape[1]):
        raise ValueError(
            f"beta has {len(betas)} values; there must be one, or one for each of "
            f"{records.shape[1]} replicas"
        )
    betas = np.broadcast_to(betas, records.shape[1])
    values = distinct(betas).tolist()
    return [_summary(series, records[:, betas == each], each, every) for each in values]


def _summary(series: Any, records: NDArray[np.int64], beta: float, every: int) -> Summary:
    columns: SummaryColumns = series.summary_columns(records, beta)
    sites = series.lattice.sites
    energy, magnitude = columns.energy, columns.magnitude
    watched = {"energy": energy, "squared magnetisation": columns.squares}
    by_name = {name: autocorrelation_time(values) for name, values in watched.items()}
    times = list(by_name.values())
    estimate = partial(jackknife_by_bins, bin_length=fitting_bin_length(times))

    def mean(values: NDArray[Any], factor: float = 1.0, **how: int) -> Estimate:
        return estimate(lambda mean: factor * mean, values, **how)

    def share(happened: NDArray[Any]) -> Estimate:
        longest = [*times, autocorrelation_time(happened)]
        return mean(happened, bin_length=fitting_bin_length(longest))

    def variance(factor: float, values: NDArray[Any]) -> Estimate:
        centred = values - values.mean()  # else digits cancel
        if not isfinite(factor):
            return Estimate(nan, nan)
        with np.errstate(over="ignore"):
            return estimate(lambda mean, square: factor * (square - mean**2), centred, centred**2)

    def ratio(square: Any, fourth: Any) -> Any:
        with np.errstate(invalid="ignore"):  # nothing is magnetised: NaN
            return fourth / square**2

    wrapping = None
    if "wrapping" in columns.others:
        wraps, rank = columns.others.pop("wrapping")
        along = tuple(share(wraps[..., axis]) for axis in range(wraps.shape[-1]))
        shares = (share(happens(event, wraps, rank)) for event in EVENTS[1:])
        wrapping = WrappingSummary(along, *shares)
    if columns.components is None:
        susceptibility = variance(beta * sites, magnitude)
    else:
        susceptibility = mean(columns.improved, factor=beta * sites / columns.components)
    energy_time, magnetisation_time = (Estimate(every * t, every * error) for t, error in times)
    return Summary(
        beta=beta,
        measurements=energy.size,
        energy=mean(energy),
        specific_heat=variance(beta * beta * sites, energy),
        magnetisation=mean(magnitude),
        susceptibility=susceptibility,
        squared_magnetisation=mean(columns.improved),
        binder_ratio=estimate(ratio, *columns.moments),
        energy_time=energy_time,
        magnetisation_time=magnetisation_time,
        enough=are_enough(len(energy), *times),
        wrapping=wrapping,
        **{name: estimate(*how) for name, how in columns.others.items()},
        doubts=doubts_of(watched, by_name),
    )
