"""Labels in a Dask array, and the graphs that begin with them."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import dask.array
import numpy as np
from dask._task_spec import TaskRef
from dask.array import Array
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph
from numpy.typing import ArrayLike, DTypeLike, NDArray

from conncomp._arrays import as_numpy, on_gpu
from conncomp._containers import IMAGES, TABLES, is_of
from conncomp.chunked.dask_arrays import dask_array, meta_of
from conncomp.chunked.dask_graph import TaskGraph
from conncomp.chunked.layout import Index
from conncomp.chunked.measures.label_chunks import MERGED, LabelChunks
from conncomp.chunked.tree import Deferred, Function, OfChunks, merged
from conncomp.components._labels import Background, check_labels
from conncomp.grid import label
from conncomp.kernels.cuda.launcher import DType


class DaskLabels(LabelChunks):
    """Labels in a Dask array; calls become tasks."""

    array: Array

    def __init__(self, given: Array, background: Background, batch_axes: int, *token: Any) -> None:
        super().__init__(given, given.chunks, background, batch_axes)
        self._sources = [self.array]  # the graph begins with these
        token_of_all = tokenize(self.array, self.labelling, *token)
        self._graph = TaskGraph(token_of_all, on_gpu(self.array._meta))
        self.call = self._graph.call

    @staticmethod
    def checked(given: object, name: str = "labels") -> Array:
        """Return a Dask array of labels; raise TypeError if it is not of integers."""
        array = dask_array(name, given)
        check_labels(array, given, name)
        return array

    @staticmethod
    def of_mask(given: Any, connectivity: float | None, batch_axes: int) -> Array:
        """Return the labels of a mask."""
        return label(given, connectivity=connectivity, batch_axes=batch_axes)

    @staticmethod
    def of_no_element(function: Function, given: Array, *arguments: Any, **options: Any) -> Any:
        """Return what a function of labels in memory returns of none, in Dask arrays."""
        made = function(np.zeros(given.shape, given.dtype), *arguments, **options)
        if isinstance(made, tuple):
            return tuple(map(dask.array.from_array, made))
        if not hasattr(made, "__dataclass_fields__"):
            return dask.array.from_array(made)
        columns = {name: array for name, array in vars(made).items() if hasattr(array, "dtype")}
        return replace(made, **{k: dask.array.from_array(column) for k, column in columns.items()})

    def chunk(self, index: Index) -> TaskRef:
        """Return what stands for a chunk."""
        return TaskRef((self.array.name, *index))

    @staticmethod
    def beside(name: str, given: ArrayLike, labels: Array, check: Function) -> Array:
        """Return another array as a Dask array in the chunks of labels."""
        held = as_numpy(given, name) if is_of(given, *TABLES, *IMAGES) else given
        array = dask_array(name, dask.array.asarray(held))
        check(array, given, labels.shape)
        return array.rechunk(labels.chunks)

    def chunk_beside(self, other: Array, index: Index) -> TaskRef:
        """Return what stands for a chunk of another array."""
        if other is not self._sources[-1]:
            self._sources.append(other)
        return TaskRef((other.name, *index))

    def layers(self, index: Index, function: Function) -> Deferred:
        """Return a function's result for the chunk of labels, as an argument of later calls."""
        return self.call("layers", index, function, self.chunk(index))

    def merged(self, name: str, block: Index, parts: list[Deferred], merge: Function) -> Deferred:
        """Return several parts merged to one, in a tree of tasks."""
        return merged(self.call, name, block, parts, merge, MERGED)

    def map(self, name: str, dtype: DType, function: partial[Any], after: OfChunks) -> Array:
        """Return a Dask array of results of each chunk and of the result of its block."""
        for block in self.blocks():
            for index in self.indices(block):
                self.call(name, index, function, self.chunk(index), after[block])
        return self._result(name, self.array.chunks, meta_of(self.array, self.array.ndim, dtype))

    def columns(
        self, name: str, dtype: DTypeLike, function: Function, known: Deferred, of_blocks: OfChunks
    ) -> Array:
        """Return a Dask array of an array of one axis, of unknown length, for each item."""
        for block in self.blocks():
            shape = self.block_shape(block)
            self.call(name, (*block, 0), function, shape, known, of_blocks[block])
        lengths = (*self.array.chunks[: len(self.batch)], (math.nan,))
        return self._result(name, lengths, np.zeros((0,) * len(lengths), dtype))

    def column(self, name: str, dtype: DTypeLike, function: Function, *arguments: Any) -> Array:
        """Return a Dask array of one axis, of unknown length."""
        self.call(name, (0,), function, *arguments)
        return self._result(name, ((math.nan,),), np.zeros(0, dtype))

    def fields(self, name: str, made: Deferred, sample: Any) -> dict[str, Array]:
        """Return a Dask array for each field of a result, which a sample is like."""
        arrays = {}
        for field, column in vars(sample).items():
            if not hasattr(column, "dtype"):
                continue
            meta = column[:0] if column.ndim else column
            self.call(f"{name}-{field}", (0,) * meta.ndim, getattr, made, field)
            axes = enumerate(column.shape)  # the first of which is of unknown length
            chunks = tuple((math.nan if axis == 0 < n else n,) for axis, n in axes)
            arrays[field] = self._result(f"{name}-{field}", chunks, meta)
        return arrays

    def _result(self, name: str, chunks: tuple[Any, ...], meta: NDArray[Any]) -> Array:
        full = self._graph.names[name]
        high = HighLevelGraph.from_collections(full, self._graph.tasks, dependencies=self._sources)
        return Array(high, full, chunks, dtype=meta.dtype, meta=meta)
