"""Components of a stream that are open: that reach the last slice so far, and may go on.

Each piece begins with the last slice of the one before, and is measured without it: a row for each
component. The labels that the slice had before say which open components go on as which new ones:
runs of two labels are edges of a graph, and rows of one of its components are added up. What then
ends before the last slice is finished (Isenburg and Shewchuk, as `stream_labels` cites them).
Cost: a piece and one slice labelled, a piece measured. Memory: a piece, its labels, two slices, and
rows of open components.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.chunked.labelling import ChunkLabels, row_length
from conncomp.chunked.numbering import summed_by_key
from conncomp.chunked.rows import LARGEST_SUM, RowTable, table_of
from conncomp.components.statistics import component_statistics
from conncomp.components.touching import contact_steps, count_contacts
from conncomp.graph.graph import Graph
from conncomp.graph.labelling import connected_components
from conncomp.grid.array import Question
from conncomp.grid.labelling import ask
from conncomp.kernels.neighbourhood import Neighbourhood, steps_along

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Slab:
    """Consecutive slices of a volume along its first axis."""

    values: NDArray[Any]  # masked, if some elements are
    image: NDArray[Any] | None  # of the same shape: what is measured within components
    ahead: int = 0  # how many slices at the beginning were the last of the slab before: 0 or 1

    def __len__(self) -> int:
        """Return the number of new slices."""
        return len(self.values) - self.ahead

    def part(self, begin: int, end: int, ahead: int = 0) -> Slab:
        """Return some of the slices."""
        image = None if self.image is None else self.image[begin:end]
        return Slab(self.values[begin:end], image, ahead)

    def copy(self) -> Slab:
        """Return the same in memory that nobody else has."""
        image = None if self.image is None else self.image.copy()
        return Slab(self.values.copy(), image, self.ahead)


@dataclass(frozen=True)
class Slice:
    """A slice of the volume: the labels of elements, 0 for background, and rows of labels."""

    labels: NDArray[Any]
    rows: Rows

    def renumbered(self, numbers: Rows) -> Slice:
        """Return the same where row k of before is numbers[k]."""
        return replace(self, rows=np.append(numbers, -1)[self.rows])


@dataclass
class OpenComponents:
    """The open components of the slices so far; `add` and `finish` return rows of finished ones.

    If the first axis is periodic, `first` is the first slice of all, which goes on after the last
    one, and `ends` has the values of both. `touching` has pairs of rows whose elements are side by
    side, and how often along each axis: no faces, if they turn out to be of one component.
    """

    question: Question
    surfaces: bool
    table: RowTable = field(default_factory=RowTable)
    last: Slice | None = None
    first: Slice | None = None
    ends: list[NDArray[Any]] = field(default_factory=list)
    length: int = 0
    touching: tuple[Rows, Rows] | None = None

    def add(self, slab: Slab) -> RowTable:
        """Take the next slices, after the last one so far."""
        values = slab.values
        labels, count = self._label(values)
        held, pairs = 0, np.zeros((0, 2), np.int64)
        if self.last is not None:
            held, pairs = self.table.rows, _pairs(self.last.labels, labels[0])[0]
        going_on = int(pairs[:, 1].max(initial=0))
        own, part = self._measure(labels[slab.ahead :], going_on, slab)
        if self.last is None:
            old, of_going_on = np.zeros(0, np.int64), np.zeros(0, np.int64)
            self.table = part
        else:
            groups = _groups(held, going_on, [(self.last.rows[pairs[:, 0]], pairs[:, 1])])
            old, of_going_on = groups[:held], groups[held:]
            parts = int(np.searchsorted(own, going_on, side="right"))
            joined = np.concatenate([old, of_going_on[own[:parts] - 1]])
            table = self.table.followed_by(part.take(slice(parts))).joined(joined)
            self.table = table.followed_by(part.take(slice(parts, None)))
            self.first = self.first and self.first.renumbered(old)
        begun = np.arange(self.table.rows - (count - going_on), self.table.rows)
        rows = np.concatenate([[-1], of_going_on, begun])
        if self.last is None and self.question.neighbourhood.periodic[0]:
            self.first, self.ends = Slice(labels[0].copy(), rows), [values[0].copy()]
        if self.surfaces:
            self._count_faces(labels, slab.ahead, old, rows)
        self.last = Slice(labels[-1].copy(), rows)
        self.ends[1:] = [values[-1].copy()] if self.ends else []
        self.length += len(slab)
        return self._give_up_finished()

    def finish(self) -> RowTable:
        """Return what is left when no slices follow."""
        if self.first is not None and self.last is not None:
            masked = any(isinstance(array, np.ma.MaskedArray) for array in self.ends)
            linked, links = self._label((np.ma.stack if masked else np.stack)(self.ends[::-1]))
            known = []
            for reached, now in zip((self.last, self.first), linked, strict=True):
                pairs = _pairs(reached.labels, now)[0]
                known.append((reached.rows[pairs[:, 0]], pairs[:, 1]))
            groups = _groups(self.table.rows, links, known)[: self.table.rows]
            self.table = self.table.joined(groups)
            self._drop_inner_faces(groups)
        return self.table

    def _measure(self, labels: NDArray[Any], before: int, slab: Slab) -> tuple[Rows, RowTable]:
        """Return the labels of new slices, and rows; those up to `before` have no root."""
        shape, surfaces = labels.shape, self.surfaces
        if prod(shape) * max(shape) >= LARGEST_SUM:
            raise ValueError(f"slices of shape {shape[1:]} are too large for exact sums")
        image = None if slab.image is None else slab.image[slab.ahead :]
        whole = component_statistics(labels, image, moments=False, surfaces=surfaces, background=0)
        largest = labels.reshape(-1, row_length(shape, 0)).max(axis=1)
        ends = np.maximum.accumulate(np.maximum(largest, before, out=largest))
        begun = ChunkLabels(labels, ends).first(before=before)
        begun += self.length * prod(shape[1:])
        going_on = np.full(len(whole.labels) - len(begun), np.iinfo(np.int64).max)
        ahead = self.length * np.eye(1, labels.ndim, dtype=np.int64)[0]
        roots = np.concatenate([going_on, begun])
        return whole.labels, table_of(whole, ahead, surfaces, image is not None, root=roots)

    def _label(self, values: NDArray[Any]) -> tuple[NDArray[Any], int]:
        _, *closed = self.question.neighbourhood.periodic
        labels, count = ask(self.question.closed_along((False, *closed)), values)
        return labels, count

    def _give_up_finished(self) -> RowTable:
        """Return the rows that no slice to come can reach, and forget them."""
        assert self.last is not None
        is_open = self.table["end"][:, 0] == self.length
        if self.first is not None:
            is_open |= self.table["begin"][:, 0] == 0
        numbers = np.where(is_open, np.cumsum(is_open) - 1, -1)
        finished = self.table.take(~is_open)
        self.table = self.table.take(is_open)
        self.last = self.last.renumbered(numbers)
        self.first = self.first and self.first.renumbered(numbers)
        if self.touching is not None:
            pairs, counts = numbers[self.touching[0]], self.touching[1]
            left = np.all(pairs >= 0, axis=1)
            self.touching = summed_by_key(pairs[left], counts[left], axis=0)
        return finished

    def _count_faces(self, labels: NDArray[Any], ahead: int, old: Rows, rows: Rows) -> None:
        """Take off faces within components; labels begin with a slice of before if `ahead`."""
        ndim, pairs, counts = labels.ndim, [], []
        if ahead:
            between, often = _pairs(labels[0], labels[1])
            pairs.append(rows[between])
            counts.append(often[:, None] * np.eye(1, ndim, dtype=np.int64))
        steps = steps_along(self.question.neighbourhood, tuple(range(ndim)))
        # Elements side by side can be of one component without a link of theirs.
        if self.question.tolerance or not all(steps.straight):
            if self.touching is not None:
                pairs.append(old[self.touching[0]])
                counts.append(self.touching[1])
            inside, often = _sides(labels[ahead:], len(rows))
            pairs.append(rows[inside])
            counts.append(often)
        if pairs:
            self.touching = np.concatenate(pairs), np.concatenate(counts)
            self._drop_inner_faces(np.arange(self.table.rows))
            self.touching = summed_by_key(*self.touching, axis=0)

    def _drop_inner_faces(self, numbers: Rows) -> None:
        """Renumber rows that touch, and take off faces within one row."""
        if self.touching is None:
            return
        pairs, counts = numbers[self.touching[0]], self.touching[1]
        inner = pairs[:, 0] == pairs[:, 1]
        np.subtract.at(self.table["faces"], pairs[inner, 0], 2 * counts[inner])
        self.touching = pairs[~inner], counts[~inner]


def _sides(labels: NDArray[Any], count: int) -> tuple[Rows, Rows]:
    steps = contact_steps(Neighbourhood(1, None, (False,) * labels.ndim), labels.shape)
    pairs, counts = count_contacts(np.ascontiguousarray(labels), 0, count, 1, steps)
    often = np.zeros((len(pairs), labels.ndim), np.int64)
    often[:, list(steps.axes)] = counts
    return pairs, often


def _pairs(one: NDArray[Any], other: NDArray[Any]) -> tuple[Rows, Rows]:
    """Return pairs of labels that two slices have in runs of places, and the lengths of runs."""
    runs = native.pair_runs(one.reshape(-1), other.reshape(-1)).reshape(-1, 3)
    return runs[:, :2], runs[:, 2]


def _groups(count: int, labels: int, edges: list[tuple[Rows, Rows]]) -> Rows:
    """Return the component, by its first row, of rows and labels from 1 that edges connect."""
    none = np.zeros(0, np.int64)
    rows, others = map(np.concatenate, zip((none, none), *edges, strict=True))
    graph = Graph.from_edges(rows, others + (count - 1), num_vertices=count + labels)
    return connected_components(graph)[1].astype(np.int64)
