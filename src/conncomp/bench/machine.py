"""The machine that is measured on: what it is, and how fast it copies."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import conncomp
from conncomp._memory import available_memory, total_memory
from conncomp._system import processor_name


def machine() -> dict[str, Any]:
    """Return the processor, its cores, the memory and the system."""
    return {
        "cpu": processor_name(),
        "cores": os.cpu_count() or 1,
        "memory_bytes": total_memory(),
        "system": f"{platform.system()} {platform.release()}",
    }


def commit() -> tuple[str | None, bool | None]:
    """Return the commit of this library and whether files differ from it; None if installed."""
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


def copy_rate(threads: int) -> float:
    """Return bytes read plus bytes written in a second when so many threads copy memory.

    The median of several copies of an array that is several times as large as the last-level cache.
    """
    size = max(4 * _last_level_cache(), 1 << 26)
    if free := available_memory():
        size = min(size, free // 8)
    source, target = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    parts = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
    seconds = []
    with ThreadPoolExecutor(threads) as crew:
        for _ in range(8):
            start = perf_counter()
            list(crew.map(lambda part: np.copyto(*part), parts))
            seconds.append(perf_counter() - start)
    return 2 * size / statistics.median(seconds[1:])


def _last_level_cache() -> int:
    """Return the size of the largest cache, or a usual one."""
    sizes = []
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        digits = path.read_text().strip()
        sizes.append(int(digits.removesuffix("K")) << 10 if digits.endswith("K") else 0)
    return max(sizes, default=0) or 32 << 20
