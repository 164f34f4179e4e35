"""The host executor: CUDA kernels of this package, compiled by g++ and run on the CPU, for tests.

`HostGpu` takes the place of `conncomp.kernels.cuda.launcher.Gpu`. README.md says how to use it.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import getpass
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import dealt
from conncomp.kernels.cuda.compiling import SOURCES, includes, source
from conncomp.kernels.cuda.launcher import Gpu, Launch, Places, launch
from host_cuda import asked_for
from native_program import AT_FIXED_ADDRESSES

HERE = Path(__file__).parent
COMPILER = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
CACHE = Path(tempfile.gettempdir()) / f"conncomp-host-cuda-{getpass.getuser()}"
# It finds the thread-local variables of a library as Linux lays them out.
AVAILABLE = COMPILER is not None and sys.platform == "linux"
# Which build is loaded by default: in a process for a sanitizer its own.
SANITIZER = os.environ.get("CONNCOMP_HOST_CUDA_SANITIZER")
# Those that tests are run for; what takes a hundred times as long as without one is for a soak.
SANITIZERS = ("address", pytest.param("thread", marks=pytest.mark.soak))
# How many blocks run at the same time. ThreadSanitizer has a clock for each of their threads, with
# an entry for every other one: half as many take it half the time.
WORKERS = 2 if SANITIZER == "thread" else 4

_COMMON = ("-std=c++20", "-fPIC", "-pthread", "-g1", "-Wall", "-Wextra", "-Werror")
# CUDA's #pragma unroll; a function of a header that a kernel file does not use; what GCC may well
# be wrong about where it optimises little.
_KERNEL = (
    *("-ffp-contract=off", "-Wno-unknown-pragmas", "-Wno-unused-function"),
    "-Wno-maybe-uninitialized",
    # Each library has its own __shared__ variables, also of kernels that are in several.
    *(["-fno-gnu-unique"] if "clang" not in str(COMPILER) else []),
)
# With AddressSanitizer -O1 takes twice as long as -Og to compile; without it half as long again,
# but then kernels run in two thirds of the time.
_SANITIZERS: dict[str | None, tuple[str, ...]] = {
    None: ("-O1",),
    "thread": ("-O1", "-fsanitize=thread"),
    "address": ("-Og", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
}
# The executor, which all kernels are linked with, has the libraries of C++: to look through them
# again is half of what the linker does.
_LINK = {
    None: ("-shared", "-nodefaultlibs", "-lgcc"),
    "thread": ("-shared",),
    "address": ("-shared",),
}
_RUNTIME = {None: (), "thread": ("-DHOST_CUDA_THREAD",), "address": ("-DHOST_CUDA_ADDRESS",)}


class LaunchError(RuntimeError):
    """A kernel did what CUDA forbids; the message names the block, the thread and the place."""


class _Shape(ctypes.Structure):
    """`host_cuda::Shape`."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint64),
        ("seed", ctypes.c_uint64),
        ("workers", ctypes.c_int32),
        ("seconds", ctypes.c_int32),
    )


_ERROR_SIZE = 2048  # host_cuda::kErrorSize


def _key(*parts: bytes | str | Path) -> str:
    """Return a name for what is made of these parts by the compiler."""
    return sha256(b"\0".join(map(os.fsencode, (str(COMPILER), *parts)))).hexdigest()[:32]


