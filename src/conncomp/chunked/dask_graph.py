"""An engine that makes tasks of calls: a graph for any scheduler of Dask.

A task takes half a kilobyte and some microseconds of a graph, whatever it does, so calls that do
little are made together: those of 2 x 2 x ... chunks, or of 4 x 4 x ... of very many, are one
task, which returns a list.

Tasks that take chunks on a GPU use a stream of their thread for each device: threads run side by
side, and the next task reuses memory that CuPy keeps for the stream. The stream waits for the
default one, where the chunk may still be made. A task ends when its stream is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from math import prod
from operator import getitem
from threading import local
from typing import Any

from dask._task_spec import Task, TaskRef

from conncomp.chunked.layout import Index
from conncomp.chunked.tree import Entry
from conncomp.kernels.cuda.launcher import import_cupy

Function = Callable[..., Any]


class _Streams(local):
    def __init__(self) -> None:
        self.of_device = dict[int, Any]()


_STREAMS = _Streams()


class Names(dict[str, str]):
    """What tasks are called in a graph."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __missing__(self, name: str) -> str:
        full = self[name] = f"conncomp-{name}-{self._token}"
        return full


class TaskGraph:
    """An engine that makes tasks of calls, by keys that have a token.

    Calls of functions that are joined are made together for so many chunks along each axis, a
    side. Chunks, on a GPU or not, are what the graph has no task for.
    """

    def __init__(
        self,
        token: str,
        on_gpu: bool,
        joined: Sequence[Any] = (),
        counts: Index = (),
        side: int = 2,
    ) -> None:
        self.names, self.tasks, self._on_gpu = Names(token), dict[Any, Task](), on_gpu
        self._joined, self._counts, self._side = joined, counts, side
        self._waiting, self._known = dict[Any, Any](), dict[Any, Any]()

    def call(self, name: str, index: Index, function: Function, *arguments: Any) -> Any:
        """Add a task, or a call to one; return what stands for its result."""
        task = None if function in self._joined else TaskRef((self.names[name], *index))
        if self._on_gpu:
            refs = [each.key for each in arguments if isinstance(each, TaskRef)]
            if not self.tasks.keys() >= set(refs):
                function = partial(on_stream, function)
        if task is not None and Entry not in map(type, arguments):
            self.tasks[task.key] = Task(task.key, function, *arguments)
            return task
        alone: Any = None if task is None else (task, 1, [], {})
        group, whole, calls, given = alone or self._group(name, index)
        places = []
        for each in arguments:
            path: Index = ()
            while type(each) is Entry:
                each, path = each.of_all, (each.place, *path)
            # What several calls have is one object, given once.
            places.append((given.setdefault(id(each), (len(given), each))[0], *path))
        calls.append(tuple(places))
        if len(calls) == whole:
            made = tuple(calls) if task is None else calls[0]
            made = self._known.setdefault(made, made)  # the same of most tasks, kept once
            wholes = (each for _, each in given.values())
            caller = call_each if task is None else call_at
            self.tasks[group.key] = Task(group.key, caller, function, made, *wholes)
            self._waiting.pop(group.key, None)
        return Entry(group, len(calls) - 1) if task is None else task

    def _group(self, name: str, index: Index) -> Any:
        """Return the task of calls that are made together, how many, and these so far."""
        side = self._side
        group = tuple(k // side for k in index)
        key = (self.names[f"{name}-joined"], *group)
        if key not in self._waiting:
            counts = zip(self._counts, group, strict=True)
            whole = prod(min(side, count - side * k) for count, k in counts)
            self._waiting[key] = TaskRef(key), whole, [], {}
        return self._waiting[key]


def call_at(function: Function, places: tuple[Index, ...], *given: Any) -> Any:
    """Call a function with arguments found by their places: given values, or entries of them."""
    return function(*(reduce(getitem, place, given) for place in places))


def call_each(function: Function, calls: Any, *given: Any) -> list[Any]:
    """Call a function several times, each as `call_at`."""
    return [function(*(reduce(getitem, place, given) for place in places)) for places in calls]


def on_stream(function: Function, *arguments: Any) -> Any:
    """Call a function on the thread's stream, and wait; lack of memory raises MemoryError."""
    cupy, streams = import_cupy(), _STREAMS.of_device
    device = cupy.cuda.runtime.getDevice()
    if device not in streams:
        streams[device] = cupy.cuda.Stream()
    try:
        with streams[device]:
            result = function(*arguments)
        streams[device].synchronize()
    except cupy.cuda.memory.OutOfMemoryError as error:
        raise MemoryError(
            f"a chunk and its labels do not fit into the GPU's memory ({error}); make chunks "
            "smaller, or let fewer tasks run at once"
        ) from None
    return result
