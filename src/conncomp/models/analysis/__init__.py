"""What series of several sizes, temperatures and samples tell together."""

from conncomp.models.analysis.equilibrium import LogarithmicBins, logarithmic_bins
from conncomp.models.analysis.glasses import OverlapDistribution, overlap_distribution
from conncomp.models.analysis.reweighting import Reweighted, reweight
from conncomp.models.analysis.scaling import Collapse, Crossing, collapse, crossing

__all__ = [
    "Collapse",
    "Crossing",
    "LogarithmicBins",
    "OverlapDistribution",
    "Reweighted",
    "collapse",
    "crossing",
    "logarithmic_bins",
    "overlap_distribution",
    "reweight",
]
