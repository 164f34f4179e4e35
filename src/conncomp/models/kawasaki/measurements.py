"""What sweeps of exchanges measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.exchange import ExchangeLattice

# The fields of a record.
SATISFIED, COMPONENTS, LARGEST, FIELDS = 0, 1, 2, 3


@dataclass(frozen=True)
class KawasakiMeasurements:
    """What was measured, at one moment or before each of several sweeps.

    Attributes
    ----------
    records : ndarray of int64, shape (..., 3)
        What was counted.
    lattice : ExchangeLattice
    coupling : float
    """

    records: NDArray[np.int64]
    lattice: ExchangeLattice
    coupling: float

    @property
    def satisfied_bonds(self) -> NDArray[np.int64]:
        """The number of bonds between equal spins."""
        return self.records[..., SATISFIED]

    @property
    def energy(self) -> NDArray[np.float64]:
        """The energy of the whole lattice, -J sum of s_i s_j over bonds."""
        excess = 2 * self.satisfied_bonds - self.lattice.bonds
        return np.asarray(-self.coupling * excess, np.float64)

    @property
    def components(self) -> NDArray[np.int64]:
        """The number of components of the spins that are up."""
        return self.records[..., COMPONENTS]

    @property
    def largest_component(self) -> NDArray[np.int64]:
        """The sites of the largest component."""
        return self.records[..., LARGEST]

    @property
    def largest_fraction(self) -> NDArray[np.float64]:
        """`largest_component` as a share of the lattice."""
        return np.asarray(self.largest_component / self.lattice.sites, np.float64)

    def observables(self) -> dict[str, NDArray[Any]]:
        """Return what was measured, by name."""
        names = "satisfied_bonds", "energy", "components", "largest_component", "largest_fraction"
        return {name: getattr(self, name) for name in names}
