"""Arrays between main memory and a GPU, in strips through pinned buffers.

A GPU reads and writes main memory by itself where that is pinned: such arrays are copied as they
are. Others go through buffers that are pinned, strip by strip: while one strip is on its way,
threads copy the next ones. Source: Maddix 2014, "Streams".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native

STRIP = 2 << 20  # bytes of a buffer
MOST_THREADS = 16  # more do not copy faster
FEW_BYTES = 32 << 20  # as many are sooner moved by one copy than threads have begun
# What is copied at once between pinned memory and a GPU, before Ctrl-C is heard.
PIECE = 1 << 28

PINNED = 1  # ``cudaMemoryTypeHost``
TO_GPU, FROM_GPU = 1, 2  # ``cudaMemcpyKind``


def is_pinned(xp: Any, array: NDArray[Any]) -> bool:
    """Whether a GPU can read and write a contiguous array of main memory by itself."""
    ask, first = xp.cuda.runtime.pointerGetAttributes, array.ctypes.data
    return all(ask(at).type == PINNED for at in (first, first + array.nbytes - 1))


def upload(xp: Any, array: NDArray[Any], target: Any) -> None:
    """Copy an array of main memory to one of a GPU; both are contiguous, and of one size.

    It waits for the GPU.
    """
    host, device = array.reshape(-1).view(np.uint8), int(target.data.ptr)
    if is_pinned(xp, array):
        _copy_pinned(xp, device, array.ctypes.data, array.nbytes, TO_GPU)
        return
    if array.nbytes <= FEW_BYTES:
        target.set(array)
        return
    with _Staging(xp, array.nbytes) as staging:
        copied: deque[tuple[int, slice, Future[None]]] = deque()
        for slot, strip in staging.strips():
            staging.wait(slot)
            copied.append((slot, strip, staging.copy(staging.part(slot, strip), host[strip])))
            if len(copied) == staging.threads:
                staging.send(*copied.popleft(), device)
        while copied:
            staging.send(*copied.popleft(), device)


def download(xp: Any, array: Any, out: NDArray[Any]) -> None:
    """Copy an array of a GPU to one of main memory; both are contiguous, and of one size.

    It waits for the GPU.
    """
    host, device = out.reshape(-1).view(np.uint8), int(array.data.ptr)
    if is_pinned(xp, out):
        _copy_pinned(xp, out.ctypes.data, device, out.nbytes, FROM_GPU)
        return
    if out.nbytes <= FEW_BYTES:
        array.get(out=out)
        return
    with _Staging(xp, out.nbytes) as staging:
        sent: deque[tuple[int, slice]] = deque()
        copies: dict[int, Future[None]] = {}

        def receive() -> None:
            slot, strip = sent.popleft()
            staging.wait(slot)
            copies[slot] = staging.copy(host[strip], staging.part(slot, strip))

        for slot, strip in staging.strips():
            if slot in copies:
                copies.pop(slot).result()
            staging.fetch(slot, strip, device)
            sent.append((slot, strip))
            if len(sent) == staging.threads:
                receive()
        while sent:
            receive()
        for copy in copies.values():
            copy.result()


def _copy_pinned(xp: Any, target: int, source: int, nbytes: int, kind: int) -> None:
    stream = xp.cuda.get_current_stream()
    for start in range(0, nbytes, PIECE):
        count = min(PIECE, nbytes - start)
        xp.cuda.runtime.memcpyAsync(target + start, source + start, count, kind, stream.ptr)
        stream.synchronize()


class _Staging:
    """Pinned buffers, twice as many as threads, and what copies between them and other memory."""

    def __init__(self, xp: Any, nbytes: int) -> None:
        self._xp, self._nbytes = xp, nbytes
        count = -(-nbytes // STRIP)
        self.threads = min(native.get_num_threads(), MOST_THREADS, count)
        slots = min(2 * self.threads, count)
        self._memory = xp.cuda.alloc_pinned_memory(slots * STRIP)
        self._buffers = np.frombuffer(self._memory, np.uint8, slots * STRIP).reshape(slots, STRIP)
        self._stream = xp.cuda.get_current_stream()
        self._events: list[Any] = [None] * slots

    def __enter__(self) -> _Staging:
        self._pool = ThreadPoolExecutor(self.threads)
        return self

    def __exit__(self, *error: object) -> None:
        # A copy is made, and buffers are given back, when nobody reads or writes these any more.
        self._pool.shutdown(cancel_futures=True)
        self.wait_for_all()

    def strips(self) -> Iterator[tuple[int, slice]]:
        """Yield the slot and the bytes of each strip."""
        for number, start in enumerate(range(0, self._nbytes, STRIP)):
            yield number % len(self._events), slice(start, min(start + STRIP, self._nbytes))

    def part(self, slot: int, strip: slice) -> NDArray[np.uint8]:
        """Return what a strip takes of the buffer of a slot."""
        part: NDArray[np.uint8] = self._buffers[slot, : strip.stop - strip.start]
        return part

    def copy(self, target: NDArray[np.uint8], source: NDArray[np.uint8]) -> Future[None]:
        """Copy by a thread."""
        return self._pool.submit(np.copyto, target, source)

    def send(self, slot: int, strip: slice, copied: Future[None], device: int) -> None:
        """Let the GPU read the buffer of a slot once that is filled."""
        copied.result()
        part = self.part(slot, strip)
        self._launch(slot, device + strip.start, part.ctypes.data, part.nbytes, TO_GPU)

    def fetch(self, slot: int, strip: slice, device: int) -> None:
        """Let the GPU write to the buffer of a slot."""
        part = self.part(slot, strip)
        self._launch(slot, part.ctypes.data, device + strip.start, part.nbytes, FROM_GPU)

    def _launch(self, slot: int, target: int, source: int, count: int, kind: int) -> None:
        self._xp.cuda.runtime.memcpyAsync(target, source, count, kind, self._stream.ptr)
        event = self._xp.cuda.Event(disable_timing=True)
        event.record(self._stream)
        self._events[slot] = event

    def wait(self, slot: int) -> None:
        """Wait until the GPU is done with the buffer of a slot."""
        if self._events[slot] is not None:
            self._events[slot].synchronize()

    def wait_for_all(self) -> None:
        """Wait until the GPU is done with all buffers."""
        for slot in range(len(self._events)):
            self.wait(slot)
