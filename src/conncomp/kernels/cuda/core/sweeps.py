"""Sweeps until one changes nothing: the host's side of ``sweeps.cuh``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from conncomp.kernels.cuda.launcher import COUNT, first_entry

# To be taken from a workspace: the number of the last sweep that has changed anything.
LAST_CHANGE = (1, COUNT)
# An empty launch takes a few microseconds, to wait for the GPU several times as long.
BATCH = 8
# Where a sweep is several launches and few sweeps are needed.
SMALL_BATCH = 2

# The numbers of sweeps that are counted; None when they are not.
_counted: list[int] | None = None


@contextmanager
def counted_sweeps() -> Iterator[list[int]]:
    """List what each `sweep_until_settled` of a context returns."""
    global _counted
    outer, _counted = _counted, []
    try:
        yield _counted
    finally:
        _counted = outer


def sweep_until_settled(sweep: Callable[[int], None], last_change: Any, batch: int = BATCH) -> int:
    """Call ``sweep(0)``, ``sweep(1)``, ... until one has changed nothing; return how many have.

    It waits for the GPU after every `batch` sweeps. A kernel has started `last_change`, which is
    `LAST_CHANGE`.
    """
    number = 0
    while True:
        for _ in range(batch):
            sweep(number)
            number += 1
        if (last := first_entry(last_change)) != number - 1:
            changing = max(last, -1) + 1
            if _counted is not None:
                _counted.append(changing)
            return changing
