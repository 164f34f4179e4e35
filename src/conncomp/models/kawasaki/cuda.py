"""The Kawasaki model on a GPU."""

from __future__ import annotations

from typing import Any

from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.models.kawasaki import ExchangeKernels
from conncomp.kernels.exchange import ExchangeLattice
from conncomp.kernels.lattice import BITS
from conncomp.models._arguments import Drawn, check_room


class Engine:
    """Sweeps of exchanges on the current CUDA device; `sweep` makes up to `most_sweeps`."""

    def __init__(self, drawn: Drawn, lattice: ExchangeLattice) -> None:
        gpu, (replicas, first_replica, seed) = current_gpu(), drawn
        self.gpu, self.xp = gpu, gpu.xp
        wanted = 2 * lattice.words * replicas * BITS.itemsize
        check_room(gpu, f"{replicas} lattices of shape={lattice.shape}", wanted)
        self._kernels = ExchangeKernels(gpu, lattice, seed, first_replica, replicas)
        self.most_sweeps = self._kernels.most_sweeps

    def sweep(self, words: Any, new: Any, first: int, count: int, acceptance: Any) -> None:
        """Make so many sweeps of `words`, from number `first` on, and leave the spins in `new`."""
        self._kernels.sweep(words, new, first, count, acceptance)

    def count_unsatisfied(self, words: Any) -> Any:
        """Return the number of unsatisfied bonds of each replica."""
        return self._kernels.count_unsatisfied(words)
