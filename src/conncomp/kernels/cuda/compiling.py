"""Tell a person at a terminal who waits that kernels are being compiled, and what for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

# Seconds after which it is told: kernels that CuPy finds on disk take less.
PATIENCE = 0.4
CLEARED = "\r\033[K"


@contextmanager
def telling(file: str) -> Iterator[None]:
    """Write a line on standard error if the context takes long, and take it away at the end.

    There is none where standard error is no terminal.
    """
    terminal = sys.stderr
    if terminal is None or not terminal.isatty():
        yield
        return
    told = []

    def tell() -> None:
        told.append(file)
        terminal.write(f"{CLEARED}conncomp compiles kernels for this GPU, this once: {file}")
        terminal.flush()

    timer = Timer(PATIENCE, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # it may be telling just now
        if told:
            terminal.write(CLEARED)
            terminal.flush()
