"""The classes that models, simulations and analysis return: for annotations and ``isinstance``."""

from conncomp.models.cahn_hilliard.measurements import DomainMeasurements
from conncomp.models.kawasaki import KawasakiMeasurements
from conncomp.models.percolation.measurements import PercolationMeasurements, PercolationSummary
from conncomp.models.percolation.sweep import PercolationSweep, SweepEstimates
from conncomp.models.simulation import Simulation
from conncomp.models.spin_glass.disorder import OverlapDistribution, OverlapSummary
from conncomp.models.spin_glass.pairs import Overlaps
from conncomp.models.spin_glass.rounds import GlassMeasurements, GlassSeries
from conncomp.models.spins.measurements import IsingMeasurements, Measurements
from conncomp.models.statistics.estimates import Estimate, LogarithmicBins
from conncomp.models.statistics.reweighting import Reweighted
from conncomp.models.statistics.scaling import Collapse, Crossing
from conncomp.models.statistics.summaries import Summary, WrappingSummary
from conncomp.models.tempering import Tempering
from conncomp.models.vectors.measurements import VectorMeasurements

__all__ = [
    "Collapse",
    "Crossing",
    "DomainMeasurements",
    "Estimate",
    "GlassMeasurements",
    "GlassSeries",
    "IsingMeasurements",
    "KawasakiMeasurements",
    "LogarithmicBins",
    "Measurements",
    "OverlapDistribution",
    "OverlapSummary",
    "Overlaps",
    "PercolationMeasurements",
    "PercolationSummary",
    "PercolationSweep",
    "Reweighted",
    "Simulation",
    "Summary",
    "SweepEstimates",
    "Tempering",
    "VectorMeasurements",
    "WrappingSummary",
]
