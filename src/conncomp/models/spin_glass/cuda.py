"""Spin glasses on a GPU."""

from __future__ import annotations

from typing import Any

from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.models.spin_glass import GlassKernels
from conncomp.kernels.lattice import BITS
from conncomp.kernels.spin_glass import GlassReplicas
from conncomp.models._arguments import check_room
from conncomp.models._probabilities import logarithm_table
from conncomp.models.spin_glass.couplings import Acting


class Engine:
    """Sweeps of the spins of replicas on the current CUDA device."""

    def __init__(self, drawn: Any, replicas: GlassReplicas, rule: str, acting: Acting) -> None:
        gpu, lattice = current_gpu(), replicas.lattice
        self.gpu, self.xp = gpu, gpu.xp
        wanted = sum(array.nbytes for array in acting.arrays if array is not None)
        wanted += 2 * replicas.groups * lattice.sites * BITS.itemsize
        check_room(gpu, f"{replicas.replicas} lattices of shape={lattice.shape}", wanted)
        self._kernels = GlassKernels(gpu, replicas, rule, acting.numbers, acting.arrays[1] is None)
        self._bonds = [None if array is None else gpu.xp.asarray(array) for array in acting.arrays]
        self._logarithm = [gpu.xp.asarray(logarithm_table())] if acting.numbers else []
        self.start = self._kernels.start

    def sweep(self, words: Any, step: int, temperatures: Any) -> None:
        """Make a sweep of the spins in `words`."""
        self._kernels.sweep(words, step, *self._bonds, temperatures, *self._logarithm)

    def count(self, words: Any, record: Any) -> None:
        """Add to each replica's record."""
        self._kernels.count(words, record, *self._bonds)

    def compare_pairs(self, words: Any, pairs: Any, differ: Any) -> None:
        """Write where the two replicas of each pair differ, (pairs, sites)."""
        self._kernels.compare_pairs(words, self.xp.asarray(pairs), differ)

    def flip_pairs(self, words: Any, pair_of: Any, flips: Any) -> None:
        """Flip the spins of each replica that has a pair where that says so."""
        self._kernels.flip_pairs(words, self.xp.asarray(pair_of), flips)
