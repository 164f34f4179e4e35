"""Structure factors and labels of clusters on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.models.edge_spins import LabelKernels
from conncomp.kernels.cuda.models.replicas import Replicas
from conncomp.kernels.cuda.models.structure import StructureKernels
from conncomp.kernels.edges import SpinKind
from conncomp.kernels.lattice import Lattice
from conncomp.kernels.structure import Waves, name_of
from conncomp.models._arguments import Drawn


class StructureSums(StructureKernels):
    """As that for the CPU, on the current CUDA device."""

    def __init__(self, drawn: Drawn, rows: Lattice, kind: SpinKind, waves: Waves) -> None:
        gpu, (count, first, seed) = current_gpu(), drawn
        super().__init__(gpu, Replicas(gpu, rows, seed, first, count), name_of(kind), waves)


class EdgeLabels:
    """As that for the CPU."""

    def __init__(self, replicas: int, sites: int, u: Any, v: Any) -> None:
        gpu = current_gpu()
        self._xp, self._shape = gpu.xp, (replicas, sites)
        of_sites = Replicas(gpu, Lattice((sites,), (False,), 2), 0, 0, replicas)
        self._kernels = LabelKernels(gpu, of_sites, gpu.xp.asarray(u), gpu.xp.asarray(v))

    def label(self, active: Any) -> Any:
        """Return the smallest site of the cluster of each site, (replicas, sites)."""
        labels = self._xp.empty(self._shape, np.int32)
        self._kernels.label(active, labels)
        return labels
