"""Simulations that stand on labelling: spin models."""

from conncomp.models._field import DomainMeasurements
from conncomp.models.cahn_hilliard import CahnHilliard
from conncomp.models.kawasaki import Kawasaki, KawasakiMeasurements
from conncomp.models.measurements import Measurements
from conncomp.models.percolation import Percolation
from conncomp.models.percolation_series import (
    PercolationMeasurements,
    PercolationSummary,
    PercolationSweep,
    SweepEstimates,
)
from conncomp.models.potts import Potts
from conncomp.models.protocol import Model, State
from conncomp.models.simulation import Simulation, simulate
from conncomp.models.statistics import (
    Estimate,
    Summary,
    WrappingSummary,
    autocorrelation_time,
    jackknife,
    summarise,
)
from conncomp.models.tempering import Tempering, parallel_tempering

__all__ = [
    "CahnHilliard",
    "DomainMeasurements",
    "Estimate",
    "Kawasaki",
    "KawasakiMeasurements",
    "Measurements",
    "Model",
    "Percolation",
    "PercolationMeasurements",
    "PercolationSummary",
    "PercolationSweep",
    "Potts",
    "Simulation",
    "State",
    "Summary",
    "SweepEstimates",
    "Tempering",
    "WrappingSummary",
    "autocorrelation_time",
    "jackknife",
    "parallel_tempering",
    "simulate",
    "summarise",
]
