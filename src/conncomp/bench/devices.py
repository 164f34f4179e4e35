"""Devices to measure on: they move data there and back, and time calls."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np

import conncomp
from conncomp._memory import available_memory, total_memory
from conncomp._system import cuda_version, processor_name
from conncomp.kernels.cuda import launcher


def commit() -> tuple[str | None, bool | None]:
    """Return this library's commit and whether files differ from it; None if installed."""
    folder = Path(conncomp.__file__).parent

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "__init__.py")  # not just inside someone's repository
        return git("rev-parse", "HEAD"), bool(git("status", "--porcelain", "-uno"))
    except (OSError, subprocess.CalledProcessError):
        return None, None


def _last_level_cache() -> int:
    caches = Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
    sizes = [path.read_text().strip() for path in caches]
    in_kib = (int(size.removesuffix("K")) for size in sizes if size.endswith("K"))
    return max(in_kib, default=0) << 10 or 32 << 20


DeviceName = Literal["cpu", "cuda"]
Call = Callable[[], Any]

WARM_UP = 0.05  # seconds of work after which a GPU is at its full clock rate
SHORTEST_SECONDS = 5e-7  # that events tell apart
COPY_BYTES = 1 << 30


class Cpu:
    """The processor and the main memory."""

    name: DeviceName = "cpu"

    def describe(self) -> dict[str, Any]:
        """Return the processor, its cores, the memory and the system."""
        facts: dict[str, Any] = {"cpu": processor_name(), "cores": os.cpu_count() or 1}
        facts["memory_bytes"] = total_memory()
        return facts | {"system": f"{platform.system()} {platform.release()}"}

    def versions(self) -> dict[str, str]:
        """Return the versions of its libraries."""
        return {}

    def copy_rate(self, threads: int) -> float:
        """Return bytes read plus written per second by a copy of more than caches hold."""
        size = max(4 * _last_level_cache(), 1 << 26)
        if free := available_memory():
            size = min(size, free // 8)
        source, target = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
        split = (np.array_split(whole, threads) for whole in (target, source))
        parts = list(zip(*split, strict=True))
        seconds = []
        with ThreadPoolExecutor(threads) as crew:
            for _ in range(8):
                start = perf_counter()
                list(crew.map(lambda part: np.copyto(*part), parts))
                seconds.append(perf_counter() - start)
        return 2 * size / statistics.median(seconds[1:])

    def free_memory(self) -> int | None:
        """Return the free bytes of a memory of its own; None without one."""
        return None

    @contextmanager
    def current(self) -> Iterator[None]:
        """Run calls on this device, and free their memory afterwards."""
        yield

    def place(self, data: Any) -> Any:
        """Move a graph or an array from the main memory."""
        return data

    def fetch(self, array: Any) -> Any:
        """Return an array of this device or the main memory as a NumPy array."""
        return array

    def warm_up(self, call: Call) -> None:
        """Make the device as fast as it gets."""

    def seconds(self, call: Call) -> float:
        """Return how long a call takes."""
        start = perf_counter()
        result = call()  # which is freed only when the time has been taken
        elapsed = perf_counter() - start
        del result
        return elapsed


class Cuda(Cpu):
    """The current CUDA device; timed calls work on a stream of their own."""

    name: DeviceName = "cuda"

    def __init__(self) -> None:
        self.cupy = launcher.import_cupy()
        # It can be captured, and waits for the null stream, on which other libraries work.
        self.stream = self.cupy.cuda.Stream()

    def describe(self) -> dict[str, Any]:
        """Add the GPU."""
        runtime = self.cupy.cuda.runtime
        properties = runtime.getDeviceProperties(runtime.getDevice())
        gpu = {"name": properties["name"].decode()}
        gpu |= {"memory_bytes": int(properties["totalGlobalMem"])}
        versions = {"driver": runtime.driverGetVersion(), "runtime": runtime.runtimeGetVersion()}
        gpu |= {name: cuda_version(number) for name, number in versions.items()}
        return super().describe() | {"gpu": gpu}

    def versions(self) -> dict[str, str]:
        """Return CuPy's version."""
        return {"cupy": str(self.cupy.__version__)}

    def copy_rate(self, threads: int) -> float:
        """Return the same rate of the GPU's memory."""
        size = min(COPY_BYTES, (self.free_memory() or 0) // 4)
        with self.current():
            arrays = self.cupy.zeros(size, "u1"), self.cupy.zeros(size, "u1")
            copy = partial(self.cupy.copyto, *arrays)
            self.warm_up(copy)
            rate = 2 * size / statistics.median(self.seconds(copy) for _ in range(15))
            del arrays, copy  # before memory is given back
        return rate

    def free_memory(self) -> int | None:
        """Return the free bytes of the GPU."""
        return int(self.cupy.cuda.runtime.memGetInfo()[0])

    @contextmanager
    def current(self) -> Iterator[None]:
        """Run calls on the stream, and give memory back afterwards."""
        with self.stream:
            yield
            self.stream.synchronize()
        self.cupy.get_default_memory_pool().free_all_blocks()

    def place(self, data: Any) -> Any:
        """Copy to the GPU."""
        placed = self.cupy.asarray(data) if isinstance(data, np.ndarray) else data.to("cuda")
        self.stream.synchronize()
        return placed

    def fetch(self, array: Any) -> Any:
        """Copy back, if need be."""
        return self.cupy.asnumpy(array)

    def warm_up(self, call: Call) -> None:
        """Call until the GPU reaches its clock rate."""
        start = perf_counter()
        while perf_counter() - start < WARM_UP:
            self.seconds(call)

    def seconds(self, call: Call) -> float:
        """Return the GPU's time from the begin of a call to the end of all its work."""
        start, stop = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        start.record()
        call()
        stop.record()
        stop.synchronize()
        return max(float(self.cupy.cuda.get_elapsed_time(start, stop)) / 1e3, SHORTEST_SECONDS)

    def capture(self, call: Call) -> Call:
        """Return as a CUDA graph a call that ran before, and neither allocates nor waits."""
        self.stream.begin_capture()
        try:
            call()
        except Exception:
            with suppress(Exception):  # which would only say that the capture failed
                self.stream.end_capture()
            raise
        replay: Call = self.stream.end_capture().launch
        return replay


DEVICES: dict[str, type[Cpu]] = {"cpu": Cpu, "cuda": Cuda}
