"""Labels in a Dask array, and the graphs that begin with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import dask.array
import numpy as np
from dask._task_spec import TaskRef
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph
from numpy.typing import NDArray

from conncomp._arguments import as_batch_axes
from conncomp._arrays import check_kind
from conncomp.chunked.dask_arrays import dask_array, meta_of
from conncomp.chunked.dask_graph import Graph
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.measures.measuring import Labelling
from conncomp.components._labels import Background, check_background

MERGED = 32  # results that one task merges


class LabelChunks:
    """Labels in a Dask array of one element or more.

    Parameters
    ----------
    given : dask.array.Array
    background : {"auto", 0, -1, None}
    batch_axes : int
    token : object
        What is done with the labels: all that names of tasks depend on.

    Attributes
    ----------
    array : dask.array.Array
    labelling : Labelling
    lowest : int
        No label is lower.
    layout : Layout
    graph : Graph
    sources : list of dask.array.Array
        What the graph begins with.
    """

    def __init__(self, given: Any, background: Background, batch_axes: int, *token: Any) -> None:
        self.array = label_array(given)
        self.sources = [self.array]
        batch = as_batch_axes(batch_axes, self.array.ndim, "labels")
        shape = self.array.shape
        empty, self.lowest = check_background(background, shape[:batch], shape[batch:])
        self.labelling = Labelling(None if background is None else empty, batch)
        self.layout = Layout(self.array.chunks, (False,) * len(shape), batch)
        self.graph = Graph(tokenize(self.array, self.labelling, *token))

    @property
    def batch(self) -> tuple[int, ...]:
        """The lengths of the batch axes."""
        return self.layout.shape[: self.labelling.batch_axes]

    def chunk(self, index: Index) -> TaskRef:
        """Return what stands for a chunk."""
        return TaskRef((self.array.name, *index))

    def blocks(self) -> Iterable[Index]:
        """Yield the index along the batch axes of each block of chunks that have the same items."""
        return np.ndindex(*self.layout.counts[: len(self.batch)])

    def chunks(self, block: Index) -> list[Index]:
        """Return the indices of the chunks of a block."""
        return [(*block, *k) for k in np.ndindex(*self.layout.counts[len(block) :])]

    def items(self, block: Index) -> NDArray[np.int64]:
        """Return the numbers of the items of a block, in C order."""
        ends = (0,) * (len(self.layout.shape) - len(block))
        starts = self.layout.start((*block, *ends))
        lengths = self.block_shape(block)
        numbers = np.zeros((), np.int64)
        for start, length, whole in zip(starts, lengths, self.batch, strict=False):
            numbers = numbers[..., None] * whole + np.arange(start, start + length)
        return numbers.reshape(-1)

    def block_shape(self, block: Index) -> tuple[int, ...]:
        """Return how many items a block has along each batch axis."""
        return tuple(self.layout.lengths[axis][k] for axis, k in enumerate(block))

    def merged(self, name: str, block: Index, parts: Sequence[Any], merge: Any) -> Any:
        """Return what stands for several parts merged to one, in a tree."""
        height = 0
        while height == 0 or len(parts) > 1:
            groups = range(0, len(parts), MERGED)
            parts = [
                self.graph.call(
                    f"{name}-{height}", (*block, k), merge, *parts[group : group + MERGED]
                )
                for k, group in enumerate(groups)
            ]
            height += 1
        return parts[0]

    def map(self, name: str, dtype: Any, function: Callable[..., Any], after: Any) -> Any:
        """Return a Dask array of what a function makes of each chunk and a result of its block."""
        for block in self.blocks():
            for index in self.chunks(block):
                self.graph.call(name, index, function, self.chunk(index), after[block])
        return self.result(name, self.array.chunks, meta_of(self.array, self.array.ndim, dtype))

    def columns(self, name: str, dtype: Any, function: Callable[..., Any], of_blocks: Any) -> Any:
        """Return a Dask array of an array of one axis, of unknown length, for each item."""
        for block in self.blocks():
            shape = self.block_shape(block)
            self.graph.call(name, (*block, 0), function, shape, *of_blocks[block])
        lengths = (*self.array.chunks[: len(self.batch)], (math.nan,))
        return self.result(name, lengths, np.zeros((0,) * len(lengths), dtype))

    def result(self, name: str, chunks: Any, meta: Any) -> Any:
        """Return the Dask array of the tasks of a name."""
        full = self.graph.name(name)
        high = HighLevelGraph.from_collections(full, self.graph.tasks, dependencies=self.sources)
        return dask.array.Array(high, full, chunks, dtype=meta.dtype, meta=meta)

    def fields(
        self, name: str, made: Any, like: Mapping[str, Any], missing: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Return what a task makes, which has fields, with a Dask array for each field.

        Parameters
        ----------
        name : str
        made : TaskRef
        like : mapping
            By the names of fields, arrays that have their dtypes and shapes, with no row.
        missing : sequence of str, optional
            Fields that have no rows; of the others the number of rows is not known.
        """
        arrays = {}
        for field, meta in like.items():
            key = (0,) * meta.ndim
            self.graph.call(f"{name}-{field}", key, getattr, made, field)
            rows = 0 if field in missing else math.nan
            chunks = ((rows,), *((length,) for length in meta.shape[1:]))
            arrays[field] = self.result(f"{name}-{field}", chunks, meta)
        return arrays


def label_array(given: Any) -> Any:
    """Return a Dask array of labels; raise TypeError if it is not of integers."""
    array = dask_array("labels", given)
    check_kind(array, "iu", given, "labels", "of integers")
    return array


def of_no_element(function: Callable[..., Any], given: Any, *arguments: Any, **options: Any) -> Any:
    """Return what a function of labels in memory returns of none, in Dask arrays."""
    made: Any = function(np.zeros(given.shape, given.dtype), *arguments, **options)
    if isinstance(made, tuple):
        return tuple(map(dask.array.from_array, made))
    if not hasattr(made, "__dataclass_fields__"):
        return dask.array.from_array(made)
    columns = {name: value for name, value in vars(made).items() if isinstance(value, np.ndarray)}
    return replace(made, **{k: dask.array.from_array(column) for k, column in columns.items()})
