"""Sizes, selection and consecutive numbers of labels in chunks, by whatever engine calls."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from conncomp._arguments import INT32_MAX, as_bool, shown
from conncomp.chunked.measures import item_sizes
from conncomp.chunked.measures.components import Between, Largest
from conncomp.chunked.measures.label_chunks import kind_of_chunks
from conncomp.components import renumbering, selection, sizes
from conncomp.components._labels import Background, check_mask, most_rows
from conncomp.components.selection import (
    check_connectivity_is_for_masks,
    check_number_kept,
    check_sizes,
)
from conncomp.kernels.cuda.launcher import INDEX_TYPES


class CountedLabels:
    """Labels in chunks, and the sizes of the components of each block of items.

    Parameters are those of `LabelChunks`, and whether labels may be negative.

    Attributes
    ----------
    chunks : LabelChunks
    first : int
        The number of the first component.
    most : int
        Rows that a table of an item has at most.
    sizes : dict
        Of the index of each block along the batch axes to what stands for its sizes.
    """

    def __init__(
        self,
        given: Any,
        background: Background,
        batch_axes: int,
        *token: Any,
        any_values: bool = False,
    ) -> None:
        self.chunks = chunks = kind_of_chunks(given)(given, background, batch_axes, *token)
        self.first = int(chunks.lowest == chunks.labelling.empty == 0)
        self.most = most_rows(chunks.array.size) // prod(chunks.batch)
        lowest = None if any_values else chunks.lowest
        counted = partial(item_sizes.of_chunk, *chunks.labelling, lowest)
        self.sizes = {}
        for block in chunks.blocks():
            parts = [
                chunks.call("sizes", index, counted, chunks.chunk(index))
                for index in chunks.chunks(block)
            ]
            self.sizes[block] = chunks.merged("merged", block, parts, item_sizes.merged)

    def keep(self, choose: Any) -> Any:
        """Return the labels of the components that are chosen."""
        chunks, dtype = self.chunks, self.chunks.array.dtype
        chosen = {
            block: chunks.call("chosen", block, item_sizes.selected, choose, self.most, sizes)
            for block, sizes in self.sizes.items()
        }
        kept_type = INDEX_TYPES[dtype.itemsize > 4 or dtype == np.uint32]
        batch, empty = chunks.labelling.batch_axes, chunks.labelling.empty
        kept = partial(item_sizes.keep_labels, batch, empty, kept_type)
        return chunks.map("kept", kept_type, kept, chosen)

    def longest(self, name: str, function: Any) -> Any:
        """Return what stands for the largest of numbers that a function tells of each block."""
        lengths = [
            self.chunks.call(f"{name}-of", block, function, sizes)
            for block, sizes in self.sizes.items()
        ]
        return self.chunks.merged(name, (), lengths, item_sizes.largest)


def component_sizes(labels: Any, *, background: Background = "auto", batch_axes: int = 0) -> Any:
    """Do what `conncomp.component_sizes` does; the length of the result is not known at first."""
    kind = kind_of_chunks(labels)
    given = kind.checked(labels)
    if not given.size:
        known = {"background": background, "batch_axes": batch_axes}
        return kind.of_no_element(sizes.component_sizes, given, **known)
    counted = CountedLabels(given, background, batch_axes, "sizes")
    rows = counted.longest("rows", partial(item_sizes.rows_of, counted.most))
    parts = {block: (rows, of_block) for block, of_block in counted.sizes.items()}
    return counted.chunks.columns("component-sizes", np.int64, item_sizes.dense, parts)


def size_histogram(
    labels: Any, *, background: Background = "auto", batch_axes: int = 0
) -> tuple[Any, Any]:
    """Do what `conncomp.size_histogram` does; how many sizes there are is not known at first."""
    kind = kind_of_chunks(labels)
    given = kind.checked(labels)
    if not given.size:
        known = {"background": background, "batch_axes": batch_axes}
        empty: tuple[Any, Any] = kind.of_no_element(sizes.size_histogram, given, **known)
        return empty
    counted = CountedLabels(given, background, batch_axes, "histogram")
    chunks = counted.chunks
    histograms = {
        block: chunks.call("histogram", block, item_sizes.histograms, counted.most, of_block)
        for block, of_block in counted.sizes.items()
    }
    occurring = chunks.merged("occurring", (), list(histograms.values()), item_sizes.all_occurring)
    parts = {block: (occurring, of_block) for block, of_block in histograms.items()}
    return (
        chunks.column("histogram-sizes", np.int64, item_sizes.as_array, occurring),
        chunks.columns("histogram-counts", np.int64, item_sizes.counts_of_sizes, parts),
    )


def largest_components(
    labels: Any,
    k: int = 1,
    *,
    by: object = None,
    connectivity: float | None = None,
    background: Background = "auto",
    batch_axes: int = 0,
) -> Any:
    """Do what `conncomp.largest_components` does, but for `by`."""
    if by is not None:
        raise ValueError(
            f"by={shown(by)} is for labels in memory; leave it out for labels in chunks, or take "
            "them into memory first"
        )
    most = check_number_kept(k)
    of_none = partial(selection.largest_components, k=k)
    known = connectivity, background, batch_axes
    return _choose_of(labels, *known, Largest(most), ("largest", most), of_none)


def remove_small_components(
    labels: Any,
    min_size: int | None = None,
    *,
    max_size: int | None = None,
    invert: bool = False,
    connectivity: float | None = None,
    background: Background = "auto",
    batch_axes: int = 0,
) -> Any:
    """Do what `conncomp.remove_small_components` does."""
    choose = Between(*check_sizes(min_size, max_size, invert))
    of_none = partial(selection.remove_small_components, min_size=min_size or 0)
    known = connectivity, background, batch_axes
    return _choose_of(labels, *known, choose, ("between", *choose), of_none)


def _choose_of(
    labels: Any,
    connectivity: float | None,
    background: Background,
    batch_axes: int,
    choose: Any,
    token: tuple[Any, ...],
    of_none: Any,
) -> Any:
    """Return labels, or a mask, with the components that are chosen.

    `token` tells the choice from others, and `of_none` does it for labels in memory of no element.
    """
    kind, array, of_mask = kind_of_chunks(labels), labels, labels.dtype == np.bool_
    if of_mask:
        check_mask(labels, background)
        array, background = kind.of_mask(labels, connectivity, batch_axes), 0
    else:
        check_connectivity_is_for_masks(connectivity)
    array = kind.checked(array)
    if array.size:
        kept = CountedLabels(array, background, batch_axes, *token).keep(choose)
    else:
        known = {"background": background, "batch_axes": batch_axes}
        kept = kind.of_no_element(of_none, array, **known)
    return kept != 0 if of_mask else kept


def relabel_consecutive(
    labels: Any,
    *,
    return_labels: bool = False,
    background: Background = "auto",
    batch_axes: int = 0,
) -> Any:
    """Do what `conncomp.relabel_consecutive` does."""
    kind = kind_of_chunks(labels)
    wanted, array = as_bool("return_labels", return_labels), kind.checked(labels)
    known: dict[str, Any] = {"background": background, "batch_axes": batch_axes}
    if not array.size:
        return kind.of_no_element(
            renumbering.relabel_consecutive, array, return_labels=wanted, **known
        )
    given = CountedLabels(array, **known, any_values=True)
    chunks, dtype = given.chunks, INDEX_TYPES[array.size > INT32_MAX]
    described = chunks.labelling.batch_axes, chunks.labelling.empty, given.first, dtype
    numbered = partial(item_sizes.renumber_labels, *described)
    numbers = chunks.map("consecutive", dtype, numbered, given.sizes)
    if not wanted:
        return numbers
    length = given.longest("length", item_sizes.components_of)
    parts = {block: (length, of_block) for block, of_block in given.sizes.items()}
    old = partial(item_sizes.old_labels, given.first)
    return numbers, chunks.columns("old", array.dtype, old, parts)
