"""Percolation: configurations on CPU and GPU, sweeps, and what both measure."""

from conncomp.models.percolation.measurements import (
    PercolationMeasurements,
    PercolationSummary,
    PercolationSweep,
    SweepEstimates,
)
from conncomp.models.percolation.model import KINDS, LATTICES, Percolation

__all__ = [
    "KINDS",
    "LATTICES",
    "Percolation",
    "PercolationMeasurements",
    "PercolationSummary",
    "PercolationSweep",
    "SweepEstimates",
]
