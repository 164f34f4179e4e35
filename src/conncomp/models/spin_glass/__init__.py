"""Ising spin glasses: their sweeps on CPU and GPU, and what is measured."""

from conncomp.models.spin_glass.disorder import OverlapSummary, summarise_overlaps
from conncomp.models.spin_glass.measurements import GlassMeasurements
from conncomp.models.spin_glass.model import SpinGlass
from conncomp.models.spin_glass.pairs import Overlaps

__all__ = ["GlassMeasurements", "OverlapSummary", "Overlaps", "SpinGlass", "summarise_overlaps"]
