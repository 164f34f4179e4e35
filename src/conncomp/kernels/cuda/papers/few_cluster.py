"""Clusters of chosen sites, grown along their wave fronts, and bonds activated site by site.

Drives ``few_cluster.cuh`` and ``site_bonds.cuh``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels import layout
from conncomp.kernels.cuda.launcher import WARP, DeviceArray, DType, Gpu, Templates, launch
from conncomp.kernels.cuda.models.replicas import Replicas
from conncomp.kernels.cuda.workspace import Workspace

KERNELS = Templates(
    "cuda/papers/few_cluster.cuh",
    "reset_growths grow_clusters settle_growths flip_growths",
    indices="index",
)
# Bonds activated site by site: the rows and columns of the sites of a thread, by what users say.
SITES: dict[int | str, tuple[int, int]] = {1: (1, 1), 4: (2, 2), "column": (4, 1)}
ACTIVATION = (None, *SITES)
SITE_BONDS = Templates(
    "cuda/papers/site_bonds.cuh",
    "activate_sites",
    sites={name: f"{rows}, {columns}" for name, (rows, columns) in SITES.items()},
)

# As in equation 27, but for the threads that a multiprocessor holds, which the GPU tells.
MOST_THREADS, MOST_BLOCKS = 1024, 8
# The share of free memory that queues may take.
SHARE = 4

_GROWTHS = layout(("owner above lowest queue", "u8"), ("seeds owners", "i8"))


def threads_of_block(gpu: Gpu, seeds: int) -> int:
    """Return how many threads grow a cluster, for so many seeds in all: equation 27."""
    held = gpu.resident_threads // gpu.multiprocessors
    share = held / min(max(seeds / gpu.multiprocessors, 1), MOST_BLOCKS)
    return max(WARP, int(min(MOST_THREADS, share)) // WARP * WARP)


class WaveFronts:
    """Updates the clusters of chosen sites of many lattices, whose sites and seeds fit `index`."""

    def __init__(self, gpu: Gpu, replicas: Replicas, index: DType) -> None:
        self._gpu, self._replicas, self._index = gpu, replicas, index
        self._workspace = Workspace()

    def update(
        self, words: DeviceArray, new: Any, number: int, probabilities: Any, tiles: Any, choice: Any
    ) -> None:
        """Fill `new` with the spins after an update.

        `probabilities` are those of bonds by replica; `tiles` and `choice` are ``ChoiceTiles`` and
        ``Choice`` of ``clusters.cuh``.
        """
        gpu, lattice, index = self._gpu, self._replicas.lattice, self._index
        each = int(np.prod(np.array(lattice.shape) // tiles["length"][-lattice.ndim :]))
        seeds, owners = each * self._replicas.count, lattice.sites * self._replicas.count
        threads = threads_of_block(gpu, seeds)
        room = gpu.free_memory() // SHARE // (lattice.sites * index.itemsize)
        blocks = max(1, min(seeds, gpu.multiprocessors * MOST_BLOCKS, room))
        parts = (owners, index), (seeds, index), (seeds, index), (blocks * lattice.sites, index)
        memory = self._workspace.take(gpu, *parts)
        growths = np.array((*map(gpu.address, memory), seeds, owners), _GROWTHS)[()]
        reset, grow, settle, flip = KERNELS.load(gpu, index)
        replicas = self._replicas.struct(number)
        by_words = self._replicas.grid
        launch(reset, by_words, growths)
        launch(grow, (blocks, threads), replicas, tiles, growths, words, probabilities)
        launch(settle, by_words, growths)
        launch(flip, by_words, replicas, growths, choice, words, new)
