"""NetworkX's functions for components, of converted graphs.

NetworkX has looked already whether the graph is directed, where that matters. What is found is
kept with the graph. Components are found when a function is called, and their sets made one at a
time when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from conncomp.graph.graph import Graph
from conncomp.graph.labelling import condense
from conncomp.networkx.conversion import Components, ConvertedGraph, in_blocks, paused_collector


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
    indptr, targets = condense(np, Graph._of_checked(len(G), csr=G.csr), labels, number)
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
