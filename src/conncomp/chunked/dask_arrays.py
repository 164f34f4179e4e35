"""`label` and `label_bonds` of Dask arrays: a graph of tasks, for any scheduler.

`labels.compute()` and `dask.compute(labels)` run different graphs. In this process, tasks of the
first write into one array (`_Labelling.writing`): Dask would copy all chunks to a new array in one
thread, which takes longer than to label them. `dask.compute` never calls the
method: it merges the graphs of arrays, whose tasks return chunks.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import Any
from uuid import uuid4

import dask
import dask.array
import numpy as np
from dask._task_spec import Task, TaskRef
from dask.array import Array
from dask.base import compute_as_if_collection, get_scheduler, tokenize
from dask.graph_manipulation import clone
from dask.highlevelgraph import HighLevelGraph
from numpy.typing import NDArray

from conncomp._array_storage import new_array
from conncomp._arrays import choose_device, on_gpu
from conncomp._memory import total_memory
from conncomp.chunked.dask_graph import TaskGraph
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.numbering import final_roots, publish
from conncomp.chunked.relabelling import relabel
from conncomp.chunked.rules import Rules, rules_of_bonds, rules_of_image
from conncomp.chunked.stages import Result, label_all, labels_of
from conncomp.chunked.tree import Deferred, Function, OfChunks
from conncomp.chunked.union import link
from conncomp.grid.labelling import ASKED
from conncomp.grid.runs import Placed, write_together
from conncomp.kernels.cuda.launcher import DType

SHARE = 4  # of the memory of the machine, one part of which kept values may take
# With more chunks than this, small calls for 2 x 2 x ... of them are one task.
MANY_CHUNKS = 512
JOINED = (link, final_roots, publish)
# With more chunks than this, of at most SMALL_CHUNK elements, one task makes the calls for
# 4 x 4 x ... chunks, and holds the reports of all of them and of their neighbours at once.
VERY_MANY_CHUNKS, SMALL_CHUNK = 1 << 15, 1 << 21


def label(label_image: object, **arguments: Any) -> Any:
    """Label a Dask array, lazily; arguments are those of `conncomp.label`."""
    image = dask_array("label_image", label_image)
    return _label(image, *_resolved(rules_of_image, "label_image", image, arguments))


def label_bonds(bonds: object, **arguments: Any) -> Any:
    """Label bonds in a Dask array, lazily; arguments are those of `conncomp.label_bonds`."""
    array = dask_array("bonds", bonds)
    if array.dtype == np.bool_ and array.ndim:
        array = array.rechunk({0: -1})
    return _label(array, *_resolved(rules_of_bonds, "bonds", array, arguments))


def dask_array(name: str, given: object) -> Array:
    """Return a Dask array none of whose chunks is empty, unless all of it is."""
    if not isinstance(given, Array):
        flaw = f"{name} is a {type(given).__name__} of Dask; make an array of it first"
        raise TypeError(f"{flaw}, for example by .to_dask_array(lengths=True)")
    if np.isnan(np.array(given.shape, float)).any():
        told = f"{name} has chunks of unknown lengths"
        raise ValueError(f"{told}; let Dask find them by its .compute_chunk_sizes() first")
    if given.size and any(0 in lengths for lengths in given.chunks):
        return given.rechunk(tuple(tuple(n for n in axis if n) for axis in given.chunks))
    return given


def _resolved(
    resolve: Callable[..., tuple[Layout, Rules]], name: str, array: Array, arguments: dict[str, Any]
) -> tuple[Layout, Rules]:
    if arguments.pop("out", None) is not None:
        told = f"out is for arrays in memory, but {name} is of Dask"
        raise ValueError(f"{told}; dask.array.store writes the labels to an array")
    if arguments.pop("workspace", None) is not None:
        raise ValueError(f"workspace is for arrays on a GPU, but {name} is of Dask; leave it out")
    if isinstance(arguments.get("dtype"), str) and arguments["dtype"] == "smallest":
        flaw = f"dtype='smallest' is known when all labels are, but {name} is of Dask"
        raise ValueError(f"{flaw}; name a dtype")
    place = choose_device(arguments.pop("device"), on_gpu(array._meta), name)
    named = (*ASKED, "structure", "algorithm", "dtype")
    options = {key: arguments.pop(key) for key in arguments.keys() - named}
    return resolve(array.chunks, array.dtype, place, **arguments, options=options)


def _label(array: Array, layout: Layout, rules: Rules) -> Any:
    question, batch = rules.question, rules.question.batch_axes
    dtype, lengths = rules.label_type, array.chunks[rules.planes :]
    if not prod(rules.shape):
        labels = dask.array.zeros(rules.shape, dtype=dtype, chunks=lengths)
        counts = dask.array.zeros(rules.shape[:batch], dtype=np.int64, chunks=lengths[:batch])
        return (labels, counts) if question.counted else labels
    labelling = _Labelling(array, layout, rules)
    graph, result = labelling.graph()
    name = next(iter(result.labels.values())).key[0]
    high = HighLevelGraph.from_collections(name, graph.tasks, dependencies=labelling.sources)
    labels = LabelArray(high, name, lengths, dtype=dtype, meta=meta_of(array, len(lengths), dtype))
    if isinstance(labels, LabelArray):  # which plugins of Dask may make something else of
        labels.writing = labelling.writing
    return (labels, _counts(graph, labels, result.counts, batch)) if question.counted else labels


class LabelArray(Array):  # type: ignore[misc]
    """A Dask array of labels, computed in memory by its `writing`; what is made of it is Dask's."""

    __slots__ = ("writing",)

    def compute(self, **options: Any) -> Any:
        """Return the labels in memory; options are those of `dask.compute`."""
        writing = getattr(self, "writing", None)
        if writing is None or on_gpu(self._meta) or not _in_this_process(options):
            return super().compute(**options)
        labels = new_array(np, self.shape, self.dtype)
        options.pop("traverse", None)
        options.pop("optimize_graph", None)
        placed = compute_as_if_collection(Array, *writing(labels), **options)
        write_together([part for part in placed if part is not None])
        return labels


