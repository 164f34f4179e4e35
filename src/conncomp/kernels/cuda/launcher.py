"""Load the CUDA kernels of this package for the GPU at hand, and launch them.

A kernel file is compiled at its first use, for the `Templates` of its driver, the Python file
beside it; CuPy caches the result in memory and on disk. Drivers see the GPU only through `Gpu`,
which tests replace by the host executor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, cached_property, partial
from itertools import chain, islice, product, repeat, starmap
from threading import RLock, local
from time import perf_counter, sleep
from typing import Any, NamedTuple, Protocol

import numpy as np

from conncomp import kernels
from conncomp._arguments import INDEX_TYPES
from conncomp._core import native
from conncomp._optional import hint
from conncomp.kernels.cuda.compiling import compile_options, source, telling

WARP = 32
THREADS = 256  # of a block, unless another number was measured to be faster
DType = np.dtype[Any]
COUNT = np.dtype(np.int64)
PINNED_BYTES = 4096  # allocated at once, for answers
DRIVER = "libcuda.so.1"
# The handle of each thread's own default stream.
PER_THREAD = 2

# CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
_ANY_CLUSTER = 14

# How often to poll the GPU without sleeping, and the seconds between later polls.
SPINS, PAUSE = 2000, 1e-3


class DeviceArray(Protocol):
    """An array on the GPU, as drivers use it: of CuPy, or of NumPy on the host executor."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in bytes
    dtype: DType
    ndim: int
    size: int
    nbytes: int
    flags: Any
    data: Any  # the place of its memory
    reshape: Callable[..., Any]
    view: Callable[..., Any]  # as elements of another type
    copy: Callable[..., Any]  # C-contiguous
    fill: Callable[..., None]

    def __len__(self) -> int: ...
    def __getitem__(self, where: Any, /) -> Any: ...
    def __setitem__(self, where: Any, value: Any, /) -> None: ...


class Kernel(NamedTuple):
    """A compiled kernel: CuPy's `function`, launched by ``call(grid, block, arguments, ...)``."""

    name: str  # of its template
    function: Any
    call: Callable[..., None]
    together: bool = False  # whether all blocks of a launch run at the same time


class Launch(NamedTuple):
    """A recorded launch: the arguments of `launch`."""

    kernel: Kernel
    grid: tuple[int, int]
    arguments: tuple[Any, ...]
    shared: int


# By argument of a launch: offset and size, in bytes, of each variable value, and its number.
Places = list[list[tuple[int, int, int]]]


class _Thread(local):
    """The launches that a thread records; None if it records none."""

    launches: list[Launch] | None = None


_thread = _Thread()

# Held while pinned memory is allocated; reentrant, for handlers of signals.
_pinning = RLock()

# The launches that are timed; None when they are not.
_timed: list[tuple[str, Any, Any]] | None = None


def launch(kernel: Kernel, grid: tuple[int, int], *arguments: Any, shared: int = 0) -> None:
    """Launch `kernel` on the current stream, in a grid of blocks and threads of a block.

    Arguments are arrays, None, NumPy scalars, or integers, as int64_t; `shared` is a block's
    dynamic shared memory, in bytes. Raise TimeoutError if a `time_limit` is over.
    """
    if kernels.deadline is not None and perf_counter() > kernels.deadline:
        raise TimeoutError("the time limit is over")
    # By default a kernel may use 48 KiB of shared memory, its static one included.
    if shared and kernel.function.max_dynamic_shared_size_bytes < shared:
        kernel.function.max_dynamic_shared_size_bytes = shared
    if _thread.launches is not None:
        # A struct may be a view, whose fields the driver changes for the next launch.
        as_launched = tuple(x.copy() if isinstance(x, np.void) else x for x in arguments)
        _thread.launches.append(Launch(kernel, grid, as_launched, shared))
    if _timed is None:
        kernel.call(grid[:1], grid[1:], arguments, shared_mem=shared)
        return
    cupy = import_cupy()
    first, last = cupy.cuda.Event(), cupy.cuda.Event()
    first.record()
    kernel.call(grid[:1], grid[1:], arguments, shared_mem=shared)
    last.record()
    _timed.append((kernel.name, first, last))


@contextmanager
def recorded_launches() -> Iterator[list[Launch]]:
    """Record the launches that this thread makes in a context, to replay them."""
    outer, _thread.launches = _thread.launches, []
    try:
        yield _thread.launches
    finally:
        _thread.launches = outer


