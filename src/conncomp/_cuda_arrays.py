"""What a call that is made again and again asks of an array on a GPU, with the least of Python.

`_arrays` asks all that there is to ask; here are the few questions whose answers differ from one
call to the next of its kind.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from functools import cache, lru_cache
from math import prod
from typing import Any, Protocol

import numpy as np

from conncomp._arrays import library_of
from conncomp.kernels.cuda.launcher import Gpu


class CudaLibrary(Protocol):
    """A library whose arrays lie on a GPU."""

    def layout(self, array: Any, device: int) -> Hashable:
        """Return shape, strides, dtype and device; None unless it lies on that device."""

    def address(self, array: Any) -> int:
        """Return where the first element lies."""

    def stream(self, gpu: Gpu) -> int:
        """Return the current stream on the current device."""

    def empty(self, gpu: Gpu, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """Return a new C-contiguous array on the current device."""


class CuPyArrays:
    """Arrays of CuPy."""

    def layout(self, array: Any, device: int) -> Hashable:
        """Return shape, strides, dtype and device; None unless it lies on that device."""
        if array.data.device_id != device:
            return None
        return array.shape, array.strides, array.dtype, device

    def address(self, array: Any) -> int:
        """Return where the first element lies."""
        return int(array.data.ptr)

    def stream(self, gpu: Gpu) -> int:
        """Return the current stream."""
        return gpu.current_stream()

    def empty(self, gpu: Gpu, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """Return a new array."""
        return gpu.xp.ndarray(shape, dtype)  # as `empty`, in less time


class TorchArrays:
    """Tensors of PyTorch."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._devices = [torch.device("cuda", k) for k in range(torch.cuda.device_count())]
        self._dtypes = {np.dtype(name): getattr(torch, name) for name in ("int32", "int64")}
        # The handle alone, in a tenth of the time that a stream takes; compiled code asks so, too.
        self._handle = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def layout(self, array: Any, device: int) -> Hashable:
        """Return shape, strides, dtype and device; None unless it lies on that device."""
        if array.get_device() != device:  # -1 in main memory
            return None
        return array.shape, array.stride(), array.dtype, device

    def address(self, array: Any) -> int:
        """Return where the first element lies."""
        return int(array.data_ptr())

    def stream(self, gpu: Gpu) -> int:
        """Return the current stream."""
        if self._handle is not None:
            return int(self._handle(gpu.device))
        return int(self._torch.cuda.current_stream(gpu.device).cuda_stream)

    def empty(self, gpu: Gpu, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """Return a new tensor."""
        kind = self._dtypes[dtype], self._devices[gpu.device]
        # By strides that are known, it takes two thirds of the time.
        return self._torch.empty_strided(shape, _strides(shape), dtype=kind[0], device=kind[1])


@lru_cache(maxsize=1024)
def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return how far elements of a C-contiguous array lie apart, in elements."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


# By class of arrays. It is None where a library's arrays are asked by `_arrays` only.
_LIBRARIES: dict[type, CudaLibrary | None] = {}


def cuda_library_of(array: object) -> CudaLibrary | None:
    """Return what asks arrays of a library that has some on a GPU; None for other libraries."""
    kind = type(array)
    if kind in _LIBRARIES:
        return _LIBRARIES[kind]
    name = library_of(array)
    if name == "torch" and not getattr(array, "is_cuda", False):
        return None  # PyTorch need not know of a GPU; one of its next tensors may lie there
    library = _LIBRARIES[kind] = cuda_library_named(name)
    return library


@cache
def cuda_library_named(name: str) -> CudaLibrary | None:
    """Return the same of a library that arrays on a GPU are of."""
    if name == "cupy":
        return CuPyArrays()
    return TorchArrays(sys.modules["torch"]) if name == "torch" else None
