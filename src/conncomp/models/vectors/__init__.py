"""Spins that are unit vectors: the XY and the Heisenberg model, by Wolff's embedding."""

from conncomp.models.vectors.measurements import VectorMeasurements
from conncomp.models.vectors.model import XY, Heisenberg
from conncomp.models.vectors.summaries import VectorSummary
from conncomp.models.vectors.updates import UPDATES

__all__ = ["UPDATES", "XY", "Heisenberg", "VectorMeasurements", "VectorSummary"]
