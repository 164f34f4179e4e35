"""The equation of Cahn and Hilliard on the CPU: passes arrays to ``cpu/models/cahn_hilliard.h``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp._core import native
from conncomp.grid import label
from conncomp.kernels.field import FieldLattice
from conncomp.models._arguments import Drawn
from conncomp.models.cahn_hilliard.domains import count_domains


class Engine:
    """Steps of the fields of replicas.

    Parameters
    ----------
    drawn : Drawn
    lattice : FieldLattice
    dtype : dtype
        Of the fields.
    coefficients : tuple of float
        ``cubic``, ``linear``, ``gradient`` and ``flux`` of ``core/cahn_hilliard.h``.
    """

    xp = np
    workspace = None

    def __init__(
        self, drawn: Drawn, lattice: FieldLattice, dtype: Any, coefficients: tuple[float, ...]
    ) -> None:
        self._lattice, self._replicas = lattice, drawn.replicas
        self._drawn = lattice.lengths, drawn.seed, drawn.first_replica, drawn.replicas
        self._coefficients = coefficients

    def start(self, mean: float, scale: float, field: Any) -> None:
        """Fill the first fields."""
        native.start_fields(*self._drawn, mean, scale, field.reshape(-1))

    def advance(self, step: int, field: Any, after: Any) -> None:
        """Fill `after` with the fields after a step."""
        flat = field.reshape(-1), after.reshape(-1)
        native.advance_fields(*self._drawn, self._lattice.ndim, self._coefficients, step, *flat)

    def above(self, threshold: float, field: Any) -> Any:
        """Return which cells are above a threshold."""
        return field > field.dtype.type(threshold)

    def measure(self, gauge: tuple[float, ...], field: Any, records: Any) -> None:
        """Add what ``FieldTally`` has to the records."""
        lattice = self._lattice
        flat = field.reshape(-1), records.reshape(-1)
        native.measure_fields(lattice.lengths, self._replicas, lattice.ndim, gauge, *flat)

    def count_domains(self, threshold: float, field: Any, records: Any) -> None:
        """Count the domains of both phases into records."""
        count_domains(np, self._lattice, self.above(threshold, field), self.workspace, records)

    def labels(
        self, threshold: float, field: Any, connectivity: Any, numbering: Any, return_num: Any
    ) -> Any:
        """Return labels of the cells above a threshold, of one field or of each of several."""
        labelled: Any = label
        return labelled(
            self.above(threshold, field),
            connectivity=connectivity,
            periodic=True,
            batch_axes=field.ndim - self._lattice.ndim,
            numbering=numbering,
            return_num=return_num,
        )
