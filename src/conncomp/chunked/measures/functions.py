"""What takes labels in chunks, of Dask or in files, by the names of what takes arrays in memory.

Arguments are those of the functions in memory, which have their defaults and documentation. Results
of Dask arrays are Dask arrays, whose lengths are not known at first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import numpy as np

from conncomp._arguments import (
    INDEX_TYPES,
    INT32_MAX,
    as_batch_axes,
    as_bool,
    as_count,
    check_dimensions,
    shown,
)
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.measures import item_sizes, measuring
from conncomp.chunked.measures.label_chunks import check_second, kind_of_chunks
from conncomp.chunked.measures.measuring import last_layers, preceding
from conncomp.components import matching, renumbering, selection, sizes, statistics, touching
from conncomp.components._labels import check_mask, check_spacing, most_rows
from conncomp.components.columns.intensities import check_values
from conncomp.components.selection import check_connectivity_is_for_masks
from conncomp.grid._arguments import check_neighbourhood


def _unless_empty(of_memory: Callable[..., Any], of_chunks: Callable[..., Any]) -> Any:
    """Return a function of labels in chunks; of no elements, the one in memory is asked."""

    def function(labels: Any, *arguments: Any, **options: Any) -> Any:
        kind = kind_of_chunks(labels)
        given = kind.checked(labels)
        if not given.size:
            return kind.of_no_element(of_memory, given, *arguments, **options)
        return of_chunks(given, *arguments, **options)

    return function


class CountedLabels:
    """Labels in chunks, of one element or more, and the sizes of each block of items.

    Components are numbered from `first`; a table of an item has `most` rows at most. Labels may be
    negative if they may have any values.
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
            indices = chunks.chunks(block)
            parts = [chunks.call("sizes", index, counted, chunks.chunk(index)) for index in indices]
            self.sizes[block] = chunks.merged("merged", block, parts, item_sizes.merged)

    def by_block(self, name: str, function: Callable[..., Any]) -> dict[Index, Any]:
        """Return what a function makes of the sizes of each block."""
        call = self.chunks.call
        return {block: call(name, block, function, sizes) for block, sizes in self.sizes.items()}

    def keep(self, choose: Any) -> Any:
        """Return the labels of the components that are chosen by their sizes."""
        dtype = self.chunks.array.dtype
        kept_type = INDEX_TYPES[dtype.itemsize > 4 or dtype == np.uint32]
        return self.replaced("kept", kept_type, partial(item_sizes.selected, choose, self.most))

    def replaced(self, name: str, dtype: Any, function: Any) -> Any:
        """Return labels replaced by the tables that a function makes of the sizes of blocks."""
        tables, labelling = self.by_block(f"{name}-by", function), self.chunks.labelling
        replace = partial(item_sizes.replace_labels, labelling.batch_axes, labelling.empty, dtype)
        return self.chunks.map(name, dtype, replace, tables)

    def longest(self, name: str, function: Any) -> Any:
        """Return what stands for the largest of numbers that a function tells of each block."""
        lengths = list(self.by_block(f"{name}-of", function).values())
        return self.chunks.merged(name, (), lengths, item_sizes.most_of)


def _component_sizes(array: Any, *, background: Any, batch_axes: int) -> Any:
    counted = CountedLabels(array, background, batch_axes, "sizes")
    rows = counted.longest("rows", partial(item_sizes.rows_of, counted.most))
    name, chunks = "component-sizes", counted.chunks
    return chunks.columns(name, np.int64, item_sizes.dense, rows, counted.sizes)


def _size_histogram(array: Any, *, background: Any, batch_axes: int) -> tuple[Any, Any]:
    counted = CountedLabels(array, background, batch_axes, "histogram")
    chunks = counted.chunks
    histograms = counted.by_block("histogram", partial(item_sizes.histograms, counted.most))
    occurring = chunks.merged("occurring", (), list(histograms.values()), item_sizes.all_occurring)
    counts = item_sizes.counts_of_sizes, occurring, histograms
    all_sizes = chunks.column("histogram-sizes", np.int64, item_sizes.as_array, occurring)
    return all_sizes, chunks.columns("histogram-counts", np.int64, *counts)


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


component_sizes = _unless_empty(sizes.component_sizes, _component_sizes)
size_histogram = _unless_empty(sizes.size_histogram, _size_histogram)
relabel_consecutive = _unless_empty(renumbering.relabel_consecutive, _relabel_consecutive)


def largest_components(labels: Any, k: int, *, by: Any, **options: Any) -> Any:
    """Keep the largest components; `by` is for labels in memory."""
    _refuse(by=by)
    choose = partial(item_sizes.largest, as_count("k", k, "components"))
    return _choose_of(labels, choose, partial(selection.largest_components, k=k), **options)


def remove_small_components(
    labels: Any, min_size: Any, *, max_size: Any, invert: bool, **options: Any
) -> Any:
    """Keep components by their sizes in all chunks."""
    choose = partial(item_sizes.between, *selection.check_sizes(min_size, max_size, invert))
    of_none = partial(selection.remove_small_components, min_size=0)
    return _choose_of(labels, choose, of_none, **options)


