"""Labels as a Dask array that is computed into one array of main memory, chunk by chunk.

Dask itself computes all chunks, and then copies them to a new array in one thread: labels lie in
memory twice, and to touch so much of it for the first time takes longer than to label the chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import dask.array
import numpy as np
from dask.base import compute_as_if_collection, get_scheduler
from dask.highlevelgraph import HighLevelGraph
from numpy.typing import NDArray

from conncomp._arrays import new_array, on_gpu
from conncomp.grid.kept_runs import Placed, write_together

# Given an array for all labels, returns a graph that writes them there, and its keys.
Writing = Callable[[NDArray[Any]], tuple[HighLevelGraph, list[Any]]]


class LabelArray(dask.array.Array):  # type: ignore[misc]
    """A Dask array of labels, by whose `writing` it is computed in memory.

    What other functions make of it is one of Dask's own.
    """

    __slots__ = ("writing",)

    def compute(self, **options: Any) -> Any:
        """Return the labels in memory; options are those of `dask.compute`."""
        writing = getattr(self, "writing", None)
        if writing is None or on_gpu(self._meta) or not _in_this_process(options):
            return super().compute(**options)
        labels = new_array(np, self.shape, self.dtype)
        options.pop("traverse", None)
        options.pop("optimize_graph", None)
        placed = compute_as_if_collection(dask.array.Array, *writing(labels), **options)
        write_together([part for part in placed if part is not None])
        return labels


def _in_this_process(options: dict[str, Any]) -> bool:
    """Whether the scheduler, by options or by settings of Dask, calls tasks in this process."""
    chosen = get_scheduler(scheduler=options.get("scheduler"), cls=dask.array.Array)
    return chosen in (dask.threaded.get, dask.local.get_sync)


def in_places(call: Callable[..., Any], places: dict[Any, NDArray[Any]]) -> Callable[..., Any]:
    """Return an engine whose labels of chunks go to places that are given."""

    def placed(name: str, index: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        if name in ("roots", "numbers", "labels"):
            function = Into(function, places[index])
        return call(name, index, function, *arguments)

    return placed


class Into:
    """A function of the last stage, which writes labels to a place, or tells how to."""

    def __init__(self, function: Callable[..., Any], place: NDArray[Any]) -> None:
        self.function, self.place = function, place

    def __call__(self, *arguments: Any) -> Placed | None:
        """Call the function."""
        made = self.function(*arguments, out=self.place)
        return made if isinstance(made, Placed) else None
