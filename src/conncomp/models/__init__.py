"""Simulations that stand on labelling: spin models."""

from conncomp.models.analysis.equilibrium import LogarithmicBins, logarithmic_bins
from conncomp.models.analysis.glasses import OverlapDistribution, overlap_distribution
from conncomp.models.analysis.reweighting import Reweighted, reweight
from conncomp.models.analysis.scaling import Collapse, Crossing, collapse, crossing
from conncomp.models.cahn_hilliard.measurements import DomainMeasurements
from conncomp.models.cahn_hilliard.model import CahnHilliard
from conncomp.models.disorder import random_couplings, random_fields
from conncomp.models.ising.model import Ising
from conncomp.models.kawasaki.measurements import KawasakiMeasurements
from conncomp.models.kawasaki.model import Kawasaki
from conncomp.models.lattices import UnitCell
from conncomp.models.percolation.measurements import PercolationMeasurements, PercolationSummary
from conncomp.models.percolation.model import Percolation
from conncomp.models.percolation.sweep import PercolationSweep, SweepEstimates
from conncomp.models.potts.measurements import IsingMeasurements, Measurements
from conncomp.models.potts.model import Potts
from conncomp.models.protocol import Model, Series, State, Summarised, Update
from conncomp.models.simulation import Simulation, simulate
from conncomp.models.spin_glass.disorder import OverlapSummary, katzgraber_young, summarise_overlaps
from conncomp.models.spin_glass.model import SpinGlass
from conncomp.models.spin_glass.pairs import Overlaps
from conncomp.models.spin_glass.rounds import GlassMeasurements, GlassSeries
from conncomp.models.statistics.estimates import Estimate, autocorrelation_time, jackknife
from conncomp.models.statistics.summaries import Summary, WrappingSummary, summarise
from conncomp.models.tempering import Tempering, parallel_tempering
from conncomp.models.vectors.kinds import ON, XY, Clock, Heisenberg
from conncomp.models.vectors.measurements import VectorMeasurements

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
