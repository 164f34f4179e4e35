"""The Ising model on any edges on the CPU: passes arrays to ``edge_spins.h``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.kernels.edges import EdgeBonds
from conncomp.models._arguments import Drawn
from conncomp.models.potts import cpu as of_words
from conncomp.models.potts.cpu import Record, Words
from conncomp.models.potts.updates import ChosenSites
from conncomp.models.spin_glass.chances import logarithm_table


class Engine:
    """Updates of the spins of replicas, which arrays of words hold.

    Parameters
    ----------
    drawn : Drawn
    edges : EdgeBonds
    """

    xp = np

    def __init__(self, drawn: Drawn, edges: EdgeBonds) -> None:
        self._edges, self._replicas = edges, drawn.replicas
        self.start = of_words.Engine(drawn, edges.of_sites, "auto", {}).start
        named = drawn.seed, drawn.first_replica, drawn.replicas
        self._engine = native.EdgeEngine(edges.sites, *named, *edges.arrays)
        self._logarithm = logarithm_table().reshape(-1)

    def count(self, words: Words, record: Record) -> None:
        """Count the strength of what is satisfied, and the sites of each state."""
        self._engine.count(words.reshape(-1), record.reshape(-1))

    def update(
        self,
        words: Words,
        new: Words,
        step: int,
        temperatures: NDArray[np.uint32],
        chosen: ChosenSites | None,
        record: Record | None,
        clusters: bool,
        wrapping: bool,
    ) -> None:
        """Flip clusters: that of one drawn site, if one is chosen, or else all."""
        assert not wrapping
        flat: Any = None if record is None else record.reshape(-1)
        drawn = step, temperatures.reshape(-1), self._logarithm
        one = chosen is not None
        self._engine.update(words.reshape(-1), new.reshape(-1), *drawn, one, flat, clusters)

    def bonds(self, words: Words, step: int, temperatures: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """Return which bonds an update at this step makes active."""
        active = np.empty((self._replicas, self._edges.bonds), "u1")
        drawn = step, temperatures.reshape(-1), self._logarithm
        self._engine.bonds(words.reshape(-1), *drawn, active.reshape(-1))
        return active
