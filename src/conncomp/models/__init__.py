"""Simulations that stand on labelling: spin models."""

from conncomp.models.measurements import Measurements
from conncomp.models.potts import Potts

__all__ = ["Measurements", "Potts"]
