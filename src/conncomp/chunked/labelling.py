"""The first stage: labels of one chunk alone, and a report of its faces.

A chunk is labelled in one of two ways:

    in memory, one image, default algorithm    chunk_runs -> ChunkRuns, some bits per element
    on a GPU, batches, other algorithms        label_chunk -> ask -> ChunkLabels, 32 bits or more
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._array_storage import move_from_gpu
from conncomp._arrays import as_cupy, on_gpu
from conncomp.chunked.layout import Index
from conncomp.chunked.rules import Rules, question_of_chunk
from conncomp.grid.array import read
from conncomp.grid.labelling import ask
from conncomp.grid.runs import LARGEST, KeptRuns
from conncomp.kernels.cuda.launcher import current_gpu

SHORT_ROW = 64  # shorter rows are joined, as NumPy takes as long for one of them
PIECE = 1 << 22  # elements that are looked at at once

Integers = NDArray[np.int64]


class Face(NamedTuple):
    """One side of a chunk; arrays lack the axis that leads to it."""

    ids: NDArray[np.int32]  # which component of the report, -1 for the background
    # Values, or for bonds whether there is one to the next chunk; one entry without axes for all
    # foreground, if that is of one value; or None.
    compared: NDArray[Any] | None


class Report(NamedTuple):
    """The components on the faces of a chunk, for its neighbours; arrays are in their order."""

    roots: Integers  # flat index in the whole array of the first element in this chunk
    labels: Integers  # in this chunk
    segments: Integers  # where that element lies, as segment_axis says
    touched: NDArray[np.uint64]  # bits of sides, as of Layout.sides
    faces: dict[int, Face]  # beyond which there is another chunk, by the number of their bit
    counts: Integers  # of components, on faces or not, that begin in each segment
    sizes: Integers = np.zeros(0, np.int64)  # of parts in the chunk; empty unless wanted
    # components on no face that may be among the largest of all; empty unless wanted
    inner_roots: Integers = np.zeros(0, np.int64)
    inner_sizes: Integers = np.zeros(0, np.int64)
    runs: KeptRuns | None = None  # kept if they are no larger than the values, in this process

    def __reduce__(self) -> Any:
        return (Report, (*self[:-1], None))


class ChunkLabels(NamedTuple):
    """The components of a chunk alone, as int32 or int64 arrays of NumPy or CuPy.

    Labels are from 1 in C order, through all items; 0 is background. Ends are, for each row, the
    largest label up to its end: a row has the elements of the last axes, within a segment.
    """

    labels: Any
    ends: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the chunk."""
        return tuple(self.labels.shape)

    def side(self, axis: int, last: bool) -> Any:
        """Return the labels on a side of the chunk, without its axis."""
        return side_of(self.labels, axis, last)

    def first(self, wanted: Any = None, before: int = 0) -> Any:
        """Return the flat index of the first element of components, as int64.

        Indices of wanted labels, which ascend, are in main memory; by default those of all are
        where the labels lie. Labels up to `before` begin before the chunk, and are left out.
        """
        labels, ends = self
        xp = np if isinstance(labels, np.ndarray) else current_gpu().xp
        begins = xp.concatenate([xp.full_like(ends[:1], before), ends[:-1]])
        if wanted is None:
            chosen = xp.flatnonzero(ends > begins)
        else:
            chosen = xp.unique(xp.searchsorted(ends, xp.asarray(wanted.astype(ends.dtype))))
        rows = labels.reshape(len(ends), -1)
        length, parts = rows.shape[1], [xp.zeros(0, np.int64)]
        piece = max(1, PIECE // length)
        for first in range(0, len(chosen), piece):
            some = chosen[first : first + piece]
            begin, count = begins[some], ends[some] - begins[some]
            part = rows[some]
            new = part > begin[:, None]
            new[:, 1:] &= part[:, 1:] != part[:, :-1]
            at = xp.flatnonzero(new)
            row = at // length
            # Labels begin in order: those of a row have the places after those of the rows before.
            slots = part.reshape(-1)[at] - begin[row] - 1 + (xp.cumsum(count) - count)[row]
            at = at - row * length + some[row] * length
            if xp is np:
                places = np.empty(int(count.sum()), np.int64)
                places[slots[::-1]] = at[::-1]  # of several, the last one stays
            else:
                places = at[xp.unique(slots, return_index=True)[1]]
            parts.append(places)
        places = xp.concatenate(parts)
        if wanted is None:
            return places
        # Each row has the labels from where the row before it ends to its own end.
        ends, begins = unmasked(ends[chosen]), unmasked(begins[chosen])
        ahead = np.cumsum(ends - begins, dtype=np.int64) - ends
        return unmasked(places)[ahead[np.searchsorted(ends, wanted)] + wanted - 1]

    def counts(self, segment: int) -> Any:
        """Return how many components begin in each segment, of so many elements."""
        counts = np.diff(unmasked(self.ends), prepend=0)
        rows = segment // (self.labels.size // len(counts))
        return counts.reshape(-1, rows).sum(axis=1, dtype=np.int64)


class ChunkRuns(KeptRuns):
    """The components of a chunk alone as its runs: some bits an element, where labels take 32."""

    def first(self, wanted: Integers | None = None) -> Integers:
        """Return the index of the first element of some components, or of all."""
        return (self.roots if wanted is None else self.roots[wanted - 1]).astype(np.int64)

    def counts(self, segment: int) -> Integers:
        """Return how many components begin in each segment, of so many elements."""
        segments = prod(self.shape) // segment
        return np.bincount(self.roots // segment, minlength=segments).astype(np.int64)


def label_and_report(rules: Rules, start: Index, sides: int, keep: bool, values: Any) -> Report:
    """Do the first stage of a chunk, and keep its runs or not."""
    runs = chunk_runs(rules, values)
    labelled = label_chunk(rules, values) if runs is None else runs
    report = report_chunk(rules, start, sides, values, labelled)
    kept = runs is not None and keep and runs.nbytes <= values.nbytes
    return report._replace(runs=runs) if kept else report


def segment_axis(rules: Rules) -> int:
    """Return the last axis with several chunks.

    Elements from it on are a segment of the chunk, and follow each other in the whole array.
    """
    return rules.crossed[-1] if rules.crossed else rules.question.batch_axes


def label_chunk(rules: Rules, values: Any) -> ChunkLabels:
    """Label a chunk alone, in main memory or on a GPU, where its values lie."""
    labels, counts = label_values(rules, values)
    flat: Any = counts.reshape(-1) if rules.question.batch_axes else ()
    if len(flat) > 1:  # numbers go on from one item to the next
        before = (flat.cumsum() - flat).astype(labels.dtype).reshape(len(flat), 1)
        items = labels.reshape(len(flat), -1)
        items += before * (items > 0)
    rows = labels.reshape(-1, row_length(labels.shape, segment_axis(rules)))
    xp = np if isinstance(labels, np.ndarray) else current_gpu().xp
    # CuPy has no maximum.accumulate; of labels in order, none that begins is below one before.
    return ChunkLabels(labels, xp.asarray(np.maximum.accumulate(unmasked(rows.max(axis=1)))))


def chunk_runs(rules: Rules, values: Any) -> ChunkRuns | None:
    """Return the runs of a chunk; None where they are not what labels its elements."""
    question = question_of_chunk(rules, alone=False)
    in_memory = isinstance(values, np.ndarray) and question.device == "cpu"
    default = question.algorithm in ("auto", "runs") and not question.batch_axes
    fits = in_memory and default and 0 < values.size <= LARGEST
    return ChunkRuns(read(question, values)) if fits else None


def label_values(rules: Rules, values: Any, alone: bool = False) -> Any:
    """Return labels of a chunk and the number of components, as `label` does."""
    return ask(question_of_chunk(rules, alone), as_cupy(values) if on_gpu(values) else values)


def row_length(shape: tuple[int, ...], segment: int) -> int:
    """Return how many elements the rows of a chunk have."""
    axis = len(shape) - 1
    while axis > segment and prod(shape[axis:]) < SHORT_ROW:
        axis -= 1
    return prod(shape[axis:])


def report_chunk(rules: Rules, start: Index, sides: int, values: Any, labelled: Any) -> Report:
    """Report what other chunks have to know of one at `start`, with `Layout.sides`."""
    bits = [bit for bit in range(sides.bit_length()) if sides >> bit & 1]
    faces = {bit: labelled.side(rules.crossed[bit // 2], bool(bit & 1)) for bit in bits}
    by_runs = isinstance(labelled, ChunkRuns)
    count = len(labelled.roots) if by_runs else int(labelled.ends[-1])
    on_faces, touched, ids = _compact(faces, count)
    places = labelled.first(on_faces)
    segment = prod(labelled.shape[segment_axis(rules) :])
    compared: dict[int, Any] = {}
    if rules.compares_values and by_runs and labelled.one_value and len(labelled.roots):
        place = np.unravel_index(int(labelled.roots[0]), labelled.shape)
        compared = dict.fromkeys(ids, np.asarray(np.ma.getdata(values)[place]))
    elif rules.compares_values:
        compared = {bit: _compared(values, rules, bit) for bit in ids}
    return Report(
        root_indices(rules.shape, start, labelled.shape, places),
        on_faces,
        places // max(segment, 1),
        touched,
        {bit: Face(face, compared.get(bit)) for bit, face in ids.items()},
        labelled.counts(segment),
    )


def root_indices(whole: Index, start: Index, shape: Index, places: Any) -> Any:
    """Return flat indices in the whole array of places in a chunk, in C order there, as int64."""
    indices, stride = places * 0, 1
    for axis in reversed(range(len(shape))):
        indices += (places % shape[axis] + start[axis]) * stride
        places = places // shape[axis]
        stride *= whole[axis]
    return indices


def side_of(array: Any, axis: int, last: bool) -> Any:
    """Return the elements on a side of an array, without its axis."""
    return array[(slice(None),) * axis + ((-1 if last else 0), ...)]


def _compared(values: Any, rules: Rules, bit: int) -> NDArray[Any] | None:
    """Return what the link rule compares on a side; None of bonds that lead to the next chunk."""
    crossed, last = rules.crossed[bit // 2], bool(bit & 1)
    axis = crossed - rules.question.batch_axes
    is_bonds = rules.links.rule == "bonds"
    if is_bonds and not last:
        return None
    side = unmasked(side_of(values[axis] if rules.planes else values, crossed, last))
    return (side >> np.uint8(axis) & 1).astype(bool) if is_bonds and not rules.planes else side


def unmasked(array: Any) -> NDArray[Any]:
    """Return an array in main memory, without a mask."""
    if on_gpu(array):
        return move_from_gpu(current_gpu().xp.ascontiguousarray(as_cupy(array)))
    return np.asarray(np.ma.getdata(array))


def _compact(
    faces: dict[int, Any], count: int
) -> tuple[Integers, NDArray[np.uint64], dict[int, NDArray[np.int32]]]:
    """Return the labels on faces, ascending, which faces they touch, and faces of their places."""
    if not faces:
        return np.zeros(0, np.int64), np.zeros(0, np.uint64), {}
    xp = np if isinstance(next(iter(faces.values())), np.ndarray) else current_gpu().xp
    touched = xp.zeros(count + 1, np.uint64)
    faces = {bit: xp.ascontiguousarray(face) for bit, face in faces.items()}
    for bit, face in faces.items():
        flat = face.reshape(-1)
        begins = xp.flatnonzero(flat[1:] != flat[:-1]) + 1  # most have the label of the one before
        for some in (flat[begins], flat[:1]):
            touched[some] |= np.uint64(1 << bit)  # of equal ones each writes the same
    touched[0] = 0
    labels = xp.flatnonzero(touched)
    ids = xp.full(count + 1, -1, np.int32)
    ids[labels] = xp.arange(len(labels), dtype=np.int32)
    fetch: Any = np.asarray if xp is np else unmasked
    places = {bit: fetch(ids.take(face)) for bit, face in faces.items()}
    return fetch(labels).astype(np.int64), fetch(touched[labels]), places
