"""The one place that asks which array library and which device an argument comes from."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from operator import index
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from conncomp.kernels.launcher import INDEX_TYPES, import_cupy

INT32_MAX = np.iinfo(np.int32).max


def choose_device(device: str | None, arrays_on_gpu: bool, name: str) -> Literal["cpu", "cuda"]:
    """Return where to work: where the data lies, unless it is to be moved to the GPU.

    Parameters
    ----------
    device : {None, "cpu", "cuda"}
        What the user wants.
    arrays_on_gpu : bool
        Whether the argument called `name` lies in GPU memory.
    name : str
    """
    check_choice("device", device, (None, "cpu", "cuda"))
    if arrays_on_gpu and device == "cpu":
        raise ValueError(
            f"device='cpu', but {name} lies in GPU memory; copy it to a NumPy array first"
        )
    return "cuda" if arrays_on_gpu or device == "cuda" else "cpu"


def on_gpu(array: object) -> bool:
    """Whether `array` lies in the memory of a CUDA device, whatever its library."""
    where = getattr(array, "__dlpack_device__", None)
    if where is not None:
        return where()[0] in (_DLPACK_CUDA, _DLPACK_CUDA_MANAGED)
    return hasattr(array, "__cuda_array_interface__")


_DLPACK_CUDA, _DLPACK_CUDA_MANAGED = 2, 13


def library_of(array: object) -> str:
    """Return the name of the library that an array is of, such as ``"cupy"`` or ``"torch"``."""
    name = type(array).__module__.partition(".")[0]
    return {"jaxlib": "jax"}.get(name, name)


def as_cupy(array: Any) -> Any:
    """Return an array in GPU memory as a CuPy array, without a copy."""
    cupy = import_cupy()
    if isinstance(array, cupy.ndarray):
        return array
    if hasattr(array, "__dlpack__"):
        # PyTorch does not export what it may have to differentiate.
        return cupy.from_dlpack(array.detach() if hasattr(array, "detach") else array)
    return cupy.asarray(array)


def from_cupy(array: Any, library: str) -> Any:
    """Return a CuPy array as one of `library`, without a copy; as it is if that is not known."""
    if library == "torch":
        import torch

        return torch.from_dlpack(array)
    if library == "jax":
        import jax

        return jax.dlpack.from_dlpack(array)
    if library == "numba":
        from numba import cuda

        return cuda.as_cuda_array(array)
    return array


class _ForeignStream:
    """A stream of another library, as CuPy takes it."""

    def __init__(self, pointer: int) -> None:
        self._pointer = pointer

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._pointer


def caller_stream(library: str, device: int) -> AbstractContextManager[object]:
    """Let CuPy work on a device, and on the stream that is current in the caller's library."""
    cupy = import_cupy()
    on_device = device == cupy.cuda.runtime.getDevice()
    if on_device and library != "torch":
        return nullcontext()
    with ExitStack() as stack:
        if not on_device:
            stack.enter_context(cupy.cuda.Device(device))
        if library == "torch":
            import torch

            stream = _ForeignStream(torch.cuda.current_stream(device).cuda_stream)
            stack.enter_context(cupy.cuda.Stream.from_external(stream))
        return stack.pop_all()


def as_numpy(array: ArrayLike, name: str) -> NDArray[Any]:
    """Return `array` as a NumPy array, without a copy where it is one; refuse GPU memory.

    Parameters
    ----------
    array : array_like
        What the user passed.
    name : str
        The argument's name, for the error.
    """
    if not isinstance(array, np.ndarray) and on_gpu(array):
        raise TypeError(
            f"{name} lies in GPU memory ({type(array).__module__}.{type(array).__qualname__}), "
            "where this function does not work; copy it to a NumPy array first"
        )
    return np.asarray(array)


def native_layout(array: NDArray[Any]) -> NDArray[Any]:
    """Return `array` aligned and in native byte order, as the kernels read it."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return np.require(array, requirements="A")


def output_array(
    shape: tuple[int, ...],
    largest: int,
    dtype: DTypeLike | None,
    out: Any,
    inputs: tuple[Any, ...],
    xp: Any = np,
) -> Any:
    """Return `out`, checked, or a new array of `shape` for labels up to `largest`.

    Labels are int32 where every index fits and int64 beyond; `dtype` forces either. The array is of
    `xp`, which is NumPy or CuPy, as `inputs` are; `out` may be of another library on the GPU.
    """
    wanted = None if dtype is None else np.dtype(dtype)
    if out is not None:
        out = _check_output(out, shape, wanted, inputs, xp)
        wanted = out.dtype
    if wanted is None:
        wanted = INDEX_TYPES[largest > INT32_MAX]
    if wanted not in INDEX_TYPES:
        name = "out" if out is not None else "dtype"
        raise (ValueError if wanted.kind in "iu" else TypeError)(
            f"{name} is {wanted}; labels are int32 or int64"
        )
    if largest > INT32_MAX and wanted.itemsize == 4:
        raise ValueError(f"{wanted} is too small for labels up to {largest}; use int64")
    return xp.empty(shape, wanted) if out is None else out


def _check_output(
    out: Any, shape: tuple[int, ...], wanted: np.dtype[Any] | None, inputs: tuple[Any, ...], xp: Any
) -> Any:
    if xp is np:
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
        usable = out.flags.c_contiguous and out.flags.writeable and out.flags.aligned
    else:
        if not on_gpu(out):
            raise TypeError(f"out must lie in GPU memory, as the input does: {type(out).__name__}")
        out = as_cupy(out)
        usable = out.flags.c_contiguous
    if out.shape != shape:
        raise ValueError(f"out has shape {out.shape}; the labels have shape {shape}")
    if wanted is not None and wanted != out.dtype:
        raise ValueError(f"out is of dtype {out.dtype}, but dtype={wanted} was asked for")
    if not usable:
        raise ValueError(
            "out must be writeable, aligned and C-contiguous; its strides are "
            f"{out.strides} and writeable is {getattr(out.flags, 'writeable', True)}"
        )
    if any(_may_share_memory(out, array, xp) for array in inputs):
        raise ValueError("out shares memory with the input, which is never changed; copy one")
    return out


def _may_share_memory(out: Any, array: Any, xp: Any) -> bool:
    """Whether an array that is C-contiguous may share memory with another one of its library."""
    if xp is not np and array.flags.c_contiguous:
        # What CuPy finds after a look at all strides, which takes as long as to launch a kernel.
        start, first = out.data.ptr, array.data.ptr
        return bool(start < first + array.nbytes and first < start + out.nbytes)
    return bool(xp.may_share_memory(out, array))


def as_integer(name: str, value: Any) -> int:
    """Return `value` as an int; a TypeError names the argument."""
    try:
        return int(index(value))
    except TypeError:
        raise TypeError(f"{name}={value!r} must be an integer") from None


def check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Raise unless `value` is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}")


def check_options(algorithm: str, function: Any, options: dict[str, Any]) -> None:
    """Raise unless `function`, which is the algorithm of that name, takes all `options`."""
    known = getattr(function, "__kwdefaults__", None) or {}
    for name in options:
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise TypeError(f"algorithm={algorithm!r} has no option {name!r}; {has}")
