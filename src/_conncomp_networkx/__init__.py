"""What NetworkX asks of its backend at once; a package of its own, as it imports nothing."""

from typing import Any

_EXACT = "The result is that of NetworkX"
_SETS = f"{_EXACT}, and so is the order of the components."
_NUMBER = f"{_EXACT}; remembered with the converted graph."
_STRONG = "No arc leads from a component to a later one, as with NetworkX; the order may differ."
_TREE = f"{_EXACT}, also where weights are equal; for ``algorithm='kruskal'`` and real weights."

FUNCTIONS = {
    "condensation": f"{_STRONG} Without ``scc``.",
    "connected_components": _SETS,
    "is_connected": _NUMBER,
    "is_forest": _NUMBER,
    "is_strongly_connected": _NUMBER,
    "is_weakly_connected": _NUMBER,
    "kosaraju_strongly_connected_components": f"{_STRONG} Without ``source``.",
    "maximum_spanning_edges": _TREE,
    "maximum_spanning_tree": _TREE,
    "minimum_spanning_edges": _TREE,
    "minimum_spanning_tree": _TREE,
    "node_connected_component": f"{_EXACT}; for more than one node of a graph.",
    "number_connected_components": _NUMBER,
    "number_strongly_connected_components": _NUMBER,
    "number_weakly_connected_components": _NUMBER,
    "strongly_connected_components": _STRONG,
    "weakly_connected_components": _SETS,
}


def get_info() -> dict[str, Any]:
    """Return what NetworkX shows of the backend and of each of its functions."""
    return {
        "backend_name": "conncomp",
        "project": "conncomp",
        "package": "conncomp",
        "short_summary": "Connected components and spanning trees, in C++.",
        "functions": {name: {"additional_docs": text} for name, text in FUNCTIONS.items()},
    }
