"""The Potts model: its updates on CPU and GPU, what they measure, and parallel tempering."""

from conncomp.models.potts.measurements import Measurements
from conncomp.models.potts.model import Potts
from conncomp.models.potts.summaries import Summary, WrappingSummary, summarise
from conncomp.models.potts.tempering import Tempering, parallel_tempering
from conncomp.models.potts.updates import UPDATES

__all__ = [
    "UPDATES",
    "Measurements",
    "Potts",
    "Summary",
    "Tempering",
    "WrappingSummary",
    "parallel_tempering",
    "summarise",
]
