"""The one place that asks which array library and which device an argument comes from."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from math import prod
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from conncomp._arguments import (
    INDEX_TYPES,
    INT32_MAX,
    NUMBERS,
    as_sequence,
    check_choice,
    check_holds,
    shown,
)
from conncomp._containers import TABLES, held_by_names, is_of, values_and_nulls
from conncomp._core import native
from conncomp._memory import check_memory
from conncomp.kernels.cuda.core.strips import download, upload
from conncomp.kernels.cuda.launcher import import_cupy
from conncomp.kernels.cuda.workspace import Workspace

Device = Literal["cpu", "cuda"]
FEW_BYTES = 1 << 20  # as many are moved to or from a GPU by one copy, pinned or not
PIECE_HERE = 1 << 24  # bytes that are converted at once in main memory


def choose_device(device: Any, arrays_on_gpu: bool, name: str, workspace: Any = None) -> Device:
    """Return where to work: where the data called `name` lies, or on the GPU it is to move to."""
    if device is not None:
        check_choice("device", device, (None, "cpu", "cuda"))
    if arrays_on_gpu and device == "cpu":
        raise ValueError(
            f"device='cpu', but {name} lies in GPU memory; copy it to a NumPy array first"
        )
    place: Device = "cuda" if arrays_on_gpu or device == "cuda" else "cpu"
    if workspace is not None and place == "cpu":
        raise ValueError(f"workspace is for arrays on a GPU, but {name} is not; leave it out")
    if not isinstance(workspace, Workspace | None):
        raise TypeError(f"workspace={shown(workspace)} must be a conncomp.Workspace, or None")
    return place


def on_gpu(array: object) -> bool:
    """Whether `array` lies in the memory of a CUDA device, whatever its library."""
    if isinstance(array, (np.ndarray, type)):
        return False
    its_type: Any = type(array)
    if _lies_on_gpu(its_type):
        return True
    if (where := getattr(array, "__dlpack_device__", None)) is not None:
        try:
            return where()[0] in (2, 13)  # CUDA, and CUDA that is managed
        except TypeError:  # pyarrow before 26, where a type or nulls do not fit DLPack
            return False
    return hasattr(array, "__cuda_array_interface__")


@lru_cache(maxsize=256)
def _lies_on_gpu(its_type: type) -> bool:
    """Whether arrays of a class all do: those of CuPy, which takes longer to say so of each."""
    return "cupy" in _libraries_of_class(its_type) and hasattr(its_type, "__dlpack_device__")


def library_of(array: object) -> str:
    """Return the library of an array, or which its class inherits from and takes others' arrays."""
    if isinstance(array, np.ndarray):
        return "numpy"
    its_type: Any = type(array)
    names = _libraries_of_class(its_type)
    # Sparse arrays, for example, inherit operators from NumPy.
    foreign = (name for name in names if name != "numpy" and _exchange_of(name) is not None)
    return next(foreign, names[0])


@lru_cache(maxsize=256)
def _libraries_of_class(its_type: type) -> tuple[str, ...]:
    """Return the library of a class, and those of what it inherits from."""
    names = [base.__module__.partition(".")[0] for base in its_type.__mro__]
    return tuple({"jaxlib": "jax"}.get(name, name) for name in names)


def _exchange_of(library: str) -> Any:
    """Return the module that has the `from_dlpack` of a library, if it is imported and has one."""
    if library not in sys.modules:
        return None
    module = import_module("jax.dlpack") if library == "jax" else sys.modules[library]
    return module if hasattr(module, "from_dlpack") else None


def as_cupy(array: Any) -> Any:
    """Return an array in GPU memory as a CuPy array, without a copy."""
    cupy = import_cupy()
    if isinstance(array, cupy.ndarray):
        return array
    if hasattr(array, "__dlpack__"):
        if not hasattr(array, "detach"):
            return cupy.from_dlpack(array)
        # PyTorch does not export what it may have to differentiate, and lets the stream that asks
        # wait for its own unless they are one, which no capture of a graph allows.
        with caller_stream("torch", array.get_device()):
            return cupy.from_dlpack(array.detach())
    return cupy.asarray(array)


