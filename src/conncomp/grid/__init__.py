"""Labelling arrays."""

from conncomp.grid.labeller import Labeller
from conncomp.grid.labelling import label, label_bonds
from conncomp.grid.wrapping import cluster_wrapping, component_wrapping, percolates

__all__ = [
    "Labeller",
    "cluster_wrapping",
    "component_wrapping",
    "label",
    "label_bonds",
    "percolates",
]
