"""The kinds of updates of models of spins: what changes, and what is asked of an engine.

Engines say what they can do: `winds`, whether they measure how clusters wrap; `rules`, by which
they offer sites other spins; and `sweeps`, what makes many updates at once, or None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_number, check_range, shown
from conncomp.models._arguments import MOST_SITES, as_tuple
from conncomp.models._probabilities import as_fixed_point

LOCAL = "metropolis", "heat-bath"
ON_EDGES = ("swendsen-wang", "wolff", *LOCAL)
OF_VECTORS = "swendsen-wang", "wolff", "metropolis"
UPDATES = ("swendsen-wang", "wolff", "few-cluster", *LOCAL)


class ChosenSites(NamedTuple):
    """Which clusters may flip: those of one chosen site in each tile, with `p_flip` / 2**64."""

    tile: tuple[int, ...]
    p_flip: int


class Flips(NamedTuple):
    """Which clusters flip, what the record gets, and who gets labels; `chosen` is None for all."""

    chosen: ChosenSites | None
    record: Any
    clusters: bool
    wrapping: bool = False
    watch: Callable[[Any], None] | None = None


@dataclass
class SpinUpdate:
    """An update that writes new spins beside the old ones; `measured` is what `_series` takes."""

    model: Any
    options: dict[str, Any]
    measured: tuple[bool, bool, bool]

    def read(self, records: NDArray[np.int64]) -> Any:
        """Return what was measured, of records of shape (rows, replicas, fields)."""
        model = self.model
        return model._series(records[:, 0] if model._single else records, *self.measured)

    def _take_new(self, number: int) -> None:
        """Let the new spins be those after the update of this number: no signal comes between."""
        model = self.model
        model._spins, model._new_spins, model.updates = model._new_spins, model._spins, number


@dataclass
class ClusterUpdate(SpinUpdate):
    """Clusters take other states: all of them, or those of `chosen` sites.

    `sweeps` are the arguments by which `sweeps` of the engine make such updates; None if they
    cannot. With some they are faster for a single one, too.
    """

    chosen: ChosenSites | None
    strengths: Any
    sweeps: dict[str, bool] | None

    def __call__(self, number: int, record: Any = None) -> None:
        """Make the update of this number, and measure into a record unless that is None."""
        model, engine = self.model, self.model._engine
        if self.sweeps and engine.sweeps is not None:
            self.sweep(range(number, number + 1), None if record is None else record[None], 1, 0)
            return
        clusters, _, wrapping = self.measured if record is not None else (False, False, False)
        flips = Flips(self.chosen, record, clusters, wrapping)
        engine.update(model._spins, model._new_spins, number, self.strengths, flips)
        self._take_new(number)

    @property
    def most(self) -> int:
        """How many `sweep` makes at once."""
        sweeps = None if self.sweeps is None else self.model._engine.sweeps
        return 1 if sweeps is None else sweeps.most_updates

    def sweep(self, numbers: range, records: Any, every: int, before: int) -> None:
        """Make up to `most` updates; `before` were made since the last one that measured."""
        model, how = self.model, {"every": every, "before": before, **(self.sweeps or {})}
        model._new_spins[...] = model._spins
        model._engine.sweeps.sweep(model._new_spins, numbers, self.strengths, records, **how)
        self._take_new(numbers[-1])


@dataclass
class LocalUpdate(SpinUpdate):
    """Each site in turn is offered another spin, by a rule of `LOCAL`."""

    engine: Any
    temperatures: Any

    def __call__(self, number: int, record: Any = None) -> None:
        """Make the update of this number, and measure into a record unless that is None."""
        model, engine = self.model, self.model._engine
        if record is not None:
            engine.count(model._spins, record)
        spins, rule = (model._spins, model._new_spins), self.options["update"]
        self.engine.offer(*spins, number, self.temperatures, rule)
        self._take_new(number)


def check_tile(tile: Any, p_flip: Any, shape: tuple[int, ...]) -> ChosenSites:
    """Return which clusters "few-cluster" may flip on a lattice of this shape."""
    if tile is None or p_flip is None:
        raise ValueError('update="few-cluster" needs tile and p_flip')
    given = as_tuple(tile, len(shape), "tile")
    edges = tuple(check_range("tile", edge, 1, MOST_SITES) for edge in given)
    if len(edges) != len(shape) or any(n % edge for n, edge in zip(shape, edges, strict=True)):
        raise ValueError(f"tile={shown(tile)} must divide the lattice, which has shape {shape}")
    value = as_number("p_flip", p_flip)
    if not 0 < value < 1:
        raise ValueError(f"p_flip={shown(p_flip)} must be above 0 and below 1")
    if as_fixed_point(value) == 0:
        raise ValueError(f"p_flip={shown(p_flip)} must be 2**-64 or more; no cluster would flip")
    return ChosenSites(edges, as_fixed_point(value))
