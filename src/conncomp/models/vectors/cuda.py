"""Spins that are vectors on a GPU: clusters are those of Potts' updates."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from conncomp.kernels.cuda.models.vector_spins import VectorKernels
from conncomp.kernels.cuda.models.vector_sweeps import VectorSweeps, takes
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import BITS, Lattice
from conncomp.kernels.vector_spins import Kind
from conncomp.models._arguments import Drawn, check_room
from conncomp.models.potts import cuda as of_words
from conncomp.models.spins.updates import Flips


class Engine:
    """Updates of the spins of replicas on the current CUDA device.

    Clusters are reflected or not: `lattice` is of two states. `sweeps` makes many updates at once
    of small lattices, and is None of others.
    """

    winds = False
    rules: tuple[str, ...] = ()

    def __init__(self, drawn: Drawn, lattice: Lattice, kind: Kind, negative: bool) -> None:
        self._clusters = of_words.Engine(drawn, lattice, "auto", {})
        self.gpu, self.xp = self._clusters.gpu, self._clusters.xp
        self._lattice, self._replicas = lattice, drawn.replicas
        spins = 2 * drawn.replicas * lattice.sites * kind.dtype.itemsize
        check_room(self.gpu, f"{drawn.replicas} lattices of shape={lattice.shape}", spins)
        of_spins = self.gpu, self._clusters.of_replicas, kind, negative
        self._kernels = VectorKernels(*of_spins)
        small = takes(self.gpu, lattice, drawn.replicas)
        self.sweeps = VectorSweeps(*of_spins) if small else None
        self._workspace, self._sum_workspace = Workspace(), Workspace()

    def start(self, spins: Any) -> None:
        """Draw the first spins."""
        self._kernels.start(spins)

    def count(self, spins: Any, record: Any) -> None:
        """Add what the spins tell to each replica's record."""
        self._kernels.count(spins, self._clusters.records(record))

    def bonds(self, spins: Any, step: int, strengths: Any) -> Any:
        """Return the bonds that an update at this step makes active, along each axis, as words."""
        lattice = self._lattice
        shape = self._replicas, lattice.ndim, lattice.rows, lattice.columns
        bonds = self.xp.empty(shape, BITS)
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
