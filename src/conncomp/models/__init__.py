"""Simulations that stand on labelling: spin models."""

from conncomp.models.cahn_hilliard import CahnHilliard, DomainMeasurements
from conncomp.models.ising import Ising, IsingMeasurements, UnitCell
from conncomp.models.kawasaki import Kawasaki, KawasakiMeasurements
from conncomp.models.percolation import (
    Percolation,
    PercolationMeasurements,
    PercolationSummary,
    PercolationSweep,
    SweepEstimates,
)
from conncomp.models.potts import (
    Measurements,
    Potts,
    Summary,
    Tempering,
    WrappingSummary,
    parallel_tempering,
    summarise,
)
from conncomp.models.protocol import Model, Series, State, Summarised, Update
from conncomp.models.simulation import Simulation, simulate
from conncomp.models.statistics import Estimate, autocorrelation_time, jackknife

__all__ = [
    "CahnHilliard",
    "DomainMeasurements",
    "Estimate",
    "Ising",
    "IsingMeasurements",
    "Kawasaki",
    "KawasakiMeasurements",
    "Measurements",
    "Model",
    "Percolation",
    "PercolationMeasurements",
    "PercolationSummary",
    "PercolationSweep",
    "Potts",
    "Series",
    "Simulation",
    "State",
    "Summarised",
    "Summary",
    "SweepEstimates",
    "Tempering",
    "UnitCell",
    "Update",
    "WrappingSummary",
    "autocorrelation_time",
    "jackknife",
    "parallel_tempering",
    "simulate",
    "summarise",
]
