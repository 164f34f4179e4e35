"""What updates of the Ising model measure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.edges import WHOLE
from conncomp.models.potts.measurements import SATISFIED, Measurements, WeightedBonds


@dataclass(frozen=True)
class IsingMeasurements(Measurements):
    """What was measured in each of several updates, as `Measurements`, in the Ising convention.

    A bond is satisfied if its part of the energy is -abs(J): by equal spins of a ferromagnet, but
    over the end of an antiperiodic axis.

    Attributes
    ----------
    records : ndarray of int64, shape (updates, fields) or (updates, replicas, fields)
        What was counted.
    lattice : object
        The sites and bonds.
    coupling : float
    clusters_measured : bool
        Whether clusters were counted; if not, what needs them raises ValueError.
    bonds_measured : bool
        Whether active bonds were counted; likewise.
    wrapping_measured : bool
        Whether clusters were asked how they wrap, on lattices that `Potts` has; on others
        `observed` has it.
    observed : tuple
        What else was measured, by ``observe=`` of an update, and where it is in the records.
    """

    @property
    def energy(self) -> NDArray[np.float64]:
        """The energy of the whole lattice, -J sum of s_i s_j over bonds."""
        excess = 2 * self.satisfied_bonds - self.lattice.bonds
        return np.asarray(-abs(self.coupling) * excess, np.float64)


@dataclass(frozen=True)
class WeightedMeasurements(WeightedBonds, IsingMeasurements):
    """The same where bonds have couplings of their own, or sites fields.

    Of the field of a record that counts satisfied bonds elsewhere, this has the sum of the
    strengths of what is satisfied.
    """

    @property
    def energy(self) -> NDArray[np.float64]:
        """The energy of the whole lattice: minus all J_ij s_i s_j, minus all h_i s_i."""
        excess = 2 * self.records[..., SATISFIED] - self.lattice.total
        return np.asarray(-self.lattice.scale / WHOLE * excess, np.float64)
