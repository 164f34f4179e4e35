"""Labelling arrays."""

from conncomp.grid.bonds import label_bonds
from conncomp.grid.labelling import label
from conncomp.grid.percolation import percolates
from conncomp.grid.wrapping import ComponentWrapping, cluster_wrapping, component_wrapping

__all__ = [
    "ComponentWrapping",
    "cluster_wrapping",
    "component_wrapping",
    "label",
    "label_bonds",
    "percolates",
]
