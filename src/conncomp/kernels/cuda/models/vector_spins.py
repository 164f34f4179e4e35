"""Spins that are unit vectors, on a GPU: drives ``vector_spins.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import WARP, Templates, launch
from conncomp.kernels.cuda.models.replicas import THREADS, GpuSpins, Replicas, records_of
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.vector_spins import ANGLE, DIRECTION, PROJECTED, Kind

FILE = "cuda/models/vector_spins.cuh"
KINDS = {kind: f"conncomp::{kind.name}" for kind in (ANGLE, DIRECTION)}
KERNELS = Templates(
    FILE, "start_vectors", "count_vectors", "draw_vector_bonds", "reflect_vectors", kind=KINDS
)
PROJECTIONS = Templates(FILE, "add_projections", "square_sums<1>", kind=KINDS, indices="index")
# Rows that half a warp goes through, and how many where a row needs nothing of the one before; or
# one, where that leaves a multiprocessor fewer blocks than it can run.
ROWS, ROWS_APART, LEAST_BLOCKS = 8, 2, 8
# Blocks that count are as many as run at once, as each of them adds some twenty sums to a record.
COUNTING_BLOCKS = 6


class VectorSpins(GpuSpins):
    """Spins of a kind, whose clusters others find; the coupling may be negative."""

    counts_apart = True

    def __init__(self, replicas: Replicas, kind: Kind, negative: bool) -> None:
        super().__init__(replicas, KERNELS.load(replicas.gpu, kind))
        self._kind, self._negative = kind, np.int32(-1 if negative else 0)
        self._sum_workspace = Workspace()
        lattice, half_warps = replicas.lattice, 2 * THREADS // WARP
        blocks = replicas.count * lattice.words // (ROWS * half_warps)
        large = lattice.ndim > 1 and blocks >= LEAST_BLOCKS * self.gpu.multiprocessors
        self._rows, self._rows_apart = (ROWS, ROWS_APART) if large else (1, 1)
        parts = -(-COUNTING_BLOCKS * self.gpu.multiprocessors // replicas.count)
        self._counting_parts = max(1, min(parts, -(-lattice.words // half_warps)))

    def start(self, spins: Any) -> None:
        """Draw the first spins."""
        self._launch("start_vectors", "sites", 0, spins)

    def count(self, spins: Any, record: Any) -> None:
        """Add what the spins tell to a record."""
        replicas, parts, records = self.replicas, self._counting_parts, records_of(self.gpu, record)
        struct, grid = replicas.struct_in_parts(0, parts), (replicas.count * parts, THREADS)
        count = self._kernels["count_vectors"]
        launch(count, grid, struct, np.int32(self._rows), spins, records)

    def _draw(self, spins: Any, number: int, strengths: Any, bonds: Any, record: Any) -> None:
        """Draw the bonds of an update as words, and count them into a record, if any."""
        how = strengths, self._negative, bonds, records_of(self.gpu, record)
        self._launch("draw_vector_bonds", "sites", number, np.int32(self._rows), spins, *how)

    def _reflect(self, spins: Any, number: int, reflected: Any, new: Any) -> None:
        """Write the new spins, given words of which sites are reflected."""
        given = np.int32(self._rows_apart), spins, reflected, new
        self._launch("reflect_vectors", "sites", number, *given)

    def _project(self, spins: Any, number: int, record: Any, labels: Any) -> None:
        """Add the squares of clusters' sums of projections to a record, given labels."""
        sites, records = labels.size, records_of(self.gpu, record)
        (sums,) = self._sum_workspace.take(self.gpu, (sites, np.dtype(np.int64)))
        sums[...] = 0
        add, square = PROJECTIONS.load(self.gpu, self._kind, labels.dtype)
        self.replicas.launch(add, number, spins, labels, sums, over="sites")
        self.replicas.launch(square, number, sums, records, np.int32(PROJECTED), over="sites")
