"""Models of spins on the current CUDA device; MemoryError if an update has no room there."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from conncomp.kernels.cells import CellLattice
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.models import cell_spins, vector_sweeps
from conncomp.kernels.cuda.models.edge_spins import EdgeKernels
from conncomp.kernels.cuda.models.replicas import Replicas, start_spins
from conncomp.kernels.cuda.models.vector_spins import VectorKernels
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.edges import EdgeBonds, SpinKind
from conncomp.kernels.lattice import BITS, Lattice
from conncomp.kernels.spin_glass import RULES
from conncomp.kernels.vector_spins import Kind
from conncomp.models._arguments import Drawn, check_room
from conncomp.models._probabilities import logarithm_table
from conncomp.models.places import classes_of
from conncomp.models.potts.cuda import Engine as WordEngine
from conncomp.models.spins.updates import Flips

__all__ = ["CellEngine", "EdgeEngine", "VectorEngine", "WordEngine"]


class CellEngine:
    """The Ising model on lattices of any unit cell."""

    winds, sweeps = False, None
    rules: tuple[str, ...] = ()

    def __init__(self, drawn: Drawn, cells: CellLattice) -> None:
        gpu, (replicas, first_replica, seed) = current_gpu(), drawn
        self.gpu, self.xp = gpu, gpu.xp
        self._cells, self._count = cells, replicas
        named = seed, first_replica, replicas
        self._kernels = cell_spins.CellKernels(gpu, cells, *named)
        self.start = partial(start_spins, gpu, Replicas(gpu, cells.of_sites, *named))
        self._bricks = None
        wanted = self._kernels.memory()
        if cell_spins.takes(cells, replicas):
            self._bricks = cell_spins.CellBricks(gpu, cells, *named)
            wanted = cell_spins.CellBricks.memory(cells, replicas)
        wanted += 2 * replicas * cells.words * BITS.itemsize
        check_room(gpu, f"{replicas} lattices of shape={cells.shape}", wanted)

    def count(self, words: Any, record: Any) -> None:
        """Count the satisfied bonds and the sites in each state."""
        self._kernels.draw(words, 0, None, None, record)

    def bonds(self, words: Any, step: int, probabilities: Any) -> Any:
        """Return the bonds that an update at this step makes active, of each kind."""
        rows = self._cells.of_sites
        bonds = self.xp.empty((self._count, len(self._cells.kinds), rows.rows, rows.columns), BITS)
        self._kernels.draw(words, step, probabilities, bonds, None)
        return bonds

    def update(self, words: Any, new: Any, step: int, probabilities: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update of all clusters, or of one."""
        chosen, record, clusters, *_ = flips
        # Of three axes runs of words are level without sizes, and of small lattices faster.
        if self._bricks is not None and (self._cells.ndim < 3 or clusters) and chosen is None:
            records = self._kernels.records(record)
            self._bricks.update(words, new, step, probabilities, records, clusters)
            return
        asked = chosen is not None, record, clusters
        self._kernels.update(words, new, step, probabilities, *asked)


