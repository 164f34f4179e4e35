"""`match` of labels in chunks, by whatever engine calls.

How: overlaps and sizes of a chunk's components are counted in memory, for labels that are
renumbered in it, and added up: an element is in one chunk, so nothing is asked of its neighbours.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_batch_axes
from conncomp.chunked.labelling import on_host
from conncomp.chunked.measures.label_chunks import kind_of_chunks
from conncomp.chunked.measures.measuring import Labelling, Numbered, items_along, number_chunk
from conncomp.chunked.rows import Table
from conncomp.components import matching
from conncomp.components._labels import Background, check_dimensions, check_labels
from conncomp.components.matching import Matches
from conncomp.components.sizes import component_sizes

Numbers = NDArray[np.int64]


class Overlaps(NamedTuple):
    """What two labellings have in common."""

    pairs: Table  # a row for each pair of labels of each item that overlap
    first: Table  # a row for each component of a labelling
    second: Table


class Columns(NamedTuple):
    """The attributes of `Matches`."""

    pairs: Numbers
    intersections: Numbers
    unions: Numbers
    ious: NDArray[np.float64]
    batch: Numbers
    first: np.int64
    second: np.int64


def match(
    labels_a: Any, labels_b: Any, *, background: Background = "auto", batch_axes: int = 0
) -> Matches:
    """Do what `conncomp.match` does; how many rows there are is not known at first.

    Columns are Dask arrays, as of `component_statistics`, and so are the numbers of components.
    """
    kind = kind_of_chunks(labels_a)
    array = kind.checked(labels_a, "labels_a")
    as_batch_axes(batch_axes, len(array.shape), "labels_a")
    other = kind.beside("labels_b", labels_b, array, _check_second)
    known: dict[str, Any] = {"background": background, "batch_axes": batch_axes}
    if not array.size:
        nothing = np.zeros(other.shape, other.dtype)
        of_nothing: Matches = kind.of_no_element(matching.match, array, nothing, **known)
        return of_nothing
    given = kind(array, background, batch_axes, "match", other)
    batch = given.labelling.batch_axes
    check_dimensions(len(array.shape) - batch, "labels_a")
    tables = []
    for block in given.blocks():
        overlaps = partial(overlaps_of_chunk, given.labelling, given.items(block))
        tables += [
            given.call(
                "matched", index, overlaps, given.chunk(index), given.chunk_beside(other, index)
            )
            for index in given.chunks(block)
        ]
    table = given.merged("rows", (), tables, joined_overlaps)
    made = given.call("matches", (), partial(as_columns, given.batch), table)
    whole = np.empty(0, np.int64)
    like = {
        "pairs": np.empty((0, 2), np.int64),
        "intersections": whole,
        "unions": whole,
        "ious": np.empty(0),
        "batch": np.empty((0, batch), np.int64),
        "first": np.int64(0),
        "second": np.int64(0),
    }
    columns = given.fields("column", made, like)
    components = columns.pop("first"), columns.pop("second")
    return Matches(**columns, components=components)


def overlaps_of_chunk(labelling: Labelling, items: Numbers, first: Any, second: Any) -> Overlaps:
    """Count what components of two labellings have in common in a chunk."""
    batch = labelling.batch_axes
    here = number_chunk(labelling, first, "labels_a")
    there = number_chunk(labelling, second, "labels_b")
    matches = matching.match(
        here.numbers, there.numbers, background=labelling.empty, batch_axes=batch
    )
    pairs, item = on_host(matches.pairs), on_host(matches.batch)
    place = np.zeros(len(pairs), np.int64)
    for axis in range(batch):
        place = place * first.shape[axis] + item[:, axis]
    table = Table(
        item=items[place],
        label=here.old[place, pairs[:, 0]],
        other=there.old[place, pairs[:, 1]],
        size=on_host(matches.intersections),
    )
    return Overlaps(table, *(_sizes(labelling, items, side) for side in (here, there)))


def joined_overlaps(*parts: Overlaps) -> Overlaps:
    """Return the overlaps of several chunks as one, in the order of items and labels."""
    first, *others = parts
    joined = (
        table.followed_by(*(other[k] for other in others)).joined_by(*names)
        for k, (table, names) in enumerate(
            zip(first, (("item", "label", "other"), *[("item", "label")] * 2), strict=True)
        )
    )
    return Overlaps(*joined)


def as_columns(batch: tuple[int, ...], overlaps: Overlaps) -> Columns:
    """Return what `match` does, given the lengths of the batch axes."""
    pairs = overlaps.pairs
    sizes = [
        side["size"][_rows_of(side, pairs["item"], pairs[name])]
        for side, name in ((overlaps.first, "label"), (overlaps.second, "other"))
    ]
    unions = sizes[0] + sizes[1] - pairs["size"]
    return Columns(
        np.stack([pairs["label"], pairs["other"]], axis=1),
        pairs["size"],
        unions,
        pairs["size"] / unions,
        items_along(pairs["item"], batch),
        np.int64(overlaps.first.rows),
        np.int64(overlaps.second.rows),
    )


def _sizes(labelling: Labelling, items: Numbers, side: Numbered) -> Table:
    """Return a row for each component of one labelling of a chunk."""
    counts = component_sizes(
        side.numbers, background=labelling.empty, batch_axes=labelling.batch_axes
    )
    sizes = on_host(counts).reshape(len(items), -1)
    place, number = np.nonzero(sizes)
    return Table(item=items[place], label=side.old[place, number], size=sizes[place, number])


def _rows_of(table: Table, items: Numbers, labels: Numbers) -> Numbers:
    """Return the rows of some labels of items, which are in the table; this is in their order."""
    known = np.stack([table["item"], table["label"]])
    wanted = np.stack([items, labels])
    order = np.lexsort(np.concatenate([known, wanted], axis=1)[::-1])
    of_known = order < table.rows
    rows = np.empty(len(items), np.int64)
    # A label that is wanted comes after the one that is known, as the sort is stable.
    rows[order[~of_known] - table.rows] = (np.cumsum(of_known) - 1)[~of_known]
    return rows


def _check_second(array: Any, given: Any, shape: tuple[int, ...]) -> None:
    """Raise TypeError or ValueError unless labels are integers, and of the shape of the first."""
    check_labels(array, given, "labels_b")
    if array.shape != shape:
        raise ValueError(
            f"labels_b has shape {array.shape}; it must have that of labels_a, {shape}"
        )
