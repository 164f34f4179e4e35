"""The Potts model: its updates on CPU and GPU, and what they measure."""

from conncomp.models.potts.measurements import Measurements
from conncomp.models.potts.model import Potts
from conncomp.models.statistics.summaries import Summary, WrappingSummary, summarise
from conncomp.models.updates import UPDATES

__all__ = [
    "UPDATES",
    "Measurements",
    "Potts",
    "Summary",
    "WrappingSummary",
    "summarise",
]
