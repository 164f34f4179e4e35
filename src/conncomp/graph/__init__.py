"""Graphs, and labelling them."""

from conncomp.graph.forests import minimum_spanning_forest, spanning_forest
from conncomp.graph.graph import Graph
from conncomp.graph.incremental import IncrementalComponents
from conncomp.graph.labelling import condensation, connected_components

__all__ = [
    "Graph",
    "IncrementalComponents",
    "condensation",
    "connected_components",
    "minimum_spanning_forest",
    "spanning_forest",
]
