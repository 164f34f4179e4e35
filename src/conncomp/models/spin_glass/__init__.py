"""Ising spin glasses: their sweeps on CPU and GPU, and what is measured."""

from conncomp.models.spin_glass.measurements import GlassMeasurements
from conncomp.models.spin_glass.model import SpinGlass

__all__ = ["GlassMeasurements", "SpinGlass"]
