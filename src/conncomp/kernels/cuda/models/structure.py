"""Structure factors on a GPU: drives ``structure.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import DeviceArray, Gpu, Templates
from conncomp.kernels.cuda.models.replicas import Replicas, records_of
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.edges import KINDS, SpinKind
from conncomp.kernels.lattice import Lattice
from conncomp.kernels.structure import LIMBS, Waves
from conncomp.kernels.updates import Drawn

KERNELS = Templates(
    "cuda/models/structure.cuh",
    "add_waves add_cluster_waves",
    "square_sums<2>",
    kind={kind.waves: f"conncomp::{kind.waves}" for kind in KINDS},
)


class StructureSums:
    """Sums spins, in words of `rows` or vectors in one row, at wave vectors, by replica."""

    def __init__(self, gpu: Gpu, drawn: Drawn, rows: Lattice, kind: SpinKind, waves: Waves) -> None:
        self._gpu, self._replicas, self._waves = gpu, Replicas(gpu, drawn, rows), waves
        self._phases = gpu.xp.asarray(waves.table)
        self._struct = waves.struct(gpu.address(self._phases))
        self._add, self._of_clusters, self._square = KERNELS.load(gpu, kind.waves)
        self._workspace = Workspace()

    def count(self, spins: DeviceArray, record: DeviceArray, field: int) -> None:
        """Add sums over all sites to a record, (replicas, fields), from a field on."""
        sums = records_of(self._gpu, record), np.int32(field)
        self._replicas.launch(self._add, 0, self._struct, spins, *sums, over="sites")

    def square(self, spins: Any, number: int, labels: Any, record: Any, field: int) -> None:
        """Add the squares of clusters' sums, as limbs for each wave, to a record."""
        replicas = self._replicas
        (sums,) = self._workspace.take(self._gpu, (2 * replicas.sites, np.dtype(np.int64)))
        records = records_of(self._gpu, record)
        for wave in range(len(self._waves.axes)):
            sums[...] = 0
            of_wave = self._struct, np.int32(wave)
            replicas.launch(self._of_clusters, number, *of_wave, spins, labels, sums, over="sites")
            first = np.int32(field + LIMBS * wave)
            replicas.launch(self._square, number, sums, records, first, over="sites")
