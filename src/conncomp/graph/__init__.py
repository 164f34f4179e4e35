"""Graphs, and labelling them."""

from conncomp.graph.graph import Graph
from conncomp.graph.labelling import connected_components

__all__ = ["Graph", "connected_components"]
