"""The Kawasaki model on the CPU: passes arrays to ``kernels/cpu/models/kawasaki.h``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.kernels.exchange import ExchangeLattice
from conncomp.kernels.updates import Drawn


class KawasakiEngine:
    """Sweeps of exchanges; `sweep` makes up to `most_sweeps`."""

    xp: Any = np
    most_sweeps = 1

    def __init__(self, drawn: Drawn, lattice: ExchangeLattice) -> None:
        self._engine = native.KawasakiEngine(lattice.struct.tobytes(), *drawn)
        self._replicas = drawn.replicas

    def sweep(self, words: Any, new: Any, first: int, count: int, acceptance: Any) -> None:
        """Make one sweep of `words`, number `first`, and leave the spins in `new`."""
        assert count == self.most_sweeps
        self._engine.sweep(words.reshape(-1), new.reshape(-1), first, acceptance.reshape(-1))

    def count_unsatisfied(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the number of unsatisfied bonds of each replica."""
        counts = np.zeros(self._replicas, np.int64)
        self._engine.count_unsatisfied(words.reshape(-1), counts)
        return counts

    def start(self, up: NDArray[np.int64], words: NDArray[np.uint64]) -> None:
        """Fill words, which are 0, with spins of which so many of each replica, drawn, are up."""
        self._engine.start(up, words.reshape(-1))
