"""The Kawasaki model on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import Gpu, current_gpu
from conncomp.kernels.cuda.models.kawasaki import ExchangeKernels
from conncomp.kernels.exchange import ExchangeLattice
from conncomp.kernels.lattice import BITS


class CudaEngine:
    """Sweeps of exchanges on the current CUDA device.

    Parameters
    ----------
    lattice : ExchangeLattice
    seed, first_replica, replicas : int
    gpu : Gpu, optional
        By default the current one.

    Attributes
    ----------
    xp : module
        The array library.
    most_sweeps : int
        How many `sweep` makes at once.

    Raises
    ------
    MemoryError
        If the memory of the GPU has no room for the spins before and after a sweep.
    """

    def __init__(
        self,
        lattice: ExchangeLattice,
        seed: int,
        first_replica: int,
        replicas: int,
        gpu: Gpu | None = None,
    ) -> None:
        gpu = gpu or current_gpu()
        self.xp = gpu.xp
        wanted, available = 2 * lattice.words * replicas * BITS.itemsize, gpu.free_memory()
        if wanted > available:
            raise MemoryError(
                f"{replicas} lattices of shape={lattice.shape} take {wanted} bytes on the GPU, "
                f"which has {available} free; choose fewer, or smaller ones"
            )
        self._kernels = ExchangeKernels(gpu, lattice, seed, first_replica, replicas)
        self.most_sweeps = self._kernels.most_sweeps

    def sweep(self, words: Any, new: Any, first: int, count: int, acceptance: Any) -> None:
        """Make so many sweeps of `words`, from number `first` on, and leave the spins in `new`."""
        self._kernels.sweep(words, new, first, count, acceptance)

    def count_unsatisfied(self, words: Any) -> Any:
        """Return the number of unsatisfied bonds of each replica."""
        return self._kernels.count_unsatisfied(words)

    def as_numpy(self, array: Any) -> Any:
        """Return an array of this engine as one of NumPy."""
        return array if isinstance(array, np.ndarray) else self.xp.asnumpy(array)
