"""Texts and options of kernel files for NVRTC, and a line for users who wait for it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Timer, local

SOURCES = Path(__file__).parent.parent

# Seconds until a line says what is compiled: kernels that CuPy finds on disk take less.
PATIENCE = 0.4
CLEARED = "\r\033[K"


class _Thread(local):
    telling = False


_thread = _Thread()


def source(file: str) -> str:
    """Return the text to compile for a kernel file, given relative to `SOURCES`."""
    return f'#include "{file}"\n'


@cache
def includes(file: str) -> frozenset[str]:
    """Return a kernel file and all files of this package that it includes, directly or not."""
    files, waiting = {file}, [file]
    while waiting:
        for name in _INCLUDE.findall((SOURCES / waiting.pop()).read_text("utf-8")):
            if name not in files and (SOURCES / name).exists():
                files.add(name)
                waiting.append(name)
    return frozenset(files)


_INCLUDE = re.compile(r'^#include "([^"]+)"$', re.MULTILINE)


@cache
def compile_options(file: str) -> tuple[str, ...]:
    """Return the options of NVRTC for a kernel file.

    One is a hash of all included files: CuPy caches kernels by options and the text of `source`.
    """
    digest = sha256()
    for name in sorted(includes(file)):
        digest.update((SOURCES / name).read_bytes())
    return (
        "-std=c++20",
        "-default-device",  # functions need no __device__: those of core/ are plain C++
        "-fmad=false",  # floating-point results are those of the CPU, to the last bit
        "-device-int128",  # sums of products of coordinates need 128 bits
        f"-I{SOURCES}",
        f"-DCONNCOMP_SOURCES={digest.hexdigest()[:16]}",
    )


@contextmanager
def telling(file: str) -> Iterator[None]:
    """Write a line on standard error if the context takes long, and erase it at the end.

    Nothing is written if standard error is no terminal, or within another `telling` of a thread.
    """
    terminal = sys.stderr
    if terminal is None or not terminal.isatty() or _thread.telling:
        yield
        return
    told = []

    def tell() -> None:
        told.append(f"{CLEARED}conncomp compiles kernels for this GPU, this once: {file}")
        print(*told, end="", file=terminal, flush=True)

    timer = Timer(PATIENCE, tell)
    timer.daemon = True
    timer.start()
    _thread.telling = True
    try:
        yield
    finally:
        _thread.telling = False
        timer.cancel()
        timer.join()  # it may be telling just now
        if told:
            print(CLEARED, end="", file=terminal, flush=True)
