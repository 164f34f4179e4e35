"""Spins that are unit vectors, on a GPU: drives ``vector_spins.cuh``, ``vector_sweeps.cuh``."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import WARP, DeviceArray, Gpu, Templates, launch
from conncomp.kernels.cuda.models.replicas import (
    OF_UPDATES,
    THREADS,
    GpuSpins,
    Replicas,
    Sweeps,
    check_room,
    records_of,
    starting_together,
)
from conncomp.kernels.cuda.models.words import GpuWordEngine
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import BITS, Lattice
from conncomp.kernels.updates import Flips
from conncomp.kernels.vector_spins import ANGLE, DIRECTION, PROJECTED, Kind

KINDS = {kind: f"conncomp::{kind.name}" for kind in (ANGLE, DIRECTION)}
FILE = "cuda/models/vector_spins.cuh"
KERNELS = Templates(
    FILE, "start_vectors", "count_vectors", "draw_vector_bonds", "reflect_vectors", kind=KINDS
)
PROJECTIONS = Templates(FILE, "add_projections", "square_sums<1>", kind=KINDS, indices="index")
# Rows that half a warp goes through, with and without those before; or one, where a multiprocessor
# had fewer blocks than it can run.
ROWS, ROWS_APART, LEAST_BLOCKS = 8, 2, 8
COUNTING_BLOCKS = 6  # that run at once, as each adds some twenty sums to a record

SWEEP = Templates("cuda/models/vector_sweeps.cuh", "sweep_vectors", kind=KINDS)
SWEEP_THREADS, BLOCKS_OF_MULTIPROCESSOR = 512, 1  # ``kSweepThreads``
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
    return gpu.blocks_together(SWEEP_THREADS, BLOCKS_OF_MULTIPROCESSOR) // replicas


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
        self._kernel = starting_together(gpu, SWEEP.one(gpu, kind), self._parts)

    def makes(self, one: bool, measures: bool) -> bool:
        """Return True: they make and measure all updates."""
        return True

    def _launch(self, struct: Any, updates: Any, strengths: Any, spins: Any, flips: Flips) -> None:
        """Launch the kernel; each replica's strength is a ``BondStrength``."""
        gpu, lattice, count = self._replicas.gpu, self._replicas.lattice, self._replicas.count
        clusters = flips.clusters and flips.record is not None
        sites, of_clusters = self._replicas.sites, self._replicas.sites if clusters else 0
        parts = (sites, _INDEX), (of_clusters, _INDEX), (of_clusters, _SUM)
        parent, size, total = self._workspace.take(gpu, *parts)
        if clusters:
            size[...] = 0
            total[...] = 0
        memory = MEMORY.of(gpu, parent=parent, size=size, sum=total)
        of_axes = _BYTES_OF_AXIS * lattice.ndim
        shared = self._chunk * (_BYTES + of_axes + _BYTES_OF_CLUSTERS * clusters)
        grid, records = (count * self._parts, SWEEP_THREADS), records_of(gpu, flips.record)
        same = {"chunk": self._chunk, "negative": self._negative}
        which = {"one": flips.chosen is not None, "clusters": clusters}
        read = struct, UPDATES.pack({**updates, **same, **which}), strengths
        written = spins, memory, records, self._arrived
        launch(self._kernel, grid, *read, *written, shared=shared)


class GpuVectorEngine(GpuSpins):
    """Vectors of a kind; an engine of words, of two states, chooses clusters to reflect."""

    counts_apart = True

    def __init__(self, embedded: GpuWordEngine, kind: Kind, negative: bool) -> None:
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
        self.sweeps_one = takes(gpu, lattice, count)
        if self.sweeps_one:
            self.sweeps = VectorSweeps(replicas, kind, negative)

    def start(self, spins: DeviceArray) -> None:
        """Draw the first spins."""
        self._launch("start_vectors", 0, spins)

    def count(self, spins: DeviceArray, record: DeviceArray) -> None:
        """Add what the spins tell to a record."""
        records = records_of(self.gpu, record)
        self._launch("count_vectors", 0, self._rows, spins, records, over=self._parts)

    def update(self, spins: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update."""
        lattice, watch = self.replicas.lattice, None
        words = self.replicas.count * lattice.words
        parts = (lattice.ndim * words, BITS), (words, BITS), (words, BITS)
        bonds, before, reflected = self._workspace.take(self.gpu, *parts)
        self._draw(spins, number, strengths, bonds, flips.record)
        if flips.clusters:
            watch = partial(self._project, spins, number, flips.record)
        if flips.chosen is not None or flips.clusters:
            before[...] = 0  # the states of two that sites have, of which a cluster takes the other
        self._embedded.flip(bonds, before, reflected, number, flips._replace(watch=watch))
        self._launch("reflect_vectors", number, self._rows_apart, spins, reflected, new)

    def _draw(self, spins: Any, number: int, strengths: Any, bonds: Any, record: Any) -> None:
        """Draw the bonds of an update as words, and count them into a record, if any."""
        drawn = strengths, self._negative, bonds, records_of(self.gpu, record)
        self._launch("draw_vector_bonds", number, self._rows, spins, *drawn)

    def _project(self, spins: Any, number: int, record: Any, labels: DeviceArray) -> None:
        """Add the squares of clusters' sums of projections to a record, given labels."""
        sites, records = labels.size, records_of(self.gpu, record)
        (sums,) = self._sum_workspace.take(self.gpu, (sites, np.dtype(np.int64)))
        sums[...] = 0
        add, square = PROJECTIONS.load(self.gpu, self._kind, labels.dtype)
        self.replicas.launch(add, number, spins, labels, sums, over="sites")
        self.replicas.launch(square, number, sums, records, np.int32(PROJECTED), over="sites")
