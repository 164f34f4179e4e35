"""Spin glasses on the CPU: passes arrays to ``kernels/cpu/models/spin_glass.h``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.kernels.updates import Drawn
from conncomp.models._arguments import flat
from conncomp.models.spin_glass.couplings import Acting


class GlassEngine:
    """Sweeps of spins by a rule of `RULES`, given the couplings of replicas as they act."""

    xp: Any = np

    def __init__(self, drawn: Drawn, rule: str, acting: Acting) -> None:
        replicas = acting.replicas.struct(rule).tobytes()
        engine = native.SpinGlassEngine(replicas, acting.replicas.lattice.ndim)
        kind = "numbers" if acting.numbers else "bits"
        names = "start", f"sweep_{kind}", f"count_{kind}", "compare_pairs", "flip_pairs"
        # The latter write where pairs differ, and flip the spins of replicas that have a pair.
        calls = [flat(getattr(engine, name)) for name in names]
        self.start, self._sweep, self._count, self.compare_pairs, self.flip_pairs = calls
        self._arrays, self._tables = acting.arrays, acting.tables

    def sweep(self, words: NDArray[np.uint64], number: int, temperatures: NDArray[Any]) -> None:
        """Make a sweep of the spins in `words`."""
        self._sweep(words, number, *self._arrays, temperatures, *self._tables)

    def count(self, words: NDArray[np.uint64], record: NDArray[np.int64]) -> None:
        """Add to each replica's record."""
        self._count(words, *self._arrays, record)
