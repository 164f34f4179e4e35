"""The identity of Katzgraber and Young, which tells whether a Gaussian glass is in equilibrium."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import check_range
from conncomp._arrays import as_numpy, check_kind
from conncomp.models._arguments import check_not_negative, check_positive
from conncomp.models.spin_glass.disorder import OverlapSummary, with_identity
from conncomp.models.spin_glass.rounds import GlassSeries
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


def with_identities(
    series: GlassSeries, parameters: Mapping[str, Any], summaries: list[OverlapSummary]
) -> list[OverlapSummary]:
    """Return summaries of all temperatures with what the identity leaves, where there is one."""
    samples = parameters["samples"]
    gaussian = parameters["couplings"] == "gaussian" and not parameters["dilution"]
    if not gaussian or "field" in parameters or samples < 2:
        return summaries
    places = samples, len(summaries), -1
    energies = series.energy.mean(axis=0).reshape(places).mean(axis=2)
    links = series.link_overlap.mean(axis=0).reshape(places).mean(axis=2)
    completed = []
    for k, summary in enumerate(summaries):
        known: dict[str, Any] = {"beta": summary.beta, "bonds": series.lattice.bonds}
        off = katzgraber_young(energies[:, k], links[:, k], **known)
        completed.append(with_identity(summary, off))
    return completed


def _of_samples(name: str, given: ArrayLike) -> NDArray[np.float64]:
    array = as_numpy(given, name)
    check_kind(array, "iuf", given, name, "of real numbers")
    if array.ndim != 1 or len(array) < 2:
        raise ValueError(f"{name} has shape {array.shape}; it must be of two samples or more")
    values = array.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"{name} has numbers that are not finite")
    return values
