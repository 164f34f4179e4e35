"""Spins that are unit vectors, on a GPU: drives ``vector_spins.cuh``."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import WARP, DeviceArray, Templates
from conncomp.kernels.cuda.models import vector_sweeps
from conncomp.kernels.cuda.models.replicas import THREADS, GpuSpins, check_room, records_of
from conncomp.kernels.cuda.models.vector_sweeps import KINDS
from conncomp.kernels.cuda.models.words import WordEngine
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import BITS
from conncomp.kernels.updates import Flips
from conncomp.kernels.vector_spins import PROJECTED, Kind

FILE = "cuda/models/vector_spins.cuh"
KERNELS = Templates(
    FILE, "start_vectors", "count_vectors", "draw_vector_bonds", "reflect_vectors", kind=KINDS
)
PROJECTIONS = Templates(FILE, "add_projections", "square_sums<1>", kind=KINDS, indices="index")
# Rows that half a warp goes through, and how many where a row needs nothing of the one before; or
# one, where that leaves a multiprocessor fewer blocks than it can run.
ROWS, ROWS_APART, LEAST_BLOCKS = 8, 2, 8
# Blocks that count are as many as run at once, as each of them adds some twenty sums to a record.
COUNTING_BLOCKS = 6


class VectorEngine(GpuSpins):
    """Spins of a kind, whose clusters are those of words of two states: reflected or not."""

    counts_apart = True

    def __init__(self, embedded: WordEngine, kind: Kind, negative: bool) -> None:
        replicas, gpu = embedded.replicas, embedded.gpu
        lattice, count = replicas.lattice, replicas.count
        spins = 2 * count * lattice.sites * kind.dtype.itemsize
        check_room(gpu, f"{count} lattices of shape={lattice.shape}", spins)
        super().__init__(replicas, KERNELS.load(gpu, kind))
        self._embedded, self._kind = embedded, kind
        self._negative, self._sum_workspace = np.int32(-1 if negative else 0), Workspace()
        half_warps = 2 * THREADS // WARP
        blocks = count * lattice.words // (ROWS * half_warps)
        large = lattice.ndim > 1 and blocks >= LEAST_BLOCKS * gpu.multiprocessors
        self._rows, self._rows_apart = map(np.int32, (ROWS, ROWS_APART) if large else (1, 1))
        parts = -(-COUNTING_BLOCKS * gpu.multiprocessors // count)
        self._parts = max(1, min(parts, -(-lattice.words // half_warps)))
        self.sweeps_one = vector_sweeps.takes(gpu, lattice, count)
        if self.sweeps_one:
            self.sweeps = vector_sweeps.VectorSweeps(replicas, kind, negative)

    def start(self, spins: DeviceArray) -> None:
        """Draw the first spins."""
        self._launch("start_vectors", 0, spins)

    def count(self, spins: DeviceArray, record: DeviceArray) -> None:
        """Add what the spins tell to a record."""
        records = records_of(self.gpu, record)
        self._launch("count_vectors", 0, self._rows, spins, records, over=self._parts)

    def update(self, spins: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
        """Fill `new` with the spins after clusters are reflected, all or one."""
        lattice, watch = self.replicas.lattice, None
        words = self.replicas.count * lattice.words
        bonds, before, reflected = self._workspace.take(
            self.gpu, (lattice.ndim * words, BITS), (words, BITS), (words, BITS)
        )
        self._draw(spins, number, strengths, bonds, flips.record)
        if flips.clusters:
            watch = partial(self._project, spins, number, flips.record)
        if flips.chosen is not None or flips.clusters:
            before[...] = 0  # the states of two that sites have, of which a cluster takes the other
        self._embedded.flip(bonds, before, reflected, number, flips._replace(watch=watch))
        reflections = self._rows_apart, spins, reflected, new
        self._launch("reflect_vectors", number, *reflections)

    def _draw(self, spins: Any, number: int, strengths: Any, bonds: Any, record: Any) -> None:
        """Draw the bonds of an update as words, and count them into a record, if any."""
        drawn = strengths, self._negative, bonds, records_of(self.gpu, record)
        self._launch("draw_vector_bonds", number, self._rows, spins, *drawn)

    def _project(
        self, spins: DeviceArray, number: int, record: DeviceArray, labels: DeviceArray
    ) -> None:
        """Add the squares of clusters' sums of projections to a record, given labels."""
        sites, records = labels.size, records_of(self.gpu, record)
        (sums,) = self._sum_workspace.take(self.gpu, (sites, np.dtype(np.int64)))
        sums[...] = 0
        add, square = PROJECTIONS.load(self.gpu, self._kind, labels.dtype)
        self.replicas.launch(add, number, spins, labels, sums, over="sites")
        self.replicas.launch(square, number, sums, records, np.int32(PROJECTED), over="sites")
