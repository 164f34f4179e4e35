"""Recorded launches: the first call with a key records them, and later calls replay them.

A replay launches the same kernels with other arrays, as one CUDA graph. A recording belongs to its
stream, and to the memory that its launches use, whose owner keeps the `Recordings`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from threading import local
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.launcher import (
    PER_THREAD,
    DType,
    Gpu,
    Launch,
    Templates,
    recorded_launches,
)

TELLING = Templates("cuda/core/launch.cuh", "tell_number")


class _Thread(local):
    """A thread's number, which no other thread has or had."""

    def __init__(self) -> None:
        self.number = next(_threads)


_threads = itertools.count()
_thread = _Thread()


def stream_key(stream: int) -> Hashable:
    """Return a key of a stream: each thread's default stream has the handle `PER_THREAD`."""
    return ("thread", _thread.number) if stream == PER_THREAD else stream


class Field(NamedTuple):
    """A number that replays change: the field of this name and value in a launch's structs."""

    name: str
    value: int


# Values that differ from call to call: arrays, None in the place of one, and `Field`s.
Variables = tuple[Any, ...]
Launches = Callable[[], Any]  # launches kernels, and may return what they fill


class Recording(NamedTuple):
    """Recorded launches on a stream, which ``run(values)`` replays.

    `answer`, `read` and `read_all` wait for them; ``copy(target, source, count)`` follows them.
    """

    run: Callable[[tuple[int, ...]], None]
    answer: Callable[[], int]  # the number that they write to the host
    copy: Callable[[int, int, int], None]  # of bytes on the GPU
    read: Callable[[int], int]  # an int64 at an address
    read_all: Callable[[int, int], list[int]]  # several
    memory: tuple[Any, ...]  # the arrays that they need
    returned: Any  # by the first call of the launches


def record(
    gpu: Gpu, launches: Launches, variable: Variables = (), needed: Any = (), tells: bool = False
) -> Recording:
    """Call `launches()` on the current stream, and return the recording of its launches.

    Kernels begin by ``follow_launch()`` of ``core/launch.cuh``. A replay replaces each `variable`:
    the address of an array, an argument or a pointer in a struct, or the number of a `Field`; None
    and empty arrays have no place. The recording keeps the other arrays, and those `needed`. If it
    `tells`, its `answer` is the int64 on the GPU that `launches` returned.
    """
    with recorded_launches() as made:
        returned = launches()
    recorder, memory = gpu.recorder(), [needed]
    if tells:
        answer = gpu.new_answer()
        made = [*made, Launch(TELLING.one(gpu), (1, 1), (returned, answer), 0)]
        recorder.tell(gpu.address(answer))
    for each in made:
        places = [list(_places_in(gpu, argument, variable)) for argument in each.arguments]
        gpu.add_to(recorder, each, places)
        pairs = zip(each.arguments, places, strict=True)
        memory += [argument for argument, found in pairs if _is_array(argument) and not found]
    stream, names = gpu.current_stream(), ("run", "answer", "copy", "read", "read_all")
    calls = {name: partial(getattr(recorder, name), stream) for name in names}
    return Recording(**calls, memory=tuple(memory), returned=returned)


def _places_in(gpu: Gpu, argument: Any, variable: Variables) -> Iterator[tuple[int, int, int]]:
    """Yield offset and size, in bytes, of variable values in an argument, and their numbers."""
    for number, value in enumerate(variable):
        is_array = _is_array(value)
        if is_array and value.size == 0:
            continue
        if isinstance(argument, np.void):
            for name, (dtype, offset, *_) in (argument.dtype.fields or {}).items():
                if isinstance(value, Field):
                    matches = value == (name, argument[name])
                else:
                    address = gpu.address(value) if is_array else None
                    matches = dtype == np.uintp and argument[name] == address
                if matches:
                    yield offset, dtype.itemsize, number
        elif is_array and _is_array(argument) and gpu.address(argument) == gpu.address(value):
            yield 0, np.dtype(np.uintp).itemsize, number


def _is_array(argument: Any) -> bool:
    return hasattr(argument, "strides") and not isinstance(argument, np.generic)


class Ahead:
    """Arrays for the next call, like those of the last, allocated while the GPU works."""

    def __init__(self, new: Callable[[Any, Any], Any]) -> None:
        self._new = new  # by shape and dtype
        self._asked: list[tuple[Any, DType]] = []
        self._arrays: dict[tuple[Any, DType], list[Any]] = {}

    def take(self, shape: Any, dtype: DType) -> Any:
        """Return an uninitialised array."""
        asked = shape, dtype
        self._asked.append(asked)
        try:  # in one step, as a signal's handler may take arrays between two
            array = self._arrays[asked].pop()
        except LookupError:
            array = None
        return self._new(shape, dtype) if array is None else array

    def allocate(self) -> None:
        """Allocate an array for each that was taken since the last time."""
        asked, self._asked, self._arrays = self._asked, [], {}
        try:
            for each in asked:
                self._arrays.setdefault(each, []).append(self._new(*each))
        except (MemoryError, RuntimeError):  # the next call may need less
            self.forget()

    def forget(self) -> None:
        """Free the arrays that no call has taken."""
        self._arrays = {}


class Recordings(dict[Hashable, Any]):
    """Recorded launches by the key of a call; `ahead` has arrays for the next call."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu, self.ahead = gpu, Ahead(gpu.xp.ndarray)

    def launch(
        self, call_key: Hashable, variable: Variables, launches: Launches, needed: Any = ()
    ) -> Recording:
        """Replay the launches of a key, or call `launches()` in its first call: see `record`."""
        known: Recording | None = self.get(call_key)
        if known is None:
            known = self[call_key] = record(self._gpu, launches, variable, needed)
            return known
        address = self._gpu.address
        values = [
            0 if given is None else given.value if type(given) is Field else address(given)
            for given in variable
        ]
        known.run(tuple(values))
        return known
