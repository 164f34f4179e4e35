"""The memory of the machine and of this process."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Files that hold the limit and the usage of a control group, of version 2 and of version 1.
GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)

MANY_BYTES = 1 << 30  # fewer are allocated without a look at how many there are

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
UNITS |= {f"{name}i": 2 ** (10 * k) for k, name in enumerate("kmgt", 1)}


def total_memory() -> int:
    """Return how many bytes of memory the machine has; 0 if nobody knows."""
    return _memory_of_pages("SC_PHYS_PAGES") or 0


def check_memory(what: str, num_bytes: int) -> None:
    """Raise MemoryError if something needs more bytes than the machine has.

    A pass over an array of broadcasting would take hours before that.
    """
    if num_bytes > MANY_BYTES and 0 < total_memory() < num_bytes:
        needed, known = (f"{size / 2**30:.0f} GiB" for size in (num_bytes, total_memory()))
        told = f"{what} takes {needed}, and the machine has {known} of memory"
        raise MemoryError(f"{told}; work on parts of the array")


def available_memory() -> int | None:
    """Return how many bytes of memory are free or can be made free; None if nobody knows."""
    return _field("/proc/meminfo", "MemAvailable") or _memory_of_pages("SC_AVPHYS_PAGES")


def free_memory() -> int:
    """Return how many bytes of memory the system, or the group of this process, has to give."""
    free = available_memory() or total_memory() or sys.maxsize
    for most, now in GROUPS:
        limit, used = _text(most).strip(), _text(now).strip()
        if limit.isdigit() and used.isdigit():
            free = min(free, max(int(limit) - int(used), 0))
    return free


def resident_memory() -> int:
    """Return how many bytes of memory this process has now; where nobody knows, its most so far."""
    return _field("/proc/self/status", "VmRSS") or _peak()


def peak_memory() -> int:
    """Return how many bytes of memory this process has had at most."""
    return _field("/proc/self/status", "VmHWM") or _peak()


@contextmanager
def memory_limit(limit: int | None) -> Iterator[None]:
    """Let allocations, used or not, raise MemoryError beyond so many bytes, on Linux."""
    data = _field("/proc/self/status", "VmData")
    if limit is None or data is None:
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    most = data + max(limit - resident_memory(), 0)
    if before[1] != resource.RLIM_INFINITY:
        most = min(most, before[1])
    resource.setrlimit(resource.RLIMIT_DATA, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _peak() -> int:
    import resource  # which not all systems have, and few calls need

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _memory_of_pages(pages: str) -> int | None:
    try:
        return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on this system
        return None


def _field(path: str, name: str) -> int | None:
    """Return the bytes of a line such as ``VmRSS:  512 kB``; None if there is none."""
    for line in _text(path).splitlines():
        field, _, value = line.partition(":")
        if field == name:
            return int(value.split()[0]) * 1024
    return None


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def parse_bytes(text: str) -> int:
    """Return a number of bytes, such as ``8G``, ``500 MB`` or ``2GiB``.

    >>> parse_bytes("8G"), parse_bytes("1.5 KiB")
    (8000000000, 1536)
    """
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?i?)b?\s*", text.lower())
    if match is None or match[2] not in UNITS:
        raise ValueError(f"memory={text!r} is no number of bytes such as 8G, 500M or 2GiB")
    return int(float(match[1]) * UNITS[match[2]])


def in_words(size: float) -> str:
    """Return a number of bytes in words.

    >>> in_words(8.1e9), in_words(25e6)
    ('8.1 GB', '25 MB')
    """
    return f"{size / 1e9:,.3g} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"
