"""The Ising model on lattices of any unit cell on the CPU: passes arrays to ``cell_spins.h``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp._core import native
from conncomp.kernels.cells import CellLattice
from conncomp.kernels.lattice import BITS
from conncomp.models._arguments import Drawn
from conncomp.models.potts import cpu as of_words
from conncomp.models.potts.cpu import Record, Words
from conncomp.models.potts.updates import ChosenSites


class Engine:
    """Updates of the spins of replicas, which arrays of words hold.

    Parameters
    ----------
    drawn : Drawn
    cells : CellLattice
    """

    xp = np

    def __init__(self, drawn: Drawn, cells: CellLattice) -> None:
        self._cells, self._replicas = cells, drawn.replicas
        # First spins are those of any lattice whose rows are these.
        self.start = of_words.Engine(drawn, cells.of_sites, "auto", {}).start
        self._engine = native.CellEngine(
            cells.struct.tobytes(), drawn.seed, drawn.first_replica, drawn.replicas
        )

    def count(self, words: Words, record: Record) -> None:
        """Count satisfied bonds and the sites of each state."""
        self._engine.count(words.reshape(-1), record.reshape(-1))

    def update(
        self,
        words: Words,
        new: Words,
        step: int,
        probabilities: Words,
        chosen: ChosenSites | None,
        record: Record | None,
        clusters: bool,
        wrapping: bool,
    ) -> None:
        """Flip clusters: that of one site of the lattice, if it is chosen, or else all."""
        assert not wrapping
        flat: Any = None if record is None else record.reshape(-1)
        spins = words.reshape(-1), new.reshape(-1)
        one = chosen is not None
        self._engine.update(*spins, step, probabilities, one, flat, clusters)

    def bonds(self, words: Words, step: int, probabilities: Words) -> Words:
        """Return the bonds that an update at this step makes active, of each kind."""
        rows = self._cells.of_sites
        bonds = np.empty((self._replicas, len(self._cells.kinds), rows.rows, rows.columns), BITS)
        self._engine.bonds(words.reshape(-1), step, probabilities, bonds.reshape(-1))
        return bonds
