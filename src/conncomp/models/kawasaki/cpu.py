"""The Kawasaki model on the CPU: passes arrays to ``kernels/cpu/models/kawasaki.h``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.kernels.exchange import ExchangeLattice
from conncomp.kernels.lattice import BITS

Words = NDArray[np.uint64]


class CpuEngine:
    """Sweeps of exchanges.

    Parameters
    ----------
    lattice : ExchangeLattice
    seed, first_replica, replicas : int

    Attributes
    ----------
    most_sweeps : int
        How many `sweep` makes at once.
    """

    xp, most_sweeps = np, 1

    def __init__(
        self, lattice: ExchangeLattice, seed: int, first_replica: int, replicas: int
    ) -> None:
        self._replicas = replicas
        self._engine = native.KawasakiEngine(
            lattice.struct.tobytes(), seed, first_replica, replicas
        )

    def sweep(
        self, words: Words, new: Words, first: int, count: int, acceptance: NDArray[np.uint8]
    ) -> None:
        """Make one sweep of `words`, number `first`, and leave the spins in `new`."""
        assert count == self.most_sweeps
        self._engine.sweep(words.reshape(-1), new.reshape(-1), first, acceptance.reshape(-1))

    def count_unsatisfied(self, words: Words) -> NDArray[np.int64]:
        """Return the number of unsatisfied bonds of each replica."""
        counts = np.zeros(self._replicas, np.int64)
        self._engine.count_unsatisfied(words.reshape(-1), counts)
        return counts

    def as_numpy(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array of this engine as one of NumPy."""
        return array


def first_words(
    lattice: ExchangeLattice,
    seed: int,
    first_replica: int,
    up: NDArray[np.int64],
) -> Words:
    """Return words in which so many spins of each replica, drawn, are up."""
    words = np.zeros((len(up), lattice.words), BITS)
    engine = native.KawasakiEngine(lattice.struct.tobytes(), seed, first_replica, len(up))
    engine.start(up, words.reshape(-1))
    return words
