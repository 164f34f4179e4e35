"""Ising spin glasses: their sweeps on CPU and GPU, and what is measured."""

from conncomp.models.spin_glass.disorder import OverlapSummary, katzgraber_young, summarise_overlaps
from conncomp.models.spin_glass.model import SpinGlass
from conncomp.models.spin_glass.pairs import Overlaps
from conncomp.models.spin_glass.rounds import GlassMeasurements, GlassSeries

__all__ = [
    "GlassMeasurements",
    "GlassSeries",
    "OverlapSummary",
    "Overlaps",
    "SpinGlass",
    "katzgraber_young",
    "summarise_overlaps",
]
