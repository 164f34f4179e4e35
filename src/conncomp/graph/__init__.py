"""Graphs, and labelling them.

    file, matrix, arrays, graph of another library  ->  Parts    inputs/, graph.py
    Parts, which a Graph shows                      ->  labels   labelling.py, by algorithms.py
                                                    ->  arcs     forests.py

`on_cpu.py` drives the kernels of ``kernels/cpu/graph``; those for a GPU have their drivers beside
them. `repeated.py` replays on a GPU what an earlier call launched for the same Parts.
"""

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
