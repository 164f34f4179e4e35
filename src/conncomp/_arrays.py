"""The one place that asks which array library and which device an argument comes from."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

INT32_MAX = np.iinfo(np.int32).max


def as_numpy(array: ArrayLike, name: str, device: str | None = None) -> NDArray[Any]:
    """Return `array` as a NumPy array, without a copy where it is one; refuse GPU work.

    Parameters
    ----------
    array : array_like
        What the user passed.
    name : str
        The argument's name, for the error.
    device : {None, "cpu"}, optional
        Where the user wants the work done.
    """
    if device not in (None, "cpu"):
        known = device == "cuda"
        reason = "this version has no GPU kernels" if known else "unknown device"
        raise (NotImplementedError if known else ValueError)(
            f"device={device!r}: {reason}; use device=None or device='cpu'"
        )
    if not isinstance(array, np.ndarray) and (
        hasattr(array, "__cuda_array_interface__") or _on_gpu(array)
    ):
        raise TypeError(
            f"{name} lies in GPU memory ({type(array).__module__}.{type(array).__qualname__}), and "
            "this version has no GPU kernels; copy it to a NumPy array first"
        )
    return np.asarray(array)


def _on_gpu(array: object) -> bool:
    """Whether DLPack places `array` on a device other than the CPU."""
    where = getattr(array, "__dlpack_device__", None)
    return where is not None and where()[0] != 1


def native_layout(array: NDArray[Any]) -> NDArray[Any]:
    """Return `array` aligned and in native byte order, as the kernels read it."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return np.require(array, requirements="A")


def output_array(
    shape: tuple[int, ...],
    largest: int,
    dtype: DTypeLike | None,
    out: NDArray[Any] | None,
    inputs: tuple[NDArray[Any], ...],
) -> NDArray[Any]:
    """Return `out`, checked, or a new array of `shape` for labels up to `largest`.

    Labels are int32 where every index fits and int64 beyond; `dtype` forces either.
    """
    wanted = None if dtype is None else np.dtype(dtype)
    if out is not None:
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
        if out.shape != shape:
            raise ValueError(f"out has shape {out.shape}; the labels have shape {shape}")
        if wanted is not None and wanted != out.dtype:
            raise ValueError(f"out is of dtype {out.dtype}, but dtype={wanted} was asked for")
        wanted = out.dtype
        if not (out.flags.c_contiguous and out.flags.writeable and out.flags.aligned):
            raise ValueError(
                "out must be writeable, aligned and C-contiguous; "
                f"its strides are {out.strides} and writeable is {out.flags.writeable}"
            )
        if any(np.may_share_memory(out, array) for array in inputs):
            raise ValueError("out shares memory with the input, which is never changed; copy one")
    if wanted is None:
        wanted = np.dtype(np.int32 if largest <= INT32_MAX else np.int64)
    if wanted not in (np.dtype(np.int32), np.dtype(np.int64)):
        name = "out" if out is not None else "dtype"
        raise (ValueError if wanted.kind in "iu" else TypeError)(
            f"{name} is {wanted}; labels are int32 or int64"
        )
    if largest > np.iinfo(wanted).max:
        raise ValueError(f"{wanted} is too small for labels up to {largest}; use int64")
    return np.empty(shape, wanted) if out is None else out


def as_integer(name: str, value: Any) -> int:
    """Return `value` as an int; a TypeError names the argument."""
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r} must be an integer") from None


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise unless `value` is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}")
