"""The second stage: the union of roots that are linked over faces, in a tree.

A chunk's components on its faces are open. A union joins neighbouring regions by their open
components and the pairs of roots between them; what touches no outer side of the new region goes no
further up. So a union grows with the faces between the regions that it joins, not with the array:

    pairs between chunks     a | b   c | d            unite (a, b), (c, d), and (ab, cd)
    tables, on the way back  abcd -> ab -> a, b       what a root has become at last
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.chunked.labelling import Report
from conncomp.chunked.layout import Index
from conncomp.chunked.rules import Rules
from conncomp.graph.graph import Graph
from conncomp.graph.labelling import connected_components
from conncomp.kernels.links import Links
from conncomp.kernels.neighbourhood import Step, steps_along

Indices = NDArray[np.int64]
GROUP = 64  # regions that one union joins


class StepAcross(NamedTuple):
    """A step from a part of a side to a part of another chunk's side."""

    near: tuple[slice, ...]  # from which elements of the part
    far: tuple[slice, ...]  # to which of the other one, once that is turned along periodic axes
    turned: tuple[int, ...]
    turns: tuple[int, ...]


class Crossing(NamedTuple):
    """The steps from a chunk to another one, in a direction."""

    bit: int  # of the side that they leave by; that of the other chunk differs in its last bit
    parts: tuple[Any, Any]  # of the sides of both, next to each other
    steps: tuple[StepAcross, ...]


@lru_cache(maxsize=64)
def crossings_of(rules: Rules) -> dict[Step, Crossing]:
    """Return crossings by direction, a move for each axis of `crossed`; of opposites, one."""
    shape, crossed, batch = rules.shape, rules.crossed, rules.question.batch_axes
    axes = tuple(k for k, length in enumerate(shape[batch:]) if length > 1)
    moves: dict[Step, set[Step]] = {}
    for backward in steps_along(rules.question.neighbourhood, axes).backward:
        step = [0] * len(shape)
        for axis, move in zip(axes, backward, strict=True):
            step[batch + axis] = move
        for direction in product(*((0, step[axis]) if step[axis] else (0,) for axis in crossed)):
            if any(direction):
                sign = -1 if direction > (0,) * len(direction) else 1
                key = tuple(sign * move for move in direction)
                moves.setdefault(key, set()).add(tuple(sign * move for move in step))
    return {direction: _crossing(rules, direction, moves[direction]) for direction in sorted(moves)}


def _crossing(rules: Rules, direction: Step, steps: set[Step]) -> Crossing:
    first = next(j for j, move in enumerate(direction) if move)
    over = dict(zip(rules.crossed, direction, strict=True))
    over = {axis: move for axis, move in over.items() if move}
    along = [axis for axis in range(len(rules.shape)) if axis != rules.crossed[first]]

    def part(sign: int) -> tuple[Any, ...]:
        ends = {axis: 0 if sign * move < 0 else -1 for axis, move in over.items()}
        # The dots make an array of what is left of no axis.
        return (*(ends.get(axis, slice(None)) for axis in along), ...)

    closed = (False,) * rules.question.batch_axes + rules.closed
    within = [axis for axis in along if axis not in over]
    across = []
    for step in sorted(steps):
        turned = tuple(k for k, axis in enumerate(within) if closed[axis] and step[axis])
        left = [0 if closed[axis] else step[axis] for axis in within]
        near = tuple(slice(max(-move, 0), -move if move > 0 else None) for move in left)
        far = tuple(slice(max(move, 0), move if move < 0 else None) for move in left)
        across.append(StepAcross(near, far, turned, tuple(-step[within[k]] for k in turned)))
    return Crossing(2 * first + (direction[first] > 0), (part(1), part(-1)), tuple(across))


