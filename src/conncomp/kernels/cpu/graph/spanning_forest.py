"""Spanning forests on the CPU: drives ``spanning_forest.h`` and ``filter_kruskal.h``."""

from __future__ import annotations

import secrets
from typing import Any

from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp._core import native
from conncomp.kernels.graph import GraphArrays, Indices, WeightBits


def forest_arcs(graph: GraphArrays, weights: WeightBits | None) -> Indices:
    """Return the arcs of the spanning forest of least weight, and of least numbers, ascending."""
    is_list = graph.arcs is not None
    ends: tuple[Any, ...] = (*graph.lists, graph.num_vertices) if is_list else graph.lists
    if weights is not None:
        find = native.minimum_forest_of_arcs if is_list else native.minimum_forest_of_csr
        arcs: Indices = find(*ends, weights.bits, list(weights.order), secrets.randbits(64))
    elif is_list:
        arcs = native.spanning_forest_of_arcs(*ends)
    else:
        arcs = native.spanning_forest_of_csr(*ends, bool(graph.symmetric))
    return arcs.astype(INDEX_TYPES[graph.num_arcs > INT32_MAX], copy=False)