def are_recorded() -> bool:
    """Whether launches of this thread are recorded."""
    return _thread.launches is not None


def are_watched() -> bool:
    """Whether launches are timed one by one, or limited in time."""
    return _timed is not None or kernels.deadline is not None


@contextmanager
def timed_launches() -> Iterator[list[tuple[str, Any, Any]]]:
    """Time the launches of a context: a list of (name, first event, last event)."""
    global _timed
    if _timed is not None:
        raise RuntimeError("kernel_times is at work already; it does not nest")
    _timed = []
    try:
        yield _timed
    finally:
        _timed = None


def ctype(dtype: Any) -> str:
    """Return the C++ name of a NumPy dtype: ``"int32_t"``, ``"float"`` or ``"double"``."""
    if dtype.kind == "f":
        return {4: "float", 8: "double"}[dtype.itemsize]
    return f"{'u' if dtype.kind == 'u' else ''}int{8 * dtype.itemsize}_t"


Module = tuple[str, tuple[str, ...]]  # a kernel file, and the names that are compiled together


class Templates:
    """Kernels of a file that are compiled together, for template arguments that a call chooses.

    ``Templates("cuda/graph/edges.cuh", "check_pointers<{pointer}>", indices="pointer")`` has a
    module for each of `INDEX_TYPES`. Choices are dtypes, bools, numbers, text, named tuples, or
    keys of a dict of what is filled in; those of `indices` come last. A name without ``<`` takes
    all choices.
    """

    def __init__(self, file: str, *names: str, indices: str = "", **choices: Iterable[Any]) -> None:
        self.file = file
        self._choices = {**choices, **dict.fromkeys(indices.split(), INDEX_TYPES)}
        all_choices = ", ".join(f"{{{choice}}}" for choice in self._choices)
        self._names: list[str] = []
        for name in names:
            alone = [] if "<" in name or "{" in name else name.split()
            self._names += [f"{each}<{all_choices}>" for each in alone] or [name]
        self._modules: dict[tuple[Any, ...], Module] = {}

    def module(self, *chosen: Any) -> Module:
        """Return the file and kernels for `Gpu.load`, for a value of each choice, in order."""
        module = self._modules.get(chosen)
        if module is None:
            filled = {
                field: values[value] if isinstance(values, dict) else _in_cpp(value)
                for (field, values), value in zip(self._choices.items(), chosen, strict=True)
            }
            names = tuple(name.format(**filled) for name in self._names)
            module = self._modules[chosen] = self.file, names
        return module

    def load(self, gpu: Gpu, *chosen: Any) -> tuple[Kernel, ...]:
        """Return the kernels of a module."""
        return gpu.load(*self.module(*chosen))

    def one(self, gpu: Gpu, *chosen: Any) -> Kernel:
        """Return the kernel of a module that has one."""
        (kernel,) = self.load(gpu, *chosen)
        return kernel

    def modules(self) -> Iterator[Module]:
        """Yield the module of each combination of choices."""
        return starmap(self.module, product(*self._choices.values()))


def every(*kinds: Templates) -> Callable[[], Iterator[Module]]:
    """Return a function that yields all modules of several templates."""
    return lambda: chain.from_iterable(kind.modules() for kind in kinds)


def _in_cpp(value: Any) -> Any:
    if isinstance(value, np.dtype):
        return ctype(value)
    return str(value).lower() if isinstance(value, bool | np.bool_) else value


