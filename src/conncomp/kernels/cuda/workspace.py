"""Device memory that drivers take and callers keep, and the launches recorded with it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from threading import RLock, local
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from conncomp.kernels.cuda.launcher import PER_THREAD, Field, Gpu, Recording, recorded_launches
from conncomp.kernels.cuda.structs import Struct

Part = tuple[int, Any]  # how many elements, and their dtype
Parts = tuple[Part, ...]
Fields = Mapping[str, Part | int | None]  # of a struct: what is pointed to, null, or a number
Place = tuple[Any, int]  # memory as bytes, and where in it

_NOTHING: Mapping[str, Part] = MappingProxyType({})


class _Thread(local):
    """A thread, by a number that no other one of the process has had."""

    def __init__(self) -> None:
        self.number = next(_threads)


_threads = itertools.count()
_thread = _Thread()


def stream_key(stream: int) -> Hashable:
    """Return what tells a stream apart, be it one of many with one handle."""
    return ("thread", _thread.number) if stream == PER_THREAD else stream


def record(
    gpu: Gpu, launches: Any, variable: tuple[Any, ...], needed: Any = (), tells: bool = False
) -> Recording:
    """Call `launches`, and return the recording of what it launched.

    It launches the same each time, but for what is `variable`: see `Gpu.recording_of`. Replays need
    the arrays of this call, and what is `needed`, at their places. If it `tells`, their `answer` is
    the number that `launches` returned.
    """
    with recorded_launches() as made:
        returned = launches()
    recording = gpu.recording_of(made, variable, returned if tells else None)
    return recording._replace(memory=(recording.memory, needed), returned=returned)


class Ahead:
    """Arrays that the last call asked for, allocated for the next one while the GPU is at work."""

    def __init__(self, new: Callable[[Any, Any], Any]) -> None:
        self._new = new  # by shape and dtype
        self._asked: list[tuple[Any, Any]] = []
        self._arrays: dict[tuple[Any, Any], list[Any]] = {}

    def take(self, shape: Any, dtype: Any) -> Any:
        """Return an array that is yet to be written."""
        kind = shape, dtype
        self._asked.append(kind)
        try:  # in one step, as a signal's handler may take arrays between two
            array = self._arrays[kind].pop()
        except LookupError:
            array = None
        return self._new(shape, dtype) if array is None else array

    def allocate(self) -> None:
        """Allocate what was asked for since the last time."""
        asked, self._asked, self._arrays = self._asked, [], {}
        try:
            for kind in asked:
                self._arrays.setdefault(kind, []).append(self._new(*kind))
        except (MemoryError, RuntimeError):  # the next call may need less
            self.forget()

    def forget(self) -> None:
        """Give back what nobody has taken."""
        self._arrays = {}


class Recordings(dict[Hashable, Recording]):
    """Recorded launches on a stream by the kind of a call, and arrays that calls ask for.

    They are owned by the owner of the memory that they use.
    """

    def __init__(self, gpu: Gpu, stream: int) -> None:
        self._gpu, self._stream = gpu, stream
        self.ahead = Ahead(gpu.xp.ndarray)

    def launch(
        self, kind: Hashable, variable: tuple[Any, ...], launches: Any, needed: Any = ()
    ) -> Recording:
        """Call `launches`, or replay what it launched in the first call of a kind: see `record`."""
        known = self.get(kind)
        if known is None:
            known = self[kind] = record(self._gpu, launches, variable, needed)
            return known
        address = self._gpu.address
        values = [
            0 if given is None else given.value if type(given) is Field else address(given)
            for given in variable
        ]
        known.run(self._stream, tuple(values))
        return known


def _current_stream(gpu: Any) -> Hashable:
    """Return what tells the current stream apart, be it one of many with one handle.

    Each GPU has default streams, with the same handles on all of them.
    """
    return gpu.device, stream_key(gpu.current_stream())


class Workspace:
    """Device memory that calls reuse instead of allocating their own.

    Give the same workspace to calls one after another on one stream. It grows when a call needs
    more, which is an allocation: to capture calls in a CUDA graph, make one before on the same
    stream, and keep the workspace as long as the graph. Calls on several streams get memory of
    their own for each; calls of several threads take turns.

    Examples
    --------
    >>> import conncomp
    >>> workspace = conncomp.Workspace()
    >>> workspace.nbytes
    0
    """

    # What calls keep that were made with this memory, by kind: forgotten when it lies elsewhere.
    calls: dict[Hashable, Any]
    # Labels that the last of them has allocated for the next call.
    ahead: Ahead | None
    # The thread that replays launches: calls of a signal's handler there make others.
    caller: int | None

    def __init__(self) -> None:
        self.calls, self.ahead, self.caller = {}, None, None
        self._memory: dict[Hashable, Any] = {}  # by stream
        self._views: dict[tuple[Hashable, Parts], tuple[Any, ...]] = {}
        self._structs: dict[tuple[Any, ...], PlacedStruct] = {}  # by stream, kind and parts
        self.turn = RLock()  # as entering the workspace, in less time

    def __enter__(self) -> Workspace:
        """Wait until no other thread launches kernels that use the workspace."""
        self.turn.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        """Let the next thread launch."""
        self.turn.release()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied: two with one memory would give it to two calls at once."""
        raise TypeError(
            "a Workspace cannot be copied or pickled; make another one, conncomp.Workspace()"
        )

    @property
    def nbytes(self) -> int:
        """The memory held, in bytes."""
        return sum(int(memory.nbytes) for memory in self._memory.values())

    def take(self, gpu: Any, *parts: Part) -> tuple[Any, ...]:
        """Return an uninitialised array for each (count, dtype) of `parts`."""
        stream = _current_stream(gpu)
        views = self._views.get((stream, parts))
        if views is None:
            places = self._lay_out(gpu, stream, parts)
            views = self._views[stream, parts] = tuple(map(_view, places, parts))
        return views

    def take_struct(
        self, gpu: Any, kind: Struct, fields: Fields, beside: Mapping[str, Part] = _NOTHING
    ) -> PlacedStruct:
        """Return a struct of pointers to uninitialised memory, and further parts `beside`, by name.

        A struct that was asked for before costs a look-up; a new one no more than its bytes, as no
        array is made of a part before somebody asks for it.
        """
        key = _current_stream(gpu), kind, *fields.items(), *beside.items()
        placed = self._structs.get(key)
        if placed is None:
            placed = self._structs[key] = self._place(gpu, key[0], kind, fields, beside)
        return placed

    def _place(
        self, gpu: Any, stream: Hashable, kind: Struct, fields: Fields, beside: Mapping[str, Part]
    ) -> PlacedStruct:
        pointed = {name: value for name, value in fields.items() if isinstance(value, tuple)}
        parts = {**pointed, **beside}
        if len(parts) != len(pointed) + len(beside):
            raise TypeError(f"both in {kind.name} and beside it: {set(pointed) & set(beside)}")
        places = dict(zip(parts, self._lay_out(gpu, stream, tuple(parts.values())), strict=True))
        values: dict[str, Any] = {name: value or 0 for name, value in fields.items()}
        for name in pointed:
            memory, start = places[name]
            values[name] = gpu.address(memory) + start
        return PlacedStruct(kind.pack(values), parts, places)

    def _lay_out(self, gpu: Any, stream: Hashable, parts: Parts) -> list[Place]:
        """Return where each part lies; what was taken before lies there, too."""
        places, end = [], 0
        for count, dtype in parts:
            places.append(end)
            end += -(-count * dtype.itemsize // 256) * 256
        memory = self._memory.get(stream)
        if memory is None or end > memory.nbytes:
            del memory
            self.calls.clear()
            self._memory.pop(stream, None)  # freed before more is asked for
            for kept in (self._views, self._structs):
                for key in [key for key in kept if key[0] == stream]:
                    del kept[key]
            memory = self._memory[stream] = gpu.xp.empty(end, "u1")
        return [(memory, start) for start in places]


class OwnWorkspaces:
    """The workspaces of calls without one, by device.

    Calls on the default stream of a thread have those of the thread, which are freed when it ends.
    """

    def __init__(self) -> None:
        self._shared: dict[Any, Workspace] = {}
        self._of_thread = local()

    def held(self, stream: int) -> dict[Any, Workspace]:
        """Return those that there are for calls on a stream."""
        return self._of_thread.__dict__ if stream == PER_THREAD else self._shared

    def take(self, device: int, stream: int) -> Workspace:
        """Return that of calls on a device and a stream, which may be a new one."""
        return self.held(stream).setdefault(device, Workspace())

    def clear(self) -> None:
        """Give back the memory of all but those of other threads."""
        self._shared.clear()
        self._of_thread.__dict__.clear()


@dataclass(slots=True, eq=False)
class PlacedStruct:
    """A struct for launches, of pointers to parts of a workspace.

    ``placed[name]`` is the array of a part, be it one that the struct points to or one beside.
    """

    struct: np.void
    _parts: Mapping[str, Part]
    _places: Mapping[str, Place]
    _views: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        """Return the array of a part."""
        view = self._views.get(name)
        if view is None:
            view = self._views[name] = _view(self._places[name], self._parts[name])
        return view


def _view(place: Place, part: Part) -> Any:
    (memory, start), (count, dtype) = place, part
    return memory[start : start + count * dtype.itemsize].view(dtype)
