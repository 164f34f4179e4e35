"""An engine that makes tasks of calls: a graph for any scheduler of Dask.

A task takes half a kilobyte and some microseconds of a graph, so calls that do little are made
together: those of 2 x 2 x ... chunks, or of 4 x 4 x ... of very many, are one task, which returns
a list.

Tasks that take chunks on a GPU use a stream of their thread for each device: threads run side by
side, and the next task reuses the stream's memory. The stream waits for the default one, where the
chunk may still be made. A task ends when its stream is done.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial, reduce
from math import prod
from operator import getitem
from threading import local
from typing import Any, NamedTuple

from dask._task_spec import Task, TaskRef

from conncomp.chunked.layout import Index
from conncomp.chunked.tree import Deferred, Entry, Function
from conncomp.kernels.cuda.launcher import import_cupy

Functions = Sequence[Function]


class _Streams(local):
    def __init__(self) -> None:
        self.of_device = dict[int, Any]()


_STREAMS = _Streams()


class TaskNames(dict[str, str]):
    """The full names of tasks in a graph, by short ones."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __missing__(self, name: str) -> str:
        full = self[name] = f"conncomp-{name}-{self._token}"
        return full


class _Joined(NamedTuple):
    """Calls that one task makes, of which some may still be to come."""

    task: TaskRef
    size: int  # how many calls there will be
    calls: list[tuple[Index, ...]]  # for each, where its arguments are among the `given`, as paths
    given: dict[int, tuple[int, Any]]  # places and values of distinct arguments, by their identity


class TaskGraph:
    """An engine that makes tasks of calls, but none for chunks of values, on a GPU or not.

    Calls of `joined` functions are made together for `side` of the `counts` chunks along each axis.
    """

    def __init__(
        self, token: str, on_gpu: bool, joined: Functions = (), counts: Index = (), side: int = 2
    ) -> None:
        self.names, self.tasks, self._on_gpu = TaskNames(token), dict[Hashable, Task](), on_gpu
        self._joined, self._counts, self._side = joined, counts, side
        self._waiting, self._known = dict[Hashable, _Joined](), dict[Any, Any]()

    def call(self, name: str, index: Index, function: Function, *arguments: Any) -> Deferred:
        """Add a task, or a call to one; return what stands for its result."""
        task = None if function in self._joined else TaskRef((self.names[name], *index))
        if self._on_gpu:
            refs = [each.key for each in arguments if isinstance(each, TaskRef)]
            if not self.tasks.keys() >= set(refs):
                function = partial(on_stream, function)
        if task is not None and Entry not in map(type, arguments):
            self.tasks[task.key] = Task(task.key, function, *arguments)
            return task
        joined = self._joined_at(name, index) if task is None else _Joined(task, 1, [], {})
        places = []
        for each in arguments:
            path: Index = ()
            while type(each) is Entry:
                each, path = each.of_all, (each.place, *path)
            # An argument that several calls have is one object, given once.
            place, _ = joined.given.setdefault(id(each), (len(joined.given), each))
            places.append((place, *path))
        joined.calls.append(tuple(places))
        if len(joined.calls) == joined.size:
            calls: Any = tuple(joined.calls) if task is None else joined.calls[0]
            calls = self._known.setdefault(calls, calls)  # the same of most tasks, kept once
            given, key = (each for _, each in joined.given.values()), joined.task.key
            caller = call_each if task is None else call_at
            self.tasks[key] = Task(key, caller, function, calls, *given)
            self._waiting.pop(key, None)
        return Entry(joined.task, len(joined.calls) - 1) if task is None else task

    def _joined_at(self, name: str, index: Index) -> _Joined:
        side = self._side
        group = tuple(k // side for k in index)
        key = (self.names[f"{name}-joined"], *group)
        if key not in self._waiting:
            counts = zip(self._counts, group, strict=True)
            whole = prod(min(side, count - side * k) for count, k in counts)
            self._waiting[key] = _Joined(TaskRef(key), whole, [], {})
        return self._waiting[key]


def call_at(function: Function, places: tuple[Index, ...], *given: Any) -> Any:
    """Call a function with arguments found by their places: given values, or entries of them."""
    return function(*(reduce(getitem, place, given) for place in places))


def call_each(function: Function, calls: tuple[tuple[Index, ...], ...], *given: Any) -> list[Any]:
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
        told = f"a chunk and its labels do not fit into the GPU's memory ({error})"
        raise MemoryError(f"{told}; make chunks smaller, or let fewer tasks run at once") from None
    return result
