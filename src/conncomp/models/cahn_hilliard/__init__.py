"""The equation of Cahn and Hilliard: its steps on CPU and GPU, and the domains of its fields."""

from conncomp.models.cahn_hilliard.measurements import DomainMeasurements
from conncomp.models.cahn_hilliard.model import DTYPES, CahnHilliard

__all__ = ["DTYPES", "CahnHilliard", "DomainMeasurements"]