def check_gpu(array: Any, name: str) -> None:
    """Raise ValueError if a CuPy array lies on another GPU than on the one where work is done."""
    current = import_cupy().cuda.runtime.getDevice()
    if array.data.device_id != current:
        raise ValueError(
            f"{name} lies on GPU {array.data.device_id}, but the other arrays on GPU {current}; "
            f"copy it there, for example inside `with cupy.cuda.Device({current}):`"
        )


def in_library(array: Any, library: str) -> Any:
    """Return an array, or a tuple, dict or dataclass of such, as those of `library`; others as is.

    Without a copy where that is possible; as they are if the library takes no arrays of others.
    """
    if library in ("numpy", "cupy"):
        return array
    if hasattr(array, "__dataclass_fields__"):
        return replace(array, **in_library(vars(array), library))
    if isinstance(array, tuple):
        return tuple(in_library(part, library) for part in array)
    if isinstance(array, dict):
        return {name: in_library(part, library) for name, part in array.items()}
    if not hasattr(array, "__dlpack__"):
        return array
    if library == "numba" and not isinstance(array, np.ndarray):
        from numba import cuda

        as_cuda_array: Any = cuda.as_cuda_array
        return as_cuda_array(array)
    exchange = _exchange_of(library)
    if exchange is None:
        return array
    if isinstance(array, np.ndarray) and hasattr(exchange, "from_numpy"):  # of all dtypes
        return exchange.from_numpy(array)
    return exchange.from_dlpack(array)


def apply_in_library(function: Callable[..., Any], *arrays: Any) -> Any:
    """Apply a function of arrays of NumPy or CuPy to results of ours, and return that library's."""
    library = library_of(arrays[0])
    if not on_gpu(arrays[0]):
        return in_library(function(*(as_numpy(array, "a column") for array in arrays)), library)
    placed = [as_cupy(array) for array in arrays]
    with caller_stream(library, placed[0].device.id):
        return in_library(function(*placed), library)


class _ForeignStream:
    def __init__(self, pointer: int) -> None:
        self._pointer = pointer

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._pointer


def caller_stream(library: str, device: int) -> AbstractContextManager[object]:
    """Let CuPy work on a device, and on the stream that is current in the caller's library.

    PyTorch works on that device, too: it exports no tensors of another one than its current one.
    """
    cupy = import_cupy()
    on_device = device == cupy.cuda.runtime.getDevice()
    if on_device and library != "torch":
        return nullcontext()
    with ExitStack() as stack:
        if not on_device:
            stack.enter_context(cupy.cuda.Device(device))
        if library == "torch":
            import torch

            if torch.cuda.current_device() != device:
                stack.enter_context(torch.cuda.device(device))
            stream = _ForeignStream(torch.cuda.current_stream(device).cuda_stream)
            stack.enter_context(cupy.cuda.Stream.from_external(stream))
        return stack.pop_all()


def as_numpy(array: ArrayLike, name: str) -> NDArray[Any]:
    """Return `array` as a view of NumPy's; refuse GPU memory, masked elements and nulls."""
    values, mask = as_numpy_and_mask(array, name)
    if mask is not None:
        what = "nulls" if is_of(held_by_names(array), *TABLES) else "masked elements"
        raise ValueError(f"{name} has {what}; fill them or leave them out first")
    return values


