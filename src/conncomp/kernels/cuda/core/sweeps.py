"""Sweeps until one changes nothing: the host's side of ``sweeps.cuh``."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import first_entry

STRIDE, TURNS = 32, 3
# To be taken from a workspace: three flags with a cache line each.
FLAGS = (STRIDE * TURNS, np.dtype(np.int32))
# An empty launch takes a few microseconds, to wait for the GPU several times as long.
BATCH = 8


def sweep_until_settled(sweep: Callable[[int], None], flags: Any) -> None:
    """Call ``sweep(0)``, ``sweep(1)``, ... until one has changed nothing, and up to 7 times more.

    It waits for the GPU, so the caller cannot be captured in a CUDA graph.

    Parameters
    ----------
    sweep : callable
        Launches the kernels of a sweep.
    flags : array
        `FLAGS` of a workspace.
    """
    for number in count():
        sweep(number)
        turn = STRIDE * (number % TURNS)
        if number % BATCH == BATCH - 1 and not first_entry(flags[turn : turn + 1]):
            return
