"""The Potts model: its updates on CPU and GPU, and what they measure."""

from conncomp.models.potts.measurements import Measurements
from conncomp.models.potts.model import Potts
from conncomp.models.potts.summaries import Summary, WrappingSummary, summarise
from conncomp.models.potts.updates import UPDATES

__all__ = [
    "UPDATES",
    "Measurements",
    "Potts",
    "Summary",
    "WrappingSummary",
    "summarise",
]
