"""Labelling arrays."""

from conncomp.grid.bonds import label_bonds
from conncomp.grid.labelling import label

__all__ = ["label", "label_bonds"]
