"""Parallel tempering: replicas that exchange their temperatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import check_range, shown
from conncomp.generate.random import MASK, philox
from conncomp.models._probabilities import CERTAIN
from conncomp.models.potts.measurements import SATISFIED, Measurements, record_length
from conncomp.models.potts.model import Potts
from conncomp.models.protocol import MOST_UPDATES

# Of ``kernels/core/spins.h``.
EXCHANGE, REPLICA_SHIFT = 6, 40


@dataclass(frozen=True)
class Tempering:
    """What `parallel_tempering` returns; temperatures are in order of `beta`, ascending.

    Attributes
    ----------
    series : Measurements
        Of shape (rounds, temperatures).
    beta : ndarray of float64, shape (temperatures,)
        The inverse temperatures.
    replicas : ndarray of int64, shape (rounds, temperatures)
        Which replica was measured at each temperature.
    acceptance : ndarray of float64, shape (temperatures - 1,)
        The share of exchanges with the next temperature that were accepted; NaN if none was tried.
    """

    series: Measurements
    beta: NDArray[np.float64]
    replicas: NDArray[np.int64]
    acceptance: NDArray[np.float64]


def parallel_tempering(
    model: Potts,
    rounds: int,
    *,
    sweeps_between: int = 1,
    update: str = "swendsen-wang",
    tile: int | Sequence[int] | None = None,
    p_flip: float | None = None,
) -> Tempering:
    """Update replicas, and exchange the temperatures of neighbouring ones now and then.

    A round is `sweeps_between` updates, a measurement of the spins after them, and then exchanges:
    of the temperatures 0 and 1, 2 and 3, ... in one round and 1 and 2, 3 and 4, ... in the next.
    Two replicas exchange with probability min(1, exp((beta_1 - beta_2)(E_1 - E_2))) [1]_, so that
    each of them visits all temperatures, and the spins at each have the distribution that belongs
    to it.

    Exchanges are no updates of the model. One draws by the number of the update before it.
    The temperatures stay where they are at the end: `Potts.beta` then has them in another order,
    and another call goes on from there as if it were the same call, if `sweeps_between` is the
    same. As replicas depend on each other, one that runs alone differs.

    Parameters
    ----------
    model : Potts
        With replicas, each with a temperature.
    rounds : int
    sweeps_between : int, optional
        How many updates there are in a round.
    update : {"swendsen-wang", "wolff", "few-cluster", "metropolis"}, optional
    tile, p_flip : optional
        Of "few-cluster", as `Potts.few_cluster` takes them.

    Returns
    -------
    Tempering

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of its range.

    References
    ----------
    .. [1] K. Hukushima, K. Nemoto, J. Phys. Soc. Jpn. 65, 1604 (1996).

    Examples
    --------
    >>> from conncomp.models import Potts, parallel_tempering
    >>> model = Potts((8, 8), beta=[0.7, 0.8, 0.9], replicas=3, seed=1)
    >>> tempering = parallel_tempering(model, 100, update="metropolis")
    >>> tempering.series.energy.shape
    (100, 3)
    >>> bool((tempering.acceptance > 0.2).all())
    True
    """
    if not isinstance(model, Potts):
        raise TypeError(f"model={shown(model)} must be a Potts model")
    if model.replicas < 2:
        raise ValueError("model has one replica; there must be two or more to exchange")
    most = MOST_UPDATES - model.updates
    count = check_range("rounds", rounds, 1, most)
    between = check_range("sweeps_between", sweeps_between, 1, most // count)
    temperatures = model.replicas
    records = np.empty((count, temperatures, record_length(model.lattice)), np.int64)
    replicas = np.empty((count, temperatures), np.int64)
    tried, accepted = np.zeros((2, temperatures - 1), np.int64)
    for number in range(count):
        # As betas change, so do the probabilities of bonds.
        change = model.updater(update=update, tile=tile, p_flip=p_flip)
        for _ in range(between):
            change(model.updates + 1)
        order = np.argsort(model._betas, kind="stable")
        replicas[number], records[number] = order, model._present()[order]
        first = (model.updates // between + 1) % 2
        pairs = np.arange(first, temperatures - 1, 2)
        exchanged = _accepts(model, pairs, order, records[number, :, SATISFIED])
        _exchange(model, order, pairs[exchanged])
        tried[pairs] += 1
        accepted[pairs[exchanged]] += 1
    series = Measurements(records, model.lattice, model.coupling, False)
    with np.errstate(invalid="ignore"):
        acceptance = np.where(tried > 0, accepted / tried, nan)
    return Tempering(series, np.sort(model._betas), replicas, acceptance)


def _accepts(
    model: Potts, pairs: NDArray[np.int64], order: NDArray[np.int64], satisfied: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which of the temperatures `pairs` exchange with the next, colder ones."""
    betas = model._betas[order]
    colder = pairs + 1
    # Of beta E, where the energy is minus the coupling for each satisfied bond.
    lost = (betas[colder] - betas[pairs]) * (satisfied[colder] - satisfied[pairs]) * model.coupling
    index = colder.astype(np.uint64) | np.uint64(model.first_replica << REPLICA_SHIFT)
    low, high, _, _ = philox(model.seed, (index & MASK, index >> 32, model.updates, EXCHANGE))
    probability = np.ldexp(np.exp(-np.maximum(lost, 0)), 64)
    certain = probability >= CERTAIN
    uncertain = np.where(certain, 0, probability).astype(np.uint64)
    return np.asarray(certain | ((low | high << 32) < uncertain))


def _exchange(model: Potts, order: NDArray[np.int64], pairs: NDArray[np.int64]) -> None:
    betas = model._betas.copy()
    warmer, colder = order[pairs], order[pairs + 1]
    betas[warmer], betas[colder] = betas[colder], betas[warmer]
    model._betas = betas
