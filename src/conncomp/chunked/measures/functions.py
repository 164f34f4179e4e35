"""The functions that take labels in chunks, of Dask or in files, named as those in memory.

Arguments are those of the functions in memory, which have the defaults. Results of Dask arrays are
Dask arrays, of unknown lengths. Here are the functions that need the sizes of components alone.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from conncomp._arguments import INDEX_TYPES, INT32_MAX, as_bool, as_count
from conncomp.chunked.layout import Index
from conncomp.chunked.measures import item_sizes, kind_of_chunks, refuse, unless_empty
from conncomp.chunked.measures.contacts import contacts as contacts
from conncomp.chunked.measures.item_sizes import Choose
from conncomp.chunked.measures.overlaps import match_labels as match_labels
from conncomp.chunked.measures.statistics import component_statistics as component_statistics
from conncomp.chunked.tree import Deferred, Function
from conncomp.components import renumbering, selection, sizes
from conncomp.components._labels import Background, check_mask, most_rows
from conncomp.components.selection import check_connectivity_is_for_masks


class CountedLabels:
    """Labels in chunks, of one element or more, and the sizes of each block of items.

    Components are numbered from `first`; a table of an item has `most` rows at most.
    """

    def __init__(
        self, array: Any, background: Any, batch_axes: int, *token: Any, any_values: bool = False
    ) -> None:
        self.chunks = chunks = kind_of_chunks(array)(array, background, batch_axes, *token)
        self.first = int(chunks.lowest == chunks.labelling.empty == 0)
        self.most = most_rows(array.size) // prod(chunks.batch)
        lowest = None if any_values else chunks.lowest
        counted = partial(item_sizes.sizes_of_chunk, chunks.labelling, lowest)
        self.sizes = {}
        for block in chunks.blocks():
            indices = chunks.indices(block)
            parts = [chunks.call("sizes", index, counted, chunks.chunk(index)) for index in indices]
            self.sizes[block] = chunks.merged("merged", block, parts, item_sizes.merged)

    def by_block(self, name: str, function: Function) -> dict[Index, Deferred]:
        """Return what a function makes of the sizes of each block."""
        call = self.chunks.call
        return {block: call(name, block, function, sizes) for block, sizes in self.sizes.items()}

    def replaced(self, name: str, dtype: np.dtype[Any], function: Function) -> Any:
        """Return labels replaced by the tables that a function makes of the sizes of blocks."""
        tables, labelling = self.by_block(f"{name}-by", function), self.chunks.labelling
        replace = partial(item_sizes.replace_labels, labelling.batch_axes, labelling.empty, dtype)
        return self.chunks.map(name, dtype, replace, tables)

    def longest(self, name: str, function: Function) -> Deferred:
        """Return what stands for the largest of numbers that a function tells of each block."""
        lengths = list(self.by_block(f"{name}-of", function).values())
        return self.chunks.merged(name, (), lengths, item_sizes.most_of)


def _component_sizes(array: Any, *, background: Background, batch_axes: int) -> Any:
    counted = CountedLabels(array, background, batch_axes, "sizes")
    rows = counted.longest("rows", partial(item_sizes.rows_of, counted.most))
    dense, of_blocks = item_sizes.dense, counted.sizes
    return counted.chunks.columns("component-sizes", np.int64, dense, rows, of_blocks)


def _size_histogram(array: Any, *, background: Background, batch_axes: int) -> tuple[Any, Any]:
    counted = CountedLabels(array, background, batch_axes, "histogram")
    chunks = counted.chunks
    histograms = counted.by_block("histogram", partial(item_sizes.histograms, counted.most))
    occurring = chunks.merged("occurring", (), list(histograms.values()), item_sizes.all_occurring)
    all_sizes = chunks.column("histogram-sizes", np.int64, item_sizes.as_array, occurring)
    count = item_sizes.counts_of_sizes
    return all_sizes, chunks.columns("histogram-counts", np.int64, count, occurring, histograms)


def _relabel_consecutive(array: Any, *, return_labels: bool, **meaning: Any) -> Any:
    wanted = as_bool("return_labels", return_labels)
    counted = CountedLabels(array, **meaning, any_values=True)
    numbered = partial(item_sizes.numbered, counted.first)
    numbers = counted.replaced("consecutive", INDEX_TYPES[array.size > INT32_MAX], numbered)
    if not wanted:
        return numbers
    length = counted.longest("length", item_sizes.components_of)
    old = partial(item_sizes.old_labels, counted.first)
    return numbers, counted.chunks.columns("old", array.dtype, old, length, counted.sizes)


component_sizes = unless_empty(sizes.component_sizes, _component_sizes)
size_histogram = unless_empty(sizes.size_histogram, _size_histogram)
relabel_consecutive = unless_empty(renumbering.relabel_consecutive, _relabel_consecutive)


def largest_components(labels: Any, k: int, *, by: object, **options: Any) -> Any:
    """Keep the largest components; `by` is for labels in memory."""
    refuse(by=by)
    choose = partial(item_sizes.largest, as_count("k", k, "components"))
    return _choose_of(labels, choose, partial(selection.largest_components, k=k), **options)


def remove_small_components(
    labels: Any, min_size: int | None, *, max_size: int | None, invert: bool, **options: Any
) -> Any:
    """Keep components by their sizes in all chunks."""
    choose = partial(item_sizes.between, *selection.check_sizes(min_size, max_size, invert))
    of_none = partial(selection.remove_small_components, min_size=0)
    return _choose_of(labels, choose, of_none, **options)


def _choose_of(
    labels: Any, choose: Choose, none: Function, connectivity: Any, background: Any, batch_axes: int
) -> Any:
    """Return labels, or a mask, with the components that are chosen; the same of no element."""
    kind, array, of_mask = kind_of_chunks(labels), labels, labels.dtype == np.bool_
    if of_mask:
        check_mask(labels, background)
        array, background = kind.of_mask(labels, connectivity, batch_axes), 0
    else:
        check_connectivity_is_for_masks(connectivity)
    array = kind.checked(array)
    if array.size:
        token = choose.func.__name__, *choose.args
        counted = CountedLabels(array, background, batch_axes, *token)
        dtype = INDEX_TYPES[array.dtype.itemsize > 4 or array.dtype == np.uint32]
        kept = counted.replaced("kept", dtype, partial(item_sizes.selected, choose, counted.most))
    else:
        kept = kind.of_no_element(none, array, background=background, batch_axes=batch_axes)
    return kept != 0 if of_mask else kept
