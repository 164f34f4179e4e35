"""The kinds of updates of spins, and their calls of an engine.

`SpinState` holds the spins after update `number` as `now`. An engine reads these and writes `next`,
and `take_next` exchanges both. `Flips` say which clusters flip, and where measurements are added.
An engine's `sweeps`, if it has any, make many updates in one launch; if it `sweeps_one`, single
updates, too. A GPU's engine of words has finders: the first that takes the `Flips` finds the
clusters of the drawn bonds, and flips them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from conncomp._arguments import as_number, check_range, shown
from conncomp.kernels.updates import LOCAL_RULES, ChosenSites, Flips
from conncomp.models._arguments import MOST_SITES, as_tuple
from conncomp.models._probabilities import as_fixed_point
from conncomp.models.base import Update
from conncomp.models.spins.state import SpinState

ON_EDGES = ("swendsen-wang", "wolff", *LOCAL_RULES)
OF_VECTORS = "swendsen-wang", "wolff", "metropolis"
UPDATES = ("swendsen-wang", "wolff", "few-cluster", *LOCAL_RULES)


class OfClusters(NamedTuple):
    """Whether to measure the sizes of clusters, their bonds, and how they wrap."""

    clusters: bool = False
    bonds: bool = False
    wrapping: bool = False


NOTHING = OfClusters()


@dataclass(kw_only=True)
class SpinUpdate(Update):
    """An update of spins at the temperatures of `state`, which exchanges may change."""

    state: SpinState


@dataclass(kw_only=True)
class ClusterUpdate(SpinUpdate):
    """Gives other states to all clusters, or to those of `chosen` sites."""

    of_clusters: OfClusters
    chosen: ChosenSites | None

    def __call__(self, number: int, record: Any = None) -> None:
        """Make an update, and measure into a record unless that is None."""
        state, engine = self.state, self.state.engine
        if engine.sweeps_one:
            self.sweep(range(number, number + 1), None if record is None else record[None], 1, 0)
            return
        asked = NOTHING if record is None else self.of_clusters
        if record is not None and engine.counts_apart:
            engine.count(state.now, record)
            record = record if asked.clusters else None
        flips = Flips(self.chosen, record, asked.clusters, asked.wrapping)
        engine.update(state.now, state.next, number, state.strengths(), flips)
        state.take_next(number)

    @property
    def most(self) -> int:
        """The number of updates that `sweep` makes at once."""
        sweeps, asked = self.state.engine.sweeps, self.of_clusters
        one, measures = self.chosen is not None, asked.clusters or asked.wrapping
        return sweeps.most_updates if sweeps is not None and sweeps.makes(one, measures) else 1

    def sweep(self, numbers: range, records: Any, every: int, before: int) -> None:
        """Make up to `most` updates; `before` were made since the last one that measured."""
        state, flips = self.state, Flips(self.chosen, records, self.of_clusters.clusters)
        state.next[...] = state.now
        sweeps: Any = state.engine.sweeps
        sweeps.sweep(state.next, numbers, state.strengths(), flips, every, before)
        state.take_next(numbers[-1])


@dataclass(kw_only=True)
class LocalUpdate(SpinUpdate):
    """Offers each site in turn another spin, by a rule of `LOCAL_RULES`."""

    def __call__(self, number: int, record: Any = None) -> None:
        """Make an update, and measure into a record unless that is None."""
        state, engine = self.state, self.state.engine
        if record is not None:
            engine.count(state.now, record)
        rule = self.options["update"]
        offering, strengths = state.local_engine(rule)
        offering.offer(state.now, state.next, number, strengths, rule)
        state.take_next(number)


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
