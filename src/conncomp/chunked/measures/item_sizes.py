"""What one does with labels of items in chunks: as `components`, for each item of a batch alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked.measures import components
from conncomp.chunked.measures.components import Selection, Sizes, without_background
from conncomp.components._labels import library_at

OfItems = list[Sizes]  # in C order of items


def items_of(labels: Any, batch_axes: int) -> Any:
    """Return the items of a chunk, along one axis."""
    return labels.reshape(-1, *labels.shape[batch_axes:])


def of_chunk(background: int | None, batch_axes: int, lowest: int | None, labels: Any) -> OfItems:
    """Count the elements of the labels of each item; arguments are those of `sizes_of_chunk`."""
    items = items_of(labels, batch_axes)
    return [components.sizes_of_chunk(background, lowest, item) for item in items]


def merged(*parts: OfItems) -> OfItems:
    """Return the sizes in several chunks of the same items."""
    return [components.merged_sizes(*of_item) for of_item in zip(*parts, strict=True)]


def selected(choose: Selection, most: int, sizes: OfItems) -> list[NDArray[Any]]:
    """Return the labels of each item that are chosen, ascending."""
    return [components.selected(choose, most, of_item) for of_item in sizes]


def rows_of(most: int, sizes: OfItems) -> int:
    """Return how many rows a table for any of the items has; raise if more than `most`."""
    return max(components.rows_of(most, of_item) for of_item in sizes)


def components_of(sizes: OfItems) -> int:
    """Return the number of components of the item that has the most."""
    return max(len(without_background(of_item).labels) for of_item in sizes)


def largest(*numbers: int) -> int:
    """Return the largest of some numbers."""
    return max(numbers)


def dense(shape: tuple[int, ...], rows: int, sizes: OfItems) -> NDArray[np.int64]:
    """Return the size of each label from 0 to `rows`, of items along axes of these lengths."""
    table = np.zeros((len(sizes), rows), np.int64)
    for row, of_item in zip(table, sizes, strict=True):
        counted = without_background(of_item)
        row[counted.labels.astype(np.int64)] = counted.sizes
    return table.reshape(*shape, rows)


def histograms(most: int, sizes: OfItems) -> OfItems:
    """Return how many components of each item have each size: sizes in the place of labels."""
    counted = []
    for of_item in sizes:
        components.rows_of(most, of_item)
        occurring, counts = np.unique(without_background(of_item).sizes, return_counts=True)
        counted.append(Sizes(occurring, counts.astype(np.int64)))
    return counted


def all_occurring(*parts: OfItems) -> OfItems:
    """Return the histogram of all items of some parts."""
    return [components.merged_sizes(*(of_item for part in parts for of_item in part))]


def as_array(histogram: OfItems) -> NDArray[np.int64]:
    """Return the sizes of a histogram."""
    return histogram[0].labels


def counts_of_sizes(
    shape: tuple[int, ...], occurring: OfItems, of_items: OfItems
) -> NDArray[np.int64]:
    """Return how many components of each item have each of the sizes that occur."""
    all_sizes = occurring[0].labels
    table = np.zeros((len(of_items), len(all_sizes)), np.int64)
    for row, histogram in zip(table, of_items, strict=True):
        row[np.searchsorted(all_sizes, histogram.labels)] = histogram.sizes
    return table.reshape(*shape, len(all_sizes))


def old_labels(first: int, shape: tuple[int, ...], length: int, sizes: OfItems) -> NDArray[Any]:
    """Return the label of each number of each item, from 0 on; 0 for what none has become."""
    table = np.zeros((len(sizes), first + length), sizes[0].labels.dtype)
    for row, of_item in zip(table, sizes, strict=True):
        labels = without_background(of_item).labels
        row[first : first + len(labels)] = labels
    return table.reshape(*shape, first + length)


def keep_labels(
    batch_axes: int, background: int, dtype: np.dtype[Any], labels: Any, kept: list[NDArray[Any]]
) -> Any:
    """Return the labels of a chunk that are among those kept of each item."""

    def keep(item: Any, chosen: NDArray[Any]) -> Any:
        return components.keep_labels(background, dtype, item, chosen)

    return _by_items(batch_axes, keep, labels, kept)


def renumber_labels(
    batch_axes: int, background: int, first: int, dtype: np.dtype[Any], labels: Any, sizes: OfItems
) -> Any:
    """Return which places the labels of a chunk have among all of their items."""

    def renumber(item: Any, of_item: Sizes) -> Any:
        return components.renumber_labels(background, first, dtype, item, of_item)

    return _by_items(batch_axes, renumber, labels, sizes)


def _by_items(batch_axes: int, function: Callable[..., Any], labels: Any, of_items: Any) -> Any:
    """Return what a function makes of each item and of what there is for it."""
    if not batch_axes:
        return function(labels, of_items[0])
    results = list(map(function, items_of(labels, batch_axes), of_items))
    return library_at(results[0]).stack(results).reshape(labels.shape)
