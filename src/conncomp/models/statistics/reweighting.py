"""Reweighting: estimates at other inverse temperatures than those of the series.

What: a configuration of energy E that was drawn at beta_k counts at beta by
exp(-beta E) / sum over k of N_k exp(f_k - beta_k E). How: with one beta f drops out; with several
the f_k are those of the multistate Bennett acceptance ratio, which pymbar finds. Errors are by
jackknife over bins of all runs at once. Cost: a solution for each bin, which begins at that of all.

Runs that share no energies do not tell what f_k - f_l is. A first f_k comes from Bennett's ratio of
run k to all at lower betas, which gives each measurement a probability to be of run k. With p, that
to be of a run below a gap between betas, the sum of p (1 - p) says how many are shared across it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from conncomp._arguments import check_range, shown
from conncomp._optional import optional
from conncomp.models._arguments import as_numbers, check_callable, finite, real_numbers
from conncomp.models.protocol import Floats

# Of Gaussian energies, means between two runs are off by 2.1 errors, root mean square, where one
# measurement is shared, and by 1.2 where four are.
LEAST_SHARED = 4
LARGEST_EXPONENT = 1e12  # logarithms of larger weights are off by more than 1e-4


class Reweighted(NamedTuple):
    """Estimates at each inverse temperature: see `reweight`.

    Attributes
    ----------
    beta, value, error : ndarray of float64
    effective : ndarray of float64
        How many measurements count, (sum of weights)^2 / sum of squared weights: where that is a
        small share of all, `beta` is too far away from the runs.
    """

    beta: Floats
    value: Floats
    error: Floats
    effective: Floats


def reweight(
    function: Callable[..., Any],
    *series: ArrayLike,
    energy: ArrayLike,
    beta: ArrayLike,
    at: ArrayLike,
    bins: int = 20,
) -> Reweighted:
    """Estimate a function of means at other inverse temperatures than those of the runs.

    Of runs at several inverse temperatures, neighbours must have energies in common; without that,
    a ValueError says so. Each measurement of a run takes 24 bytes of memory for each value of `at`
    or, where that is more, 100 for each run and another 100: 100,000 rows of 8 runs take 700 MB.

    Parameters
    ----------
    function : callable
        Of the means of the series, as `jackknife` takes it.
    *series : array_like, shape (rows,) or (rows, runs)
        What was measured, in equilibrium.
    energy : array_like, of the same shape
        The energy of the whole lattice in the same moments.
    beta : float or array_like of float, shape (runs,)
        The inverse temperatures of the runs. Those of several need pymbar, which the extra
        ``analysis`` brings.
    at : float or array_like of float
        The inverse temperatures that are asked for.
    bins : int, optional
        How many bins each run is cut into, for errors, each many autocorrelation times long. Rows
        at the beginning that do not fill a bin are in none.

    References
    ----------
    A. M. Ferrenberg, R. H. Swendsen, Phys. Rev. Lett. 61, 2635 (1988) and 63, 1195 (1989).

    C. H. Bennett, J. Comput. Phys. 22, 245 (1976).

    M. R. Shirts, J. D. Chodera, J. Chem. Phys. 129, 124105 (2008).

    Examples
    --------
    >>> from conncomp.models import Ising, reweight
    >>> model = Ising(8, temperature=2.4, seed=1)
    >>> run = model.swendsen_wang(4000)
    >>> near = reweight(lambda mean: mean, run.energy, energy=run.energy, beta=1 / 2.4, at=1 / 2.3)
    >>> exact = Ising(8, temperature=2.3, seed=2).swendsen_wang(4000).energy.mean()
    >>> bool(abs(near.value[0] - exact) < 6 * near.error[0])
    True
    """
    check_callable("function", function, "of means, such as lambda mean: mean")
    energies = _as_runs("energy", energy)
    values = np.stack([_as_runs("series", each) for each in series]) if series else None
    if values is None or values.shape[1:] != energies.shape:
        raise ValueError(
            f"series must be one or more, of the shape of energy, {np.shape(energy)}; each has "
            "what was measured with that energy"
        )
    betas, wanted = _betas("beta", beta), _betas("at", at)
    if betas.shape != (energies.shape[1],):
        raise ValueError(
            f"beta has {len(betas)} values; there must be one for each of {energies.shape[1]} runs"
        )
    if len(energies) < 2:
        raise ValueError(f"energy has {len(energies)} row; errors need two or more")
    count = check_range("bins", bins, 2, len(energies))
    length = len(energies) // count
    kept = slice(len(energies) - count * length, None)
    energies, values = energies[kept], values[:, kept]
    # Of the same order, so that exponentials stay in range.
    with np.errstate(over="ignore", invalid="ignore"):
        energies = energies - energies.mean()
    for name, numbers, given in (("beta", betas, beta), ("at", wanted, at)):
        _check_exponents(name, numbers, given, energies)
    free, several = np.zeros(len(betas)), len(np.unique(betas)) > 1
    if several:
        near = _near_free_energies(energies, betas)
        _check_overlap(energies, betas, near)
        free = _free_energies(energies, betas, near)
    value, effective = _means(function, values, energies, betas, free, wanted)
    left_out = np.empty((count, len(wanted)))
    for k in range(count):
        others = np.ones(count * length, bool)
        others[k * length : (k + 1) * length] = False
        of_bin = _free_energies(energies[others], betas, free) if several else free
        kept_values, kept_energies = values[:, others], energies[others]
        left_out[k], _ = _means(function, kept_values, kept_energies, betas, of_bin, wanted)
    return Reweighted(wanted, value, np.sqrt((count - 1) * left_out.var(axis=0)), effective)


def _free_energies(energies: Floats, betas: Floats, near: Floats) -> Floats:
    """Return beta times the free energy of each run, but for a constant, given what it is near."""
    mbar = _pymbar().MBAR(
        betas[:, None] * energies.T.reshape(-1),
        np.full(len(betas), len(energies)),
        initial_f_k=near,
        solver_protocol="robust",
        # Newton's steps take a dozen; who is not done by then stands still in the last digits.
        maximum_iterations=200,
    )
    return np.asarray(mbar.f_k, np.float64)


def _pymbar() -> Any:
    """Return the module, without its recommendation of another library when it is imported."""
    logger = logging.getLogger("pymbar")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        return optional("pymbar")
    finally:
        logger.setLevel(level)


def _near_free_energies(energies: Floats, betas: Floats) -> Floats:
    """Return free energies by which each run and those below have as many measurements as rows."""
    from scipy.optimize import brentq
    from scipy.special import expit

    order = np.argsort(betas, kind="stable")
    flat, rows, free = energies[:, order].T.reshape(-1), len(energies), np.zeros(len(betas))
    lower = -betas[order[0]] * flat
    for k, run in enumerate(order[1:], start=2):
        own = -betas[run] * flat
        equal = (lower - own)[: k * rows]

        def excess(free_energy: float, equal: Floats = equal) -> float:
            return float(expit(free_energy - equal).sum()) - rows

        # At either end all or none are of the run, up to exp(-50).
        free[run] = brentq(excess, equal.min() - 50, equal.max() + 50)
        lower = np.logaddexp(lower, free[run] + own)
    return free


def _check_overlap(energies: Floats, betas: Floats, free: Floats) -> None:
    """Raise if runs at neighbouring inverse temperatures have too few energies in common."""
    order = np.argsort(betas, kind="stable")
    ordered = betas[order]
    logarithms = (free[:, None] - betas[:, None] * energies.reshape(-1))[order]
    below = np.exp(logarithms - np.logaddexp.reduce(logarithms, axis=0)).cumsum(axis=0)[:-1]
    shared = (below * (1 - below)).sum(axis=1)
    for k in np.flatnonzero((shared < LEAST_SHARED) & (np.diff(ordered) > 0)):
        raise ValueError(
            f"runs at beta={ordered[k]:.6g} and {ordered[k + 1]:.6g} have too few energies in "
            f"common: they share {max(float(shared[k]), 0):.2g} measurements, and must share "
            f"{LEAST_SHARED}; give runs between them, or longer ones"
        )


def _check_exponents(name: str, betas: Floats, given: ArrayLike, energies: Floats) -> None:
    """Raise if an inverse temperature times an energy is too large for an exponent."""
    largest, reach = abs(betas).max(initial=0), abs(energies).max()
    with np.errstate(over="ignore", invalid="ignore"):
        product = largest * reach
    if not product <= LARGEST_EXPONENT:
        raise ValueError(
            f"{name}={shown(given)} is too large for energies that are {reach:.3g} from their "
            f"mean: the product must be {LARGEST_EXPONENT:g} or less; give energies and inverse "
            "temperatures in other units, or nearer ones"
        )


def _means(
    function: Any, values: Floats, energies: Floats, betas: Floats, free: Floats, wanted: Floats
) -> tuple[Floats, Floats]:
    """Return the function of means at each wanted beta, and how many measurements count there."""
    flat = energies.reshape(-1)
    drawn = np.logaddexp.reduce(free[:, None] - betas[:, None] * flat, axis=0)
    logarithms = -wanted[:, None] * flat - drawn
    weights = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    total = weights.sum(axis=1)
    means = values.reshape(len(values), -1) @ weights.T / total
    found = np.array([float(function(*column)) for column in means.T])
    return found, total**2 / (weights**2).sum(axis=1)


def _as_runs(name: str, given: ArrayLike) -> Floats:
    array = real_numbers(name, given, "biuf")
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}; it must be (rows,) or (rows, runs)")
    return finite(name, array).reshape(len(array), -1)


def _betas(name: str, given: ArrayLike) -> Floats:
    betas = as_numbers(name, given).reshape(-1)
    if not np.isfinite(betas).all():
        raise ValueError(f"{name}={shown(given)} must be finite")
    return betas
