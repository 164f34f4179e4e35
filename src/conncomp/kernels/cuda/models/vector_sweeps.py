"""Many updates of small lattices of unit vectors in one launch: drives ``vector_sweeps.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import WARP, Gpu, Templates, launch
from conncomp.kernels.cuda.models.replicas import (
    OF_UPDATES,
    Replicas,
    Sweeps,
    records_of,
    starting_together,
)
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.lattice import Lattice
from conncomp.kernels.updates import Flips
from conncomp.kernels.vector_spins import ANGLE, DIRECTION, Kind

KINDS = {kind: f"conncomp::{kind.name}" for kind in (ANGLE, DIRECTION)}
KERNELS = Templates("cuda/models/vector_sweeps.cuh", "sweep_vectors", kind=KINDS)
THREADS, BLOCKS_OF_MULTIPROCESSOR = 512, 1  # ``kSweepThreads``
# Sites of a block: no more than its shared memory has room for.
LEAST_CHUNK, MOST_CHUNK = 512, 4096
# Bytes of shared memory a site: its parent, bonds and draws; the next one along each axis; size and
# sum of its cluster. Beside these a block has mirrors and sums.
_BYTES, _BYTES_OF_AXIS, _BYTES_OF_CLUSTERS, _BYTES_BESIDE = 10, 4, 12, 12 << 10
_LEAST_SHARED = 16 << 10  # bytes of dynamic shared memory, which any GPU has
_INDEX, _SUM = np.dtype("i4"), np.dtype("i8")

UPDATES = Struct("VectorUpdates", *OF_UPDATES, ("chunk negative", "i4"), ("one clusters", "?"))
MEMORY = Struct("SweepMemory", "parent size sum")


def _blocks_of_replica(gpu: Gpu, replicas: int) -> int:
    return gpu.blocks_together(THREADS, BLOCKS_OF_MULTIPROCESSOR) // replicas


def _most_chunk(gpu: Gpu, lattice: Lattice) -> int:
    """Return how many sites a block has room for."""
    room = max(_LEAST_SHARED, gpu.shared_memory - _BYTES_BESIDE)
    of_site = _BYTES + _BYTES_OF_AXIS * lattice.ndim + _BYTES_OF_CLUSTERS
    return min(MOST_CHUNK, room // of_site // WARP * WARP)


def takes(gpu: Gpu, lattice: Lattice, replicas: int) -> bool:
    """Whether lattices are so small that all of their sites are in blocks that run at once."""
    return lattice.sites <= _most_chunk(gpu, lattice) * _blocks_of_replica(gpu, replicas)


class VectorSweeps(Sweeps):
    """Updates of lattices that `takes` takes; the coupling may be negative."""

    most_updates = 512  # ``kMostUpdates``

    def __init__(self, replicas: Replicas, kind: Kind, negative: bool) -> None:
        gpu, lattice = replicas.gpu, replicas.lattice
        self._negative = -1 if negative else 0
        chunk = max(LEAST_CHUNK, -(-lattice.sites // _blocks_of_replica(gpu, replicas.count)))
        self._chunk = min(_most_chunk(gpu, lattice), -(-chunk // WARP) * WARP)
        super().__init__(replicas, -(-lattice.sites // self._chunk))
        self._kernel = starting_together(gpu, KERNELS.one(gpu, kind), self._parts)

    def makes(self, one: bool, measures: bool) -> bool:
        """Return True: they reflect each cluster by a coin, or that of one site, and measure."""
        return True

    def _launch(
        self, replicas: np.void, updates: dict[str, int], strengths: Any, spins: Any, flips: Flips
    ) -> None:
        """Launch the kernel; each replica's strength is a ``BondStrength``."""
        gpu, lattice, count = self._replicas.gpu, self._replicas.lattice, self._replicas.count
        clusters = flips.clusters and flips.record is not None
        sites = self._replicas.sites
        of_clusters = sites if clusters else 0
        parent, size, total = self._workspace.take(
            gpu, (sites, _INDEX), (of_clusters, _INDEX), (of_clusters, _SUM)
        )
        if clusters:
            size[...] = 0
            total[...] = 0
        memory = MEMORY.of(gpu, parent=parent, size=size, sum=total)
        of_axes = _BYTES_OF_AXIS * lattice.ndim
        shared = self._chunk * (_BYTES + of_axes + _BYTES_OF_CLUSTERS * clusters)
        grid, records = (count * self._parts, THREADS), records_of(gpu, flips.record)
        same = {"chunk": self._chunk, "negative": self._negative}
        which = {"one": flips.chosen is not None, "clusters": clusters}
        read = replicas, UPDATES.pack({**updates, **same, **which}), strengths
        written = spins, memory, records, self._arrived
        launch(self._kernel, grid, *read, *written, shared=shared)
