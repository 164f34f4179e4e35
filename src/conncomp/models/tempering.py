"""Parallel tempering: replicas that exchange their temperatures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_bool, check_range, shown
from conncomp.models._arguments import check_callable
from conncomp.models.observables.observing import observing
from conncomp.models.protocol import MOST_UPDATES, Integers, make_updates
from conncomp.models.thermal import LEVEL, Thermal, exchange, places_as_given


@dataclass(frozen=True)
class Tempering:
    """The result of `parallel_tempering`; temperatures are in the order in which they were given.

    Of several ladders, of replicas that exchange, one follows the other; all have as many
    temperatures, in the order of the first one.

    Attributes
    ----------
    series : Measurements or GlassMeasurements
        Of shape (rounds, ladders * temperatures).
    beta : ndarray of float64, shape (ladders * temperatures,)
        The inverse temperatures.
    replicas : ndarray of int64, shape (rounds, ladders * temperatures)
        Which replica was measured at each temperature.
    acceptance : ndarray of float64, shape (temperatures - 1,)
        The share of exchanges of neighbouring temperatures that were accepted; NaN if none was
        tried. Neighbours are in the order of their first one in `beta`, then of the second: of
        ascending or descending temperatures number k is of columns k and k + 1.
    """

    series: Any
    beta: NDArray[np.float64]
    replicas: Integers
    acceptance: NDArray[np.float64]


def parallel_tempering(
    model: Thermal[Any],
    rounds: int,
    *,
    sweeps_between: int = 1,
    watch: Callable[[Any], object] | None = None,
    **options: Any,
) -> Tempering:
    """Update replicas, and exchange the temperatures of neighbours now and then: a `Tempering`.

    A round is `sweeps_between` updates, a measurement of the spins after them, and then exchanges:
    of the temperatures 0 and 1, 2 and 3, ... in one round and 1 and 2, 3 and 4, ... in the next,
    numbered from the highest one on. Two replicas exchange with probability
    min(1, exp((beta_1 - beta_2)(E_1 - E_2))) [1]_, so that each of them visits all temperatures,
    and the spins at each have the distribution that belongs to it. Of a `SpinGlass` those replicas
    exchange that belong to one sample and one of the copies, whose temperatures must differ, and be
    the same in all samples and copies.

    Exchanges are no updates of the model; they draw by the number of the update before. ``beta`` of
    the model has the temperatures in another order in the end, and another call with the same
    `sweeps_between` goes on as if it were the same call. As replicas depend on each other, one that
    runs alone differs.

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
        Those of the model's ``updater``, such as ``update`` or ``houdayer``. Sizes of clusters are
        not measured.

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
    if not isinstance(model, Thermal):
        raise TypeError(
            f"model={shown(model)} must be a Potts, Ising, XY or Heisenberg model, or a SpinGlass"
        )
    ladders = model._ladders()
    temperatures, places = ladders.shape[1], places_as_given(model)
    if model.replicas < 2 or temperatures < 2:
        raise ValueError("model has one replica; there must be two or more to exchange")
    most = MOST_UPDATES - model.updates
    count = check_range("rounds", rounds, 1, most)
    between = check_range("sweeps_between", sweeps_between, 1, most // count)
    model.updater(**options)
    if options.get("clusters") and not options.get("observe"):
        raise ValueError(
            "clusters=True is measured in updates, and a round measures the state after them; "
            "leave it out, or observe='structure' with it, for an improved estimator"
        )
    if watch is not None:
        check_callable("watch", watch, "that takes the model")
    replicas = np.empty((count, model.replicas), np.int64)
    records: list[Integers] = []
    tried, accepted = np.zeros((2, temperatures - 1), np.int64)
    change = _tempered_update(model, options)
    for number in range(count):
        make_updates(change, range(model.updates + 1, model.updates + 1 + between))
        if watch is not None:
            watch(model)
        ladders, present = model._ladders(), change.present()
        replicas[number] = ladders[:, places].reshape(-1)
        records.append(present[replicas[number]])
        pairs, exchanged = exchange(model, ladders, present[:, LEVEL], between)
        tried[pairs] += len(ladders)
        accepted[pairs] += exchanged.sum(axis=0)
    ladders = model._ladders()[:, places]
    series = change.of_ladders(np.stack(records), ladders)
    columns = np.argsort(places)
    both = np.sort([columns[:-1], columns[1:]], axis=0)
    with np.errstate(invalid="ignore"):
        acceptance = np.where(tried > 0, accepted / tried, nan)[np.lexsort(both[::-1])]
    return Tempering(series, model._state.betas[ladders].reshape(-1), replicas, acceptance)


def _tempered_update(model: Thermal[Any], options: dict[str, Any]) -> Any:
    """Return updates whose present state tells how clusters wrap, even of Potts' words."""
    if not options.get("wrapping"):
        return model.updater(**options)
    others = {name: value for name, value in options.items() if name not in ("observe", "wrapping")}
    clusters = as_bool("clusters", options.get("clusters", False))
    update: Any = model.updater(**others)  # of spins, as a `SpinGlass` has no wrapping
    return observing(update, options.get("observe", ()), clusters=clusters, wrapping=True)
