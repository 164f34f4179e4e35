"""Sizes, selection and consecutive numbers of labels in Dask arrays: graphs of tasks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import dask.array
import numpy as np
from dask._task_spec import TaskRef
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from conncomp._arguments import INT32_MAX, as_bool, as_integer, shown
from conncomp._arrays import check_kind
from conncomp.chunked.components import (
    Between,
    Largest,
    dense_sizes,
    keep_labels,
    merged_sizes,
    old_labels,
    renumber_labels,
    selected,
    sizes_of_chunk,
)
from conncomp.chunked.dask_arrays import Graph, dask_array, label, meta_of
from conncomp.components._labels import Background, check_background, check_mask, most_rows
from conncomp.components.selection import (
    check_connectivity_is_for_masks,
    check_number_kept,
    check_sizes,
)
from conncomp.kernels.cuda.launcher import INDEX_TYPES

MERGED = 32  # lists that one task merges


class Labels:
    """Labels in a Dask array, and a graph that begins with a list of their sizes.

    Parameters
    ----------
    given : dask.array.Array
    background : {"auto", 0, -1, None}
    batch_axes : int
    function : str
        The name of the user's function.
    any_values : bool
        Whether labels may be negative.
    """

    def __init__(
        self,
        given: Any,
        background: Background,
        batch_axes: int,
        function: str,
        any_values: bool = False,
    ) -> None:
        self.array = dask_array("labels", given)
        check_kind(self.array, "iu", given, "labels", "of integers")
        if as_integer("batch_axes", batch_axes) != 0:
            raise ValueError(
                f"batch_axes={shown(batch_axes)} is for labels in memory, but labels is of Dask; "
                "take one item after the other, or compute them with labels.compute()"
            )
        self.empty, lowest = check_background(background, (), self.array.shape)
        self.first = int(lowest == self.empty == 0)
        self.background = None if background is None else self.empty
        self.graph = Graph(tokenize(self.array, self.empty, background, function))
        sizes = [
            self.graph.call(
                "sizes",
                index,
                sizes_of_chunk,
                self.background,
                None if any_values else lowest,
                TaskRef((self.array.name, *index)),
            )
            for index in np.ndindex(*self.array.numblocks)
        ]
        for height in range(len(sizes)):
            if height and len(sizes) == 1:
                break
            sizes = [
                self.graph.call(f"merged-{height}", (k,), merged_sizes, *sizes[k : k + MERGED])
                for k in range(0, len(sizes), MERGED)
            ]
        self.sizes = sizes[0]

    def result_type(self) -> np.dtype[Any]:
        """Return the dtype of labels that are selected."""
        dtype = self.array.dtype
        return INDEX_TYPES[dtype.itemsize > 4 or dtype == np.uint32]

    def map(
        self,
        name: str,
        dtype: np.dtype[Any],
        function: Callable[..., Any],
        *arguments: Any,
        after: Any,
    ) -> Any:
        """Return a Dask array of what a function makes of each chunk and what all of them gave."""
        for index in np.ndindex(*self.array.numblocks):
            source = TaskRef((self.array.name, *index))
            self.graph.call(name, index, function, *arguments, source, after)
        full = self.graph.name(name)
        high = HighLevelGraph.from_collections(full, self.graph.tasks, dependencies=[self.array])
        meta = meta_of(self.array, self.array.ndim, dtype)
        return dask.array.Array(high, full, self.array.chunks, dtype=dtype, meta=meta)

    def column(self, name: str, dtype: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a Dask array of one axis, of unknown length, of what a function makes of sizes."""
        self.graph.call(name, (0,), function, *arguments, self.sizes)
        full = self.graph.name(name)
        high = HighLevelGraph.from_collections(full, self.graph.tasks, dependencies=[self.array])
        meta = np.zeros(0, dtype)
        return dask.array.Array(high, full, ((math.nan,),), dtype=dtype, meta=meta)

    def keep(self, choose: Any) -> Any:
        """Return the labels of the components that are chosen."""
        chosen = self.graph.call(
            "chosen", (), selected, choose, most_rows(self.array.size), self.sizes
        )
        dtype = self.result_type()
        return self.map("kept", dtype, keep_labels, self.empty, dtype, after=chosen)


def component_sizes(labels: Any, *, background: Background = "auto", batch_axes: int = 0) -> Any:
    """Do what `conncomp.component_sizes` does; the length of the result is not known at first."""
    counted = Labels(labels, background, batch_axes, "sizes")
    rows = most_rows(counted.array.size)
    return counted.column("component-sizes", np.int64, dense_sizes, rows)


def largest_components(
    labels: Any, k: int, *, background: Background = "auto", batch_axes: int = 0
) -> Any:
    """Do what `conncomp.largest_components` does."""
    most = check_number_kept(k)
    return Labels(labels, background, batch_axes, f"largest-{most}").keep(Largest(most))


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
    array, name = dask_array("labels", labels), f"between-{choose}"
    if array.dtype != np.bool_:
        check_connectivity_is_for_masks(connectivity)
        return Labels(array, background, batch_axes, name).keep(choose)
    check_mask(array, background)
    components = label(array, connectivity=connectivity, **LABELLED)
    return Labels(components, 0, batch_axes, name).keep(choose) != 0


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
    wanted = as_bool("return_labels", return_labels)
    given = Labels(labels, background, batch_axes, "consecutive", any_values=True)
    dtype = INDEX_TYPES[given.array.size > INT32_MAX]
    arguments = given.empty, given.first, dtype
    numbers = given.map("consecutive", dtype, renumber_labels, *arguments, after=given.sizes)
    if not wanted:
        return numbers
    return numbers, given.column("old", given.array.dtype, old_labels, given.first)
