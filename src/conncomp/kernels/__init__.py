"""The kernels in C++ and CUDA C++, and beside each CUDA kernel the Python that drives it."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import perf_counter
from typing import Any

import numpy as np

deadline: float | None = None  # when `time_limit` is over; None when there is none


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Let launches fail after so many seconds, not counting compilation.

    This ends calls that wait for the GPU now and then; sweeps on the CPU ask for `seconds_left`.
    """
    global deadline
    outer, deadline = deadline, perf_counter() + seconds
    try:
        yield
    finally:
        deadline = outer


def seconds_left() -> float:
    """Return the seconds left of a `time_limit`, or infinity."""
    return inf if deadline is None else deadline - perf_counter()


def extend_time_limit(seconds: float) -> None:
    """Do not count these seconds, which compilation took."""
    global deadline
    if deadline is not None:
        deadline += seconds


def layout(*fields: tuple[str, Any]) -> np.dtype[Any]:
    """Return the layout of a struct in C++, given names between spaces and their type."""
    return np.dtype([(name, kind) for names, kind in fields for name in names.split()], align=True)