def _in_this_process(options: dict[str, Any]) -> bool:
    """Whether the scheduler, by options or by settings of Dask, calls tasks in this process."""
    chosen = get_scheduler(scheduler=options.get("scheduler"), cls=Array)
    return chosen in (dask.threaded.get, dask.local.get_sync)


@dataclass(frozen=True)
class _Labelling:
    array: Array
    layout: Layout
    rules: Rules

    @cached_property
    def sources(self) -> list[Array]:
        """The array, and if its values are not kept, the same to be computed once more."""
        kept = not self.layout.crossed or self.array.nbytes * SHARE <= (total_memory() or math.inf)
        return [self.array] if kept else [self.array, clone(self.array)]

    def graph(self, places: dict[Index, NDArray[Any]] | None = None) -> tuple[TaskGraph, Result]:
        """Return tasks and their results; where labels go to places, these are all None."""
        layout, rules = self.layout, self.rules
        # Labels that are written are not kept as a result.
        token = tokenize(self.array, rules) if places is None else uuid4().hex
        small = prod(map(max, layout.lengths)) <= SMALL_CHUNK
        side = 4 if small and layout.chunks > VERY_MANY_CHUNKS else 2
        joined = JOINED if layout.chunks > MANY_CHUNKS else ()
        graph = TaskGraph(token, on_gpu(self.array._meta), joined, layout.counts, side)
        names = [(source.name, *(0,) * rules.planes) for source in self.sources]
        values = [{index: TaskRef((*name, *index)) for index in layout.indices()} for name in names]

        def in_place(name: str, index: Index, function: Function, *arguments: Any) -> Deferred:
            if places is not None and function in (relabel, labels_of):
                function = partial(_write, function, places[index])
            return graph.call(name, index, function, *arguments)

        if places is not None:
            rules = replace(rules, question=replace(rules.question, counted=False))
        engine = graph.call if places is None else in_place
        collects = gc.isenabled()
        gc.disable()  # the garbage collector would double the time of a graph
        try:
            return graph, label_all(engine, layout, rules, values[0], (*values[1:], None)[0])
        finally:
            if collects:
                gc.enable()

    def writing(self, labels: NDArray[Any]) -> tuple[HighLevelGraph, list[Any]]:
        """Return a graph that writes all labels to an array, and its keys."""
        places = {index: labels[self.layout.place(index)] for index in self.layout.indices()}
        graph, result = self.graph(places)
        keys = [task.key for task in result.labels.values()]
        name, sources = f"{keys[0][0]}-written", self.sources
        return HighLevelGraph.from_collections(name, graph.tasks, dependencies=sources), keys


def _write(function: Function, place: NDArray[Any], *arguments: Any) -> Placed | None:
    made = function(*arguments, out=place)
    return made if isinstance(made, Placed) else None


def meta_of(array: Array, ndim: int, dtype: DType) -> NDArray[Any]:
    """Return an empty array of the library that chunks of labels are of."""
    meta = array._meta if on_gpu(array._meta) else np.zeros(())
    return meta.reshape(-1)[:0].astype(dtype).reshape((0,) * ndim)


def _counts(graph: TaskGraph, labels: Array, counts: OfChunks, batch: int) -> Array:
    name, tasks = graph.names["num"], {}
    for block, of_items in counts.items():
        shape = tuple(lengths[k] for lengths, k in zip(labels.chunks, block, strict=False))
        tasks[name, *block] = Task((name, *block), np.reshape, of_items, shape)
    high = HighLevelGraph.from_collections(name, tasks, dependencies=[labels])
    meta = np.zeros((0,) * batch, np.int64)
    return Array(high, name, labels.chunks[:batch], dtype=np.int64, meta=meta)
