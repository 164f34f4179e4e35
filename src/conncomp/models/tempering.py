"""Parallel tempering: replicas that exchange their temperatures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import check_range, shown
from conncomp.generate.random import MASK, philox
from conncomp.models._probabilities import CERTAIN
from conncomp.models.protocol import MOST_UPDATES, Series

# Of ``kernels/core/spins.h``.
EXCHANGE, REPLICA_SHIFT = 6, 40


# The field of a record that the energy is proportional to, but for a constant.
LEVEL = 0


@runtime_checkable
class Tempered(Protocol):
    """A model whose replicas have temperatures that they can exchange."""

    updates: int
    replicas: int
    first_replica: int
    seed: int
    _betas: NDArray[np.float64]

    def updater(self, **options: Any) -> Any: ...  # noqa: D102

    def _present(self) -> NDArray[np.int64]: ...

    def _ladders(self) -> NDArray[np.int64]:
        """Return which replicas exchange with each other, a row each, of ascending beta."""

    def _energy_unit(self) -> Any:
        """Return by what a level is multiplied in the energy, of all or of each replica."""

    def _read_in_order(self, records: NDArray[np.int64], ladders: NDArray[np.int64]) -> Any:
        """Return what was measured, of records of replicas in the order of ladders."""


@dataclass(frozen=True)
class Tempering:
    """What `parallel_tempering` returns; temperatures are in order of ``beta``, ascending.

    Of a model with several ladders, those replicas that exchange, there are as many temperatures
    in each; one ladder follows the other.

    Attributes
    ----------
    series : Measurements or GlassMeasurements
        Of shape (rounds, ladders * temperatures).
    beta : ndarray of float64, shape (ladders * temperatures,)
        The inverse temperatures.
    replicas : ndarray of int64, shape (rounds, ladders * temperatures)
        Which replica was measured at each temperature.
    acceptance : ndarray of float64, shape (temperatures - 1,)
        The share of exchanges with the next temperature that were accepted; NaN if none was tried.
    """

    series: Any
    beta: NDArray[np.float64]
    replicas: NDArray[np.int64]
    acceptance: NDArray[np.float64]


def parallel_tempering(
    model: Tempered,
    rounds: int,
    *,
    sweeps_between: int = 1,
    watch: Callable[[Any], object] | None = None,
    **options: Any,
) -> Tempering:
    """Update replicas, and exchange the temperatures of neighbouring ones now and then.

    A round is `sweeps_between` updates, a measurement of the spins after them, and then exchanges:
    of the temperatures 0 and 1, 2 and 3, ... in one round and 1 and 2, 3 and 4, ... in the next.
    Two replicas exchange with probability min(1, exp((beta_1 - beta_2)(E_1 - E_2))) [1]_, so that
    each of them visits all temperatures, and the spins at each have the distribution that belongs
    to it. Of a `SpinGlass` those replicas exchange that belong to one sample and one of the copies.

    Exchanges are no updates of the model. One draws by the number of the update before it.
    The temperatures stay where they are at the end: ``beta`` of the model then has them in another
    order, and another call goes on from there as if it were the same call, if `sweeps_between` is
    the same. As replicas depend on each other, one that runs alone differs.

    Parameters
    ----------
    model : Potts, Ising, XY, Heisenberg or SpinGlass
        With replicas, each with a temperature.
    rounds : int
    sweeps_between : int, optional
        How many updates there are in a round.
    watch : callable, optional
        Called with the model in each round, after its updates and before exchanges.
    **options
        Of the updates, as `Potts.updater`, `Ising.updater`, `XY.updater` and `SpinGlass.updater`
        take them: ``update``, ``houdayer`` and others.

    Returns
    -------
    Tempering

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of its range; if replicas of a `SpinGlass` that
        exchange have one temperature twice, or other ones than those of another ladder.

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
    if not isinstance(model, Tempered):
        raise TypeError(
            f"model={shown(model)} must be a Potts, Ising, XY or Heisenberg model, or a SpinGlass"
        )
    ladders = model._ladders()
    temperatures = ladders.shape[1]
    if model.replicas < 2 or temperatures < 2:
        raise ValueError("model has one replica; there must be two or more to exchange")
    most = MOST_UPDATES - model.updates
    count = check_range("rounds", rounds, 1, most)
    between = check_range("sweeps_between", sweeps_between, 1, most // count)
    replicas = np.empty((count, model.replicas), np.int64)
    records: list[NDArray[np.int64]] = []
    tried, accepted = np.zeros((2, temperatures - 1), np.int64)
    for number in range(count):
        # As betas change, so do the probabilities of bonds.
        change = model.updater(**options)
        for _ in range(between):
            change(model.updates + 1)
        if watch is not None:
            watch(model)
        ladders, present = model._ladders(), model._present()
        replicas[number] = ladders.reshape(-1)
        records.append(present[replicas[number]])
        first = (model.updates // between + 1) % 2
        pairs = np.arange(first, temperatures - 1, 2)
        for order in ladders:
            exchanged = _accepts(model, pairs, order, present[:, LEVEL])
            _exchange(model, order, pairs[exchanged])
            tried[pairs] += 1
            accepted[pairs[exchanged]] += 1
    series: Series = model._read_in_order(np.stack(records), ladders)
    with np.errstate(invalid="ignore"):
        acceptance = np.where(tried > 0, accepted / tried, nan)
    return Tempering(series, model._betas[model._ladders()].reshape(-1), replicas, acceptance)


def _accepts(
    model: Tempered, pairs: NDArray[np.int64], order: NDArray[np.int64], levels: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which of the temperatures `pairs` exchange with the next, colder ones."""
    betas = model._betas[order]
    colder = pairs + 1
    ladder, unit = model.first_replica + int(order.min()), model._energy_unit()
    if np.ndim(unit) > 0:
        unit = unit[order[0]]  # one of a ladder
    lost = (betas[colder] - betas[pairs]) * (levels[order[colder]] - levels[order[pairs]]) * -unit
    index = colder.astype(np.uint64) | np.uint64(ladder << REPLICA_SHIFT)
    low, high, _, _ = philox(model.seed, (index & MASK, index >> 32, model.updates, EXCHANGE))
    probability = np.ldexp(np.exp(-np.maximum(lost, 0)), 64)
    certain = probability >= CERTAIN
    uncertain = np.where(certain, 0, probability).astype(np.uint64)
    return np.asarray(certain | ((low | high << 32) < uncertain))


def _exchange(model: Tempered, order: NDArray[np.int64], pairs: NDArray[np.int64]) -> None:
    betas = model._betas.copy()
    warmer, colder = order[pairs], order[pairs + 1]
    betas[warmer], betas[colder] = betas[colder], betas[warmer]
    model._betas = betas
