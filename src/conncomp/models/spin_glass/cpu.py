"""Spin glasses on the CPU: passes arrays to ``kernels/cpu/models/spin_glass.h``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.kernels.spin_glass import GlassReplicas
from conncomp.models._probabilities import logarithm_table
from conncomp.models.spin_glass.couplings import Acting


class Engine:
    """Sweeps of the spins of replicas, of which `replicas` says more than `drawn`."""

    xp = np

    def __init__(self, drawn: Any, replicas: GlassReplicas, rule: str, acting: Acting) -> None:
        struct = replicas.struct(rule).tobytes()
        self._engine = native.SpinGlassEngine(struct, replicas.lattice.ndim)
        self._acting = acting

    def start(self, words: NDArray[np.uint64]) -> None:
        """Draw the first spins."""
        self._engine.start(words.reshape(-1))

    def sweep(self, words: NDArray[np.uint64], step: int, temperatures: NDArray[Any]) -> None:
        """Make a sweep of the spins in `words`."""
        first, second, *others = map(_flat, (*self._acting.arrays, temperatures))
        if self._acting.numbers:
            table = _flat(logarithm_table())
            self._engine.sweep_numbers(_flat(words), step, first, second, *others, table)
        else:
            self._engine.sweep_bits(_flat(words), step, first, second, *others)

    def count(self, words: NDArray[np.uint64], record: NDArray[np.int64]) -> None:
        """Add to each replica's record."""
        count = self._engine.count_numbers if self._acting.numbers else self._engine.count_bits
        count(_flat(words), *map(_flat, self._acting.arrays), _flat(record))

    def compare_pairs(
        self, words: NDArray[np.uint64], pairs: NDArray[np.int32], differ: NDArray[np.uint8]
    ) -> None:
        """Write where the two replicas of each pair differ, (pairs, sites)."""
        self._engine.compare_pairs(_flat(words), _flat(pairs), _flat(differ))

    def flip_pairs(
        self, words: NDArray[np.uint64], pair_of: NDArray[np.int32], flips: NDArray[np.uint8]
    ) -> None:
        """Flip the spins of each replica that has a pair where that says so."""
        self._engine.flip_pairs(_flat(words), pair_of, _flat(flips))


def _flat(array: Any) -> Any:
    return None if array is None else array.reshape(-1)
