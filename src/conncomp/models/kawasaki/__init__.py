"""The Ising model with exchange dynamics: its sweeps on CPU and GPU, and what is measured."""

from conncomp.models.kawasaki.measurements import KawasakiMeasurements
from conncomp.models.kawasaki.model import Kawasaki

__all__ = ["Kawasaki", "KawasakiMeasurements"]
