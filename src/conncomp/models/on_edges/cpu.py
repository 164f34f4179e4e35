"""Models on any edges on the CPU: passes arrays to ``edge_spins.h``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.kernels.edges import EdgeBonds, SpinKind
from conncomp.kernels.spin_glass import RULES
from conncomp.models._arguments import Drawn
from conncomp.models._logarithms import logarithm_table
from conncomp.models.on_edges.classes import Classes, classes_of
from conncomp.models.potts import cpu as of_words
from conncomp.models.potts.cpu import Record
from conncomp.models.potts.updates import ChosenSites

Spins = NDArray[Any]
Temperatures = NDArray[np.uint32]


class Engine:
    """Updates of the spins of replicas.

    Parameters
    ----------
    drawn : Drawn
    edges : EdgeBonds
    kind : SpinKind
    """

    xp = np

    def __init__(self, drawn: Drawn, edges: EdgeBonds, kind: SpinKind) -> None:
        self._edges, self._replicas = edges, drawn.replicas
        named = drawn.seed, drawn.first_replica, drawn.replicas
        of_sites = kind.name, edges.sites, edges.states
        self._engine = native.EdgeEngine(*of_sites, *named, *edges.arrays)
        self._logarithm = logarithm_table().reshape(-1)
        self._classes: Classes | None = None
        # First states are those of any lattice whose rows are these.
        words = None if kind.components else of_words.Engine(drawn, edges.of_sites, "auto", {})
        self._starting = self._engine if words is None else words

    def start(self, spins: Spins) -> None:
        """Draw the first spins."""
        self._starting.start(spins.reshape(-1))

    def count(self, spins: Spins, record: Record) -> None:
        """Add what the spins tell to each replica's record."""
        self._engine.count(spins.reshape(-1), record.reshape(-1))

    def update(
        self,
        words: Spins,
        new: Spins,
        step: int,
        temperatures: Temperatures,
        chosen: ChosenSites | None,
        record: Record | None,
        clusters: bool,
        wrapping: bool,
    ) -> None:
        """Flip clusters: that of one drawn site, if one is chosen, or else all."""
        assert not wrapping
        flat: Any = None if record is None else record.reshape(-1)
        drawn = self._drawn(step, temperatures)
        one = chosen is not None
        self._engine.update(words.reshape(-1), new.reshape(-1), *drawn, one, flat, clusters)

    def reflect(
        self,
        spins: Spins,
        new: Spins,
        step: int,
        temperatures: Temperatures,
        one: bool,
        record: Record | None,
    ) -> None:
        """Reflect clusters, or one; add sizes of all to a record unless that is None."""
        flat: Any = None if record is None else record.reshape(-1)
        drawn = self._drawn(step, temperatures)
        sizes = record is not None
        self._engine.update(spins.reshape(-1), new.reshape(-1), *drawn, one, flat, sizes)

    def offer(
        self, spins: Spins, new: Spins, step: int, temperatures: Temperatures, rule: str
    ) -> None:
        """Offer each site another spin by a rule of `RULES`."""
        if self._classes is None:
            self._classes = classes_of(self._edges)
        new[...] = spins
        arcs, order, bounds = self._classes
        drawn = *self._drawn(step, temperatures), RULES.index(rule)
        self._engine.offer(new.reshape(-1), *drawn, *arcs, order, bounds)

    def bonds(self, spins: Spins, step: int, temperatures: Temperatures) -> NDArray[np.uint8]:
        """Return which bonds an update at this step makes active."""
        active = np.empty((self._replicas, self._edges.bonds), "u1")
        self._engine.bonds(spins.reshape(-1), *self._drawn(step, temperatures), active.reshape(-1))
        return active

    def _drawn(self, step: int, temperatures: Temperatures) -> tuple[Any, ...]:
        return step, temperatures.reshape(-1), self._logarithm
