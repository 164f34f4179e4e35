"""Labels of the clusters of active bonds on a GPU: drives ``edge_labels.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conncomp.kernels.cuda.launcher import Gpu, launch
from conncomp.kernels.cuda.models.replicas import Replicas

FILE = "cuda/models/edge_labels.cuh"
NAMES = "begin_labels<>", "join_active_bonds<>", "settle_labels<>"


class LabelKernels:
    """Union-find over the active bonds of replicas.

    Parameters
    ----------
    gpu : Gpu
    replicas : Replicas
        Of lattices of one row, of as many sites.
    u, v : array of int32, shape (bonds,)
        The sites of each bond.
    """

    def __init__(self, gpu: Gpu, replicas: Replicas, u: Any, v: Any) -> None:
        self._replicas, self._ends = replicas, (u, v)
        self._begin, self._join, self._settle = gpu.load(FILE, NAMES)

    def label(self, active: Any, labels: Any) -> None:
        """Fill labels, (replicas, sites), given which bonds are active, uint8 (replicas, bonds)."""
        u, v = self._ends
        self._launch(self._begin, labels)
        self._launch(self._join, len(u), u, v, active, labels)
        self._launch(self._settle, labels)

    def _launch(self, kernel: Any, *arguments: Any) -> None:
        replicas = self._replicas
        launch(kernel, replicas.grid_over("sites"), replicas.struct(0, "sites"), *arguments)


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `LabelKernels` can load."""
    yield FILE, NAMES
