"""Clusters of chosen sites, grown along their wave fronts: drives ``few_cluster.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import INDEX_TYPES, WARP, Gpu, ctype, launch
from conncomp.kernels.cuda.models.replicas import Replicas
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/few_cluster.cuh"

# As in equation 27, but for the threads that a multiprocessor holds, which the GPU tells.
MOST_THREADS, MOST_BLOCKS = 1024, 8
# The share of free memory that queues may take.
SHARE = 4

_GROWTHS = np.dtype(
    [
        *((name, "u8") for name in ("owner", "above", "lowest", "queue")),
        ("seeds", "i8"),
        ("owners", "i8"),
    ]
)


def threads_of_block(gpu: Gpu, seeds: int) -> int:
    """Return how many threads grow a cluster, of so many in all: equation 27."""
    held = gpu.resident_threads // gpu.multiprocessors
    share = held / min(max(seeds / gpu.multiprocessors, 1), MOST_BLOCKS)
    return max(WARP, int(min(MOST_THREADS, share)) // WARP * WARP)


class WaveFronts:
    """Updates the clusters of chosen sites of many lattices.

    Parameters
    ----------
    gpu : Gpu
    replicas : Replicas
    index : dtype
        Of sites and seeds, of all lattices.
    """

    def __init__(self, gpu: Gpu, replicas: Replicas, index: np.dtype[Any]) -> None:
        self._gpu, self._replicas, self._index = gpu, replicas, index
        self._workspace = Workspace()

    def update(
        self, words: Any, new: Any, step: int, probabilities: Any, tiles: Any, choice: Any
    ) -> None:
        """Fill `new` with the spins after an update.

        Parameters
        ----------
        words, new : array
            Spins.
        step : int
        probabilities : array
            Of bonds, for each replica.
        tiles, choice : numpy.void
            ``ChoiceTiles`` and ``Choice`` of ``clusters.cuh``.
        """
        gpu, lattice, index = self._gpu, self._replicas.lattice, self._index
        edges = tiles["edge"][-lattice.ndim :]
        each = int(np.prod(np.array(lattice.shape) // edges))
        seeds, owners = each * self._replicas.count, lattice.sites * self._replicas.count
        threads = threads_of_block(gpu, seeds)
        room = gpu.free_memory() // SHARE // (lattice.sites * index.itemsize)
        blocks = max(1, min(seeds, gpu.multiprocessors * MOST_BLOCKS, room))
        parts = (owners, index), (seeds, index), (seeds, index), (blocks * lattice.sites, index)
        memory = self._workspace.take(gpu, *parts)
        growths = np.array((*map(gpu.address, memory), seeds, owners), _GROWTHS)[()]
        reset, grow, settle, flip = gpu.load(FILE, _names(index))
        replicas = self._replicas.struct(step)
        by_words = self._replicas.grid
        launch(reset, by_words, growths)
        launch(grow, (blocks, threads), replicas, tiles, growths, words, probabilities)
        launch(settle, by_words, growths)
        launch(flip, by_words, replicas, growths, choice, words, new)


@cache
def _names(index: np.dtype[Any]) -> tuple[str, ...]:
    kernels = "reset_growths", "grow_clusters", "settle_growths", "flip_growths"
    return tuple(f"{kernel}<{ctype(index)}>" for kernel in kernels)


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `WaveFronts` can load."""
    for index in INDEX_TYPES:
        yield FILE, _names(index)