def linked_roots(links: Links, crossing: Crossing, one: Report, other: Report) -> NDArray[np.int64]:
    """Return distinct pairs of roots that links between two chunks unite, as two rows."""
    faces = one.faces[crossing.bit], other.faces[crossing.bit ^ 1]
    sides = list(zip(faces, crossing.parts, strict=True))
    here, there = (face.ids[part] + np.int32(1) for face, part in sides)  # 0 is background now
    near, far = (
        face.compared
        if face.compared is None or face.compared.ndim < face.ids.ndim
        else face.compared[part]
        for face, part in sides
    )
    if near is not None and far is not None:
        if near.ndim == far.ndim == 0:
            here, near, far = here * np.int32(_are_linked(links, near, far)), None, None
        else:
            near, far = np.broadcast_to(near, here.shape), np.broadcast_to(far, there.shape)
    others = len(other.roots) + 1
    codes = []
    for step in crossing.steps:
        ids, reached, values = here[step.near], there, far
        if step.turned:
            reached = np.roll(there, step.turns, step.turned)
            values = None if far is None else np.roll(far, step.turns, step.turned)
        reached = reached[step.far]
        if near is not None or values is not None:
            own = None if near is None else near[step.near]
            linked = _are_linked(links, own, None if values is None else values[step.far])
            ids = np.where(linked, ids, np.int32(0))
        runs = native.pair_runs(ids.reshape(-1), reached.reshape(-1)).reshape(-1, 3)
        codes.append(runs[:, 0] * others + runs[:, 1])
    pairs = np.unique(np.concatenate(codes))
    return np.stack([one.roots[pairs // others - 1], other.roots[pairs % others - 1]])


def _are_linked(links: Links, near: Any, far: Any) -> Any:
    """Return which elements are linked to those in their places; the first chunk has bonds."""
    if links.rule == "bonds":
        return far if near is None else near
    if links.rule == "equal":
        return near == far
    with np.errstate(invalid="ignore", over="ignore"):
        if near.dtype.kind == "f":
            near, far = near.astype(np.float64), far.astype(np.float64)
            return (near == far) | (abs(near - far) <= links.limit)
        unsigned = np.dtype(f"u{near.dtype.itemsize}")
        high, low = np.maximum(near, far), np.minimum(near, far)
        # Unsigned numbers wrap around to the difference, which always fits.
        return high.astype(unsigned) - low.astype(unsigned) <= unsigned.type(links.limit)


class Open(NamedTuple):
    """The components of a region that links to other regions may unite; arrays of one length."""

    keys: Indices  # roots of components of chunks that touch outer sides of the region
    roots: Indices  # those of their components in the region
    touched: NDArray[np.uint64]  # bits of the outer sides that each key touches, as of Layout.sides


class RootTable(NamedTuple):
    """The roots of a region, distinct and ascending, and the roots that replace them."""

    roots: Indices
    replaced: Indices


class Union(NamedTuple):
    """A region: a chunk, or regions that were made one."""

    open: Open
    pairs: Indices  # of linked keys, in two rows, one of which may be of another region
    tables: Sequence[RootTable] = ()  # for each region in it, what its open roots have become


def link(rules: Rules, directions: tuple[Step, ...], report: Report, *others: Report) -> Union:
    """Return what a union has to know of a chunk, given its neighbours in some directions."""
    crossings = crossings_of(rules)
    ways = zip(directions, others, strict=True)
    pairs = [linked_roots(rules.links, crossings[way], report, other) for way, other in ways]
    own = Open(report.roots, report.roots, report.touched)
    return Union(own, np.concatenate([np.zeros((2, 0), np.int64), *pairs], axis=1))


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
    tables = [RootTable(roots, replaced[np.searchsorted(distinct, roots)]) for roots in own]
    is_open = Open(keys[still], replaced[vertices.reshape(-1)][still], touched[still])
    return Union(is_open, linked[:, ~inside], tables)


def tables_below(above: RootTable | None, union: Union) -> Sequence[RootTable]:
    """Return what open roots of each region of a union have become, as the union above knows."""
    if above is None:
        return union.tables
    return [RootTable(each.roots, look_up(above, each.replaced)) for each in union.tables]


def look_up(table: RootTable, roots: Indices) -> Indices:
    """Return what some roots have become; those that are not in the table are as they were."""
    if not len(table.roots):
        return roots
    where = np.minimum(np.searchsorted(table.roots, roots), len(table.roots) - 1)
    return np.where(table.roots[where] == roots, table.replaced[where], roots)


class Level(NamedTuple):
    """Unions of one height in the tree, of at most `size` of `counts` regions along each axis."""

    counts: Index
    size: Index

    @property
    def groups(self) -> Index:
        """The number of unions along each axis."""
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
    while 2 * prod(size) <= GROUP:
        short = [k for k in range(len(counts)) if size[k] < counts[k]]
        if not short:
            break
        size[min(short, key=size.__getitem__)] *= 2
    return tuple(map(min, size, counts))
