"""Many Swendsen-Wang updates of small lattices in one launch: drives ``spin_sweeps.cuh``."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.launcher import WARP, Gpu, Kernel, Templates, launch
from conncomp.kernels.cuda.models.replicas import (
    UPDATES,
    Replicas,
    Sweeps,
    records_of,
    starting_together,
)
from conncomp.kernels.lattice import MOST_AXES, WORD, Lattice
from conncomp.kernels.updates import Flips

FILE = "cuda/models/spin_sweeps.cuh"
_AXES = range(1, MOST_AXES + 1)
_IN_GRID = Templates(FILE, "sweep_spins", axes=_AXES, by_warp=(False, True))
THREADS, BLOCKS_OF_MULTIPROCESSOR = 1024, 1  # ``kMostBoxThreads``
# Sites of a box where boxes are few, and where there are more; the most that a box has; and how
# many blocks a cluster may have.
LEAST_BOX, LEAST_OF_MANY, MOST_BOX, CLUSTERS = 512, 1024, 1 << 14, (4, 8, 16)
_IN_CLUSTER = Templates(FILE, "sweep_in_cluster", axes=_AXES, cluster=CLUSTERS)
# Bytes of shared memory: of a word of bonds of an axis, with the bonds; of a segment without and
# with an axis, with parents; of a thread.
_BYTES_OF_WORD, _BYTES_OF_THREAD = 28, 16
_BYTES_OF_SEGMENT, _BYTES_OF_AXIS = 28 + 4 * WARP, 12
LEAST_SHARED, SHARED_BESIDE = 16 << 10, 1 << 10
_INDEX = np.dtype("i4")

_BOXES = np.dtype([("extent", "i4", MOST_AXES), ("segments", "i4"), ("words", "i4")])


class _Plan(NamedTuple):
    """Parts of a lattice, each of which is in a box of this extent."""

    extent: tuple[int, ...]
    parts: int

    @property
    def segments(self) -> int:
        """The segments of rows that a box has, at most."""
        return prod(self.extent[:-1]) * -(-self.extent[-1] // WARP)

    @property
    def words(self) -> int:
        """The words that a box has, at most."""
        return prod(self.extent[:-1]) * -(-self.extent[-1] // WORD)

    def shared(self, threads: int) -> int:
        """Return the bytes of shared memory of a block."""
        axes = len(self.extent)
        of_segment = _BYTES_OF_SEGMENT + _BYTES_OF_AXIS * axes
        of_words = axes * self.words * _BYTES_OF_WORD
        return of_words + self.segments * of_segment + threads * _BYTES_OF_THREAD


@lru_cache(maxsize=64)
def _cut(shape: tuple[int, ...], blocks: int) -> _Plan:
    """Cut a lattice into boxes, at most so many.

    Again and again the axis is cut in halves that leaves the smallest box, or of several the
    longest one.
    """
    extent, parts = shape, 1
    while True:
        cuts = []
        for axis, length in enumerate(extent):
            unit = WORD if axis == len(shape) - 1 else 1
            half = -(-length // (2 * unit)) * unit
            tried = (*extent[:axis], half, *extent[axis + 1 :])
            count = prod(-(-n // edge) for n, edge in zip(shape, tried, strict=True))
            if half < length and count <= blocks:
                cuts.append(((-prod(tried), length), tried, count))
        if not cuts:
            return _Plan(extent, parts)
        _, extent, parts = max(cuts, key=lambda cut: cut[0])


def _plan(gpu: Gpu, lattice: Lattice, replicas: int) -> _Plan:
    at_once = max(1, gpu.blocks_together(THREADS, BLOCKS_OF_MULTIPROCESSOR) // replicas)
    few = -(-lattice.sites // LEAST_BOX)
    many = max(CLUSTERS[-1], -(-lattice.sites // LEAST_OF_MANY))
    return _cut(lattice.shape, min(few, many, at_once))


def takes(gpu: Gpu, lattice: Lattice, replicas: int) -> bool:
    """Whether a lattice is so small that blocks that run at once have room for it."""
    plan, room = _plan(gpu, lattice, replicas), max(LEAST_SHARED, gpu.shared_memory - SHARED_BESIDE)
    return prod(plan.extent) <= MOST_BOX and plan.shared(THREADS) <= room


class SpinSweeps(Sweeps):
    """Updates of lattices that `takes` takes, by blocks that wait for each other."""

    def __init__(self, replicas: Replicas) -> None:
        gpu, lattice = replicas.gpu, replicas.lattice
        self._plan = plan = _plan(gpu, lattice, replicas.count)
        extent = *(1,) * (MOST_AXES - lattice.ndim), *plan.extent
        super().__init__(replicas, plan.parts)
        self._boxes = np.array((extent, plan.segments, plan.words), _BOXES)[()]
        at_once = gpu.blocks_together(THREADS, BLOCKS_OF_MULTIPROCESSOR)
        self._by_warp = by_warp = replicas.count <= at_once
        self._in_cluster = gpu.has_clusters and plan.parts in CLUSTERS
        self._kernel = self._load()
        warps = plan.segments if by_warp else -(-plan.segments // WARP)
        self._threads = min(THREADS, warps * WARP)

    def _launch(self, struct: Any, updates: Any, strengths: Any, spins: Any, flips: Flips) -> None:
        """Launch the kernel; from the first time on that clusters are refused, in the grid."""
        gpu, count, parts = self._replicas.gpu, self._replicas.count, self._parts
        of_sites = 0 if parts == 1 else self._replicas.sites
        (forest,) = self._workspace.take(gpu, (of_sites, _INDEX))
        grid, shared = (count * parts, self._threads), self._plan.shared(self._threads)
        read = struct, UPDATES.pack(updates), self._boxes, strengths
        given = *read, spins, records_of(gpu, flips.record), forest, self._arrived
        try:
            launch(self._kernel, grid, *given, shared=shared)
        except gpu.refusals:
            if not self._in_cluster:
                raise
            # Few multiprocessors are side by side in parts of a GPU, and in small ones.
            self._in_cluster = False
            self._kernel = self._load()
            launch(self._kernel, grid, *given, shared=shared)

    def _load(self) -> Kernel:
        """Return the kernel, whose blocks wait for each other in a cluster, or in the grid."""
        gpu, axes, parts = self._replicas.gpu, self._replicas.lattice.ndim, self._parts
        if self._in_cluster:
            (kernel,) = _IN_CLUSTER.load(gpu, axes, parts)
            gpu.allow_cluster(kernel)
            return kernel
        (kernel,) = _IN_GRID.load(gpu, axes, self._by_warp)
        return starting_together(gpu, kernel, parts)
