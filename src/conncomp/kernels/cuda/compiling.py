"""Tell a person at a terminal who waits that kernels are being compiled, and what for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer, local

# Seconds after which it is told: kernels that CuPy finds on disk take less.
PATIENCE = 0.4
CLEARED = "\r\033[K"


class _Within(local):
    """Whether a thread is in such a context already."""

    already = False


_within = _Within()


@contextmanager
def telling(file: str) -> Iterator[None]:
    """Write a line on standard error if the context takes long, and take it away at the end.

    There is none where standard error is no terminal, and in a context within another one.
    """
    terminal = sys.stderr
    if terminal is None or not terminal.isatty() or _within.already:
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
    _within.already = True
    try:
        yield
    finally:
        _within.already = False
        timer.cancel()
        timer.join()  # it may be telling just now
        if told:
            terminal.write(CLEARED)
            terminal.flush()
