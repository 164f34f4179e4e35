"""Sweeps until one changes nothing: the host's side of ``sweeps.cuh``."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from conncomp.kernels.cuda.launcher import COUNT, first_entry

# To be taken from a workspace: the number of the last sweep that has changed anything.
LAST_CHANGE = (1, COUNT)
# An empty launch takes a few microseconds, to wait for the GPU several times as long.
BATCH = 8


def sweep_until_settled(sweep: Callable[[int], None], last_change: Any) -> None:
    """Call ``sweep(0)``, ``sweep(1)``, ... until one has changed nothing, and up to 7 times more.

    It waits for the GPU, so the caller cannot be captured in a CUDA graph.

    Parameters
    ----------
    sweep : callable
        Launches the kernels of a sweep.
    last_change : array
        `LAST_CHANGE` of a workspace; a kernel before has started it.
    """
    for number in count():
        sweep(number)
        if number % BATCH == BATCH - 1 and first_entry(last_change) != number:
            return
