"""Means of overlaps over disorder, with errors by jackknife over samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi, prod, sin
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from conncomp._arguments import check_range, shown
from conncomp.models._arguments import (
    check_not_negative,
    check_positive,
    check_shape,
    distinct,
    finite,
    real_numbers,
)
from conncomp.models.protocol import Floats
from conncomp.models.spin_glass.pairs import Overlaps, as_overlaps
from conncomp.models.spin_glass.rounds import GlassSeries
from conncomp.models.statistics.estimates import (
    APART,
    MANY_CHAINS,
    Estimate,
    doubts_of,
    jackknife_by_bins,
)


class OverlapSummary(NamedTuple):
    """The means of the overlaps at one temperature.

    Attributes
    ----------
    beta : float
    samples : int
    squared_overlap : Estimate
        The mean of q^2 over measurements, pairs and samples.
    binder_ratio : Estimate
        (3 - [q^4] / [q^2]^2) / 2: 0 of a normal distribution, 1 of one size.
    link_overlap : Estimate
    correlation_ratio : Estimate
        The correlation length over the longest length L, which does not depend on L at the
        transition: sqrt([N q^2] / [structure] - 1) / (2 sin(pi / L)) / L.
    equilibration_test : Estimate or None
        Of Gaussian couplings and known energies, that of `glass_equilibration_test`: 0 in
        equilibrium.
    doubts : tuple of str
        What speaks against equilibrium, a sentence each, if anything: means over times that double
        and differ, or an identity that does not hold.
    """

    beta: float
    samples: int
    squared_overlap: Estimate
    binder_ratio: Estimate
    link_overlap: Estimate
    correlation_ratio: Estimate
    equilibration_test: Estimate | None = None
    doubts: tuple[str, ...] = ()


def summarise_overlaps(measured: Sequence[Overlaps], shape: Sequence[int]) -> list[OverlapSummary]:
    """Return means over disorder and their errors, for each temperature in order.

    Errors are by jackknife over samples and, of fewer than eight samples, parts of their series.

    Parameters
    ----------
    measured : sequence of Overlaps
        Of one model, in equilibrium, as `SpinGlass.overlaps` returned them, with all temperatures
        of each sample; of one sample as `Overlaps.of_sample` has it.
    shape : sequence of int
        Of the model.

    References
    ----------
    H. G. Katzgraber, M. Koerner, A. P. Young, Phys. Rev. B 73, 224432 (2006).

    Examples
    --------
    >>> from conncomp.models import SpinGlass, summarise_overlaps
    >>> model = SpinGlass((4, 4, 4), "pm", temperature=[1.0, 3.0], samples=20, copies=2, seed=1)
    >>> model.step(100)
    >>> measured = []
    >>> for _ in range(10):
    ...     model.step(5)
    ...     measured.append(model.overlaps())
    >>> cold, hot = summarise_overlaps(measured, (4, 4, 4))
    >>> bool(hot.correlation_ratio.value < cold.correlation_ratio.value)
    True
    """
    measured, lengths = as_overlaps(measured), check_shape(shape)
    axes = measured[0].structure.shape[1]
    if len(lengths) != axes:
        raise ValueError(f"shape={shown(shape)} must have the axes of the model, {axes}")
    # Temperatures are where they were, or exchanged: pairs are always in order of them.
    beta, sample = measured[0].beta, measured[0].sample
    betas, samples = distinct(beta), np.unique(sample)
    of_sample = np.repeat(betas, len(beta) // (len(betas) * len(samples)))
    wanted = np.tile(of_sample, len(samples)), np.repeat(samples, len(of_sample))
    for each in measured:
        if not all(map(np.array_equal, (each.beta, each.sample), wanted)):
            raise ValueError(
                f"measured has {len(each.beta)} pairs; there must be as many at each of "
                f"{len(betas)} temperatures for each of {len(samples)} samples, always the same"
            )

    def series(values: list[Any]) -> Any:
        """Return values as (temperatures, rows, samples), means over pairs."""
        grid = np.stack(values).reshape(len(measured), len(samples), len(betas), -1)
        return grid.mean(axis=3).transpose(2, 0, 1)

    longest, sites = max(lengths), prod(lengths)
    along = [axis for axis, length in enumerate(lengths) if length == longest]
    squares, fourths = (series([each.overlap**k for each in measured]) for k in (2, 4))
    links = series([each.link_overlap for each in measured])
    factors = series([each.structure[:, along].mean(axis=1) for each in measured])

    @np.errstate(divide="ignore", invalid="ignore")
    def estimate(function: Any, *values: Any) -> Estimate:
        return jackknife_by_bins(function, *values, bin_length=len(measured))

    def binder(square: Any, fourth: Any) -> Any:
        return (3 - fourth / square**2) / 2

    def ratio(square: Any, factor: Any) -> Any:
        return np.sqrt(sites * square / factor - 1) / (2 * sin(pi / longest)) / longest

    return [
        OverlapSummary(
            float(betas[k]),
            len(samples),
            estimate(lambda mean: mean, squares[k]),
            estimate(binder, squares[k], fourths[k]),
            estimate(lambda mean: mean, links[k]),
            estimate(ratio, squares[k], factors[k]),
            doubts=doubts_of({"squared overlap": squares[k], "link overlap": links[k]}, {}),
        )
        for k in range(len(betas))
    ]


def with_identity(summary: OverlapSummary, off: Estimate) -> OverlapSummary:
    """Return a summary with what the identity of Katzgraber and Young leaves."""
    doubts = summary.doubts
    # Of few samples the error itself is a guess.
    if summary.samples >= MANY_CHAINS and abs(off.value) > APART * off.error:
        doubts += (
            f"the identity of Katzgraber and Young is off by {off.value:.3g}, "
            f"{abs(off.value) / off.error:.1f} errors; thermalise longer",
        )
    return summary._replace(equilibration_test=off, doubts=doubts)


def glass_equilibration_test(
    energy: ArrayLike, link_overlap: ArrayLike, *, beta: float, bonds: int, variance: float = 1.0
) -> Estimate:
    """Return the mean energy a bond less what the link overlap says it is, 0 in equilibrium.

    With Gaussian couplings of mean 0, integration by parts gives [E] = -beta J^2 N_b (1 - [q_l]).
    From random spins the difference falls to 0 from above.

    Parameters
    ----------
    energy, link_overlap : array_like, shape (samples,)
        Of each sample, the mean energy of the lattice and link overlap of two replicas; of two
        samples or more.
    beta : float
    bonds : int
        How many bonds the lattice has.
    variance : float, optional
        J^2, of the couplings.

    References
    ----------
    H. G. Katzgraber, M. Palassini, A. P. Young, Phys. Rev. B 63, 184422 (2001).

    Examples
    --------
    >>> from conncomp.models import SpinGlass, glass_equilibration_test
    >>> glass = SpinGlass((4, 4), "gaussian", beta=0.5, samples=200, copies=2, seed=1)
    >>> energies, links = 0, 0
    >>> for _ in range(50):
    ...     glass.step(4)
    ...     energies = energies + glass.energy().reshape(200, 2).mean(axis=1) / 50
    ...     links = links + glass.overlaps().link_overlap / 50
    >>> off = glass_equilibration_test(energies, links, beta=0.5, bonds=32)
    >>> abs(off.value) < 5 * off.error < 0.1
    True
    """
    energies, links = _of_samples("energy", energy), _of_samples("link_overlap", link_overlap)
    if energies.shape != links.shape:
        raise ValueError(f"energy is of {len(energies)} samples, link_overlap of {len(links)}")
    number = check_range("bonds", bonds, 1, 1 << 62)
    strength = check_not_negative("beta", beta) * check_positive("variance", variance)
    apart = energies / number + strength * (1 - links)
    return Estimate(float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart))))


def with_identities(
    series: GlassSeries, parameters: Mapping[str, Any], summaries: list[OverlapSummary]
) -> list[OverlapSummary]:
    """Return summaries of all temperatures with what the identity leaves, where there is one."""
    samples = parameters["samples"]
    gaussian = parameters["couplings"] == "gaussian" and not parameters["dilution"]
    if not gaussian or "field" in parameters or samples < 2:
        return summaries
    places, bonds = (samples, len(summaries), -1), series.lattice.bonds
    energies, links = (
        values.mean(axis=0).reshape(places).mean(axis=2).T
        for values in (series.energy, series.link_overlap)
    )
    return [
        with_identity(summary, glass_equilibration_test(*means, beta=summary.beta, bonds=bonds))
        for summary, *means in zip(summaries, energies, links, strict=True)
    ]


def _of_samples(name: str, given: ArrayLike) -> Floats:
    array = real_numbers(name, given)
    if array.ndim != 1 or len(array) < 2:
        raise ValueError(f"{name} has shape {array.shape}; it must be of two samples or more")
    return finite(name, array)


class OverlapDistribution(NamedTuple):
    """The distribution of overlaps: see `overlap_distribution`.

    Attributes
    ----------
    edges : ndarray of float64, shape (bins + 1,)
    density, error : ndarray of float64, shape (bins,)
        P(q), of which the integral is 1, and the error of independent samples.
    """

    edges: Floats
    density: Floats
    error: Floats


def overlap_distribution(
    measured: Sequence[Overlaps], beta: float, *, bins: int = 40
) -> OverlapDistribution:
    """Return P(q), the distribution of the overlap at one temperature, averaged over samples.

    Parameters
    ----------
    measured : sequence of Overlaps
        In equilibrium, as `SpinGlass.overlaps` returned them; of one sample as `Overlaps.of_sample`
        has it.
    beta : float
        Which of their inverse temperatures, to nine digits; others raise ValueError.
    bins : int, optional
        Of equal width, from -1 to 1.

    Returns
    -------
    OverlapDistribution
        Errors are NaN of a single sample.

    Examples
    --------
    >>> from conncomp.models import SpinGlass, overlap_distribution
    >>> glass = SpinGlass((4, 4), "pm", beta=0.2, samples=30, copies=2, seed=1)
    >>> measured = []
    >>> for _ in range(20):
    ...     glass.step(2)
    ...     measured.append(glass.overlaps())
    >>> found = overlap_distribution(measured, 0.2, bins=10)
    >>> round(float(found.density.sum() * 0.2), 9)
    1.0
    """
    moments = as_overlaps(measured)
    count, value = check_range("bins", bins, 1, 1 << 20), check_not_negative("beta", beta)
    near = [(each, np.isclose(each.beta, value, rtol=1e-9, atol=0)) for each in moments]
    of_all = np.concatenate([each.sample[chosen] for each, chosen in near])
    q = np.concatenate([each.overlap[chosen] for each, chosen in near])
    if len(q) == 0:
        known = ", ".join(f"{b:g}" for b in np.unique(moments[0].beta))
        raise ValueError(f"beta={shown(beta)} is none of those that were measured: {known}")
    edges = np.linspace(-1, 1, count + 1)
    numbers, places = np.unique(of_all, return_inverse=True)
    bin_of = np.clip(np.searchsorted(edges, q, side="right") - 1, 0, count - 1)
    counts = np.bincount(places * count + bin_of, minlength=len(numbers) * count)
    of_sample = counts.reshape(len(numbers), count).astype(np.float64)
    density = of_sample / of_sample.sum(axis=1, keepdims=True) * (count / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = density.std(axis=0) / np.sqrt(len(numbers) - 1)
    return OverlapDistribution(edges, density.mean(axis=0), error)
