"""What tells whether a spin glass is in equilibrium, and how its overlaps are distributed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_sequence, check_range, shown
from conncomp._arrays import as_numpy, check_kind
from conncomp.models._arguments import check_not_negative, check_positive
from conncomp.models.spin_glass.pairs import Overlaps
from conncomp.models.statistics import Estimate


def katzgraber_young(
    energy: ArrayLike, link_overlap: ArrayLike, *, beta: float, bonds: int, variance: float = 1.0
) -> Estimate:
    """Return the energy a bond less what the link overlap says it is, 0 in equilibrium.

    With Gaussian couplings of mean 0, integration by parts gives [E] = -beta J^2 N_b (1 - [q_l]).
    From random spins the energy comes from above and the link overlap from below, so the
    difference falls to 0 from above.

    Parameters
    ----------
    energy : array_like, shape (samples,)
        The mean energy of the lattice of each sample.
    link_overlap : array_like, shape (samples,)
        The mean link overlap of two replicas of each sample.
    beta : float
    bonds : int
        How many bonds the lattice has.
    variance : float, optional
        J^2, of the couplings.

    Returns
    -------
    Estimate
        Of the mean over samples.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, or out of its range; if there are fewer than two
        samples.

    References
    ----------
    H. G. Katzgraber, M. Palassini, A. P. Young, Phys. Rev. B 63, 184422 (2001).

    Examples
    --------
    >>> from conncomp.models import SpinGlass, katzgraber_young
    >>> glass = SpinGlass((4, 4), "gaussian", beta=0.5, samples=200, copies=2, seed=1)
    >>> energies, links = 0, 0
    >>> for _ in range(50):
    ...     glass.step(4)
    ...     energies = energies + glass.energy().reshape(200, 2).mean(axis=1) / 50
    ...     links = links + glass.overlaps().link_overlap / 50
    >>> off = katzgraber_young(energies, links, beta=0.5, bonds=32)
    >>> abs(off.value) < 5 * off.error < 0.1
    True
    """
    of_samples = [_of_samples("energy", energy), _of_samples("link_overlap", link_overlap)]
    if of_samples[0].shape != of_samples[1].shape:
        raise ValueError(
            f"energy is of {len(of_samples[0])} samples, link_overlap of {len(of_samples[1])}"
        )
    number = check_range("bonds", bonds, 1, 1 << 62)
    strength = check_not_negative("beta", beta) * check_positive("variance", variance)
    apart = of_samples[0] / number + strength * (1 - of_samples[1])
    return Estimate(float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart))))


class OverlapDistribution(NamedTuple):
    """How overlaps are distributed: see `overlap_distribution`.

    Attributes
    ----------
    edges : ndarray of float64, shape (bins + 1,)
    density, error : ndarray of float64, shape (bins,)
        P(q), of which the integral is 1, and the error of independent samples.
    """

    edges: NDArray[np.float64]
    density: NDArray[np.float64]
    error: NDArray[np.float64]


def overlap_distribution(
    measured: Sequence[Overlaps], beta: float, *, bins: int = 40
) -> OverlapDistribution:
    """Return P(q), the distribution of the overlap at one temperature, averaged over samples.

    Parameters
    ----------
    measured : sequence of Overlaps
        In equilibrium, as `SpinGlass.overlaps` returned them.
    beta : float
        Which of their inverse temperatures; the nearest one, to nine digits.
    bins : int, optional
        Of equal width, from -1 to 1.

    Returns
    -------
    OverlapDistribution
        Errors are NaN of a single sample.

    Raises
    ------
    TypeError, ValueError
        If nothing was measured, or not at this temperature, or `bins` is out of its range.

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
    moments = as_sequence("measured", measured)
    if not len(moments):
        raise ValueError("measured is empty; give the overlaps of one moment or more")
    for each in moments:
        if not isinstance(each, Overlaps):
            raise TypeError(f"measured has {shown(each)}; it must be of SpinGlass.overlaps")
    count = check_range("bins", bins, 1, 1 << 20)
    value = check_not_negative("beta", beta)
    samples, overlaps = [], []
    for each in moments:
        chosen = np.isclose(each.beta, value, rtol=1e-9, atol=0)
        samples.append(each.sample[chosen])
        overlaps.append(each.overlap[chosen])
    of_all, q = np.concatenate(samples), np.concatenate(overlaps)
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


def _of_samples(name: str, given: ArrayLike) -> NDArray[np.float64]:
    array = as_numpy(given, name)
    check_kind(array, "iuf", given, name, "of real numbers")
    if array.ndim != 1 or len(array) < 2:
        raise ValueError(f"{name} has shape {array.shape}; it must be of two samples or more")
    values = array.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"{name} has numbers that are not finite")
    return values
