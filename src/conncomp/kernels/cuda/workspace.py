"""Device memory that drivers take and callers keep."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from threading import RLock, local
from types import MappingProxyType
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np

from conncomp.kernels.cuda.launcher import PER_THREAD, DeviceArray, DType, Gpu
from conncomp.kernels.cuda.recordings import Ahead, Recordings, stream_key
from conncomp.kernels.cuda.structs import Struct

Part = tuple[int, DType]  # how many elements, and their dtype
Parts = tuple[Part, ...]
Fields = Mapping[str, Part | int | None]  # of a struct: a part to point to, null, or a number
Place = tuple[DeviceArray, int]  # an array of bytes (uint8), and an offset in it

_NOTHING: Mapping[str, Part] = MappingProxyType({})


def _current_stream(gpu: Gpu) -> Hashable:
    """Return a key of the current stream, with the GPU: default streams of all have one handle."""
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

    def __init__(self) -> None:
        # What calls with this memory keep for later ones, by key, and by graph and key; cleared
        # when the memory moves.
        self.calls: dict[Hashable, Any] = {}
        self.of_graphs: WeakKeyDictionary[Any, Recordings] = WeakKeyDictionary()
        # Labels that the last replay has allocated for the next call.
        self.ahead: Ahead | None = None
        # The thread that replays launches: a signal's handler in it must not replay, too.
        self.caller: int | None = None
        self._memory: dict[Hashable, DeviceArray] = {}  # by stream
        self._views: dict[tuple[Hashable, Parts], tuple[DeviceArray, ...]] = {}
        self._structs: dict[tuple[Any, ...], PlacedStruct] = {}  # by stream, struct and parts
        self.turn = RLock()  # to take it is to enter the workspace, in less time

    def __enter__(self) -> Workspace:
        """Wait until no other thread launches kernels that use the workspace."""
        self.turn.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        """Let the next thread launch."""
        self.turn.release()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied: a copy would give the same memory to another call."""
        raise TypeError(
            "a Workspace cannot be copied or pickled; make another one, conncomp.Workspace()"
        )

    @property
    def nbytes(self) -> int:
        """The memory held, in bytes."""
        return sum(int(memory.nbytes) for memory in self._memory.values())

    def take(self, gpu: Gpu, *parts: Part) -> tuple[DeviceArray, ...]:
        """Return an uninitialised array, shape (count,), for each (count, dtype) of `parts`."""
        stream = _current_stream(gpu)
        views = self._views.get((stream, parts))
        if views is None:
            places = self._lay_out(gpu, stream, parts)
            views = self._views[stream, parts] = tuple(map(_view, places, parts))
        return views

    def take_struct(
        self, gpu: Gpu, kind: Struct, fields: Fields, beside: Mapping[str, Part] = _NOTHING
    ) -> PlacedStruct:
        """Return a struct of pointers to uninitialised memory, and further parts `beside`, by name.

        A struct that was taken before costs a look-up.
        """
        key = _current_stream(gpu), kind, *fields.items(), *beside.items()
        if (placed := self._structs.get(key)) is not None:
            return placed
        pointed = {name: value for name, value in fields.items() if isinstance(value, tuple)}
        parts = {**pointed, **beside}
        if len(parts) != len(pointed) + len(beside):
            raise TypeError(f"both in {kind.name} and beside it: {set(pointed) & set(beside)}")
        places = dict(zip(parts, self._lay_out(gpu, key[0], tuple(parts.values())), strict=True))
        values: dict[str, Any] = {name: value or 0 for name, value in fields.items()}
        for name in pointed:
            memory, start = places[name]
            values[name] = gpu.address(memory) + start
        placed = self._structs[key] = PlacedStruct(kind.pack(values), parts, places)
        return placed

    def _lay_out(self, gpu: Gpu, stream: Hashable, parts: Parts) -> list[Place]:
        """Return the place of each part, from the beginning of the memory, as for every call."""
        places, end = [], 0
        for count, dtype in parts:
            places.append(end)
            end += -(-count * dtype.itemsize // 256) * 256
        memory = self._memory.get(stream)
        if memory is None or end > memory.nbytes:
            del memory
            for calls in (self.calls, *self.of_graphs.values()):
                calls.clear()
            self._memory.pop(stream, None)  # freed before more is allocated
            for kept in (self._views, self._structs):
                for key in [key for key in kept if key[0] == stream]:
                    del kept[key]
            memory = self._memory[stream] = gpu.xp.empty(end, "u1")
        return [(memory, start) for start in places]


class OwnWorkspaces:
    """The workspaces, by device, of calls that are given none.

    The default stream of a thread has workspaces of its own, freed when the thread ends.
    """

    def __init__(self) -> None:
        self._shared: dict[Any, Workspace] = {}
        self._of_thread = local()

    def held(self, stream: int) -> dict[Any, Workspace]:
        """Return the workspaces, by device, for calls on a stream."""
        return self._of_thread.__dict__ if stream == PER_THREAD else self._shared

    def take(self, device: int, stream: int) -> Workspace:
        """Return the workspace for calls on a device and a stream, a new one if there is none."""
        return self.held(stream).setdefault(device, Workspace())

    def clear(self) -> None:
        """Free the workspaces, except those of other threads."""
        self._shared.clear()
        self._of_thread.__dict__.clear()


@dataclass(slots=True, eq=False)
class PlacedStruct:
    """A struct of pointers to parts of a workspace; ``placed[name]`` is a part, in or beside it."""

    struct: np.void
    _parts: Mapping[str, Part]
    _places: Mapping[str, Place]
    _views: dict[str, DeviceArray] = field(default_factory=dict)

    def __getitem__(self, name: str) -> DeviceArray:
        """Return the array of a part."""
        view = self._views.get(name)
        if view is None:
            view = self._views[name] = _view(self._places[name], self._parts[name])
        return view


def _view(place: Place, part: Part) -> DeviceArray:
    (memory, start), (count, dtype) = place, part
    view: DeviceArray = memory[start : start + count * dtype.itemsize].view(dtype)
    return view
