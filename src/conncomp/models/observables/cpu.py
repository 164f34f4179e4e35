"""Structure factors and labels on the CPU: passes arrays to ``kernels/cpu/models/structure.h``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.kernels.edges import SpinKind
from conncomp.kernels.lattice import Lattice
from conncomp.kernels.structure import LIMBS, STATES, Waves, components_of
from conncomp.kernels.updates import Drawn


class StructureSums:
    """Sums of the spins of replicas, in words of `rows` or vectors in one row, at wave vectors."""

    def __init__(self, drawn: Drawn, rows: Lattice, kind: SpinKind, waves: Waves) -> None:
        self._replicas, self._waves = drawn.replicas, len(waves.axes)
        self._components = components_of(kind, rows.states)
        phases = waves.table
        name = kind.name if kind.components else STATES
        struct = waves.struct(phases.ctypes.data).tobytes()
        self._sums = native.StructureSums(name, rows.struct.tobytes(), struct, phases, *drawn)

    def count(self, spins: NDArray[Any], record: NDArray[np.int64], field: int) -> None:
        """Add sums over all sites to a record, (replicas, fields), from a field on."""
        sums = np.zeros((self._replicas, 2 * self._components * self._waves), np.int64)
        self._sums.count(spins.reshape(-1), sums.reshape(-1))
        record[:, field : field + sums.shape[1]] += sums

    def square(self, spins: Any, number: int, labels: Any, record: Any, field: int) -> None:
        """Add the squares of clusters' sums, as limbs for each wave, to a record."""
        limbs = np.zeros((self._replicas, LIMBS * self._waves), np.int64)
        self._sums.square(spins.reshape(-1), number, labels.reshape(-1), limbs.reshape(-1))
        record[:, field : field + limbs.shape[1]] += limbs


class EdgeLabels:
    """Labels of clusters of active bonds from u to v: ``kernels/cpu/models/structure.h``."""

    def __init__(self, drawn: Drawn, sites: int, u: NDArray[Any], v: NDArray[Any]) -> None:
        self._shape, self._ends = (drawn.replicas, sites), (u, v)

    def label(self, active: NDArray[np.uint8]) -> NDArray[np.int32]:
        """Return the smallest site of each cluster, given active bonds, (replicas, bonds)."""
        labels = np.empty(self._shape, np.int32)
        native.label_edges(self._shape[0], *self._ends, active.reshape(-1), labels.reshape(-1))
        return labels
