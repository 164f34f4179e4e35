"""Spins that are unit vectors, by Wolff's embedding: XY, Heisenberg, clock and O(n) models."""

from conncomp.models.vectors.kinds import ON, XY, Clock, Heisenberg
from conncomp.models.vectors.measurements import EdgeMeasurements, VectorMeasurements
from conncomp.models.vectors.model import VectorModel, critical_temperatures

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
