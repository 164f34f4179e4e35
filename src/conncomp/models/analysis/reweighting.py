"""Reweighting: what series at some inverse temperatures say of others near them.

What: a configuration of energy E that was drawn at beta_k counts at beta by
exp(-beta E) / sum over k of N_k exp(f_k - beta_k E). How: with one beta f drops out; with several
the f_k are those of the multistate Bennett acceptance ratio, which pymbar finds. Errors are by
jackknife over bins of all runs at once. Cost: a solution for each bin, which begins at that of all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import check_range, shown
from conncomp._arrays import as_numpy, check_kind
from conncomp._optional import optional
from conncomp.models._arguments import as_numbers


class Reweighted(NamedTuple):
    """What was found at each inverse temperature: see `reweight`.

    Attributes
    ----------
    beta, value, error : ndarray of float64
    effective : ndarray of float64
        How many measurements count, (sum of weights)^2 / sum of squared weights: where that is a
        small share of all, `beta` is too far away from the runs.
    """

    beta: NDArray[np.float64]
    value: NDArray[np.float64]
    error: NDArray[np.float64]
    effective: NDArray[np.float64]


def reweight(
    function: Callable[..., Any],
    *series: ArrayLike,
    energy: ArrayLike,
    beta: ArrayLike,
    at: ArrayLike,
    bins: int = 20,
) -> Reweighted:
    """Estimate a function of means at other inverse temperatures than those of the runs.

    Parameters
    ----------
    function : callable
        Of the means of the series, as `jackknife` takes it.
    *series : array_like, shape (rows,) or (rows, runs)
        What was measured, in equilibrium.
    energy : array_like, of the same shape
        The energy of the whole lattice in the same moments.
    beta : float or array_like of float, shape (runs,)
        The inverse temperatures of the runs. Those of several need the extra ``analysis``.
    at : float or array_like of float
        The inverse temperatures that are asked for.
    bins : int, optional
        How many bins each run is cut into, for errors: each is to be many autocorrelation times
        long. Rows at the beginning that do not fill a bin are in none.

    Returns
    -------
    Reweighted

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, or out of its range.
    ImportError
        If pymbar is missing, for several inverse temperatures.

    References
    ----------
    A. M. Ferrenberg, R. H. Swendsen, Phys. Rev. Lett. 61, 2635 (1988) and 63, 1195 (1989).

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
    count = check_range("bins", bins, 2, len(energies))
    length = len(energies) // count
    kept = slice(len(energies) - count * length, None)
    energies, values = energies[kept], values[:, kept]
    # Of the same order, so that exponentials stay in range.
    energies = energies - energies.mean()
    free = _free_energies(energies, betas, None)
    value, effective = _means(function, values, energies, betas, free, wanted)
    left_out = np.empty((count, len(wanted)))
    for k in range(count):
        others = np.ones(count * length, bool)
        others[k * length : (k + 1) * length] = False
        of_bin = _free_energies(energies[others], betas, free)
        part = values[:, others], energies[others]
        left_out[k], _ = _means(function, *part, betas, of_bin, wanted)
    error = np.sqrt((count - 1) * left_out.var(axis=0))
    return Reweighted(wanted, value, error, effective)


def _free_energies(
    energies: NDArray[np.float64], betas: NDArray[np.float64], near: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return beta times the free energy of each run, but for a constant."""
    if len(np.unique(betas)) == 1:
        return np.zeros(len(betas))
    # It recommends another library each time that it is imported.
    logging.getLogger("pymbar").setLevel(logging.ERROR)
    mbar = optional("pymbar").MBAR(
        betas[:, None] * energies.T.reshape(-1),
        np.full(len(betas), len(energies)),
        initial_f_k=near,
        solver_protocol="robust",
    )
    return np.asarray(mbar.f_k, np.float64)


def _means(
    function: Callable[..., Any],
    values: NDArray[np.float64],
    energies: NDArray[np.float64],
    betas: NDArray[np.float64],
    free: NDArray[np.float64],
    wanted: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the function of means at each wanted beta, and how many measurements count there."""
    flat = energies.reshape(-1)
    of_runs = free[:, None] - betas[:, None] * flat
    drawn = np.logaddexp.reduce(of_runs, axis=0)
    logarithms = -wanted[:, None] * flat - drawn
    weights = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    total = weights.sum(axis=1)
    means = values.reshape(len(values), -1) @ weights.T / total
    found = np.array([float(function(*column)) for column in means.T])
    return found, total**2 / (weights**2).sum(axis=1)


def _as_runs(name: str, given: ArrayLike) -> NDArray[np.float64]:
    array = as_numpy(given, name)
    check_kind(array, "biuf", given, name, "of real numbers")
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}; it must be (rows,) or (rows, runs)")
    numbers = array.astype(np.float64).reshape(len(array), -1)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} has numbers that are not finite")
    return numbers


def _betas(name: str, given: ArrayLike) -> NDArray[np.float64]:
    betas = as_numbers(name, given).reshape(-1)
    if not np.isfinite(betas).all():
        raise ValueError(f"{name}={shown(given)} must be finite")
    return betas
