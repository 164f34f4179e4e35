"""Sizes of the labels of each item in chunks, by which components are selected and renumbered.

Each chunk lists its labels with their sizes; lists are merged in a tree, where chunks look them up.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from conncomp._array_storage import on_host
from conncomp.chunked.layout import Index
from conncomp.chunked.measures.label_chunks import Integers, Labelling, Labels
from conncomp.chunked.numbering import summed_by_key
from conncomp.chunked.relabelling import relabel_chunk
from conncomp.chunked.union import RootTable
from conncomp.components._labels import library_at
from conncomp.components.renumbering import relabel_consecutive
from conncomp.components.sizes import component_sizes
from conncomp.kernels.cuda.launcher import DType


class Sizes(NamedTuple):
    """The labels that occur, ascending, and how many elements have each; 0 for the background."""

    labels: Labels
    sizes: Integers


OfItems = list[Sizes]  # in C order of items
Choose = partial[NDArray[Any]]  # returns which of some sizes are chosen, or their places


def without_background(sizes: OfItems) -> list[Sizes]:
    """Return the sizes of components alone."""
    return [Sizes(*(column[each.sizes > 0] for column in each)) for each in sizes]


def items_of(labels: Labels, batch_axes: int) -> Labels:
    """Return the items of a chunk, along one axis."""
    return labels.reshape(-1, *labels.shape[batch_axes:])


def sizes_of_chunk(labelling: Labelling, lowest: int | None, labels: Labels) -> OfItems:
    """Count the elements of labels of items, none below `lowest`; what is masked is background."""
    background, batch_axes = labelling
    return [_sizes_of(background, lowest, item) for item in items_of(labels, batch_axes)]


def _sizes_of(background: int | None, lowest: int | None, labels: Labels) -> Sizes:
    numbers, old = _numbered(labels)
    counts = on_host(component_sizes(numbers, background=None))
    if np.ma.is_masked(labels):
        counts = np.bincount(numbers[~np.ma.getmaskarray(labels)], minlength=len(old))
    kept = counts > 0
    if background is not None:
        counts[old == background] = 0
    if lowest is not None and kept.any() and old[kept].min() < lowest:
        raise ValueError(f"labels holds {old[kept].min()}; labels are not negative")
    return Sizes(old[kept], counts[kept])


def _numbered(labels: Labels) -> tuple[Labels, Labels]:
    """Return numbers from 0 for the labels of an item, where they lie, and the labels of these."""
    given = labels.data if isinstance(labels, np.ma.MaskedArray) else labels
    numbers, old = relabel_consecutive(given, return_labels=True, background=None)
    return numbers, on_host(old)


def merged(*parts: OfItems) -> OfItems:
    """Return the sizes in several chunks of the same items."""
    return [_merged(*of_item) for of_item in zip(*parts, strict=True)]


def _merged(*parts: Sizes) -> Sizes:
    labels, sizes = map(np.concatenate, zip(*parts, strict=True))
    return Sizes(*summed_by_key(labels, sizes))


def rows_of(most: int, sizes: OfItems) -> int:
    """Return how many rows a table for any of the items has; raise if more than `most`."""
    rows = max(int(each.labels[-1]) + 1 if len(each.labels) else 0 for each in sizes)
    if rows > most:
        told = f"labels holds {rows - 1}, too large for its elements"
        raise ValueError(f"{told}; renumber it first, with conncomp.relabel_consecutive(labels)")
    return rows


def selected(choose: Choose, most: int, sizes: OfItems) -> list[RootTable]:
    """Return the labels of each item that are chosen by their sizes, which stay as they are."""
    rows_of(most, sizes)
    chosen = (each.labels[choose(each.sizes)] for each in without_background(sizes))
    return [RootTable(labels, labels.astype(np.int64, copy=False)) for labels in chosen]


def numbered(first: int, sizes: OfItems) -> list[RootTable]:
    """Return the labels of each item, which become their places among these, from `first` on."""
    components = (labels for labels, _ in without_background(sizes))
    return [RootTable(labels, np.arange(first, first + len(labels))) for labels in components]


def largest(components: int, sizes: Integers) -> Integers:
    """Choose so many components, of equally large ones those with the smallest label."""
    return np.sort(np.argsort(-sizes, kind="stable")[:components])


def between(least: int, most: int | None, inverted: bool, sizes: Integers) -> NDArray[np.bool_]:
    """Choose components from a size up to another one, or all others."""
    chosen = sizes >= least
    if most is not None:
        chosen &= sizes <= most
    return ~chosen if inverted else chosen


def components_of(sizes: OfItems) -> int:
    """Return the number of components of the item that has the most."""
    return max(int(np.count_nonzero(of_item.sizes)) for of_item in sizes)


def most_of(*numbers: int) -> int:
    """Return the largest of some numbers."""
    return max(numbers)


def dense(shape: Index, rows: int, sizes: OfItems) -> Integers:
    """Return the size of each label from 0 to `rows`, of items along axes of these lengths."""
    columns = [(labels.astype(np.int64), counts) for labels, counts in without_background(sizes)]
    return _table((*shape, rows), np.int64, columns)


def _table(shape: Index, dtype: DTypeLike, columns: Sequence[tuple[Any, Any]]) -> NDArray[Any]:
    """Return zeros, but in the row of each item some values in some columns."""
    table = np.zeros((len(columns), shape[-1]), dtype)
    for row, (places, values) in zip(table, columns, strict=True):
        row[places] = values
    return table.reshape(shape)


def histograms(most: int, sizes: OfItems) -> OfItems:
    """Return how many components of each item have each size: sizes in the place of labels."""
    rows_of(most, sizes)
    known = without_background(sizes)
    occurring = (np.unique(each.sizes, return_counts=True) for each in known)
    return [Sizes(distinct, counts.astype(np.int64)) for distinct, counts in occurring]


def all_occurring(*parts: OfItems) -> OfItems:
    """Return the histogram of all items of some parts."""
    return [_merged(*(of_item for part in parts for of_item in part))]


def as_array(histogram: OfItems) -> Integers:
    """Return the sizes of a histogram."""
    return histogram[0].labels


def counts_of_sizes(shape: Index, occurring: OfItems, of_items: OfItems) -> Integers:
    """Return how many components of each item have each of the sizes that occur."""
    all_sizes = occurring[0].labels
    columns = [(np.searchsorted(all_sizes, each.labels), each.sizes) for each in of_items]
    return _table((*shape, len(all_sizes)), np.int64, columns)


def old_labels(first: int, shape: Index, length: int, sizes: OfItems) -> Labels:
    """Return the label of each number of each item, from 0 on; 0 for what none has become."""
    components = without_background(sizes)
    columns = [(slice(first, first + len(labels)), labels) for labels, _ in components]
    return _table((*shape, first + length), sizes[0].labels.dtype, columns)


def replace_labels(
    batch_axes: int, background: int, dtype: DType, labels: Labels, tables: Sequence[RootTable]
) -> Labels:
    """Return labels, each item's replaced by its table; what is masked or not in it is none."""

    def replaced(item: Labels, table: RootTable) -> Labels:
        numbers, old = _numbered(item)
        if not numbers.size:
            return numbers.astype(dtype)
        known, entries = np.isin(old, table.roots), np.full(len(old), background, np.int64)
        entries[known] = table.replaced[np.searchsorted(table.roots, old[known])]
        result = relabel_chunk(numbers, entries, dtype)
        if np.ma.is_masked(item):
            result[np.ma.getmaskarray(item)] = background
        return result

    if not batch_axes:
        return replaced(labels, tables[0])
    results = list(map(replaced, items_of(labels, batch_axes), tables))
    stacked: Labels = library_at(results[0]).stack(results).reshape(labels.shape)
    return stacked
