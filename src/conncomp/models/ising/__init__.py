"""The Ising model on any lattice: its updates on CPU and GPU, and what they measure."""

from conncomp.models.ising.model import Ising
from conncomp.models.lattices import LATTICES, UnitCell
from conncomp.models.potts.measurements import IsingMeasurements, WeightedMeasurements
from conncomp.models.updates import ON_EDGES as UPDATES

__all__ = ["LATTICES", "UPDATES", "Ising", "IsingMeasurements", "UnitCell", "WeightedMeasurements"]
