"""Repeated calls on GPU arrays: read an array with little Python, and replay recorded launches.

`_arrays` checks an array once, in the first call with a key. Later ones read only what may differ:
address, stream and layout.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from functools import cache, lru_cache, partial
from math import prod
from threading import get_ident
from typing import Any, Literal

from conncomp._arguments import INDEX_TYPES
from conncomp._arrays import in_library, library_of
from conncomp.kernels.cuda.launcher import COUNT, DeviceArray, DType, Gpu
from conncomp.kernels.cuda.recordings import TELLING, Ahead, Recording, record, stream_key
from conncomp.kernels.cuda.workspace import OwnWorkspaces, Workspace


class CuPyArrays:
    """Arrays of CuPy."""

    # `asks_ahead`: whether a call may return an array that an earlier call allocated for it.
    name, asks_ahead = "cupy", True

    def layout(self, array: Any, device: int) -> Hashable:
        """Return shape, strides in bytes, dtype and device; None if the array lies elsewhere."""
        if array.data.device_id != device:
            return None
        return array.shape, array.strides, array.dtype, device

    def address(self, array: Any) -> int:
        """Return where the first element lies."""
        return int(array.data.ptr)

    def stream(self, gpu: Gpu) -> int:
        """Return the current stream on the current device."""
        return gpu.current_stream()

    def empty(self, gpu: Gpu, shape: tuple[int, ...], dtype: DType) -> Any:
        """Return a new C-contiguous array on the current device."""
        return gpu.xp.ndarray(shape, dtype)  # as `empty`, in less time


class TorchArrays:
    """Tensors of PyTorch."""

    # A tensor belongs to the graph's pool or the inference mode in which it is allocated.
    name, asks_ahead = "torch", False

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._devices = [torch.device("cuda", k) for k in range(torch.cuda.device_count())]
        self._dtypes = {dtype: getattr(torch, dtype.name) for dtype in INDEX_TYPES}
        # The handle alone, in a tenth of the time that a stream takes.
        self._handle = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def layout(self, array: Any, device: int) -> Hashable:
        """Return what `CuPyArrays.layout` does, with strides in elements."""
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

    def empty(self, gpu: Gpu, shape: tuple[int, ...], dtype: DType) -> Any:
        """Return a new tensor."""
        torch_dtype, device = self._dtypes[dtype], self._devices[gpu.device]
        # By strides that are known, it takes two thirds of the time.
        return self._torch.empty_strided(shape, _strides(shape), dtype=torch_dtype, device=device)


@lru_cache(maxsize=1024)
def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of a C-contiguous array, in elements."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


CudaLibrary = CuPyArrays | TorchArrays  # of arrays that lie on a GPU

# By class of arrays; None for classes that only `_arrays` reads.
_LIBRARIES: dict[type, CudaLibrary | None] = {}


def cuda_library_of(array: object) -> CudaLibrary | None:
    """Return what reads an array of CuPy or PyTorch; None for other libraries and CPU tensors."""
    its_class = type(array)
    if its_class in _LIBRARIES:
        return _LIBRARIES[its_class]
    name = library_of(array)
    if name == "torch" and not getattr(array, "is_cuda", False):
        return None  # PyTorch need not know of a GPU; one of its next tensors may lie there
    library = _LIBRARIES[its_class] = cuda_library_named(name)
    return library


@cache
def cuda_library_named(name: str) -> CudaLibrary | None:
    """Return what reads the arrays of "cupy" or "torch"; None for another library."""
    if name == "cupy":
        return CuPyArrays()
    return TorchArrays(sys.modules["torch"]) if name == "torch" else None


CallKey = Hashable | None  # by which later calls find what a first one kept; None: not kept
# The numbers of components that a `RecordedFill` returns:
#
#     "told"      an int, after waiting for the GPU
#     "copied"    a new array on the GPU, as other calls overwrite the workspace
#     "left"      the array in the workspace
#     "unasked"   None
Counted = Literal["told", "copied", "left", "unasked"]

# The largest labels that a call allocates for the next one, in bytes.
MOST_AHEAD = 1 << 22


def recorded_with(
    gpu: Gpu, library: CudaLibrary, workspace: Workspace | None, own: OwnWorkspaces, call: Hashable
) -> tuple[Workspace | None, CallKey]:
    """Return the workspace of a call's recorded launches, and their key: the stream, and `call`.

    Without a `workspace` it is that of `own`, None before the first call. The key is None if
    launches are not recorded.
    """
    stream = library.stream(gpu)
    if not gpu.may_record(stream):
        return None, None
    memory = own.held(stream).get(gpu.device) if workspace is None else workspace
    if memory is not None and memory.caller == get_ident():
        return None, None  # a signal's handler calls within a call of this thread
    return memory, (stream_key(stream), call)


class RecordedFill:
    """Recorded launches that fill labels, replayed with other arrays.

    `counts` are the numbers of components in the workspace, a CuPy array; `first` those that the
    first call returns, as `Counted` says.
    """

    @classmethod
    def record(
        cls,
        gpu: Gpu,
        fill: Callable[[], DeviceArray],
        labels: DeviceArray,
        library: CudaLibrary,
        workspace: Workspace,
        counted: Counted,
        shape: tuple[int, ...] = (),
        given: DeviceArray | None = None,
    ) -> RecordedFill:
        """Make the first call, ``fill()``, and record its launches.

        It returns the numbers of components, int64 on the GPU, of `shape`. A replay replaces
        `labels`, a CuPy array, by one of `library`, and the array `given` to read, if any.
        """
        is_told, arrays = counted == "told", (labels,) if given is None else (labels, given)
        with workspace, gpu.loading([TELLING.module()] * is_told):
            recording = record(gpu, fill, arrays[::-1], tells=is_told)
            counts = recording.returned.reshape(shape)
            return cls(gpu, library, counted, recording._replace(returned=counts), *arrays)

    def __init__(
        self, gpu: Gpu, library: CudaLibrary, counted: Counted, recording: Recording, *arrays: Any
    ) -> None:
        self._recording, self._library, (labels, *given) = recording, library, arrays
        self._labels_nbytes, self._reads = labels.nbytes, (0, 0)
        if given:
            self._reads = _bounds_of(*given)
        self._shape, self._dtype, self._device = labels.shape, labels.dtype, gpu.device
        example = in_library(labels, library.name)
        self._labels_type_and_layout = type(example), library.layout(example, self._device)
        self._is_told, self._is_copied = counted == "told", counted == "copied"
        self._new: Any = partial(library.empty, gpu)
        is_ahead = library.asks_ahead and labels.nbytes <= MOST_AHEAD
        self._ahead = Ahead(self._new) if is_ahead else None
        self.counts, self._counts_address = recording.returned, gpu.address(recording.returned)
        self._left = in_library(self.counts, library.name) if counted == "left" else None
        self.first = recording.read(self._counts_address) if self._is_told else self._numbers()

    def __call__(self, workspace: Workspace, out: Any, *given: int) -> tuple[Any, Any]:
        """Fill labels; return them, and the numbers of components as `Counted` says.

        `out` passes `takes`, and `given` is the address of an array like that, if any. The next
        call's labels are allocated while the GPU works.
        """
        with workspace.turn:
            workspace.caller = get_ident()
            try:
                labels, ahead = out, self._ahead
                if out is None:
                    new = self._new if ahead is None else ahead.take
                    labels = new(self._shape, self._dtype)
                self._recording.run((*given, self._library.address(labels)))
                if out is None and ahead is not None:
                    last, workspace.ahead = workspace.ahead, ahead
                    if last is not None and last is not ahead:
                        last.forget()
                    ahead.allocate()
                return labels, self._numbers()
            finally:
                workspace.caller = None

    def _numbers(self) -> Any:
        """Return the numbers of components as `Counted` says."""
        if self._is_told:
            return self._recording.answer()
        if not self._is_copied:
            return None if self._left is None else self._left[...]  # an array of its own
        # A copy, which the GPU makes after the launches.
        copy = self._new(self.counts.shape, COUNT)
        address, count = self._library.address(copy), self.counts.nbytes
        self._recording.copy(address, self._counts_address, count)
        return copy

    def takes(self, out: Any, given: Any = None) -> bool:
        """Whether `out` is None, or laid out as the labels and apart from the input `given`."""
        if out is None:
            return True
        of_labels, layout = self._labels_type_and_layout
        if type(out) is not of_labels or self._library.layout(out, self._device) != layout:
            return False
        if given is None:
            return True
        ahead = self._library.address(out) - self._library.address(given)
        first, end = self._reads
        return bool(ahead + self._labels_nbytes <= first or end <= ahead)


def _bounds_of(array: DeviceArray) -> tuple[int, int]:
    """Return where an array's memory begins and ends, in bytes from its first element."""
    reaches = [stride * (n - 1) for stride, n in zip(array.strides, array.shape, strict=True)]
    end = sum(max(reach, 0) for reach in reaches) + array.dtype.itemsize
    return sum(min(reach, 0) for reach in reaches), end
