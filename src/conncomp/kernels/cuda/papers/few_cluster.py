"""Clusters of chosen sites, grown along their wave fronts: drives ``few_cluster.cuh``."""

from __future__ import annotations

from math import prod
from typing import Any

from conncomp.kernels.cuda.launcher import WARP, Gpu, Templates, launch
from conncomp.kernels.cuda.models.clusters import choice_of, tiles_of
from conncomp.kernels.cuda.models.replicas import Replicas
from conncomp.kernels.cuda.models.words import WordSpins
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Fields
from conncomp.kernels.updates import Flips

KERNELS = Templates(
    "cuda/papers/few_cluster.cuh",
    "reset_growths grow_clusters settle_growths flip_growths",
    indices="index",
)

# As in equation 27, but for the threads that a multiprocessor holds, which the GPU tells.
MOST_THREADS, MOST_BLOCKS = 1024, 8
# The share of free memory that queues may take.
SHARE = 4

GROWTHS = Struct("Growths<int32_t>", "owner above lowest queue", ("seeds owners", "i8"))


def threads_of_block(gpu: Gpu, seeds: int) -> int:
    """Return how many threads grow a cluster, for so many seeds in all: equation 27."""
    held = gpu.resident_threads // gpu.multiprocessors
    share = held / min(max(seeds / gpu.multiprocessors, 1), MOST_BLOCKS)
    return max(WARP, int(min(MOST_THREADS, share)) // WARP * WARP)


class WaveFrontEngine(WordSpins):
    """Words of states; updates grow the clusters of chosen sites, and no others."""

    winds = True  # as errors say that updates with windings measure all clusters

    def __init__(self, replicas: Replicas) -> None:
        # Of the queues, that of one block at least.
        sites = replicas.sites + replicas.lattice.sites
        super().__init__(replicas, sites * replicas.index.itemsize)

    def update(self, words: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update."""
        chosen, replicas = flips.chosen, self.replicas
        if chosen is None or flips.counts_bonds:
            done = "updates" if chosen is None else "measures"
            raise ValueError(
                "labelling='wave-front' grows the clusters of chosen sites, and this call "
                f"{done} them all; use labelling='auto'"
            )
        if flips.record is not None:
            self.count(words, flips.record)
        gpu, lattice, index = self.gpu, replicas.lattice, replicas.index
        tiles = prod(n // edge for n, edge in zip(lattice.shape, chosen.tile, strict=True))
        seeds, owners = tiles * replicas.count, replicas.sites
        room = gpu.free_memory() // SHARE // (lattice.sites * index.itemsize)
        blocks = max(1, min(seeds, gpu.multiprocessors * MOST_BLOCKS, room))
        by_seed, queue = (seeds, index), (blocks * lattice.sites, index)
        parts = {"owner": (owners, index), "above": by_seed, "lowest": by_seed, "queue": queue}
        fields: Fields = {**parts, "seeds": seeds, "owners": owners}
        growths = self._workspace.take_struct(gpu, GROWTHS, fields).struct
        reset, grow, settle, flip = KERNELS.load(gpu, index)
        struct, grid = replicas.struct(number), (blocks, threads_of_block(gpu, seeds))
        launch(reset, replicas.grid, growths)
        launch(grow, grid, struct, tiles_of(chosen), growths, words, strengths)
        launch(settle, replicas.grid, growths)
        launch(flip, replicas.grid, struct, growths, choice_of(chosen), words, new)
