"""Sizes, selection and consecutive numbers of labels in Dask arrays: graphs of tasks."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from conncomp._arguments import INT32_MAX, as_bool, shown
from conncomp.chunked.components import Between, Largest
from conncomp.chunked.dask_arrays import dask_array, label
from conncomp.chunked.measures import item_sizes
from conncomp.chunked.measures.dask_labels import LabelChunks, label_array, of_no_element
from conncomp.components import renumbering, selection, sizes
from conncomp.components._labels import Background, check_mask, most_rows
from conncomp.components.selection import (
    check_connectivity_is_for_masks,
    check_number_kept,
    check_sizes,
)
from conncomp.kernels.cuda.launcher import INDEX_TYPES


class CountedLabels(LabelChunks):
    """Labels in a Dask array, and the sizes of the components of each block of items.

    Parameters are those of `LabelChunks`, and whether labels may be negative.
    """

    def __init__(
        self,
        given: Any,
        background: Background,
        batch_axes: int,
        *token: Any,
        any_values: bool = False,
    ) -> None:
        super().__init__(given, background, batch_axes, *token)
        self.first = int(self.lowest == self.labelling.empty == 0)
        self.most = most_rows(self.array.size) // prod(self.batch)
        lowest = None if any_values else self.lowest
        counted = partial(item_sizes.of_chunk, *self.labelling, lowest)
        self.sizes = {}
        for block in self.blocks():
            parts = [
                self.graph.call("sizes", index, counted, self.chunk(index))
                for index in self.chunks(block)
            ]
            self.sizes[block] = self.merged("merged", block, parts, item_sizes.merged)

    def dtype_of_kept(self) -> np.dtype[Any]:
        """Return the dtype of labels that are selected."""
        dtype = self.array.dtype
        return INDEX_TYPES[dtype.itemsize > 4 or dtype == np.uint32]

    def keep(self, choose: Any) -> Any:
        """Return the labels of the components that are chosen."""
        chosen = {
            block: self.graph.call("chosen", block, item_sizes.selected, choose, self.most, sizes)
            for block, sizes in self.sizes.items()
        }
        dtype, labelling = self.dtype_of_kept(), self.labelling
        kept = partial(item_sizes.keep_labels, labelling.batch_axes, labelling.empty, dtype)
        return self.map("kept", dtype, kept, chosen)

    def longest(self, name: str, function: Any) -> Any:
        """Return what stands for the largest of numbers that a function tells of each block."""
        lengths = [
            self.graph.call(f"{name}-of", block, function, sizes)
            for block, sizes in self.sizes.items()
        ]
        return self.merged(name, (), lengths, item_sizes.largest)


def component_sizes(labels: Any, *, background: Background = "auto", batch_axes: int = 0) -> Any:
    """Do what `conncomp.component_sizes` does; the length of the result is not known at first."""
    given = label_array(labels)
    if not given.size:
        known = {"background": background, "batch_axes": batch_axes}
        return of_no_element(sizes.component_sizes, given, **known)
    counted = CountedLabels(given, background, batch_axes, "sizes")
    rows = counted.longest("rows", partial(item_sizes.rows_of, counted.most))
    parts = {block: (rows, of_block) for block, of_block in counted.sizes.items()}
    return counted.columns("component-sizes", np.int64, item_sizes.dense, parts)


def size_histogram(
    labels: Any, *, background: Background = "auto", batch_axes: int = 0
) -> tuple[Any, Any]:
    """Do what `conncomp.size_histogram` does; how many sizes there are is not known at first."""
    given = label_array(labels)
    if not given.size:
        known = {"background": background, "batch_axes": batch_axes}
        empty: tuple[Any, Any] = of_no_element(sizes.size_histogram, given, **known)
        return empty
    counted = CountedLabels(given, background, batch_axes, "histogram")
    graph = counted.graph
    histograms = {
        block: graph.call("histogram", block, item_sizes.histograms, counted.most, of_block)
        for block, of_block in counted.sizes.items()
    }
    occurring = counted.merged("occurring", (), list(histograms.values()), item_sizes.all_occurring)
    graph.call("histogram-sizes", (0,), item_sizes.as_array, occurring)
    parts = {block: (occurring, of_block) for block, of_block in histograms.items()}
    return (
        counted.result("histogram-sizes", ((np.nan,),), np.zeros(0, np.int64)),
        counted.columns("histogram-counts", np.int64, item_sizes.counts_of_sizes, parts),
    )


def largest_components(
    labels: Any,
    k: int,
    *,
    by: object = None,
    background: Background = "auto",
    batch_axes: int = 0,
) -> Any:
    """Do what `conncomp.largest_components` does, but for `by`."""
    if by is not None:
        raise ValueError(
            f"by={shown(by)} is for labels in memory; leave it out for a Dask array, or compute "
            "its labels first"
        )
    most, given = check_number_kept(k), label_array(labels)
    known = {"background": background, "batch_axes": batch_axes}
    if not given.size:
        return of_no_element(selection.largest_components, given, k, **known)
    return CountedLabels(given, background, batch_axes, "largest", most).keep(Largest(most))


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
    array, of_mask = dask_array("labels", labels), False
    if array.dtype == np.bool_:
        check_mask(array, background)
        array = label(array, connectivity=connectivity, batch_axes=batch_axes, **LABELLED)
        background, of_mask = 0, True
    else:
        check_connectivity_is_for_masks(connectivity)
    array = label_array(array)
    if not array.size:
        known = {"background": background, "batch_axes": batch_axes}
        kept = of_no_element(selection.remove_small_components, array, min_size or 0, **known)
    else:
        kept = CountedLabels(array, background, batch_axes, "between", *choose).keep(choose)
    return kept != 0 if of_mask else kept


# The other arguments of `label`, by default.
LABELLED: dict[str, Any] = {
    "numbering": "consecutive",
    "algorithm": "auto",
    "dtype": None,
    "device": None,
    "return_num": False,
}


def relabel_consecutive(
    labels: Any,
    *,
    return_labels: bool = False,
    background: Background = "auto",
    batch_axes: int = 0,
) -> Any:
    """Do what `conncomp.relabel_consecutive` does."""
    wanted, array = as_bool("return_labels", return_labels), label_array(labels)
    known: dict[str, Any] = {"background": background, "batch_axes": batch_axes}
    if not array.size:
        return of_no_element(renumbering.relabel_consecutive, array, return_labels=wanted, **known)
    given = CountedLabels(array, **known, any_values=True)
    dtype = INDEX_TYPES[given.array.size > INT32_MAX]
    described = given.labelling.batch_axes, given.labelling.empty, given.first, dtype
    numbered = partial(item_sizes.renumber_labels, *described)
    numbers = given.map("consecutive", dtype, numbered, given.sizes)
    if not wanted:
        return numbers
    length = given.longest("length", item_sizes.components_of)
    parts = {block: (length, of_block) for block, of_block in given.sizes.items()}
    old = partial(item_sizes.old_labels, given.first)
    return numbers, given.columns("old", given.array.dtype, old, parts)