def _compile(name: str, text: bytes, flags: tuple[str, ...], *places: Path) -> None:
    """Compile a file of C++ for each of the places, but where another process is done already."""
    if COMPILER is None:
        raise RuntimeError("the host executor needs a C++ compiler on PATH")
    CACHE.mkdir(mode=0o700, exist_ok=True)
    if CACHE.stat().st_uid != os.getuid():  # what lies there would be run
        raise RuntimeError(f"{CACHE} belongs to another user")
    with tempfile.TemporaryDirectory(dir=CACHE) as work:
        (cpp := Path(work, name)).write_bytes(text)
        built = Path(work, "built")
        # The sanitizer of this process is not for the compiler, which it would slow down.
        environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
        done = subprocess.run(
            [COMPILER, str(cpp), *flags, "-o", str(built)],
            capture_output=True,
            text=True,
            env=environment,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{COMPILER} failed:\n{done.stderr}")
        for place in places:
            with suppress(FileExistsError):
                os.link(built, place)


@cache
def _headers(folder: Path) -> bytes:
    """Return the text of all headers in a folder, and below it."""
    paths = (path for path in sorted(folder.rglob("*")) if path.suffix in {".h", ".cuh"})
    return b"\0".join(path.read_bytes() for path in paths)


@cache
def _runtime(sanitizer: str | None) -> Path:
    """Compile the executor itself: without sanitizers, which it only informs."""
    text = (HERE / "host_cuda.cpp").read_bytes()
    needed = "-Wl,--no-as-needed"  # also what kernels alone call
    flags = (*_COMMON, "-O2", "-shared", needed, f"-I{HERE}", *_RUNTIME[sanitizer])
    library = CACHE / f"{_key(text, _headers(HERE), *flags)}.so"
    if not library.exists():
        _compile("executor.cpp", text, flags, library)
    return library


@cache
def _prelude(sanitizer: str | None) -> Path:
    """Return a header that includes `host_cuda.h`, which GCC has precompiled beside it."""
    text = f'#include "{HERE / "host_cuda.h"}"\n'.encode()
    flags = (*_COMMON, *_KERNEL, *_SANITIZERS[sanitizer])
    header = CACHE / f"{_key(text, _headers(HERE), *flags)}.h"
    if not header.exists():
        if "clang" not in str(COMPILER):
            _compile("prelude.h", text, flags, header.with_suffix(".h.gch"))
        CACHE.mkdir(mode=0o700, exist_ok=True)
        header.write_bytes(text)
    return header


@cache
def _flags_and_key(
    file: str, sanitizer: str | None, include: Path | None
) -> tuple[tuple[str, ...], str]:
    """Return the flags to compile kernels of a file with, and a name for all that goes in."""
    folders = [SOURCES] if include is None else [SOURCES, include]
    # The executor is found by its path, so that each sanitizer's kernels get their own.
    flags = (
        *_COMMON,
        *_KERNEL,
        *_SANITIZERS[sanitizer],
        *(f"-I{folder}" for folder in folders),
        "-include",
        str(_prelude(sanitizer)),
        str(_runtime(sanitizer)),
    )
    made_of = (
        [(SOURCES / name).read_bytes() for name in sorted(includes(file))]
        if (SOURCES / file).exists()
        else [_headers(folder) for folder in folders]
    )
    return flags, _key(source(file), _headers(HERE), *made_of, *flags)


@cache
def _function(place: Path) -> Any:
    """Return what launches the kernel of a library."""
    return getattr(ctypes.CDLL(str(place)), f"launch_{place.stem}")


class _HostKernel:
    # As CuPy's: a launch with more dynamic shared memory must have asked for it. A kernel is
    # granted what its own leaves of 48 KiB, which is not known here and may be as little.
    max_dynamic_shared_size_bytes = 8 << 10
    preferred_shared_memory_carveout = -1

    def __init__(self, name: str, function: Any, gpu: HostGpu) -> None:
        self.name = name
        self._function = function
        self._gpu = gpu

    def __call__(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        args: tuple[Any, ...],
        *,
        shared_mem: int = 0,
        seed: int | None = None,
    ) -> None:
        if shared_mem > self.max_dynamic_shared_size_bytes:
            raise LaunchError(
                f"{self.name}: shared_mem={shared_mem} is above max_dynamic_shared_size_bytes="
                f"{self.max_dynamic_shared_size_bytes}"
            )
        seed = self._gpu.next_seed() if seed is None else seed
        shape = _Shape(
            (*grid, 1, 1)[:3],
            (*block, 1, 1)[:3],
            shared_mem,
            seed,
            self._gpu.workers,
            self._gpu.seconds,
        )
        values = [_argument(value, f"{self.name}: argument {i}") for i, value in enumerate(args)]
        addresses = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v, _ in values))
        sizes = (ctypes.c_int64 * len(values))(*(size for _, size in values))
        error = ctypes.create_string_buffer(_ERROR_SIZE)
        outcome = self._function(ctypes.byref(shape), len(values), addresses, sizes, error)
        if outcome == 1:
            raise LaunchError(f"{self.name}, seed {seed}: {error.value.decode()}")
        if outcome == 2:
            raise TypeError(f"{self.name}: {error.value.decode()}")


