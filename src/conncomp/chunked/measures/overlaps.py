"""`match_labels` of labels in chunks: what components of two labellings have in common, joined."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from conncomp._arguments import as_batch_axes, check_dimensions
from conncomp.chunked.labelling import unmasked
from conncomp.chunked.layout import Index
from conncomp.chunked.measures import check_second, columns_of, kind_of_chunks
from conncomp.chunked.measures.contacts import joined_pairs
from conncomp.chunked.measures.label_chunks import (
    Integers,
    Labelling,
    Labels,
    Numbered,
    items_along,
    number_chunk,
    rows_of_items,
)
from conncomp.chunked.measures.statistics import joined_rows
from conncomp.chunked.rows import RowTable
from conncomp.components import matching
from conncomp.components._labels import Background
from conncomp.components.sizes import component_sizes


class Overlaps(NamedTuple):
    """Rows of two labellings."""

    pairs: RowTable  # a row for each pair of labels of each item that overlap
    first: RowTable  # a row for each component of a labelling
    second: RowTable


def match_labels(labels_a: Any, labels_b: Any, *, background: Background, batch_axes: int) -> Any:
    """Match labels; of Dask arrays the numbers of components are lazy, too."""
    kind = kind_of_chunks(labels_a)
    array = kind.checked(labels_a, "labels_a")
    as_batch_axes(batch_axes, len(array.shape), "labels_a")
    other = kind.beside("labels_b", labels_b, array, check_second)
    if not array.size:
        nothing = np.zeros(other.shape, other.dtype)
        match = partial(matching.match_labels, background=background, batch_axes=batch_axes)
        return kind.of_no_element(match, array, nothing)
    chunks = kind(array, background, batch_axes, "match_labels", other)
    check_dimensions(len(array.shape) - chunks.labelling.batch_axes, "labels_a")

    def overlaps_of(index: Index, items: Integers) -> Any:
        overlap = partial(overlaps_in, chunks.labelling, items)
        both = chunks.chunk(index), chunks.chunk_beside(other, index)
        return chunks.call("matched", index, overlap, *both)

    made = partial(as_columns, chunks.batch)
    one = np.ones((1,) * len(array.shape), np.int64)
    sample = overlaps_in(chunks.labelling, np.zeros(1, np.int64), one, one)
    columns = columns_of(chunks, overlaps_of, joined_overlaps, made, sample)
    components = columns.pop("first"), columns.pop("second")
    return matching.Matches(**columns, components=components)


def overlaps_in(labelling: Labelling, items: Integers, first: Labels, second: Labels) -> Overlaps:
    """Count what components of two labellings have in common in a chunk."""
    here = number_chunk(labelling, first, "labels_a")
    there = number_chunk(labelling, second, "labels_b")
    matches = matching.match_labels(
        here.numbers, there.numbers, background=here.empty, batch_axes=labelling.batch_axes
    )
    pairs, place = unmasked(matches.pairs), rows_of_items(unmasked(matches.batch), first.shape)
    label, other = here.old[place, pairs[:, 0]], there.old[place, pairs[:, 1]]
    sizes = unmasked(matches.intersections)
    table = RowTable(item=items[place], label=label, other=other, size=sizes)
    return Overlaps(table, *(_sizes(labelling, items, side) for side in (here, there)))


def _sizes(labelling: Labelling, items: Integers, side: Numbered) -> RowTable:
    count = partial(component_sizes, background=side.empty, batch_axes=labelling.batch_axes)
    sizes = unmasked(count(side.numbers)).reshape(len(items), -1)
    place, number = np.nonzero(sizes)
    return RowTable(item=items[place], label=side.old[place, number], size=sizes[place, number])


def joined_overlaps(*parts: Overlaps) -> Overlaps:
    """Return the overlaps of several chunks as one, in the order of items and labels."""
    pairs, *sides = zip(*parts, strict=True)
    return Overlaps(joined_pairs(*pairs), *(joined_rows(*side) for side in sides))


def as_columns(batch: Index, overlaps: Overlaps) -> SimpleNamespace:
    """Return the attributes of `Matches`, given the lengths of the batch axes."""
    pairs = overlaps.pairs
    sides = (overlaps.first, pairs["label"]), (overlaps.second, pairs["other"])
    sizes = [side["size"][_rows_of(side, pairs["item"], labels)] for side, labels in sides]
    unions = sizes[0] + sizes[1] - pairs["size"]
    return SimpleNamespace(
        pairs=np.stack([pairs["label"], pairs["other"]], axis=1),
        intersections=pairs["size"],
        unions=unions,
        ious=pairs["size"] / unions,
        batch=items_along(pairs["item"], batch),
        first=np.int64(overlaps.first.rows),
        second=np.int64(overlaps.second.rows),
    )


def _rows_of(table: RowTable, items: Integers, labels: Integers) -> Integers:
    """Return the rows of some labels of items in the table, which is in their order."""
    keys = (table["label"], labels), (table["item"], items)
    order = np.lexsort(list(map(np.concatenate, keys)))
    of_known = order < table.rows
    rows = np.empty(len(items), np.int64)
    # A label that is wanted comes after the one that is known, as the sort is stable.
    rows[order[~of_known] - table.rows] = (np.cumsum(of_known) - 1)[~of_known]
    return rows
