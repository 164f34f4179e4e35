"""Which calls the backend takes, and which NetworkX makes itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conncomp.networkx.conversion import ConvertedGraph

# With fewer nodes a call takes 50 µs, and NetworkX is done sooner.
FEWEST_NODES = 300

# The argument that a function takes one value of only: its place, its name and the value.
FIXED = {
    "condensation": (1, "scc", None),
    "kosaraju_strongly_connected_components": (1, "source", None),
    "maximum_spanning_edges": (1, "algorithm", "kruskal"),
    "maximum_spanning_tree": (2, "algorithm", "kruskal"),
    "minimum_spanning_edges": (1, "algorithm", "kruskal"),
    "minimum_spanning_tree": (2, "algorithm", "kruskal"),
}


def can_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
    """Tell whether a function takes these arguments; if not, why."""
    if name not in FIXED:
        return True
    place, argument, only = FIXED[name]
    value = args[place] if place < len(args) else kwargs.get(argument, only)
    if value is only or (isinstance(value, str) and value == only):
        return True
    return f"{argument} must be {only!r}"


def should_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
    """Tell whether a call of a function is worth a conversion; if not, why."""
    graph = args[0] if args else kwargs["G"]
    if isinstance(graph, ConvertedGraph) or len(graph) >= FEWEST_NODES:
        return True
    return f"the graph has fewer than {FEWEST_NODES} nodes"