def _with_values(argument: Any, places: list[tuple[int, int, int]], values: tuple[int, ...]) -> Any:
    """Return an argument of `launch` with values at `Places`."""
    if not places:
        return argument
    if not isinstance(argument, np.void):
        return ctypes.c_void_p(values[places[0][2]])
    packed = bytearray(argument.tobytes())
    for offset, size, number in places:
        packed[offset : offset + size] = values[number].to_bytes(size, "little")
    return np.frombuffer(packed, argument.dtype)[0]


def _argument(value: Any, what: str) -> tuple[Any, int]:
    """Return a buffer with an argument of a kernel, and its size, which is -1 for a pointer."""
    if isinstance(value, ctypes.c_void_p):
        return value, -1
    if value is None:
        return ctypes.c_void_p(None), -1
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data), -1
    if isinstance(value, bool | int | float):
        value = np.array(value)[()]
    if not isinstance(value, np.generic):
        raise TypeError(f"{what} is of {type(value)}, which no kernel takes")
    data = value.tobytes()
    return ctypes.create_string_buffer(data, len(data)), len(data)


class HostLaunches:
    """Launches to replay on the host, as `native.Launches`."""

    def __init__(self) -> None:
        self.launches: list[tuple[Launch, Places]] = []

    def tell(self, answer: int) -> None:
        self._answer = answer

    def run(self, stream: int, values: tuple[int, ...]) -> None:
        for (kernel, grid, arguments, shared), places in self.launches:
            pairs = zip(arguments, places, strict=True)
            given = [_with_values(argument, found, values) for argument, found in pairs]
            launch(kernel, grid, *given, shared=shared)

    def read(self, stream: int, address: int) -> int:
        return ctypes.c_int64.from_address(address).value

    def read_all(self, stream: int, address: int, count: int) -> list[int]:
        return list((ctypes.c_int64 * count).from_address(address))

    def answer(self, stream: int) -> int:
        return self.read(stream, self._answer)

    def copy(self, stream: int, target: int, source: int, count: int) -> None:
        ctypes.memmove(target, source, count)


