"""The machine, its GPUs and what is set in the environment: what a bug report needs.

A sentence stands for a value that is missing or cannot be read. Drivers, which may hang or
crash, are asked in a process of its own, for up to `PATIENCE` seconds.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from conncomp._memory import total_memory
from conncomp.kernels.cuda.launcher import import_cupy

# CuPy takes some ten seconds where its files are read from a slow disk for the first time.
PATIENCE = 60.0

# Variables by which conncomp, CuPy or NetworkX work otherwise, or load other files.
VARIABLES = (
    *("CONNCOMP_CPU", "OMP_NUM_THREADS", "NETWORKX_BACKEND_PRIORITY", "CUDA_VISIBLE_DEVICES"),
    *("CUDA_PATH", "CUPY_CACHE_DIR", "CUPY_GPU_MEMORY_LIMIT"),
    *("LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH"),
)


def machine_facts() -> dict[str, str]:
    """Return the system, the processor and the memory, in words."""
    count = str(os.cpu_count() or 1)
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return {
        "platform": platform.platform(),
        "machine": platform.machine(),
        "processor": processor_name(),
        "processors": count if allowed is None else f"{count}, {allowed} of them for this process",
        "memory": f"{total_memory() / 1e9:.1f} GB" if total_memory() else "unknown",
    }


def processor_name() -> str:
    """Return the name that the maker gave the processor."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    if sys.platform == "darwin":
        return _answer(("sysctl", "-n", "machdep.cpu.brand_string"), 5.0).strip()
    return platform.processor() or platform.machine()


def variables() -> dict[str, str]:
    """Return the environment variables that matter and are set."""
    return {name: os.environ[name] for name in VARIABLES if name in os.environ}


def gpu_facts(patience: float = PATIENCE) -> dict[str, str]:
    """Return the GPUs and the versions of CUDA, or the reason why they cannot be used."""
    command = (sys.executable, "-c", "from conncomp import _system; _system.print_cuda_facts()")
    answer = _answer(command, patience)
    try:
        facts: dict[str, str] = json.loads(answer.splitlines()[-1])
    except (IndexError, ValueError):
        facts = {"gpu": answer.strip() or "CuPy ended without an answer"}
    query = ("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    return facts | {"nvidia-smi": "; ".join(_answer(query, min(patience, 20.0)).splitlines())}


def print_cuda_facts() -> None:
    """Print the GPUs and the versions of CUDA, by CuPy, as JSON on one line."""
    try:
        cupy = import_cupy()
    except Exception as error:  # a library that does not fit raises whatever it likes
        print(json.dumps({"gpu": _in_words(error)}))
        return
    runtime = cupy.cuda.runtime
    questions: dict[str, Callable[[], str]] = {
        "gpu": lambda: "; ".join(
            _device(runtime.getDeviceProperties(k)) for k in range(runtime.getDeviceCount())
        ),
        "cupy": lambda: str(cupy.__version__),
        "cuda of the driver": lambda: cuda_version(runtime.driverGetVersion()),
        "cuda runtime": lambda: cuda_version(runtime.runtimeGetVersion()),
        "nvrtc": lambda: ".".join(map(str, cupy.cuda.nvrtc.getVersion())),
    }
    facts = {}
    for name, question in questions.items():
        try:
            facts[name] = question()
        except Exception as error:
            facts[name] = _in_words(error)
    print(json.dumps(facts))


def _device(properties: dict[str, Any]) -> str:
    name, memory = properties["name"], int(properties["totalGlobalMem"]) / 1e9
    named = name.decode() if isinstance(name, bytes) else name
    capability = f"{properties['major']}.{properties['minor']}"
    return f"{named}, {memory:.1f} GB, compute capability {capability}"


def cuda_version(number: int) -> str:
    """Return a version of CUDA as it is written.

    >>> cuda_version(12080)
    '12.8'
    """
    return f"{number // 1000}.{number % 1000 // 10}"


def _in_words(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _answer(command: Sequence[str], patience: float) -> str:
    """Return the output of a command, or why it has none."""
    name = Path(command[0]).name or "the interpreter"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    streams: Any = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    try:
        process: subprocess.Popen[str] = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, text=True, env=environment, **streams
        )
    except OSError:
        return f"{name} cannot be run"
    try:
        output, flaw = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        with suppress(subprocess.TimeoutExpired):  # not even killed, if the driver holds it
            process.communicate(timeout=1)
        return f"{name} did not answer within {patience:g} s"
    if process.returncode:
        return f"{name} ended with status {process.returncode}: {' '.join(flaw.split()[-40:])}"
    return output