class Gpu:
    """One CUDA device, through CuPy, which is the array library `xp`."""

    def __init__(self, cupy: Any, device: int) -> None:
        self.xp = cupy
        self.device = device
        attributes: dict[str, int] = cupy.cuda.Device(device).attributes
        self.multiprocessors = attributes["MultiProcessorCount"]
        # Threads that run at once on the whole device; bytes of a multiprocessor's shared memory.
        self.resident_threads = self.multiprocessors * attributes["MaxThreadsPerMultiProcessor"]
        self.shared_memory = attributes["MaxSharedMemoryPerMultiprocessor"]
        self._kernels: dict[Module, tuple[Kernel, ...]] = {}
        self._answers: list[np.ndarray[Any, np.dtype[np.int64]]] = []

    @cached_property
    def has_clusters(self) -> bool:
        """Whether blocks may form clusters."""
        return int(self.xp.cuda.Device(self.device).compute_capability) >= 90

    def load(
        self, file: str, names: tuple[str, ...], shared_percent: int | None = None
    ) -> tuple[Kernel, ...]:
        """Return kernels of a file: ``load("cuda/graph/ecl.cuh", ("ecl_init<int32_t>",))``.

        They are compiled together. `shared_percent` of a multiprocessor's memory is shared memory;
        a launch waits for the one before if that has another share.
        """
        key = file, names
        if key not in self._kernels:
            with self._loading([key], by_threads=False):
                pass
        loaded = self._kernels[key]
        if shared_percent is not None:
            # Kernels may have been loaded without a share.
            for kernel in loaded:
                if kernel.function.preferred_shared_memory_carveout != shared_percent:
                    kernel.function.preferred_shared_memory_carveout = shared_percent
        return loaded

    def load_at_once(self, groups: Sequence[Module]) -> None:
        """Compile modules that are not compiled yet, each in a thread."""
        missing = [group for group in groups if group not in self._kernels]
        if missing:
            with self._loading(missing, by_threads=len(missing) > 1):
                pass

    def loading(self, groups: Sequence[Module]) -> AbstractContextManager[None]:
        """Compile modules by threads during a context, whose end waits for them, even interrupted.

        The context may load other modules.
        """
        missing = [group for group in groups if group not in self._kernels]
        return self._loading(missing) if missing else nullcontext()

    @contextmanager
    def _loading(self, groups: list[Module], by_threads: bool = True) -> Iterator[None]:
        with telling(groups[0][0]), ThreadPoolExecutor(len(groups)) as threads:
            compiled: list[Callable[[], Any]] = [
                threads.submit(self._compile_in_thread, *group).result
                if by_threads
                else partial(self._compile, *group)
                for group in groups
            ]
            yield
            start = perf_counter()
            for group, functions in zip(groups, compiled, strict=True):
                self._kernels[group] = tuple(
                    Kernel(name.partition("<")[0], function, function)
                    for name, function in zip(group[1], functions(), strict=True)
                )
        kernels.extend_time_limit(perf_counter() - start)

    def _compile_in_thread(self, file: str, names: tuple[str, ...]) -> list[Callable[..., None]]:
        with self.xp.cuda.Device(self.device):  # each thread has a current device
            return self._compile(file, names)

    def load_together(self, file: str, groups: list[Module]) -> None:
        """Compile modules of files that one file includes together: it takes little longer."""
        missing = [group for group in groups if group not in self._kernels]
        if not missing:
            return
        loaded = iter(self.load(file, tuple(chain.from_iterable(names for _, names in missing))))
        for group in missing:
            self._kernels[group] = tuple(islice(loaded, len(group[1])))

    def _compile(self, file: str, names: tuple[str, ...]) -> list[Callable[..., None]]:
        expressions = [f"conncomp::{name}" for name in names]
        code, options = source(file), compile_options(file)
        module = self.xp.RawModule(code=code, options=options, name_expressions=expressions)
        return [module.get_function(expression) for expression in expressions]

    def together(self, kernel: Kernel) -> Kernel:
        """Return a kernel that is launched cooperatively: its blocks can wait for each other."""
        call = partial(kernel.function.kernel, enable_cooperative_groups=True)
        return kernel._replace(call=call, together=True)

    def allow_cluster(self, kernel: Kernel) -> None:
        """Let clusters of a kernel have more than eight blocks, the most that all GPUs grant."""
        self.xp.cuda.driver.funcSetAttribute(kernel.function.kernel.ptr, _ANY_CLUSTER, 1)

    @property
    def refusals(self) -> tuple[type[Exception], ...]:
        """The errors of a launch that the GPU refuses, for example of too large clusters."""
        return (self.xp.cuda.driver.CUDADriverError,)

    def recorder(self) -> Any:
        """Return a new `native.Launches`, which `add_to` fills and whoever records replays."""
        # Whether a launch, also in a graph, can begin before the launch ahead of it has ended.
        overlaps = self.has_clusters and int(self.xp.cuda.runtime.driverGetVersion()) >= 12030
        return native.Launches(self.device, overlaps, DRIVER)

    def add_to(self, recorder: Any, launch: Launch, places: Places) -> None:
        """Add a launch to a `recorder`, with the places in its arguments that replays fill."""
        kernel, packed = launch.kernel, list(map(self._packed, launch.arguments))
        size = *launch.grid, launch.shared
        numbered = [(position, *place) for position, of in enumerate(places) for place in of]
        function, sizes = kernel.function.kernel.ptr, list(map(len, packed))
        recorder.add(function, size, kernel.together, b"".join(packed), sizes, numbered)

    def _packed(self, argument: Any) -> bytes:
        if isinstance(argument, np.generic):
            return argument.tobytes()
        if argument is None or isinstance(argument, int):
            return np.int64(argument or 0).tobytes()
        return np.uint64(self.address(argument)).tobytes()

    def free_memory(self) -> int:
        """Return how many bytes are free, with those that CuPy's pool keeps unused."""
        free, _ = self.xp.cuda.runtime.memGetInfo()
        return int(free) + int(self.xp.get_default_memory_pool().free_bytes())

    def address(self, array: Any) -> int:
        """Return where an array of the GPU, or a pinned one of main memory, begins."""
        return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)

    @cached_property
    def answer(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """An int64, shape (1,), in pinned memory, for kernels to write to.

        A kernel of an interrupted call may still write there.
        """
        number = self.new_answer()
        number[0] = 0
        return number

    def new_answer(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return an int64, shape (1,), in pinned memory, which nobody else gets."""
        with _pinning:
            if not self._answers:
                memory = self.xp.cuda.alloc_pinned_memory(PINNED_BYTES)
                numbers = np.frombuffer(memory, COUNT, PINNED_BYTES // COUNT.itemsize)
                self._answers.extend(numbers.reshape(-1, 1))
            return self._answers.pop()

    def is_current(self) -> bool:
        """Whether work is launched on this device."""
        return bool(self.xp.cuda.runtime.getDevice() == self.device)

    def current_stream(self) -> int:
        """Return the handle of the stream that work is launched on."""
        return int(self.xp.cuda.get_current_stream().ptr)

    def is_capturing(self, stream: int) -> bool:
        """Whether launches on a stream become part of a CUDA graph."""
        return bool(self.xp.cuda.runtime.streamIsCapturing(stream))

    def may_record(self, stream: int) -> bool:
        """Whether launches on a stream may be recorded: not those captured in a CUDA graph."""
        return stream == 0 or not self.is_capturing(stream)

    def blocks(self, count: int, threads: int) -> int:
        """Return the blocks of `threads` for `count` pieces of work: no more than run at once."""
        return max(1, min(-(-count // threads), self.resident_threads // threads))

    def grid(self, count: int, threads: int = THREADS, each: int = 1) -> tuple[int, int]:
        """Return the grid, `blocks` and threads, for `each` pieces of work per thread."""
        return self.blocks(-(-count // each), threads), threads

    def blocks_together(self, threads: int, most: int) -> int:
        """Return how many blocks of `threads` run at once, `most` of them on a multiprocessor."""
        on_each = self.resident_threads // self.multiprocessors // threads
        return self.multiprocessors * max(1, min(most, on_each))


@cache
def _gpu(device: int) -> Gpu:
    return Gpu(import_cupy(), device)


def current_gpu() -> Gpu:
    """Return the current CUDA device; raise as `import_cupy` does."""
    return _gpu(import_cupy().cuda.runtime.getDevice())


@cache
def import_cupy() -> Any:
    """Import CuPy and find a GPU; raise ImportError or RuntimeError that says what is missing."""
    try:
        import cupy
    except ImportError as error:
        raise ImportError(
            f"{hint('cupy')}, or 'conncomp[cuda12]' for drivers of CUDA 12"
        ) from error
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(
            f"there is no GPU that CUDA can use ({error}); install NVIDIA's driver, or work with "
            "NumPy arrays and device=None"
        ) from error
    return cupy


def first_entry(array: Any) -> int:
    """Return the first entry of an array on the GPU, waiting so that Ctrl-C is heard."""
    if type(array).__module__.startswith("cupy"):
        written = import_cupy().cuda.Event(disable_timing=True)
        written.record()
        for pause in chain(repeat(0.0, SPINS), repeat(PAUSE)):
            if written.done:
                break
            sleep(pause)
    return int(array[0])
