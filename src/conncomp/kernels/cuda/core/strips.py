"""Arrays between main memory and a GPU, in strips through pinned buffers.

Pinned arrays are copied as they are. Threads fill the buffers of others while earlier strips are on
their way (``bindings/cuda/transfers.cpp``). Source: Maddix 2014, "Streams".
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numpy.typing import NDArray

from conncomp._core import native
from conncomp.kernels.cuda.launcher import DRIVER, PER_THREAD

STRIP = 1 << 20  # bytes of a buffer
BUFFERS = 2  # of a thread
MOST_THREADS = 16  # more do not copy faster
FEW_BYTES = 4 << 20  # as many are sooner moved by one copy of the driver
# Pinned memory is copied in such pieces, between which Ctrl-C is heard.
PIECE = 1 << 28

PINNED = 1  # ``cudaMemoryTypeHost``
TO_GPU, FROM_GPU = 1, 2  # ``cudaMemcpyKind``


def is_pinned(xp: Any, array: NDArray[Any]) -> bool:
    """Whether a GPU can read and write a contiguous array of main memory by itself."""
    ask, first = xp.cuda.runtime.pointerGetAttributes, array.ctypes.data
    return all(ask(at).type == PINNED for at in (first, first + array.nbytes - 1))


def upload(xp: Any, array: NDArray[Any], target: Any, wait: bool = True) -> None:
    """Copy a contiguous array of main memory to one of a GPU.

    Without `wait` a pinned array must not change before the GPU has been waited for.
    """
    if is_pinned(xp, array):
        _copy_pinned(xp, int(target.data.ptr), array.ctypes.data, array.nbytes, TO_GPU, wait)
    elif array.nbytes <= FEW_BYTES:
        target.set(array)
    else:
        _copy_staged(xp, array, target, TO_GPU)


def download(xp: Any, array: Any, out: NDArray[Any]) -> None:
    """Copy an array of a GPU to a contiguous one of main memory; wait for the GPU."""
    if is_pinned(xp, out):
        _copy_pinned(xp, out.ctypes.data, int(array.data.ptr), out.nbytes, FROM_GPU, wait=True)
    elif out.nbytes <= FEW_BYTES:
        array.get(out=out)
    else:
        _copy_staged(xp, out, array, FROM_GPU)


def _copy_pinned(xp: Any, target: int, source: int, nbytes: int, kind: int, wait: bool) -> None:
    stream = xp.cuda.get_current_stream()
    for start in range(0, nbytes, PIECE):
        count = min(PIECE, nbytes - start)
        xp.cuda.runtime.memcpyAsync(target + start, source + start, count, kind, stream.ptr)
        if wait or start + count < nbytes:
            stream.synchronize()


def _copy_staged(xp: Any, host: NDArray[Any], device: Any, kind: int) -> None:
    threads = min(native.get_num_threads(), MOST_THREADS, -(-host.nbytes // STRIP))
    buffers = xp.cuda.alloc_pinned_memory(threads * BUFFERS * STRIP)
    stream = xp.cuda.get_current_stream()
    if stream.ptr == PER_THREAD:
        stream.synchronize()
    run, address = _transfers(xp.cuda.runtime.getDevice()).run, int(device.data.ptr)
    to_gpu, nbytes = kind == TO_GPU, host.nbytes
    run(stream.ptr, to_gpu, host.ctypes.data, address, nbytes, buffers.ptr, STRIP, threads)


@cache
def _transfers(device: int) -> Any:
    return native.Transfers(device, DRIVER)
