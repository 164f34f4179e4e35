"""The Kawasaki model on a GPU."""

from __future__ import annotations

from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.models.kawasaki import ExchangeKernels
from conncomp.kernels.exchange import ExchangeLattice
from conncomp.kernels.lattice import BITS
from conncomp.models._arguments import Drawn, check_room


class Engine(ExchangeKernels):
    """Sweeps of exchanges on the current CUDA device; `sweep` makes up to `most_sweeps`."""

    def __init__(self, drawn: Drawn, lattice: ExchangeLattice) -> None:
        self.gpu, (replicas, first_replica, seed) = current_gpu(), drawn
        self.xp, wanted = self.gpu.xp, 2 * lattice.words * replicas * BITS.itemsize
        check_room(self.gpu, f"{replicas} lattices of shape={lattice.shape}", wanted)
        super().__init__(self.gpu, lattice, seed, first_replica, replicas)
