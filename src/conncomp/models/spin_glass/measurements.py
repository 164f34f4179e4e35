"""What sweeps of a spin glass measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.lattice import Lattice

# The fields of a record: unsatisfied bonds or, where couplings are numbers, minus the energy; and
# the spins that are up.
ENERGY, UP, FIELDS = 0, 1, 2


@dataclass(frozen=True)
class GlassMeasurements:
    """What was measured, at one moment or before each of several sweeps.

    Attributes
    ----------
    records : ndarray of int64, shape (..., 2)
        What was counted.
    lattice : Lattice
    unit, offset : float, or ndarray of float64 of shape (replicas,)
        The energy is the first number of a record, times `unit`, and `offset`.
    """

    records: NDArray[np.int64]
    lattice: Lattice
    unit: Any
    offset: Any

    @property
    def energy(self) -> NDArray[np.float64]:
        """The energy of the whole lattice, -sum of J s s - sum of h s."""
        return np.asarray(self.records[..., ENERGY] * self.unit + self.offset, np.float64)

    @property
    def magnetisation(self) -> NDArray[np.float64]:
        """The mean spin, from -1 to 1."""
        sites = self.lattice.sites
        return np.asarray((2 * self.records[..., UP] - sites) / sites, np.float64)

    def observables(self) -> dict[str, NDArray[Any]]:
        """Return what was measured, by name."""
        return {"energy": self.energy, "magnetisation": self.magnetisation}