class HostGpu(Gpu):
    """A CUDA device that the CPU plays, with NumPy as its array library.

    It claims to have little, so that kernels go on in steps of the grid. `workers` blocks run at
    the same time, and a kernel that takes more than `seconds` is given up. The `seed`, or else the
    environment variable CONNCOMP_HOST_CUDA_SEED, is of the order of blocks, of the interleaving of
    their threads, and of what shared memory holds at first; every launch has one of its own that
    follows from it. A process that uses the build for a `sanitizer`, "thread" or "address", has to
    be started by `run_sanitized`, which makes it the default there. Files are looked for in the
    folder `include`, too. Where there is no compiler, a test that makes one is skipped.
    """

    def __init__(
        self,
        *,
        multiprocessors: int = 2,
        resident_threads: int = 1024,
        shared_memory: int = 3500,
        workers: int = WORKERS,
        seconds: int = 100,
        seed: int | None = None,
        sanitizer: str | None = SANITIZER,
        include: str | Path | None = None,
    ) -> None:
        if not AVAILABLE:
            pytest.skip("the host executor needs Linux and a C++ compiler")
        self.xp = np
        self.device = 0
        self.multiprocessors = multiprocessors
        self.resident_threads = resident_threads
        self.shared_memory = shared_memory
        self.workers = workers
        self.seconds = seconds
        self.sanitizer = sanitizer
        self._include = None if include is None else Path(include)
        base = int(os.environ.get("CONNCOMP_HOST_CUDA_SEED", "0")) if seed is None else seed
        self._seed = base << 32
        self._kernels = {}

    @property
    def launched(self) -> int:
        """How many kernels were launched, each with a seed of its own."""
        return self._seed & 0xFFFFFFFF

    def next_seed(self) -> int:
        """Return the seed of the next launch."""
        self._seed += 1
        return self._seed

    def address(self, array: Any) -> int:
        return int(array.ctypes.data)

    def is_current(self) -> bool:
        return True

    def current_stream(self) -> int:
        return 0

    def is_capturing(self, stream: int) -> bool:
        return False

    def free_memory(self) -> int:
        return 1 << 40

    def new_answer(self) -> Any:
        return np.zeros(1, np.int64)

    def recorder(self) -> Any:
        return HostLaunches()

    def add_to(self, recorder: Any, launch: Launch, places: Places) -> None:
        recorder.launches.append((launch, places))

    def blocks_together(self, threads: int, most: int) -> int:
        return min(self.workers, super().blocks_together(threads, most))

    has_clusters = True  # whose blocks wait for each other as those of a grid do

    refusals: tuple[type[Exception], ...] = ()

    def together(self, kernel: Any) -> Any:
        return kernel

    def allow_cluster(self, kernel: Any) -> None:
        pass

    @contextmanager
    def loading(self, groups: Sequence[tuple[str, tuple[str, ...]]]) -> Iterator[None]:
        self.load_at_once(groups)
        yield

    def load_at_once(self, groups: Sequence[tuple[str, tuple[str, ...]]]) -> None:
        """Compile all as one text a file: headers are most of what a compiler here reads."""
        missing = defaultdict(list)
        for group in groups:
            if group not in self._kernels:
                missing[group[0]] += group[1]
        for file, names in missing.items():
            self._libraries(file, tuple(names))

    def _compile(self, file: str, names: tuple[str, ...]) -> list[Callable[..., None]]:
        return [
            _HostKernel(name, _function(place), self)
            for name, place in self._libraries(file, names).items()
        ]

    def _libraries(self, file: str, names: tuple[str, ...]) -> dict[str, Path]:
        """Return the library of each kernel; what no other call has asked for is compiled, as one.

        What needs neither types of values nor dimensions is asked for together with much else.
        """
        asked = tuple(name.replace("conncomp::", "") for name in names)
        flags, key = _flags_and_key(file, self.sanitizer, self._include)
        flags = (*flags, *_LINK[self.sanitizer])
        asked_for.keep(self.sanitizer, file, asked)
        places = [_place(key, name) for name in asked]
        if not all(map(Path.exists, places)):
            with _alone(key):
                missing = [name for name in asked if not _place(key, name).exists()]
                if missing and not _compile_ahead(file, missing, self.sanitizer, flags, key):
                    _compile_kernels(file, missing, flags, key)
        return dict(zip(names, places, strict=True))


def _place(key: str, name: str) -> Path:
    return CACHE / f"{_key(key, name)}.so"


@contextmanager
def _alone(key: str) -> Iterator[None]:
    """Wait for other processes that compile kernels of the same file."""
    with (CACHE / f"{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _compile_ahead(
    file: str, missing: list[str], sanitizer: str | None, flags: tuple[str, ...], key: str
) -> bool:
    """Compile kernels together with some that will be asked for; return whether that was done."""
    later = (name for name in asked_for.ahead(sanitizer, file) if name not in missing)
    chosen = [name for name in later if not _place(key, name).exists()]
    chosen = chosen[: max(asked_for.AT_ONCE - len(missing), 0)]
    if not chosen:
        return False
    try:
        _compile_kernels(file, missing + chosen, flags, key)
    except RuntimeError:  # the list is older than the kernels
        return False
    return True


def _compile_kernels(file: str, names: list[str], flags: tuple[str, ...], key: str) -> None:
    places = [_place(key, name) for name in names]
    launches = "".join(
        f'extern "C" int launch_{place.stem}(const host_cuda::Shape& shape, int count,'
        " const void* const* arguments, const int64_t* sizes, char* error) {\n"
        f"  return host_cuda::launch(conncomp::{name},"
        " shape, count, arguments, sizes, error);\n}\n"
        for name, place in zip(names, places, strict=True)
    )
    text = f"{source(file)}namespace conncomp {{\n{launches}}}\n".encode()
    _compile("kernels.cpp", text, flags, *places)