class VectorEngine:
    """Spins that are vectors, by the clusters of words of two states: reflected or not."""

    winds = False
    rules: tuple[str, ...] = ()

    def __init__(self, drawn: Drawn, lattice: Lattice, kind: Kind, negative: bool) -> None:
        self._clusters = WordEngine(drawn, lattice, "auto", {})
        self.gpu, self.xp = self._clusters.gpu, self._clusters.xp
        self._lattice, self._replicas = lattice, drawn.replicas
        spins = 2 * drawn.replicas * lattice.sites * kind.dtype.itemsize
        check_room(self.gpu, f"{drawn.replicas} lattices of shape={lattice.shape}", spins)
        of_spins = self.gpu, self._clusters.of_replicas, kind, negative
        self._kernels = VectorKernels(*of_spins)
        self.start = self._kernels.start
        small = vector_sweeps.takes(self.gpu, lattice, drawn.replicas)
        self.sweeps = vector_sweeps.VectorSweeps(*of_spins) if small else None
        self._workspace, self._sum_workspace = Workspace(), Workspace()

    def count(self, spins: Any, record: Any) -> None:
        """Add what the spins tell to each replica's record."""
        self._kernels.count(spins, self._clusters.records(record))

    def bonds(self, spins: Any, step: int, strengths: Any) -> Any:
        """Return the bonds that an update at this step makes active, along each axis, as words."""
        lattice = self._lattice
        bonds = self.xp.empty((self._replicas, lattice.ndim, lattice.rows, lattice.columns), BITS)
        self._kernels.draw(spins, step, strengths, bonds, self._clusters.records(None))
        return bonds

    def update(self, spins: Any, new: Any, step: int, strengths: Any, flips: Flips) -> None:
        """Fill `new` with the spins after clusters are reflected, all or one."""
        chosen, record, clusters, *_ = flips
        if record is not None:
            self.count(spins, record)
        sizes, watch = (record if clusters else None), None
        words = self._replicas * self._lattice.words
        bonds, before, reflected = self._workspace.take(
            self.gpu, (self._lattice.ndim * words, BITS), (words, BITS), (words, BITS)
        )
        self._kernels.draw(spins, step, strengths, bonds, self._clusters.records(sizes))
        if clusters:
            watch = partial(self._measure_projections, spins, step, record)
        if chosen is not None or clusters:
            before[...] = 0  # the states of two that sites have, of which a cluster takes the other
        of_words = Flips(chosen, sizes, clusters, watch=watch)
        self._clusters.flip(bonds, before, reflected, step, of_words)
        self._kernels.reflect(spins, step, reflected, new)

    def _measure_projections(self, spins: Any, step: int, record: Any, labels: Any) -> None:
        """Add the squares of clusters' sums of projections to a record, given labels."""
        sites = self._replicas * self._lattice.sites
        (sums,) = self._sum_workspace.take(self.gpu, (sites, np.dtype(np.int64)))
        sums[...] = 0
        self._kernels.project(spins, step, labels, sums, self._clusters.records(record))


class EdgeEngine:
    """Models on any edges."""

    winds, rules, sweeps = False, RULES, None

    def __init__(self, drawn: Drawn, edges: EdgeBonds, kind: SpinKind) -> None:
        gpu, (replicas, first_replica, seed) = current_gpu(), drawn
        self.gpu, self.xp, self._edges, self._count = gpu, gpu.xp, edges, replicas
        itemsize = kind.dtype.itemsize
        held = kind.width * edges.sites or edges.of_sites.planes * edges.of_sites.words
        wanted = EdgeKernels.memory(edges, replicas) + 2 * itemsize * replicas * held
        check_room(gpu, f"{replicas} graphs of {edges.sites} sites and {edges.bonds} bonds", wanted)
        named = seed, first_replica, replicas
        self._kernels = EdgeKernels(gpu, edges, kind, logarithm_table(), *named)
        self.start, self.count = self._kernels.start, self._kernels.count
        self._vectors = kind.components > 0
        if not self._vectors:
            self.start = partial(start_spins, gpu, Replicas(gpu, edges.of_sites, *named))
        self._classes = cache(partial(classes_of, edges))

    def bonds(self, words: Any, step: int, temperatures: Any) -> Any:
        """Return which bonds an update at this step makes active."""
        active = self.xp.empty((self._count, self._edges.bonds), "u1")
        self._kernels.bonds(words, step, temperatures, active)
        return active

    def update(self, spins: Any, new: Any, step: int, temperatures: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update of all clusters, or of one."""
        record, clusters = flips.record, flips.clusters
        if self._vectors and record is not None:
            self.count(spins, record)
            record = record if clusters else None
        asked = flips.chosen is not None, record, clusters
        self._kernels.update(spins, new, step, temperatures, *asked)

    def offer(self, spins: Any, new: Any, step: int, temperatures: Any, rule: str) -> None:
        """Offer each site another spin by a rule of `RULES`."""
        new[...] = spins
        self._kernels.offer(new, step, temperatures, rule, self._classes())
