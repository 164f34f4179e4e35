"""Components and spanning forests of graphs on the CPU: drives ``kernels/cpu/graph``.

``fill_...(graph, task, **options)`` is the `fill` of an `Algorithm`: it writes the label of every
vertex, with no other writer, and returns the number of components.
"""

from __future__ import annotations

import secrets
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np

from conncomp._algorithms import Task
from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp._core import native
from conncomp.kernels.graph import Ends, GraphArrays, Indices, WeightBits

# With fewer arcs, rows of a list that is labelled often gain nothing. Making rows of a mirrored
# list of near vertices takes what they save in so many calls (notes-graph-cpu.md).
ARCS_FOR_ROWS = 1 << 16
CALLS_FOR_ROWS = 16

_calls: WeakKeyDictionary[GraphArrays, int] = WeakKeyDictionary()  # calls that labelled a long list


def fill_weak(graph: GraphArrays, task: Task) -> tuple[int]:
    """Label weak components: of rows by ``afforest.h``, of a list of edges by ``arcs.h``.

    A later call for a long list may make rows, which stay in the caller's `Graph`: see `_rows_pay`.
    """
    if graph.csr is None and graph.num_arcs >= ARCS_FOR_ROWS and _rows_pay(graph):
        graph.rows()
        graph.is_mirrored()
    if graph.csr is None:
        return (native.components_of_arcs(*graph.lists, task.consecutive, task.labels),)
    rows = *graph.csr, bool(graph.symmetric)
    return (native.components_of_csr(*rows, task.consecutive, task.labels),)


def _rows_pay(graph: GraphArrays) -> bool:
    """Count the calls: rows of sorted sources are free at the 2nd; others may pay at the 16th."""
    calls = _calls[graph] = _calls.get(graph, 0) + 1
    if calls == 2:
        return graph.has_sorted_sources()
    return calls == CALLS_FOR_ROWS and _are_near_and_mirrored(*graph.lists, graph.num_vertices)


def _are_near_and_mirrored(src: Indices, dst: Indices, num_vertices: int) -> bool:
    """Whether a sample has near ends, and opposites next to arcs or half a list after them."""
    arcs = np.arange(64) * (len(src) // 256) * 2
    near = np.abs(src[arcs] - dst[arcs]) < num_vertices / 256
    return bool(near.mean() > 0.75) and any(
        np.array_equal(src[arcs], dst[arcs + distance])
        and np.array_equal(dst[arcs], src[arcs + distance])
        for distance in (len(src) // 2, 1)
    )


def fill_by_ecl(
    graph: GraphArrays, task: Task, *, init: int = 3, jump: int = 4, finish: int = 3
) -> tuple[int]:
    """Label weak components by union-find; the options are those of the algorithm on a GPU."""
    rest = init, jump, finish, task.consecutive, task.labels
    if graph.csr is None:
        return (native.ecl_of_arcs(*graph.lists, *rest),)
    return (native.ecl_of_csr(*graph.csr, bool(graph.symmetric), *rest),)


def fill_by_bfs(graph: GraphArrays, task: Task) -> tuple[int]:
    """Label weak components by breadth-first searches."""
    return (native.bfs_of_csr(*graph.rows(), graph.is_mirrored(), task.consecutive, task.labels),)


def fill_by_recolouring(graph: GraphArrays, task: Task) -> tuple[int]:
    """Label weak components by least labels of neighbours, until nothing changes."""
    rows = *graph.rows(), graph.is_mirrored()
    return (native.recolouring_of_csr(*rows, task.consecutive, task.labels),)


def fill_strong(graph: GraphArrays, task: Task) -> tuple[int]:
    """Label strong components by Tarjan's algorithm, after parallel sweeps where these pay."""
    return (native.strong_of_csr(*graph.rows(), True, task.consecutive, task.labels),)


def fill_by_tarjan(graph: GraphArrays, task: Task) -> tuple[int]:
    """Label strong components by Tarjan's algorithm alone."""
    return (native.strong_of_csr(*graph.rows(), False, task.consecutive, task.labels),)


def fill_topologically(graph: GraphArrays, task: Task) -> tuple[int]:
    """Label strong components so that arcs never lead to larger labels."""
    return (native.topological_of_csr(*graph.rows(), task.labels),)


def condense(graph: GraphArrays, labels: Indices, count: int) -> Ends:
    """Return the rows of the distinct arcs between components, sorted.

    Nobody else may write to `labels`, which are consecutive.
    """
    return cast(Ends, native.condensation_of_csr(*graph.rows(), labels, count))


def forest_arcs(graph: GraphArrays, weights: WeightBits | None) -> Indices:
    """Return the arcs of the spanning forest of least weight and numbers, ascending."""
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
