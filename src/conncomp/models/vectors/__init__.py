"""Spins that are unit vectors, by Wolff's embedding: XY, Heisenberg, clock and O(n) models."""

from conncomp.models.vectors.clock import Clock
from conncomp.models.vectors.critical import critical_temperatures
from conncomp.models.vectors.measurements import EdgeMeasurements, VectorMeasurements
from conncomp.models.vectors.model import VectorModel
from conncomp.models.vectors.on import ON
from conncomp.models.vectors.xy import XY, Heisenberg

UPDATES = VectorModel._updates

__all__ = [
    "ON",
    "UPDATES",
    "XY",
    "Clock",
    "EdgeMeasurements",
    "Heisenberg",
    "VectorMeasurements",
    "critical_temperatures",
]
