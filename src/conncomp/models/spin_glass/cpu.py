"""Spin glasses on the CPU: passes arrays to ``kernels/cpu/models/spin_glass.h``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.kernels.spin_glass import GlassReplicas
from conncomp.models.spin_glass.acting import Acting


class Engine:
    """Sweeps of the spins of replicas.

    Parameters
    ----------
    drawn : Drawn
        Of which `replicas` says more.
    replicas : GlassReplicas
    rule : str
    acting : Acting
    """

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
            table = _flat(self._acting.logarithm)
            self._engine.sweep_numbers(_flat(words), step, first, second, *others, table)
        else:
            self._engine.sweep_bits(_flat(words), step, first, second, *others)

    def count(self, words: NDArray[np.uint64], record: NDArray[np.int64]) -> None:
        """Add to each replica's record."""
        count = self._engine.count_numbers if self._acting.numbers else self._engine.count_bits
        count(_flat(words), *map(_flat, self._acting.arrays), _flat(record))


def _flat(array: Any) -> Any:
    return None if array is None else array.reshape(-1)
