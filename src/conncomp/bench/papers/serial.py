"""What the CPU takes on one thread, as the programs of the papers do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import conncomp
from conncomp.bench.devices import Cpu


def one_thread_seconds(call: Callable[[], Any]) -> float:
    """Return how long a call takes on one thread of the CPU."""
    threads = conncomp.get_num_threads()
    conncomp.set_num_threads(1)
    try:
        return Cpu().seconds(call)
    finally:
        conncomp.set_num_threads(threads)
