"""The Kawasaki model on the CPU: passes arrays to ``kernels/cpu/models/kawasaki.h``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.kernels.exchange import ExchangeLattice
from conncomp.kernels.lattice import BITS
from conncomp.models._arguments import Drawn


class Engine:
    """Sweeps of exchanges; `sweep` makes up to `most_sweeps`."""

    xp, most_sweeps = np, 1

    def __init__(self, drawn: Drawn, lattice: ExchangeLattice) -> None:
        replicas, first_replica, seed = drawn
        self._replicas, struct = replicas, lattice.struct.tobytes()
        self._engine = native.KawasakiEngine(struct, seed, first_replica, replicas)

    def sweep(self, words: Any, new: Any, first: int, count: int, acceptance: Any) -> None:
        """Make one sweep of `words`, number `first`, and leave the spins in `new`."""
        assert count == self.most_sweeps
        self._engine.sweep(words.reshape(-1), new.reshape(-1), first, acceptance.reshape(-1))

    def count_unsatisfied(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the number of unsatisfied bonds of each replica."""
        counts = np.zeros(self._replicas, np.int64)
        self._engine.count_unsatisfied(words.reshape(-1), counts)
        return counts


def first_words(
    lattice: ExchangeLattice, seed: int, first_replica: int, up: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return words in which so many spins of each replica, drawn, are up."""
    words = np.zeros((len(up), lattice.words), BITS)
    engine = native.KawasakiEngine(lattice.struct.tobytes(), seed, first_replica, len(up))
    engine.start(up, words.reshape(-1))
    return words
