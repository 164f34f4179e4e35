"""Device memory that drivers take and callers keep."""

from __future__ import annotations

from threading import RLock
from typing import Any, NoReturn

import numpy as np

Parts = tuple[tuple[int, Any], ...]


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
        self._memory: dict[int, Any] = {}  # by stream
        self._views: dict[tuple[int, Parts], tuple[Any, ...]] = {}
        self._structs: dict[tuple[int, Parts], tuple[Any, Any]] = {}  # and the views they point to
        self._turn = RLock()

    def __enter__(self) -> Workspace:
        """Wait until no other thread launches kernels that use the workspace."""
        self._turn.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        """Let the next thread launch."""
        self._turn.release()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied: two with one memory would give it to two calls at once."""
        raise TypeError(
            "a Workspace cannot be copied or pickled; make another one, conncomp.Workspace()"
        )

    @property
    def nbytes(self) -> int:
        """The memory held, in bytes."""
        return sum(int(memory.nbytes) for memory in self._memory.values())

    def take_struct(
        self,
        gpu: Any,
        kind: np.dtype[Any],
        names: tuple[str, ...],
        constants: dict[str, int],
        *parts: tuple[int, Any],
    ) -> tuple[tuple[Any, ...], Any]:
        """Return what `take` does, and a struct of pointers to its first parts.

        Parameters
        ----------
        gpu : Gpu
        kind : dtype
            Of the struct. Pointers that have no part are null.
        names : tuple of str
            The fields that point to the first of the `parts`, in their order.
        constants : dict
            The values of further fields.
        *parts
            As for `take`.
        """
        views = self.take(gpu, *parts)
        key = gpu.current_stream(), parts
        if self._structs.get(key, (None, None))[0] is not views:
            struct = np.zeros((), kind)
            for name, view in zip(names, views, strict=False):
                struct[name] = gpu.address(view)
            for name, value in constants.items():
                struct[name] = value
            self._structs[key] = views, struct[()]
        return views, self._structs[key][1]

    def take(self, gpu: Any, *parts: tuple[int, Any]) -> tuple[Any, ...]:
        """Return an uninitialised array for each (count, dtype) of `parts`."""
        stream = gpu.current_stream()
        if (stream, parts) not in self._views:
            sizes = [-(-count * dtype.itemsize // 256) * 256 for count, dtype in parts]
            if stream not in self._memory or sum(sizes) > self._memory[stream].nbytes:
                self._memory.pop(stream, None)  # freed before more is asked for
                for kept in (self._views, self._structs):
                    for key in [key for key in kept if key[0] == stream]:
                        del kept[key]
                self._memory[stream] = gpu.xp.empty(sum(sizes), "u1")
            views, start = [], 0
            for (count, dtype), size in zip(parts, sizes, strict=True):
                memory = self._memory[stream]
                views.append(memory[start : start + count * dtype.itemsize].view(dtype))
                start += size
            self._views[stream, parts] = tuple(views)
        return self._views[stream, parts]
