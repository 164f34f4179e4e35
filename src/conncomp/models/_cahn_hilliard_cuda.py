"""The equation of Cahn and Hilliard on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.gpu import Workspace
from conncomp.kernels.cuda.launcher import Gpu, current_gpu
from conncomp.kernels.cuda.models import domains
from conncomp.kernels.cuda.models.cahn_hilliard import FieldKernels
from conncomp.models._field import FieldLattice, count_domains


class CudaEngine:
    """Steps of the fields of replicas, on the current CUDA device.

    Parameters
    ----------
    lattice, dtype, seed, first_replica, replicas, coefficients
        As of the engine for the CPU.
    gpu : Gpu, optional
        By default the current one.

    Raises
    ------
    MemoryError
        If the memory of the GPU has no room for the fields.
    """

    def __init__(
        self,
        lattice: FieldLattice,
        dtype: Any,
        seed: int,
        first_replica: int,
        replicas: int,
        coefficients: tuple[float, ...],
        gpu: Gpu | None = None,
    ) -> None:
        self.gpu = gpu or current_gpu()
        self.xp, self.workspace = self.gpu.xp, Workspace()
        wanted = 2 * replicas * lattice.cells * dtype.itemsize
        available = self.gpu.free_memory()
        if wanted > available:
            raise MemoryError(
                f"{replicas} fields of shape={lattice.shape}, before and after a step, take "
                f"{wanted} bytes on the GPU, which has {available} free; choose fewer, or smaller "
                "ones"
            )
        self._lattice, self._domains = lattice, None
        if domains.takes(lattice.shape, replicas):
            self._domains = domains.DomainKernels(self.gpu, lattice.shape, replicas)
        described = lattice, dtype, seed, first_replica, replicas, coefficients
        self._kernels = FieldKernels(self.gpu, *described)
        self.start = self._kernels.start
        self.advance = self._kernels.advance
        self.measure = self._kernels.measure
        self.above = self._kernels.above

    def count_domains(self, threshold: float, field: Any, records: Any) -> None:
        """Count the domains of both phases into records."""
        if self._domains is not None:
            self._domains.count(threshold, field, records)
        else:
            above = self.above(threshold, field)
            count_domains(self.xp, self._lattice, above, self.workspace, records)

    def as_numpy(self, array: Any) -> Any:
        """Return an array of this engine as one of NumPy."""
        return array if self.xp is np else self.xp.asnumpy(array)
