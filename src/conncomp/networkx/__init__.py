"""A backend of NetworkX: its functions for components and spanning trees, by conncomp.

With conncomp installed, ``nx.connected_components(G, backend="conncomp")`` calls it, and with the
environment variable ``NETWORKX_BACKEND_PRIORITY=conncomp`` NetworkX does so by itself wherever
`can_run` and `should_run` say so. NetworkX keeps the converted graph, with what was found, until a
method of `G` changes it. It checks whether the graph is directed, where that matters. Components
are found when a function is called, and their sets made one by one on demand.

Examples
--------
>>> import networkx as nx
>>> G = nx.Graph([("a", "b"), ("c", "d"), ("d", "e")])
>>> nx.number_connected_components(G, backend="conncomp")
2
>>> with nx.config(warnings_to_ignore={"cache"}):  # that the converted graph is used again
...     sorted(map(sorted, nx.connected_components(G, backend="conncomp")))
[['a', 'b'], ['c', 'd', 'e']]
>>> G.add_edge("b", "c")
>>> nx.is_connected(G, backend="conncomp")
True
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from _conncomp_networkx import FUNCTIONS
from conncomp._optional import hint

try:
    import networkx as nx
except ModuleNotFoundError as error:
    raise ImportError(hint("networkx", "this backend")) from error

from conncomp.graph.inputs.parts import Parts
from conncomp.graph.on_cpu import condense
from conncomp.networkx.conversion import Components, ConvertedGraph, in_blocks, paused_collector
from conncomp.networkx.conversion import can_run as can_run
from conncomp.networkx.conversion import convert_from_nx as convert_from_nx
from conncomp.networkx.conversion import convert_to_nx as convert_to_nx
from conncomp.networkx.conversion import should_run as should_run
from conncomp.networkx.spanning_trees import maximum_spanning_edges as maximum_spanning_edges
from conncomp.networkx.spanning_trees import maximum_spanning_tree as maximum_spanning_tree
from conncomp.networkx.spanning_trees import minimum_spanning_edges as minimum_spanning_edges
from conncomp.networkx.spanning_trees import minimum_spanning_tree as minimum_spanning_tree

__all__ = sorted([*FUNCTIONS, "can_run", "convert_from_nx", "convert_to_nx", "should_run"])


def _are_one(graph: ConvertedGraph, components: Components) -> bool:
    if len(graph) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return components.number == 1


def connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    """Generate the sets of nodes that are connected, directions ignored, by their first nodes."""
    return in_blocks(G.weak_members.sets())


def number_connected_components(G: ConvertedGraph) -> int:
    """Return the number of components, directions ignored."""
    return G.weak.number


def is_connected(G: ConvertedGraph) -> bool:
    """Tell whether there is one component, directions ignored."""
    return _are_one(G, G.weak)


weakly_connected_components = connected_components
number_weakly_connected_components = number_connected_components
is_weakly_connected = is_connected


def node_connected_component(G: ConvertedGraph, n: Any) -> set[Any]:
    """Return the nodes of the component of one of them."""
    return G.weak_members[G.weak.labels[G.numbers[n]]]


def strongly_connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    """Generate the sets of nodes that reach each other; no arc leads to a later set."""
    return in_blocks(G.strong_members.sets())


def kosaraju_strongly_connected_components(
    G: ConvertedGraph, source: Any = None
) -> Iterator[set[Any]]:
    """Generate the same; `source` is None."""
    return in_blocks(G.strong_members.sets())


def number_strongly_connected_components(G: ConvertedGraph) -> int:
    """Return the number of strong components."""
    return G.strong.number


def is_strongly_connected(G: ConvertedGraph) -> bool:
    """Tell whether all nodes reach each other."""
    return _are_one(G, G.strong)


def condensation(G: ConvertedGraph, scc: Any = None) -> Any:
    """Return the graph of the strong components, numbered in their order; `scc` is None."""
    number, labels = G.strong
    indptr, targets = condense(Parts(len(G), csr=G.csr), labels, number)
    sources = np.repeat(np.arange(number), np.diff(indptr))
    condensed = nx.DiGraph(mapping=dict(zip(G.nodes, labels.tolist(), strict=True)))
    with paused_collector():
        members = ({"members": nodes} for nodes in G.strong_members.sets())
        condensed.add_nodes_from(enumerate(members))
        condensed.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    return condensed


def is_forest(G: ConvertedGraph) -> bool:
    """Tell whether there are no cycles: each component then has an edge fewer than nodes."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    return G.num_edges < len(G) and G.num_edges == len(G) - G.weak.number
