"""The labels that a call returns: of the user's dtype, in the user's `out`, or new."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from conncomp._arguments import INDEX_TYPES, INT32_MAX, check_holds, shown
from conncomp._array_storage import converted, extremes, new_array
from conncomp._arrays import as_cupy, as_numpy, check_gpu, in_library, on_gpu


class Output:
    """Where labels go: what a kernel fills, and what the user gets.

    They are one array, contiguous and of int32 or int64, but for three cases, in which `labels` are
    copied at the end: the user wants another dtype, which labels must be known to fit; or the
    kernel reads what it has written, and the user may change `out` meanwhile (`private`); or labels
    of small items are int32, and the kernel needs int64 for indices up to `largest_index`.

    Labels are from `lowest`, 0 or -1, to `largest`. `dtype` may be "smallest", or None for int32
    where every index fits; `out` must not share memory with the inputs, of `xp`.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        largest: int,
        dtype: DTypeLike | None,
        out: Any,
        inputs: tuple[Any, ...],
        lowest: int = 0,
        private: bool = False,
        xp: Any = np,
        largest_index: int = 0,
    ) -> None:
        self._xp, self._lowest, self._out = xp, lowest, out
        smallest = isinstance(dtype, str) and dtype == "smallest"
        if smallest and out is not None:
            raise ValueError("dtype='smallest' and out, which has a dtype, exclude each other")
        wanted = None if dtype is None or smallest else as_dtype(dtype)
        self._copy = None if out is None else check_output(out, shape, wanted, inputs, xp)
        if self._copy is not None:
            wanted = self._copy.dtype
        if wanted is not None:
            _check_label_type(wanted, "dtype" if out is None else "out", largest, lowest)
        by_size = INDEX_TYPES[largest > INT32_MAX]
        # None for the smallest type that the labels fit into.
        self._dtype = None if smallest else by_size if wanted is None else wanted
        filled = by_size if self._dtype not in INDEX_TYPES else self._dtype
        if largest_index > INT32_MAX:
            filled = INDEX_TYPES[1]
        in_place = self._copy is not None and not private and self._copy.dtype == filled
        self.labels: Any = self._copy if in_place else new_array(xp, shape, filled)

    def finish(self, library: str) -> Any:
        """Return the filled `labels` as the user wants them; raise if they do not fit a type."""
        dtype = self._dtype
        if dtype not in INDEX_TYPES:
            largest = max(extremes(self.labels)[1], 0) if self.labels.size else 0
            smallest = np.min_scalar_type(largest if self._lowest == 0 else -largest - 1)
            dtype = smallest if dtype is None else dtype
            check_holds(dtype, largest, self._lowest, "dtype" if self._out is None else "out")
        target = self.labels if self._copy is None else self._copy
        if target.dtype != dtype:
            target = self._xp.empty(self.labels.shape, dtype)
        if target is not self.labels and self._xp is np:
            converted(self.labels, dtype, target)
        elif target is not self.labels:
            target[...] = self.labels
        return in_library(target, library) if self._out is None else self._out


def as_label_type(dtype: DTypeLike | None, largest: int, lowest: int) -> np.dtype[Any]:
    """Return the dtype of labels from `lowest` to `largest` that no array is made for now."""
    wanted = INDEX_TYPES[largest > INT32_MAX] if dtype is None else as_dtype(dtype)
    _check_label_type(wanted, "dtype", largest, lowest)
    if lowest < 0:  # roots are indices, and which ones is known too late
        check_holds(wanted, largest - 1, lowest)
    return wanted


def as_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """Return the argument of that name, a type of labels, as one of NumPy."""
    try:
        return np.dtype(dtype)
    except Exception as error:  # of many types
        told = f"dtype={shown(dtype)} must be a dtype of integers or 'smallest'"
        raise TypeError(f"{told}: {error}") from error


def _check_label_type(wanted: np.dtype[Any], name: str, largest: int, lowest: int) -> None:
    if wanted.kind not in "iu":
        raise TypeError(f"{name} is {wanted}; labels are integers")
    if not wanted.isnative:
        raise ValueError(f"{name} is {wanted}; labels are in native byte order")
    if lowest < 0 and wanted.kind == "u":
        raise ValueError(f"{name} is {wanted}, without a -1 for the background; use a signed type")
    if wanted == np.int32 and largest > INT32_MAX:
        raise ValueError(f"{wanted} is too small for labels up to {largest}; use int64")


def check_output(
    out: Any, shape: tuple[int, ...], wanted: np.dtype[Any] | None, inputs: tuple[Any, ...], xp: Any
) -> Any:
    """Return `out` as a plain array of `xp`."""
    if xp is np:
        out = _as_shared(out)
        usable = out.flags.c_contiguous and out.flags.writeable and out.flags.aligned
    else:
        if not on_gpu(out):
            raise TypeError(f"out must lie in GPU memory, as the input does: {type(out).__name__}")
        out = as_cupy(out)
        check_gpu(out, "out")
        usable = out.flags.c_contiguous
    if out.shape != shape:
        raise ValueError(f"out has shape {out.shape}; the labels have shape {shape}")
    if wanted is not None and wanted != out.dtype:
        raise ValueError(f"out is of dtype {out.dtype}, but dtype={wanted} was asked for")
    if not usable:
        known = f"{out.strides} and writeable is {getattr(out.flags, 'writeable', True)}"
        told = "out must be writeable, aligned and C-contiguous"
        raise ValueError(f"{told}; its strides are {known}")
    if any(_may_share_memory(out, array, xp) for array in inputs):
        raise ValueError("out shares memory with the input, which is never changed; copy one")
    return out


def _as_shared(out: Any) -> NDArray[Any]:
    """Return a view of an array in main memory, of any library: writes go to the array."""
    if isinstance(out, np.ndarray) and not isinstance(out, np.ma.MaskedArray):
        return np.asarray(out).view()
    if hasattr(out, "__dlpack__") and not isinstance(out, np.ndarray) and not on_gpu(out):
        # Some libraries export copies: then a second export is other memory.
        first, second = as_numpy(out, "out"), as_numpy(out, "out")
        if first.size == 0 or np.may_share_memory(first, second):
            return first
    told = f"out must be a NumPy array, not {type(out).__name__}"
    raise TypeError(f"{told}, or one of another library that shares its memory by DLPack")


def _may_share_memory(out: Any, array: Any, xp: Any) -> bool:
    """Whether an array that is C-contiguous may share memory with another one of its library."""
    if xp is not np and array.flags.c_contiguous:
        # CuPy finds the same by all strides, which takes as long as to launch a kernel.
        start, first = out.data.ptr, array.data.ptr
        return bool(start < first + array.nbytes and first < start + out.nbytes)
    return bool(xp.may_share_memory(out, array))
