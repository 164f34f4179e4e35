"""Many updates of small lattices of unit vectors in one launch: drives ``vector_sweeps.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import WARP, Gpu, Templates, launch
from conncomp.kernels.cuda.models.replicas import (
    OF_UPDATES,
    Replicas,
    new_counters,
    of_updates,
    records_of,
)
from conncomp.kernels.cuda.models.vector_spins import KINDS
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import Lattice
from conncomp.kernels.vector_spins import Kind

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


class VectorSweeps:
    """Updates of lattices that `takes` takes; the coupling may be negative."""

    most_updates = 512  # ``kMostUpdates``

    def __init__(self, gpu: Gpu, replicas: Replicas, kind: Kind, negative: bool) -> None:
        self._gpu, self._replicas, self._negative = gpu, replicas, -1 if negative else 0
        (self._sweep,) = KERNELS.load(gpu, kind)
        sites = replicas.lattice.sites
        most = _blocks_of_replica(gpu, replicas.count)
        chunk = max(LEAST_CHUNK, -(-sites // most))
        self._chunk = min(_most_chunk(gpu, replicas.lattice), -(-chunk // WARP) * WARP)
        self._parts = -(-sites // self._chunk)
        self._workspace = Workspace()
        self._arrived = new_counters(gpu, replicas, self._parts)

    def sweep(
        self,
        spins: Any,
        numbers: range,
        strengths: Any,
        records: Any = None,
        *,
        every: int = 1,
        before: int = 0,
        one: bool = False,
        clusters: bool = False,
    ) -> None:
        """Make updates, at most `most_updates`, where spins are.

        The ``BondStrength`` of each replica is one of `strengths`; for records see `of_updates`.
        The cluster of `one` chosen site is reflected, or else each by a coin; `clusters` are
        measured, too, if there are records.
        """
        gpu, replicas, sites = self._gpu, self._replicas, self._replicas.lattice.sites
        clusters = clusters and records is not None
        of_clusters = sites * replicas.count if clusters else 0
        parent, size, total = self._workspace.take(
            gpu, (sites * replicas.count, _INDEX), (of_clusters, _INDEX), (of_clusters, _SUM)
        )
        if clusters:
            size[...] = 0
            total[...] = 0
        counted = of_updates(numbers, records, every, before)
        same = {"chunk": self._chunk, "negative": self._negative}
        updates = UPDATES.of(gpu, **counted, **same, one=one, clusters=clusters)
        memory = MEMORY.of(gpu, parent=parent, size=size, sum=total)
        of_records = records_of(gpu, records)
        struct = replicas.struct_in_parts(numbers.start, self._parts)
        self._arrived[...] = 0
        # Whatever other streams do, blocks that wait for each other start together.
        kernel = gpu.together(self._sweep) if self._parts > 1 else self._sweep
        of_axes = _BYTES_OF_AXIS * self._replicas.lattice.ndim
        shared = self._chunk * (_BYTES + of_axes + _BYTES_OF_CLUSTERS * clusters)
        grid = replicas.count * self._parts, THREADS
        arguments = struct, updates, strengths, spins, memory, of_records, self._arrived
        launch(kernel, grid, *arguments, shared=shared)
