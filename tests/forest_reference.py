"""The minimum spanning forest as plainly as it can be written, to compare with."""

import numpy as np


def ends_of(graph):
    """Return the sources and targets of the arcs of a graph, in the order of their numbers."""
    if graph._parts.arcs is not None:
        return graph._parts.arcs
    indptr, indices = graph._parts.csr
    return np.repeat(np.arange(graph.num_vertices), np.diff(indptr)), indices


def forest_by_kruskal(graph, weights=None):
    """Return the arcs of the minimum spanning forest of a `conncomp.Graph`, by `kruskal`."""
    return kruskal(graph.num_vertices, *ends_of(graph), weights)


def kruskal(num_vertices, src, dst, weights=None):
    """Return the arcs of the minimum spanning forest; of equal weights the lower number first."""
    src, dst = np.asarray(src).tolist(), np.asarray(dst).tolist()
    order = range(len(src))
    if weights is not None:
        values = np.asarray(weights).tolist()
        order = sorted(order, key=lambda arc: (values[arc], arc))
    tree = list(range(num_vertices))  # that a vertex is in, by any name
    members = [[v] for v in tree]
    chosen = []
    for arc in order:
        a, b = tree[src[arc]], tree[dst[arc]]
        if a == b:
            continue
        chosen.append(arc)
        if len(members[a]) < len(members[b]):
            a, b = b, a
        for v in members[b]:
            tree[v] = a
        members[a] += members[b]
    return sorted(chosen)