def _choose_of(
    labels: Any, choose: Any, of_none: Any, *, connectivity: Any, background: Any, batch_axes: int
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
        kept = CountedLabels(array, background, batch_axes, *token).keep(choose)
    else:
        kept = kind.of_no_element(of_none, array, background=background, batch_axes=batch_axes)
    return kept != 0 if of_mask else kept


def _refuse(**asked: Any) -> None:
    for name, value in asked.items():
        if value is not None:
            raise ValueError(
                f"{name}={shown(value)} is for labels in memory; leave it out for labels in "
                "chunks, or take them into memory first"
            )


def component_statistics(
    labels: Any, image: Any, *, moments: bool, surfaces: bool, spacing: Any, **options: Any
) -> Any:
    """Measure lazy columns, but for `properties` and `classes`, which are for labels in memory."""
    _refuse(**{name: options.pop(name) for name in ("properties", "classes")})
    shown_too = as_bool("moments", moments), as_bool("surfaces", surfaces)
    wanted = measuring.Wanted(*shown_too, image is not None)
    kind = kind_of_chunks(labels)
    array = kind.checked(labels)
    values = None if image is None else kind.beside("image", image, array, check_values)
    if not array.size:
        none = None if values is None else np.zeros(array.shape, values.dtype)
        options |= {"surfaces": surfaces, "spacing": spacing}
        return kind.of_no_element(statistics.component_statistics, array, none, **options)
    background, batch_axes = options["background"], options["batch_axes"]
    given = kind(array, background, batch_axes, "statistics", wanted, spacing, values)
    batch = given.labelling.batch_axes
    ndim = len(array.shape) - batch
    check_dimensions(ndim)
    lengths = check_spacing(spacing, ndim)
    layers = _layers(given, given.layout) if wanted.surfaces else {}
    measure = partial(measuring.measure_chunk, given.labelling, wanted)

    def of_chunk(index: Index) -> tuple[Any, ...]:
        before = preceding(given.layout, index, 1) if layers else {}
        start, axes = given.layout.start(index)[batch:], tuple(axis for (axis,) in before)
        value = None if values is None else given.chunk_beside(values, index)
        others = (layers[other] for other in before.values())
        return start, axes, given.chunk(index), value, *others

    made = partial(measuring.as_statistics, wanted, given.batch, lengths)
    of_one = np.ones((1,) * len(array.shape), np.int64)
    value = None if values is None else of_one.astype(values.dtype)
    sample = (0,) * ndim, (), of_one, value
    fields = _fields(given, "measured", measure, of_chunk, measuring.joined_rows, made, sample)
    return statistics.ComponentStatistics(**fields, spacing=lengths)


def _fields(
    given: Any, name: str, measure: Any, of_chunk: Any, join: Any, made: Any, sample: Any
) -> Any:
    """Return the fields of what is made of all chunks, measured like a sample, and joined."""
    tables = [
        given.call(name, index, partial(measure, given.items(block)), *of_chunk(index))
        for block in given.blocks()
        for index in given.chunks(block)
    ]
    table = given.merged("rows", (), tables, join)
    of_sample = made(measure(np.zeros(1, np.int64), *sample))
    return given.fields("column", given.call("made", (), made, table), of_sample)


def _contacts(
    array: Any, *, connectivity: Any, spacing: Any, periodic: Any, background: Any, batch_axes: int
) -> touching.Contacts:
    token = "contacts", connectivity, spacing, periodic
    given = kind_of_chunks(array)(array, background, batch_axes, *token)
    batch = given.labelling.batch_axes
    shape = array.shape[batch:]
    check_dimensions(len(shape))
    item = "an item of labels" if batch else "labels"
    neighbourhood = check_neighbourhood(connectivity, None, periodic, shape, item)
    lengths = check_spacing(spacing, len(shape))
    layout = Layout(given.layout.lengths, (False,) * batch + neighbourhood.periodic, batch)
    axes = enumerate(neighbourhood.periodic, batch)
    closed = tuple(is_closed and axis not in layout.crossed for axis, is_closed in axes)
    touch = partial(measuring.touch_chunk, given.labelling, neighbourhood._replace(periodic=closed))
    layers = _layers(given, layout)

    def of_chunk(index: Index) -> tuple[Any, ...]:
        before = preceding(layout, index, len(layout.crossed))
        return tuple(before), given.chunk(index), *(layers[other] for other in before.values())

    made = partial(measuring.as_contacts, given.batch, lengths)
    of_two = np.array([1, 2]).reshape((1,) * batch + (2,) + (1,) * (len(shape) - 1))
    joined = measuring.joined_contacts
    fields = _fields(given, "touched", touch, of_chunk, joined, made, ((), of_two))
    return touching.Contacts(**fields)


contacts = _unless_empty(touching.contacts, _contacts)


def match_labels(labels_a: Any, labels_b: Any, *, background: Any, batch_axes: int) -> Any:
    """Match labels; of Dask arrays the numbers of components are lazy, too."""
    kind = kind_of_chunks(labels_a)
    array = kind.checked(labels_a, "labels_a")
    as_batch_axes(batch_axes, len(array.shape), "labels_a")
    other = kind.beside("labels_b", labels_b, array, check_second)
    if not array.size:
        nothing = np.zeros(other.shape, other.dtype)
        known: dict[str, Any] = {"background": background, "batch_axes": batch_axes}
        return kind.of_no_element(matching.match_labels, array, nothing, **known)
    given = kind(array, background, batch_axes, "match_labels", other)
    check_dimensions(len(array.shape) - given.labelling.batch_axes, "labels_a")
    overlap = partial(measuring.overlaps_of_chunk, given.labelling)

    def of_chunk(index: Index) -> tuple[Any, ...]:
        return given.chunk(index), given.chunk_beside(other, index)

    made = partial(measuring.as_columns, given.batch)
    sample = (np.ones((1,) * len(array.shape), np.int64),) * 2
    columns = _fields(given, "matched", overlap, of_chunk, measuring.joined_overlaps, made, sample)
    components = columns.pop("first"), columns.pop("second")
    return matching.Matches(**columns, components=components)


def _layers(given: Any, layout: Layout) -> dict[Index, Any]:
    if not layout.crossed:
        return {}
    taken = partial(last_layers, layout.crossed, given.labelling.empty)
    return {index: given.layers(index, taken) for index in layout.indices()}
