"""The second stage: the union of roots that are linked over faces, in a tree.

A chunk's components on its faces are open. A union joins neighbouring regions by their open
components and the pairs of roots between them; what touches no outer side of the new region goes no
further up. So a union grows with the faces between the regions that it joins, not with the array:

    pairs between chunks     a | b   c | d            unite (a, b), (c, d), and (ab, cd)
    tables, on the way back  abcd -> ab -> a, b       what a root has become at last
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked.layout import Index
from conncomp.graph.graph import Graph
from conncomp.graph.labelling import connected_components

Indices = NDArray[np.int64]
GROUP = 64  # regions that one union joins


class Open(NamedTuple):
    """The components of a region that links to other regions may unite; arrays of one length."""

    keys: Indices  # roots of components of chunks that touch outer sides of the region
    roots: Indices  # those of their components in the region
    touched: NDArray[np.uint64]  # bits of the outer sides that each key touches, as of Layout.sides


class Table(NamedTuple):
    """What roots of a region have become: distinct roots, ascending, and those now."""

    roots: Indices
    replaced: Indices


class Union(NamedTuple):
    """A region: a chunk, or regions that were made one."""

    open: Open
    pairs: Indices  # of linked keys, in two rows, one of which may be of another region
    tables: Sequence[Table] = ()  # for each region in it, what its open roots have become


def unite(outer: Sequence[int], *members: Union) -> Union:
    """Make one region of several, of whose sides those with bits in `outer` stay outer ones."""
    regions = [member.open for member in members]
    keys, roots, touched = map(np.concatenate, zip(*regions, strict=True))
    linked = np.concatenate([member.pairs for member in members], axis=1)
    distinct, vertices = np.unique(roots, return_inverse=True)
    order = np.argsort(keys, kind="stable")
    where = np.minimum(np.searchsorted(keys, linked, sorter=order), max(len(keys) - 1, 0))
    where = order[where] if len(keys) else where
    inside = (keys[where] == linked).all(axis=0) if len(keys) else np.zeros(0, bool)
    ends = vertices.reshape(-1)[where[:, inside]]
    graph = Graph.from_edges(ends[0], ends[1], len(distinct))
    # Vertices are in the order of the roots: the smallest of a component is its root.
    replaced = distinct[connected_components(graph, numbering="roots")[1]]
    touched &= np.repeat(np.array(outer, np.uint64), [len(region.keys) for region in regions])
    still = touched > 0
    own = (np.unique(region.roots) for region in regions)
    tables = [Table(roots, replaced[np.searchsorted(distinct, roots)]) for roots in own]
    is_open = Open(keys[still], replaced[vertices.reshape(-1)][still], touched[still])
    return Union(is_open, linked[:, ~inside], tables)


def tables_below(above: Sequence[Table] | None, place: int, union: Union) -> Sequence[Table]:
    """Return what open roots of each region of a union have become, as the union above knows."""
    if above is None:
        return union.tables
    return [Table(each.roots, look_up(above[place], each.replaced)) for each in union.tables]


def look_up(table: Table, roots: Indices) -> Indices:
    """Return what some roots have become; those that are not in the table are as they were."""
    if not len(table.roots):
        return roots
    where = np.minimum(np.searchsorted(table.roots, roots), len(table.roots) - 1)
    return np.where(table.roots[where] == roots, table.replaced[where], roots)


@dataclass(frozen=True)
class Level:
    """Unions of one height in the tree, of at most `size` of `counts` regions along each axis."""

    counts: Index
    size: Index

    @property
    def groups(self) -> Index:
        """How many unions there are along each axis."""
        return tuple(-(-count // size) for count, size in zip(self.counts, self.size, strict=True))

    def members(self, group: Index) -> list[Index]:
        """Return the indices of the regions that a union joins, in C order."""
        axes = zip(group, self.size, self.counts, strict=True)
        return list(product(*(range(k * n, min((k + 1) * n, count)) for k, n, count in axes)))

    def outer(self, group: Index, member: Index) -> int:
        """Return the bits of a region's sides that are outer sides of its group."""
        bits = 0
        axes = zip(group, member, self.counts, self.size, strict=True)
        for j, (k, place, count, size) in enumerate(axes):
            if size < count:  # or else what is beyond a side is in the group, too
                bits |= (place == k * size) << 2 * j
                bits |= (place == min((k + 1) * size, count) - 1) << 2 * j + 1
        return bits


def levels_of(counts: Index) -> list[Level]:
    """Return the levels of a tree over so many chunks along each axis, the lowest first."""
    levels: list[Level] = []
    while prod(counts) > 1:
        levels.append(Level(counts, _group_size(counts)))
        counts = levels[-1].groups
    return levels


def _group_size(counts: Index) -> Index:
    size = [1] * len(counts)
    while True:
        short = [k for k in range(len(counts)) if size[k] < counts[k]]
        axis = min(short, key=lambda k: size[k], default=None)
        if axis is None or 2 * prod(size) > GROUP:
            return tuple(map(min, size, counts))
        size[axis] *= 2
