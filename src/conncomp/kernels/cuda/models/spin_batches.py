"""Many Swendsen-Wang updates of batches of lattices in one launch: drives ``spin_batches.cuh``."""

from __future__ import annotations

from typing import Any

from conncomp.kernels.cuda.launcher import WARP, Gpu, Templates, launch
from conncomp.kernels.cuda.models.replicas import UPDATES, Replicas, Sweeps, records_of
from conncomp.kernels.cuda.models.spin_tiles import (
    MOST_PLACES,
    box_rows,
    list_bytes,
    places,
    word_bytes,
)
from conncomp.kernels.lattice import BITS, MOST_AXES, WORD, Lattice
from conncomp.kernels.updates import Flips

KERNELS = Templates("cuda/models/spin_batches.cuh", "sweep_batch", axes=range(1, MOST_AXES + 1))
MOST_WARPS = 16  # of a block: ``kMostBatchThreads``
# How many warps a multiprocessor is to have at a time, and how many rows a warp has at least.
WARPS_OF_MULTIPROCESSOR, LEAST_ROWS = 48, 8
# Shorter rows leave too many lanes idle, where lattices have more than two axes. A warp labels at
# most so many words of 32 sites, one after the other: lattices of few rows have few warps.
LEAST_WIDTH, MOST_OF_WARP = 16, 64
# Bytes of shared memory of a word of bonds of an axis, and of digits; and what is left free.
_BYTES_OF_WORD, DIGITS, SHARED_BESIDE = 12, 4, 1 << 10


def _shared(lattice: Lattice, warps: int) -> int:
    words = places(lattice.shape) // WARP
    coins = -(-lattice.sites // WORD) if lattice.states == 2 else 0
    spins = lattice.planes * lattice.words
    digits = 0 if coins and lattice.shape[-1] % WARP == 0 else lattice.planes * words * DIGITS
    of_box = words * word_bytes(lattice.ndim) + digits
    of_bonds = lattice.ndim * lattice.words * _BYTES_OF_WORD
    return (spins + coins) * BITS.itemsize + of_bonds + of_box + warps * list_bytes(lattice.ndim)


def _most_warps(lattice: Lattice) -> int:
    return max(1, min(MOST_WARPS, lattice.rows // LEAST_ROWS))


def takes(gpu: Gpu, lattice: Lattice, replicas: int) -> bool:
    """Whether there are more replicas than multiprocessors, each so small that a block has room."""
    count = places(lattice.shape)
    return (
        replicas > gpu.multiprocessors
        and (lattice.ndim < 3 or lattice.shape[-1] >= LEAST_WIDTH)
        and count <= min(MOST_PLACES, MOST_OF_WARP * WARP * _most_warps(lattice))
        and _shared(lattice, MOST_WARPS) <= gpu.shared_memory - SHARED_BESIDE
    )


class SpinBatches(Sweeps):
    """Updates of lattices that `takes` takes, a block each."""

    def __init__(self, replicas: Replicas) -> None:
        gpu, lattice = replicas.gpu, replicas.lattice
        super().__init__(replicas)
        self._box = box_rows(lattice.shape, 2 * lattice.columns)
        blocks = -(-replicas.count // gpu.multiprocessors)
        at_once = min(blocks, max(1, gpu.shared_memory // (_shared(lattice, 1) + SHARED_BESIDE)))
        most = max(1, min(_most_warps(lattice), WARPS_OF_MULTIPROCESSOR // at_once))
        self._warps = 1 << most.bit_length() - 1  # so that rows are dealt evenly
        (self._kernel,) = KERNELS.load(gpu, lattice.ndim)

    def _launch(self, struct: Any, updates: Any, strengths: Any, spins: Any, flips: Flips) -> None:
        records = records_of(self._replicas.gpu, flips.record)
        shared = _shared(self._replicas.lattice, self._warps)
        read = struct, UPDATES.pack(updates), self._box, strengths
        grid = self._replicas.count, self._warps * WARP
        launch(self._kernel, grid, *read, spins, records, shared=shared)
