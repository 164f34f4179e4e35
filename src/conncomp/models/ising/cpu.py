"""The Ising model on lattices of any unit cell on the CPU: passes arrays to ``cell_spins.h``."""

from __future__ import annotations

from typing import Any

from conncomp._core import native
from conncomp.kernels.cells import CellLattice
from conncomp.models._arguments import Drawn
from conncomp.models.potts import cpu as of_words
from conncomp.models.spins.updates import Flips


class Engine(of_words.NativeSpins):
    """Updates of the spins of replicas, which arrays of words hold."""

    def __init__(self, drawn: Drawn, cells: CellLattice) -> None:
        named, rows = (drawn.seed, drawn.first_replica, drawn.replicas), cells.of_sites
        shape = drawn.replicas, len(cells.kinds), rows.rows, rows.columns
        super().__init__(native.CellEngine(cells.struct.tobytes(), *named), shape)
        # First spins are those of any lattice whose rows are these.
        self._starting = of_words.Engine(drawn, rows, "auto", {})

    def update(self, words: Any, new: Any, step: int, probabilities: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update of all clusters, or of one."""
        record = None if flips.record is None else flips.record.reshape(-1)
        asked = probabilities, flips.chosen is not None, record, flips.clusters
        self._engine.update(words.reshape(-1), new.reshape(-1), step, *asked)
