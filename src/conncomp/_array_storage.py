"""New arrays of NumPy and CuPy, and copies: of another layout, and to a GPU and back."""

from __future__ import annotations

from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import INDEX_TYPES
from conncomp._core import native
from conncomp._memory import check_memory
from conncomp.kernels.cuda.core.strips import download, upload
from conncomp.kernels.cuda.launcher import import_cupy

FEW_BYTES = 1 << 20  # as many are moved to or from a GPU by one copy, pinned or not
PIECE_HERE = 1 << 24  # bytes that are converted at once in main memory


def native_layout(array: NDArray[Any]) -> NDArray[Any]:
    """Return `array` aligned and in native byte order, as the kernels read it."""
    usable = array.dtype.isnative and array.flags.aligned
    return array if usable else converted(array, array.dtype.newbyteorder("="))


def contiguous(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return `array` as one of `dtype`, aligned and C-contiguous; itself if it is one."""
    usable = array.dtype == dtype and array.flags.c_contiguous and array.flags.aligned
    return array if usable else converted(array, dtype)


def converted(array: NDArray[Any], dtype: Any, out: Any = None) -> Any:
    """Copy `array` to `out`, or a new C-contiguous one of `dtype`, in pieces that Ctrl-C ends."""
    if out is None:
        size = array.size * np.dtype(dtype).itemsize
        check_memory(f"a copy of an array of shape {array.shape}", size)
        out = np.empty(array.shape, dtype)
    if array.nbytes <= PIECE_HERE or array.ndim == 0:
        out[...] = array
        return out
    rows = max(1, PIECE_HERE * len(array) // array.nbytes)
    for start in range(0, len(array), rows):
        out[start : start + rows] = array[start : start + rows]
    return out


def move_to_gpu(xp: Any, array: NDArray[Any], wait: bool = True) -> Any:
    """Return a copy of `array` on the GPU, in strips that Ctrl-C ends; `xp` is CuPy.

    Without `wait` it may still be on its way, so nobody may change `array` before it has arrived.
    """
    if array.nbytes <= FEW_BYTES or not array.flags.c_contiguous:
        return xp.asarray(array)
    placed = xp.empty(array.shape, array.dtype)
    upload(xp, array, placed, wait)
    return placed


def move_from_gpu(array: Any, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Copy a contiguous array of CuPy's to `out`, which is contiguous, or to a new array."""
    if out is None:
        out = np.empty(array.shape, array.dtype)
    if array.nbytes <= FEW_BYTES:
        array.get(out=out)
    else:
        cupy = import_cupy()
        with cupy.cuda.Device(array.device.id):  # or else its kernels would not be waited for
            download(cupy, array, out)
    return out


def on_host(array: Any) -> Any:
    """Return an array of NumPy or CuPy in main memory; itself if it lies there."""
    return array if isinstance(array, np.ndarray) else move_from_gpu(array)


FEW = 1 << 15  # entries that take less time in main memory than to launch a kernel


def few_on_host(array: Any) -> Any:
    """Return an array of NumPy or CuPy in main memory if it has few rows, or else itself."""
    return on_host(array) if len(array) <= FEW else array


def host_copy(array: Any) -> Any:
    """Return a copy of an array of NumPy or CuPy in main memory."""
    return array.copy() if isinstance(array, np.ndarray) else move_from_gpu(array)


def placed(xp: Any, array: NDArray[Any]) -> Any:
    """Return an array where those of `xp` lie, NumPy or CuPy; itself if that is NumPy."""
    return array if xp is np else move_to_gpu(xp, native_layout(array))


def extremes(values: Any) -> tuple[int, int]:
    """Return the smallest and the largest of an array of integers, which is not empty."""
    usable = values.flags.c_contiguous and getattr(values.flags, "aligned", True)
    if isinstance(values, np.ndarray) and values.dtype in INDEX_TYPES and usable:
        return cast(tuple[int, int], native.extremes(values.reshape(-1)))
    return int(values.min()), int(values.max())


LARGE_BYTES = 1 << 20  # from which on freed memory is kept for the next labels


def new_array(xp: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array that is not initialised."""
    num_bytes = prod(shape) * np.dtype(dtype).itemsize
    if xp is not np or num_bytes < LARGE_BYTES:
        return xp.empty(shape, dtype)
    check_memory(f"a new array of shape {shape}", num_bytes)
    return native.empty_bytes(num_bytes).view(dtype).reshape(shape)
