"""Labelling arrays."""

from conncomp.grid.bonds import label_bonds
from conncomp.grid.labeller import Labeller
from conncomp.grid.labelling import label
from conncomp.grid.percolation import percolates
from conncomp.grid.wrapping import cluster_wrapping, component_wrapping

__all__ = [
    "Labeller",
    "cluster_wrapping",
    "component_wrapping",
    "label",
    "label_bonds",
    "percolates",
]
