"""What series of spins that are vectors tell: means, errors and autocorrelation times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.models.statistics import (
    Estimate,
    autocorrelation_time,
    fitting_bin_length,
    jackknife_by_bins,
)
from conncomp.models.statistics.doubts import are_enough, doubts_of
from conncomp.models.vectors.measurements import VectorMeasurements


class VectorSummary(NamedTuple):
    """What a series of an `XY` or a `Heisenberg` model tells of one inverse temperature.

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
        The mean length of the mean spin.
    squared_magnetisation : Estimate
        By the improved estimator where clusters were measured.
    susceptibility : Estimate
        beta times the sites, times `squared_magnetisation`, over the components of a spin: that of
        the disordered phase.
    binder_ratio : Estimate
        <m^4>/<m^2>^2.
    helicity_modulus : Estimate or None
        The mean over the axes; None where it is not measured.
    vortices : Estimate or None
        A site; None where none are counted.
    energy_time, magnetisation_time : Estimate
        The integrated autocorrelation times of energy and m^2, in updates.
    enough : bool
        Whether the series has 100 of these times. Errors are too small where it has not.
    doubts : tuple of str
        What speaks against equilibrium, a sentence each: a series of fewer than 100 of its times,
        or means over times that double and differ. Empty if nothing does.
    """

    beta: float
    measurements: int
    energy: Estimate
    specific_heat: Estimate
    magnetisation: Estimate
    squared_magnetisation: Estimate
    susceptibility: Estimate
    binder_ratio: Estimate
    helicity_modulus: Estimate | None
    vortices: Estimate | None
    energy_time: Estimate
    magnetisation_time: Estimate
    enough: bool
    doubts: tuple[str, ...] = ()


def summarise_vectors(
    series: VectorMeasurements, betas: NDArray[np.float64], measure_every: int
) -> list[VectorSummary]:
    """Return a summary for each inverse temperature, of which each replica has one; ascending."""
    records = series.records.reshape(len(series.records), -1, series.records.shape[-1])
    given = np.broadcast_to(betas, records.shape[1])
    return [
        _summary(replace(series, records=records[:, given == beta], beta=beta), measure_every)
        for beta in np.unique(given).tolist()
    ]


def _summary(series: VectorMeasurements, measure_every: int) -> VectorSummary:
    sites, beta = series.lattice.sites, float(series.beta)
    energy, squares = series.energy / sites, series.squared_magnetisation
    told = {"energy": energy, "squared magnetisation": squares}
    by_name = {name: autocorrelation_time(values) for name, values in told.items()}
    times = list(by_name.values())
    length = fitting_bin_length(times)

    def estimate(function: Callable[..., Any], *values: NDArray[Any]) -> Estimate:
        return jackknife_by_bins(function, *values, bin_length=length)

    def mean(values: NDArray[Any], factor: float = 1.0) -> Estimate:
        return estimate(lambda value: factor * value, values)

    names = series.observables()
    improved = names.get("improved_squared_magnetisation", squares)
    centred = energy - energy.mean()  # else digits cancel
    heat = beta * beta * sites
    per_component = beta * sites / series.kind.components
    twisted = "helicity_modulus" in names
    energy_time, magnetisation_time = (
        Estimate(measure_every * time, measure_every * error) for time, error in times
    )
    return VectorSummary(
        beta=beta,
        measurements=energy.size,
        energy=mean(energy),
        specific_heat=estimate(lambda x, square: heat * (square - x**2), centred, centred**2),
        magnetisation=mean(np.sqrt(squares)),
        squared_magnetisation=mean(improved),
        susceptibility=mean(improved, per_component),
        binder_ratio=estimate(lambda square, fourth: fourth / square**2, squares, squares**2),
        helicity_modulus=mean(series.helicity_modulus.mean(axis=-1)) if twisted else None,
        vortices=mean(series.vortices / sites) if "vortices" in names else None,
        energy_time=energy_time,
        magnetisation_time=magnetisation_time,
        enough=are_enough(len(energy), by_name),
        doubts=doubts_of(told, by_name),
    )
