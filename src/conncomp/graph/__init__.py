"""Graphs, and labelling them."""

from conncomp.graph.acyclic import Condensation, condensation
from conncomp.graph.forests import minimum_spanning_forest, spanning_forest
from conncomp.graph.graph import Graph
from conncomp.graph.incremental import IncrementalComponents
from conncomp.graph.labelling import connected_components
from conncomp.graph.paths import PathLengths, path_lengths

__all__ = [
    "Condensation",
    "Graph",
    "IncrementalComponents",
    "PathLengths",
    "condensation",
    "connected_components",
    "minimum_spanning_forest",
    "path_lengths",
    "spanning_forest",
]
