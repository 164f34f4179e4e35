"""Labelling arrays."""

from conncomp.grid.labelling import label

__all__ = ["label"]
