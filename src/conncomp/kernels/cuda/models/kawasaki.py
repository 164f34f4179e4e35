"""Sweeps of exchanges on a GPU: drives ``kawasaki.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import WARP, DeviceArray, Gpu, Templates, launch
from conncomp.kernels.cuda.models.replicas import check_room, starting_together
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.exchange import DIRECTIONS, EXCHANGE_LATTICE, KINDS, ExchangeLattice
from conncomp.kernels.lattice import BITS
from conncomp.kernels.updates import Drawn

KERNELS = Templates(
    "cuda/models/kawasaki.cuh",
    "exchange_in_blocks exchange_by_blocks count_unsatisfied",
    kind=range(len(KINDS)),
)
COUNT, COUNTER = np.dtype("i8"), np.dtype("u4")
# Bytes of spins that a block has room for, while several are on a multiprocessor.
MOST_SHARED = 32 << 10
FEWEST_THREADS, MOST_THREADS = 128, 512
# A launch takes some tenths of a second at most, so that Ctrl-C is heard between two: words that it
# exchanges, and sweeps, of which one takes 50 microseconds on a lattice that is small.
MOST_WORDS, MOST_SWEEPS = 1 << 29, 1 << 12

REPLICAS = Struct(
    *("ExchangeReplicas", ("lattice", EXCHANGE_LATTICE)),
    *(("parts", "i4"), ("first", "i8"), ("seed", "u8")),
)


class KawasakiEngine:
    """Exchanges of spins of lattices of one shape: at most `most_sweeps` sweeps in a launch."""

    def __init__(self, gpu: Gpu, drawn: Drawn, lattice: ExchangeLattice) -> None:
        self.gpu, self.xp, self._lattice = gpu, gpu.xp, lattice
        self._replicas = replicas = drawn.replicas
        wanted = 2 * lattice.words * replicas * BITS.itemsize
        check_room(gpu, f"{replicas} lattices of shape={lattice.shape}", wanted)
        words = lattice.words * DIRECTIONS[lattice.kind] * replicas
        self.most_sweeps = max(1, min(MOST_SWEEPS, MOST_WORDS // words))
        of_class = lattice.words // (8 if lattice.kind == "bcc" else 4)
        self._shared = lattice.words * BITS.itemsize
        self._in_blocks = self._shared <= MOST_SHARED
        # Blocks that share a replica wait for each other, so those of all replicas have to run at
        # the same time: with one on each multiprocessor they do.
        most_parts = 1 if self._in_blocks else max(1, gpu.multiprocessors // replicas)
        wanted = of_class if self._in_blocks else max(FEWEST_THREADS, -(-of_class // most_parts))
        self._threads = min(MOST_THREADS, -(-wanted // WARP) * WARP)
        self._parts = min(most_parts, -(-of_class // self._threads))
        in_blocks, by_blocks, self._count = KERNELS.load(gpu, KINDS.index(lattice.kind))
        waiting = starting_together(gpu, by_blocks, self._parts)
        self._exchange = in_blocks if self._in_blocks else waiting
        first, seed = drawn.first_replica, drawn.seed
        self._fields = {"lattice": lattice.struct, "first": first, "seed": seed}
        self._arrived = gpu.xp.zeros(replicas, COUNTER)

    def sweep(self, words: Any, new: Any, first: int, count: int, acceptance: Any) -> None:
        """Make so many sweeps of `words`, from number `first` on, and leave the spins in `new`."""
        grid = self._replicas * self._parts, self._threads
        struct = REPLICAS.pack({**self._fields, "parts": self._parts})
        given = struct, acceptance, first, count, words, new
        if self._in_blocks:
            launch(self._exchange, grid, *given, shared=self._shared)
        else:
            self._arrived[...] = 0
            launch(self._exchange, grid, *given, self._arrived)

    def count_unsatisfied(self, words: DeviceArray) -> Any:
        """Return the number of unsatisfied bonds of each replica."""
        counts = self.xp.zeros(self._replicas, COUNT)
        parts = max(1, min(-(-self._lattice.words // FEWEST_THREADS), 1 << 10))
        struct = REPLICAS.pack({**self._fields, "parts": parts})
        launch(self._count, (self._replicas * parts, FEWEST_THREADS), struct, words, counts)
        return counts
