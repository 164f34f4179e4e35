"""Graphs of NetworkX as its backend has them, their components, and which calls it takes."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp._core import native
from conncomp.components import component_members
from conncomp.graph import Graph, connected_components
from conncomp.graph.inputs.conversions import Nodes, Rows, csr_of_networkx, dictionaries_of_networkx

Item = TypeVar("Item")

LARGEST_BLOCK = 1 << 12


@contextmanager
def paused_collector() -> Iterator[None]:
    """Pause the garbage collector, which would take ten times as long as the objects."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def in_blocks(items: Iterator[Item]) -> Iterator[Item]:
    """Generate items made in blocks: of one at first, as the caller may want no more."""
    size = 1
    while True:
        with paused_collector():
            block = list(islice(items, size))
        yield from block
        if len(block) < size:
            return
        size = min(2 * size, LARGEST_BLOCK)


class Components(NamedTuple):
    """The number of components, and the label of each node, which count from 0."""

    number: int
    labels: NDArray[Any]


class ConvertedGraph:
    """A graph of NetworkX as it was when it was converted: vertex i is node i of `nodes`.

    It reads the graph's dictionaries on demand; NetworkX forgets it when the graph is changed.
    `rows` has the neighbours of each node, along arcs in a directed graph.
    """

    __networkx_backend__ = "conncomp"

    nodes: Nodes
    rows: Rows

    def __init__(self, graph: Any) -> None:
        self.nodes, self.rows = dictionaries_of_networkx(graph)
        self._directed, self._multigraph = bool(graph.is_directed()), bool(graph.is_multigraph())
        self._opposite = dictionaries_of_networkx(graph, True)[1] if self._directed else self.rows
        self.graph_class = graph.__class__
        self.attributes, self.node_attributes = graph.graph, graph._node

    def is_directed(self) -> bool:
        """Whether edges have directions."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Whether there may be more than one edge between two nodes."""
        return self._multigraph

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: Any) -> bool:
        return node in self.numbers

    @cached_property
    def numbers(self) -> dict[Any, int]:
        """The vertex that each node is."""
        return dict(zip(self.nodes, range(len(self.nodes)), strict=True))

    @cached_property
    def csr(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """The rows of the arcs, each once; undirected edges are arcs from both ends."""
        return csr_of_networkx(self.nodes, self.rows)

    @cached_property
    def num_edges(self) -> int:
        """The number of edges, loops among them."""
        many = chain.from_iterable(map(dict.values, self.rows)) if self._multigraph else self.rows
        ends = sum(map(len, many))
        if self._directed:
            return ends
        loops = (row[node] for node, row in zip(self.nodes, self.rows, strict=True) if node in row)
        return (ends + sum(len(loop) if self._multigraph else 1 for loop in loops)) // 2

    @cached_property
    def weak(self) -> Components:
        """Components along edges of any direction, in the order of their first nodes."""
        labels = np.empty(len(self), INDEX_TYPES[len(self) > INT32_MAX])
        rows = self.rows, self._opposite
        return Components(native.components_of_dictionaries(self.nodes, *rows, labels), labels)

    @cached_property
    def strong(self) -> Components:
        """Strong components, in an order in which no arc leads to a later one."""
        graph = Graph._of_checked(len(self), csr=self.csr)
        options: Any = {"connection": "strong", "numbering": "topological"}
        return Components(*connected_components(graph, **options))

    @cached_property
    def weak_members(self) -> Members:
        """The nodes of the components."""
        return Members(self.nodes, self.weak)

    @cached_property
    def strong_members(self) -> Members:
        """The nodes of the strong components."""
        return Members(self.nodes, self.strong)


class Members:
    """The nodes of each component."""

    def __init__(self, nodes: Nodes, components: Components) -> None:
        self._nodes: Nodes | list[Any] = nodes
        if components.number <= 1:
            self._begins = [0] * components.number + [len(nodes)]
        else:
            begins, members = component_members(components.labels, background=None)
            self._nodes = list(map(nodes.__getitem__, members.tolist()))
            self._begins = begins.tolist()

    def __getitem__(self, label: int) -> set[Any]:
        return set(self._nodes[self._begins[label] : self._begins[label + 1]])

    def sets(self) -> Iterator[set[Any]]:
        """Generate the nodes of each component."""
        return map(self.__getitem__, range(len(self._begins) - 1))


def convert_from_nx(graph: Any, *, name: str | None = None, **preserved: Any) -> ConvertedGraph:
    """Return a graph of NetworkX for the backend's functions, with all attributes."""
    if hasattr(graph, "_graph"):
        # NetworkX would keep what was found in a view when the graph below is changed.
        graph.__networkx_cache__ = None
        return ConvertedGraph(graph)
    cache = getattr(graph, "__networkx_cache__", None)
    if cache and nx.config.cache_converted_graphs:
        for converted in list(cache.get("backends", {}).get("conncomp", {}).values()):
            if isinstance(converted, ConvertedGraph):
                return converted  # made for other attributes
    return ConvertedGraph(graph)


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Return a result as NetworkX has it; sets, numbers and trees are so already."""
    if not isinstance(result, ConvertedGraph):
        return result
    graph: Any = result.graph_class()
    graph.graph.update(result.attributes)
    graph.add_nodes_from(result.node_attributes.items())
    for node, row in zip(result.nodes, result.rows, strict=True):
        if not result.is_multigraph():
            graph.add_edges_from((node, neighbour, data) for neighbour, data in row.items())
        else:
            graph.add_edges_from(
                (node, neighbour, key, data)
                for neighbour, edges in row.items()
                for key, data in edges.items()
            )
    return graph


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
