"""How overlaps of spin glasses are distributed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import check_range, shown
from conncomp.models._arguments import check_not_negative
from conncomp.models.spin_glass.pairs import Overlaps, as_overlaps


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
