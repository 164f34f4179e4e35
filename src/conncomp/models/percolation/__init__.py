"""Percolation: configurations on CPU and GPU, sweeps, and what both measure."""

from conncomp.models.percolation.lattices import LATTICES
from conncomp.models.percolation.measurements import (
    PercolationMeasurements,
    PercolationSummary,
)
from conncomp.models.percolation.model import KINDS, Percolation
from conncomp.models.percolation.sweep import PercolationSweep, SweepEstimates

__all__ = [
    "KINDS",
    "LATTICES",
    "Percolation",
    "PercolationMeasurements",
    "PercolationSummary",
    "PercolationSweep",
    "SweepEstimates",
]