def as_numpy_and_mask(array: ArrayLike, name: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return an array of NumPy, and which elements are masked or null, or None where none is."""
    array = held_by_names(array)
    if isinstance(array, np.ndarray):
        values, hides = np.asarray(array).view(), False
        if isinstance(array, np.ma.MaskedArray):
            mask = np.ma.getmask(array)
            hides = mask.dtype == bool and bool(mask.any())
        return values, np.ma.getmaskarray(array) if hides else None
    if on_gpu(array):
        raise TypeError(
            f"{name} lies in GPU memory ({type(array).__module__}.{type(array).__qualname__}), "
            "where this function does not work; copy it to a NumPy array first"
        )
    column = _made(values_and_nulls, array, name, array)
    if column is not None:
        array = np.ma.masked_array(*column)
    else:  # of any class, as one that is masked
        array = _made(np.asanyarray, _as_numpy_takes_it(array, name), name, array)
    return as_numpy_and_mask(array, name)


def _made(make: Callable[[Any], Any], held: Any, name: str, given: object) -> Any:
    """Return what `make` makes of what is held of an argument; an error names that."""
    try:
        return make(held)
    except MemoryError:
        raise
    except Exception as error:  # whatever a foreign class raises
        error_type = ValueError if isinstance(error, ValueError) else TypeError
        raise error_type(
            f"NumPy cannot make an array of {name}, a {type(given).__name__}: {error}"
        ) from error


# What `numpy.asarray` makes an array of without reading it element by element.
_ARRAY_PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__")
_MOST_NESTED = 64  # axes of an array of NumPy


def _as_numpy_takes_it(given: Any, name: str, nested: int = 0) -> Any:
    """Return what `numpy.asarray` makes the right array of.

    It would read a sequence of another library in one row, such as an image of SimpleITK: refused.
    """
    if isinstance(given, (list, tuple)):
        if nested > _MOST_NESTED or NUMBERS.issuperset(map(type, given)):
            return given
        return [_as_numpy_takes_it(value, name, nested + 1) for value in given]
    if type(given) in NUMBERS or type(given) is np.ndarray:
        return given
    may_be_masked = isinstance(given, np.ndarray) or is_of(given, "xarray", *TABLES)
    if nested and (may_be_masked or on_gpu(given)):
        return as_numpy(given, f"an entry of {name}")
    for libraries, flaw in _NO_ARRAYS.items():
        if is_of(given, *libraries):
            what = f"{name} is a {type(given).__name__} of {library_of(given)}"
            raise TypeError(f"{what}, which {flaw}")
    if isinstance(given, range):
        check_memory(f"{name}={given}", OBJECT_BYTES * len(as_sequence(name, given, sys.maxsize)))
    # PyTorch does not export what it may have to differentiate.
    if is_of(given, "torch"):
        return given.detach()
    if is_of(given, "SimpleITK") and hasattr(given, "GetPixelIDTypeAsString"):
        if "label" in given.GetPixelIDTypeAsString():  # SimpleITK would end the process
            raise TypeError(
                f"{name} is a label map of SimpleITK; make an image of it first, by "
                "SimpleITK.LabelMapToLabel"
            )
        # A copy, as SimpleITK may free or change its own.
        return _made(sys.modules["SimpleITK"].GetArrayFromImage, given, name, given)
    if any(hasattr(given, protocol) for protocol in _ARRAY_PROTOCOLS):
        return given
    if hasattr(given, "__dlpack__"):
        return _made(np.from_dlpack, given, name, given)
    if _is_sequence(given):
        raise TypeError(
            f"{name} is a {type(given).__name__} of {library_of(given)}, a sequence and no array; "
            "make a NumPy array of it first, as its library does, or a list"
        )
    return given


def _is_sequence(given: object) -> bool:
    """Whether NumPy would read an object element by element, and it is none of Python's own."""
    its_type = type(given)
    has_entries = hasattr(its_type, "__len__") and hasattr(its_type, "__getitem__")
    if not has_entries or isinstance(given, (str, bytes, dict, range)):
        return False
    try:
        memoryview(given)  # type: ignore[arg-type]
    except TypeError:
        return True
    return False


# Objects of which NumPy would make an array of objects, or one that costs much.
_NO_ARRAYS = {
    ("scipy.sparse", "cupyx.scipy.sparse"): "is sparse; make it dense with its .toarray()",
    ("sparse",): "is sparse; make it dense with its .todense()",
    ("dask",): "is not computed yet; compute it with its .compute()",
}


def check_kind(array: Any, kinds: str, given: object, name: str, wanted: str) -> None:
    """Raise TypeError unless `array`, made of what the user gave, is of a dtype of these kinds."""
    if array.dtype.kind in kinds:
        return
    what = f"of dtype {array.dtype}"
    if array.dtype.kind == "O":
        in_numpy = isinstance(given, np.ndarray)
        what = "an array of Python objects" if in_numpy else f"a {type(given).__name__}"
        if hasattr(given, "astype"):
            wanted += ", which its .astype() makes"
    raise TypeError(f"{name} is {what}; it must be {wanted}")


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
        with caller_stream("cupy", array.device.id):  # kernels elsewhere would not be waited for
            download(import_cupy(), array, out)
    return out


def on_host(array: Any) -> Any:
    """Return an array of NumPy or CuPy in main memory; itself if it lies there."""
    return array if isinstance(array, np.ndarray) else move_from_gpu(array)


# An operation on so few entries takes less time in main memory than to be launched on a GPU.
FEW = 1 << 15


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


OBJECT_BYTES = 64  # of an entry of a sequence, as a Python object and then in an array

# From so many bytes on, the memory of an array of labels is kept for the next one once it is freed.
LARGE_BYTES = 1 << 20


def new_array(xp: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array that is not initialised."""
    num_bytes = prod(shape) * np.dtype(dtype).itemsize
    if xp is not np or num_bytes < LARGE_BYTES:
        return xp.empty(shape, dtype)
    check_memory(f"a new array of shape {shape}", num_bytes)
    return native.empty_bytes(num_bytes).view(dtype).reshape(shape)


class Output:
    """Where labels go: what a kernel fills, and what the user gets.

    They are one array, contiguous and of int32 or int64, but for three cases, in which `labels` are
    copied at the end: the user wants another dtype, and it must be known first that they fit; or
    the kernel is led by what it has written there, and the user may change `out` meanwhile
    (`private`); or labels of small items are int32, and the kernel needs int64 for indices in the
    array of all items, up to `largest_index`.

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
        """Return the filled `labels` as the user wants them, those that are new of a library.

        Raise if they do not fit a type.
        """
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
        raise TypeError(
            f"dtype={shown(dtype)} must be a dtype of integers or 'smallest': {error}"
        ) from error


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
        raise ValueError(
            "out must be writeable, aligned and C-contiguous; its strides are "
            f"{out.strides} and writeable is {getattr(out.flags, 'writeable', True)}"
        )
    if any(_may_share_memory(out, array, xp) for array in inputs):
        raise ValueError("out shares memory with the input, which is never changed; copy one")
    return out


def _as_shared(out: Any) -> NDArray[Any]:
    """Return a view of an array in main memory, of any library; what is written goes there."""
    if isinstance(out, np.ndarray) and not isinstance(out, np.ma.MaskedArray):
        return np.asarray(out).view()
    if hasattr(out, "__dlpack__") and not isinstance(out, np.ndarray) and not on_gpu(out):
        # Of a copy, such as some libraries give away, the next one is another one.
        first, second = as_numpy(out, "out"), as_numpy(out, "out")
        if first.size == 0 or np.may_share_memory(first, second):
            return first
    raise TypeError(
        f"out must be a NumPy array, not {type(out).__name__}, or one of another library that "
        "shares its memory by DLPack"
    )


def _may_share_memory(out: Any, array: Any, xp: Any) -> bool:
    """Whether an array that is C-contiguous may share memory with another one of its library."""
    if xp is not np and array.flags.c_contiguous:
        # What CuPy finds after a look at all strides, which takes as long as to launch a kernel.
        start, first = out.data.ptr, array.data.ptr
        return bool(start < first + array.nbytes and first < start + out.nbytes)
    return bool(xp.may_share_memory(out, array))
