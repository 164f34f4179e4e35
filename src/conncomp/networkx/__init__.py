"""A backend of NetworkX: its functions for components and spanning trees, by conncomp.

With conncomp installed, ``nx.connected_components(G, backend="conncomp")`` calls it, and with the
environment variable ``NETWORKX_BACKEND_PRIORITY=conncomp`` NetworkX does so by itself wherever
`can_run` and `should_run` say so. NetworkX keeps the converted graph, and with it what was found,
until a method of `G` changes it.

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

from conncomp._optional import hint

try:
    import networkx  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(hint("networkx", "this backend")) from error

from conncomp.networkx.components import (
    condensation,
    connected_components,
    is_connected,
    is_forest,
    is_strongly_connected,
    is_weakly_connected,
    kosaraju_strongly_connected_components,
    node_connected_component,
    number_connected_components,
    number_strongly_connected_components,
    number_weakly_connected_components,
    strongly_connected_components,
    weakly_connected_components,
)
from conncomp.networkx.conversion import can_run, convert_from_nx, convert_to_nx, should_run
from conncomp.networkx.spanning_trees import (
    maximum_spanning_edges,
    maximum_spanning_tree,
    minimum_spanning_edges,
    minimum_spanning_tree,
)

__all__ = [
    "can_run",
    "condensation",
    "connected_components",
    "convert_from_nx",
    "convert_to_nx",
    "is_connected",
    "is_forest",
    "is_strongly_connected",
    "is_weakly_connected",
    "kosaraju_strongly_connected_components",
    "maximum_spanning_edges",
    "maximum_spanning_tree",
    "minimum_spanning_edges",
    "minimum_spanning_tree",
    "node_connected_component",
    "number_connected_components",
    "number_strongly_connected_components",
    "number_weakly_connected_components",
    "should_run",
    "strongly_connected_components",
    "weakly_connected_components",
]
