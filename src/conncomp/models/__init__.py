"""Simulations that stand on labelling: spin models."""

from conncomp.models.analysis import (
    Collapse,
    Crossing,
    LogarithmicBins,
    OverlapDistribution,
    Reweighted,
    collapse,
    crossing,
    logarithmic_bins,
    overlap_distribution,
    reweight,
)
from conncomp.models.cahn_hilliard import CahnHilliard, DomainMeasurements
from conncomp.models.disorder import random_couplings, random_fields
from conncomp.models.ising import Ising, IsingMeasurements
from conncomp.models.kawasaki import Kawasaki, KawasakiMeasurements
from conncomp.models.lattices import UnitCell
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
    WrappingSummary,
    summarise,
)
from conncomp.models.protocol import Model, Series, State, Summarised, Update
from conncomp.models.simulation import Simulation, simulate
from conncomp.models.spin_glass import (
    GlassMeasurements,
    GlassSeries,
    Overlaps,
    OverlapSummary,
    SpinGlass,
    katzgraber_young,
    summarise_overlaps,
)
from conncomp.models.statistics import Estimate, autocorrelation_time, jackknife
from conncomp.models.tempering import Tempering, parallel_tempering
from conncomp.models.vectors import ON, XY, Clock, Heisenberg, VectorMeasurements

__all__ = [
    "ON",
    "XY",
    "CahnHilliard",
    "Clock",
    "Collapse",
    "Crossing",
    "DomainMeasurements",
    "Estimate",
    "GlassMeasurements",
    "GlassSeries",
    "Heisenberg",
    "Ising",
    "IsingMeasurements",
    "Kawasaki",
    "KawasakiMeasurements",
    "LogarithmicBins",
    "Measurements",
    "Model",
    "OverlapDistribution",
    "OverlapSummary",
    "Overlaps",
    "Percolation",
    "PercolationMeasurements",
    "PercolationSummary",
    "PercolationSweep",
    "Potts",
    "Reweighted",
    "Series",
    "Simulation",
    "SpinGlass",
    "State",
    "Summarised",
    "Summary",
    "SweepEstimates",
    "Tempering",
    "UnitCell",
    "Update",
    "VectorMeasurements",
    "WrappingSummary",
    "autocorrelation_time",
    "collapse",
    "crossing",
    "jackknife",
    "katzgraber_young",
    "logarithmic_bins",
    "overlap_distribution",
    "parallel_tempering",
    "random_couplings",
    "random_fields",
    "reweight",
    "simulate",
    "summarise",
    "summarise_overlaps",
]
