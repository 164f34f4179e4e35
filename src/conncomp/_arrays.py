"""Arrays of any library on any device: where they lie, and as arrays of NumPy or CuPy and back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import NUMBERS, as_sequence, check_choice, shown
from conncomp._containers import TABLES, held_by_names, is_of, values_and_nulls
from conncomp._memory import check_memory
from conncomp.kernels.cuda.launcher import import_cupy
from conncomp.kernels.cuda.workspace import Workspace

Device = Literal["cpu", "cuda"]
OBJECT_BYTES = 64  # of an entry of a sequence, as a Python object and then in an array


def choose_device(device: Any, arrays_on_gpu: bool, name: str, workspace: Any = None) -> Device:
    """Return where to work: where the data called `name` lies, or on the GPU it is to move to."""
    if device is not None:
        check_choice("device", device, (None, "cpu", "cuda"))
    if arrays_on_gpu and device == "cpu":
        told = f"device='cpu', but {name} lies in GPU memory"
        raise ValueError(f"{told}; copy it to a NumPy array first")
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
    # Arrays of CuPy all lie there; it takes longer to say so of each.
    if "cupy" in _libraries_of_class(its_type) and hasattr(its_type, "__dlpack_device__"):
        return True
    if (where := getattr(array, "__dlpack_device__", None)) is not None:
        try:
            return where()[0] in (2, 13)  # CUDA, and CUDA that is managed
        except TypeError:  # pyarrow before 26, where a type or nulls do not fit DLPack
            return False
    return hasattr(array, "__cuda_array_interface__")


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
    names = [base.__module__.partition(".")[0] for base in its_type.__mro__]
    return tuple({"jaxlib": "jax"}.get(name, name) for name in names)


def _exchange_of(library: str) -> Any:
    """Return the module with the `from_dlpack` of a library, if it is imported and has one."""
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
        told = f"{name} lies on GPU {array.data.device_id}, but the other arrays on GPU {current}"
        remedy = f"for example inside `with cupy.cuda.Device({current}):`"
        raise ValueError(f"{told}; copy it there, {remedy}")


def in_library(array: Any, library: str) -> Any:
    """Return an array, or a tuple, dict or dataclass of such, as those of `library`.

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
        return import_module("numba.cuda").as_cuda_array(array)
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
    """Return an array of NumPy, and which elements are masked or null, or None."""
    array = held_by_names(array)
    if isinstance(array, np.ndarray):
        values, hides = np.asarray(array).view(), False
        if isinstance(array, np.ma.MaskedArray):
            mask = np.ma.getmask(array)
            hides = mask.dtype == bool and bool(mask.any())
        return values, np.ma.getmaskarray(array) if hides else None
    if on_gpu(array):
        told = f"{name} lies in GPU memory ({type(array).__module__}.{type(array).__qualname__}),"
        raise TypeError(f"{told} where this function does not work; copy it to a NumPy array first")
    column = _made(values_and_nulls, array, name, array)
    if column is not None:
        array = np.ma.masked_array(*column)
    else:  # of any class, as one that is masked
        array = _made(np.asanyarray, _as_numpy_takes_it(array, name), name, array)
    return as_numpy_and_mask(array, name)


def _made(make: Callable[[Any], Any], held: Any, name: str, given: object) -> Any:
    """Return what `make` makes of an argument, which errors name."""
    try:
        return make(held)
    except MemoryError:
        raise
    except Exception as error:  # whatever a foreign class raises
        error_type = ValueError if isinstance(error, ValueError) else TypeError
        told = f"NumPy cannot make an array of {name}, a {type(given).__name__}"
        raise error_type(f"{told}: {error}") from error


# Objects with these are read by `numpy.asarray` at once, not element by element.
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
            told = f"{name} is a label map of SimpleITK"
            raise TypeError(f"{told}; make an image of it first, by SimpleITK.LabelMapToLabel")
        # A copy, as SimpleITK may free or change its own.
        return _made(sys.modules["SimpleITK"].GetArrayFromImage, given, name, given)
    if any(hasattr(given, protocol) for protocol in _ARRAY_PROTOCOLS):
        return given
    if hasattr(given, "__dlpack__"):
        return _made(np.from_dlpack, given, name, given)
    if _is_sequence(given):
        told = f"{name} is a {type(given).__name__} of {library_of(given)}, a sequence and no array"
        raise TypeError(f"{told}; make a NumPy array of it first, as its library does, or a list")
    return given


def _is_sequence(given: object) -> bool:
    """Whether NumPy would read an object, none of Python's own, element by element."""
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