def interleavings(count: int) -> range:
    """Return the seeds of so many interleavings in a soak; else one of them, dealt by tests' names.

    ThreadSanitizer always has one: it looks for accesses without an order, which it sees however
    they interleave.
    """
    if dealt.SOAK and SANITIZER != "thread":
        return range(count)
    test = os.environ.get("PYTEST_CURRENT_TEST", "")  # which ends in " (call)"
    seed = crc32(test.rpartition(" ")[0].encode()) % count
    return range(seed, seed + 1)


def sanitizer_library(sanitizer: str) -> str | None:
    """Return the path of a sanitizer's runtime, or None where there is none."""
    # Those of clang are named and linked otherwise.
    if COMPILER is None or not AVAILABLE or "clang" in COMPILER:
        return None
    name = {"thread": "libtsan.so", "address": "libasan.so"}[sanitizer]
    done = subprocess.run(
        [COMPILER, f"-print-file-name={name}"], capture_output=True, text=True, check=True
    )
    path = Path(done.stdout.strip())
    return str(path.resolve()) if path.is_absolute() and path.exists() else None


class Forks:
    """The process for a sanitizer whose forks run scripts and tests, of this process."""

    def __init__(self, sanitizer: str) -> None:
        environment = {
            **os.environ,
            "LD_PRELOAD": str(sanitizer_library(sanitizer)),
            "CONNCOMP_HOST_CUDA_SANITIZER": sanitizer,
            "PYTHONMALLOC": "malloc",  # so that the ends of arrays are watched
            "OPENBLAS_NUM_THREADS": "1",
            "ASAN_OPTIONS": "detect_leaks=0",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            # The thread-local variables of a new thread (workers, shared memory) come from
            # malloc. Runtimes of before 2023 guess where they lie from the bytes ahead of them,
            # which can be anybody's, and then crash (google/sanitizers#1322). They need not know:
            # malloc is watched.
            "TSAN_OPTIONS": "history_size=4 atexit_sleep_ms=0 halt_on_error=1"
            " intercept_tls_get_addr=0",
        }
        environment.pop("PYTEST_ADDOPTS", None)
        soak = ["--soak"] if dealt.SOAK else []
        self._output = tempfile.TemporaryFile("a+")  # noqa: SIM115 - what all of them write
        self._answers, answers = os.pipe()
        self._process = subprocess.Popen(
            [*AT_FIXED_ADDRESSES, sys.executable, str(HERE / "forks.py"), str(answers), *soak],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            text=True,
            pass_fds=[answers],
            start_new_session=True,
        )
        os.close(answers)
        atexit.register(self.close)

    def run(self, *request: str) -> tuple[int, str]:
        """Let a fork run what is asked for, and return its exit status, and what it wrote."""
        begin = self._output.seek(0, os.SEEK_END)
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answered = select.select([self._answers], [], [], 600)[0]
        answer = os.read(self._answers, 20).decode() if answered else ""
        self._output.seek(begin)
        output = self._output.read()
        if not answer:  # it is still running, or the process came to an end itself
            self.close()
            raise RuntimeError(f"no answer of the process that runs {request}:\n{output}")
        return int(answer), output

    def close(self) -> None:
        """End the process, and what it runs."""
        _forks.cache_clear()
        atexit.unregister(self.close)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
        self._output.close()
        os.close(self._answers)


@cache
def _forks(sanitizer: str) -> Forks:
    return Forks(sanitizer)


def run_sanitized(sanitizer: str, *request: str) -> tuple[int, str]:
    """Run a Python script, or tests, for a sanitizer, whose build `HostGpu` takes by default.

    `request` is the path of a script, and its arguments; or "pytest", a file, and which of its
    tests, as for ``pytest -k``. Return the exit status, which is not 0 if the sanitizer found
    something, and what it and the script wrote.
    """
    return _forks(sanitizer).run(*map(str, request))


def check_sanitized(sanitizer: str, file: str, chosen: str) -> None:
    """Run the tests of a file that are `chosen`, as by ``pytest -k``, for a sanitizer."""
    if sanitizer_library(sanitizer) is None:
        pytest.skip(f"no runtime of the {sanitizer} sanitizer")
    code, output = run_sanitized(sanitizer, "pytest", file, chosen)
    assert code == 0, output[-10_000:]  # its last test, and the sanitizer's report
