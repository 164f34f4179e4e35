"""Graphs, and labelling them."""

from conncomp.graph.graph import Graph
from conncomp.graph.labelling import connected_components
from conncomp.graph.paths import PathLengths, path_lengths

__all__ = ["Graph", "PathLengths", "connected_components", "path_lengths"]
