"""Tasks whose chunks lie on a GPU: each on a stream of its thread, with errors of Python.

How: a thread has a stream of its own on each device, so that tasks of several threads run side by
side, and memory that CuPy keeps for a stream is used again by the next task of the thread. What
made the chunk may still run on the default stream, for which such a stream waits. A task is over
when its stream is, as the next one may have another.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import local
from typing import Any

from conncomp.kernels.cuda.launcher import import_cupy

# What is called with chunks; all else is called with arrays in main memory.
LABELLING = ("label", "roots", "numbers", "alone")
MEASURING = ("sizes", "kept", "consecutive", "layers", "measured", "touched", "matched")
ON_GPU = frozenset(LABELLING + MEASURING)


class _Streams(local):
    def __init__(self) -> None:
        self.of_device = dict[int, Any]()


_STREAMS = _Streams()


class OnStream:
    """A function that is called on a stream of the thread, and returns when all is done there.

    A MemoryError of the GPU says what to do, and is known where CuPy is not.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        cupy = import_cupy()
        stream = self._stream(cupy)
        try:
            with stream:
                result = self.function(*arguments)
            stream.synchronize()
        except cupy.cuda.memory.OutOfMemoryError as error:
            raise MemoryError(
                f"a chunk and its labels do not fit into the GPU's memory ({error}); make chunks "
                "smaller, or let fewer tasks run at once"
            ) from None
        return result

    @staticmethod
    def _stream(cupy: Any) -> Any:
        device = cupy.cuda.runtime.getDevice()
        streams = _STREAMS.of_device
        if device not in streams:
            streams[device] = cupy.cuda.Stream()
        return streams[device]


def on_streams(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return an engine that calls what takes chunks on streams."""

    def placed(name: str, index: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        wanted = OnStream(function) if name in ON_GPU else function
        return call(name, index, wanted, *arguments)

    return placed
