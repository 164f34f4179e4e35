"""The Ising model on lattices of any unit cell on a GPU."""

from __future__ import annotations

from typing import Any

from conncomp.kernels.cells import CellLattice
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.models.cell_spins import CellBricks, CellKernels, takes
from conncomp.kernels.cuda.models.replicas import Replicas, start_spins
from conncomp.kernels.lattice import BITS
from conncomp.models._arguments import Drawn, check_room
from conncomp.models.spins.updates import Flips


class Engine:
    """Updates of spins on the current CUDA device; MemoryError if an update has no room there."""

    winds, sweeps = False, None
    rules: tuple[str, ...] = ()

    def __init__(self, drawn: Drawn, cells: CellLattice) -> None:
        gpu, (replicas, first_replica, seed) = current_gpu(), drawn
        self.gpu, self.xp = gpu, gpu.xp
        self._cells, self._count = cells, replicas
        named = seed, first_replica, replicas
        self._kernels = CellKernels(gpu, cells, *named)
        self._rows = Replicas(gpu, cells.of_sites, *named)
        self._bricks = None
        wanted = self._kernels.memory()
        if takes(cells, replicas):
            self._bricks = CellBricks(gpu, cells, *named)
            wanted = CellBricks.memory(cells, replicas)
        wanted += 2 * replicas * cells.words * BITS.itemsize
        check_room(gpu, f"{replicas} lattices of shape={cells.shape}", wanted)

    def start(self, words: Any) -> None:
        """Fill words, which are 0, with random spins."""
        start_spins(self.gpu, self._rows, words)

    def count(self, words: Any, record: Any) -> None:
        """Count the satisfied bonds and the sites in each state."""
        self._kernels.draw(words, 0, None, None, record)

    def bonds(self, words: Any, step: int, probabilities: Any) -> Any:
        """Return the bonds that an update at this step makes active, of each kind."""
        rows = self._cells.of_sites
        shape = self._count, len(self._cells.kinds), rows.rows, rows.columns
        bonds = self.xp.empty(shape, BITS)
        self._kernels.draw(words, step, probabilities, bonds, None)
        return bonds

    def update(self, words: Any, new: Any, step: int, probabilities: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update of all clusters, or of one."""
        chosen, record, clusters, *_ = flips
        # Of three axes runs of words are level without sizes, and of small lattices faster.
        fast = self._cells.ndim < 3 or clusters
        if self._bricks is not None and fast and chosen is None:
            records = self._kernels.records(record)
            self._bricks.update(words, new, step, probabilities, records, clusters)
            return
        asked = chosen is not None, record, clusters
        self._kernels.update(words, new, step, probabilities, *asked)
