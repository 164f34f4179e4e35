"""Components of a stream that are open: that reach the last slice so far, and may go on.

How: each piece is labelled and measured on its own, which makes a table with a row for each of its
components. The last slice before it and its first slice, labelled together, say which open
components go on as which of its own: a graph of these and of the labels of the two slices, whose
components are rows to be added up. What then does not reach the last slice is finished (Isenburg
and Shewchuk, "Streaming connected component computation for trillion voxel images", 2009).
Cost: a piece labelled and measured, three slices beyond it. Memory: a piece, its labels, two
slices, and rows of open components.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked.rows import LARGEST_SUM, Table
from conncomp.chunked.streams.slabs import Slab
from conncomp.components.statistics import component_statistics
from conncomp.components.touching import contact_steps, count_contacts
from conncomp.graph.graph import Graph
from conncomp.graph.labelling import connected_components
from conncomp.grid._arguments import check_neighbourhood
from conncomp.grid.labelling import label
from conncomp.kernels.neighbourhood import Neighbourhood

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Rule:
    """Who is connected, and what is measured: arguments of `stream_labels`."""

    background: float | None
    connectivity: float | None
    structure: Any
    tolerance: float
    periodic: Any
    surfaces: bool

    def neighbourhood(self, ndim: int) -> Neighbourhood:
        """Return who is a neighbour in slabs of so many axes."""
        return check_neighbourhood(
            self.connectivity, self.structure, self.periodic, (2,) * ndim, "a slab"
        )

    def label(self, values: NDArray[Any]) -> tuple[NDArray[Any], int]:
        """Label slices; the first axis ends at both sides."""
        closed = self.neighbourhood(values.ndim).periodic
        return label(
            values,
            self.background,
            return_num=True,
            connectivity=self.connectivity,
            structure=self.structure,
            tolerance=self.tolerance,
            periodic=(False, *closed[1:]),
        )


@dataclass(frozen=True)
class Slice:
    """A slice of the volume, and the row of each of its elements; -1 for background."""

    values: NDArray[Any]
    rows: Rows

    def renumbered(self, numbers: Rows) -> Slice:
        """Return the same where row k of before is numbers[k]."""
        return replace(self, rows=_entries(numbers, self.rows))


def _entries(numbers: Rows, rows: Rows) -> Rows:
    """Return numbers[rows], -1 for background."""
    return np.append(numbers, -1)[rows]


@dataclass
class OpenComponents:
    """Those of the slices so far; `add` and `finish` return the rows of what is finished.

    Attributes
    ----------
    rule : Rule
    table : Table
    last : Slice or None
        The last slice so far.
    first : Slice or None
        The first slice of all, if the first axis is periodic: it goes on after the last one.
    length : int
        How many slices came.
    touching : tuple of ndarray, shapes (k, 2) and (k, ndim)
        Rows whose elements are side by side, and how often along each axis: faces that do not count
        if these turn out to be of one component.
    """

    rule: Rule
    table: Table = field(default_factory=Table)
    last: Slice | None = None
    first: Slice | None = None
    length: int = 0
    touching: tuple[Rows, Rows] | None = None

    def add(self, slab: Slab) -> Table:
        """Take the next slices."""
        rule, values = self.rule, slab.values
        labels, count = rule.label(values)
        part = _measure(labels, slab, self.length, rule.surfaces)
        top = Slice(values[0], labels[0].astype(np.int64) - 1)
        if self.last is None:
            old, new = np.empty(0, np.int64), np.arange(count)
            self.table = part
            if rule.neighbourhood(values.ndim).periodic[0]:
                self.first = replace(top, values=top.values.copy())
        else:
            held, going_on = self.table.rows, int(labels[0].max())
            shifted = replace(top, rows=np.where(top.rows < 0, -1, top.rows + held))
            groups = _groups(rule, self.last, shifted, held + going_on)
            old, new = groups[:held], np.append(groups[held:], np.arange(count - going_on))
            table = self.table.followed_by(part.take(slice(going_on))).joined(groups)
            new[going_on:] += table.rows
            self.table = table.followed_by(part.take(slice(going_on, None)))
            self.first = self.first and self.first.renumbered(old)
        if rule.surfaces:
            self._count_faces(labels, top, old, new)
        bottom = Slice(values[-1].copy(), labels[-1].astype(np.int64) - 1)
        self.last = bottom.renumbered(new)
        self.length += len(slab)
        return self._give_up_finished()

    def finish(self) -> Table:
        """Return what is left when no slices follow."""
        if self.first is not None and self.last is not None:
            groups = _groups(self.rule, self.last, self.first, self.table.rows)
            self.table = self.table.joined(groups)
            self._drop_inner_faces(groups)
        return self.table

    def _give_up_finished(self) -> Table:
        """Return the rows that no slice to come can reach, and forget them."""
        assert self.last is not None
        is_open = np.zeros(self.table.rows + 1, bool)
        for reached in (self.last, self.first):
            if reached is not None:
                is_open[reached.rows] = True
        is_open[-1] = False  # where background was marked
        is_open = is_open[:-1]
        numbers = np.where(is_open, np.cumsum(is_open) - 1, -1)
        finished = self.table.take(~is_open)
        self.table = self.table.take(is_open)
        self.last = self.last.renumbered(numbers)
        self.first = self.first and self.first.renumbered(numbers)
        if self.touching is not None:
            pairs, counts = numbers[self.touching[0]], self.touching[1]
            left = np.all(pairs >= 0, axis=1)
            self.touching = _summed(pairs[left], counts[left])
        return finished

    def _count_faces(self, labels: NDArray[Any], top: Slice, old: Rows, new: Rows) -> None:
        """Take off faces between elements that turn out to be of one component."""
        ndim, pairs, counts = labels.ndim, [], []
        if self.last is not None:
            both = (self.last.rows >= 0) & (top.rows >= 0)
            pairs.append(np.stack([old[self.last.rows[both]], new[top.rows[both]]], axis=-1))
            counts.append(np.broadcast_to(np.eye(1, ndim, dtype=np.int64), (len(pairs[0]), ndim)))
        if self._may_touch_unlinked(ndim):
            if self.touching is not None:
                pairs.append(old[self.touching[0]])
                counts.append(self.touching[1])
            inside, often = _sides(labels, len(new))
            pairs.append(new[inside])
            counts.append(often)
        if pairs:
            self.touching = np.concatenate(pairs), np.concatenate(counts)
            self._drop_inner_faces(np.arange(self.table.rows))
            self.touching = _summed(*self.touching)

    def _may_touch_unlinked(self, ndim: int) -> bool:
        """Say whether elements side by side can be of one component without a link of theirs."""
        steps = self.rule.neighbourhood(ndim).steps(tuple(range(ndim)))
        return bool(self.rule.tolerance) or not all(steps.straight)

    def _drop_inner_faces(self, numbers: Rows) -> None:
        """Renumber rows that touch, and take off faces within one row."""
        if self.touching is None:
            return
        pairs, counts = numbers[self.touching[0]], self.touching[1]
        inner = pairs[:, 0] == pairs[:, 1]
        np.subtract.at(self.table["faces"], pairs[inner, 0], 2 * counts[inner])
        self.touching = pairs[~inner], counts[~inner]


def _summed(pairs: Rows, counts: Rows) -> tuple[Rows, Rows]:
    """Return each pair once, with the sum of its counts."""
    if not len(pairs):
        return pairs, counts
    distinct, place = np.unique(pairs, axis=0, return_inverse=True)
    sums = np.zeros((len(distinct), counts.shape[1]), np.int64)
    np.add.at(sums, place.reshape(-1), counts)
    return distinct, sums


def _sides(labels: NDArray[Any], count: int) -> tuple[Rows, Rows]:
    """Return pairs of rows side by side in a piece, and how often along each axis."""
    steps = contact_steps(Neighbourhood(1, None, (False,) * labels.ndim), labels.shape)
    pairs, counts = count_contacts(np.ascontiguousarray(labels), 0, count + 1, 1, steps)
    often = np.zeros((len(pairs), labels.ndim), np.int64)
    often[:, list(steps.axes)] = counts
    return pairs - 1, often


def _groups(rule: Rule, before: Slice, after: Slice, count: int) -> Rows:
    """Return the component of each of so many rows, which links between two slices connect.

    They are numbered in the order of their first rows.
    """
    values = [before.values, after.values]
    masked = any(isinstance(array, np.ma.MaskedArray) for array in values)
    linked, links = rule.label((np.ma.stack if masked else np.stack)(values))
    rows = np.stack([before.rows, after.rows]).reshape(-1)
    foreground = np.flatnonzero(rows >= 0)
    rows, linked = rows[foreground], linked.reshape(-1)[foreground]
    changes = (np.diff(rows, prepend=-1) != 0) | (np.diff(linked, prepend=0) != 0)
    rows, linked = rows[changes], linked[changes].astype(np.int64)
    graph = Graph.from_edges(rows, linked + (count - 1), num_vertices=count + links)
    return connected_components(graph)[1][:count].astype(np.int64)


def _measure(labels: NDArray[Any], slab: Slab, offset: int, surfaces: bool) -> Table:
    """Return a row for each component of a piece, whose first slice has a number in the volume."""
    shape = labels.shape
    if prod(shape) * max(shape) >= LARGEST_SUM:
        raise ValueError(f"slices of shape {shape[1:]} are too large for exact sums")
    whole = component_statistics(labels, slab.image, moments=False, surfaces=surfaces, background=0)
    flat = component_statistics(labels.reshape(-1), moments=False, background=0)
    sizes = whole.sizes
    ahead = np.zeros(labels.ndim, np.int64)
    ahead[0] = offset
    table = Table(
        root=flat.bounding_boxes[:, 0, 0] + offset * prod(shape[1:]),
        size=sizes,
        begin=whole.bounding_boxes[:, :, 0] + ahead,
        end=whole.bounding_boxes[:, :, 1] + ahead,
        sum=np.rint(whole.centroids * sizes[:, None]).astype(np.int64) + ahead * sizes[:, None],
    )
    if surfaces:
        table["faces"] = whole.faces
    if slab.image is not None:
        table |= {"total": whole.sums, "minimum": whole.minima, "maximum": whole.maxima}
    return table
