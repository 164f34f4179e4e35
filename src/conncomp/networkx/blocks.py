"""Many small objects, made without the garbage collector of Python in between.

It looks for cycles, and there are none; but in a large graph, which is millions of dictionaries, it
would take ten times as long as to make the objects.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")

LARGEST_BLOCK = 1 << 12


@contextmanager
def paused_collector() -> Iterator[None]:
    """Let the garbage collector wait, unless it is switched off anyway."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def in_blocks(items: Iterator[Item]) -> Iterator[Item]:
    """Generate items that are made some at a time: one at first, as more may not be asked for."""
    size = 1
    while True:
        with paused_collector():
            block = list(islice(items, size))
        yield from block
        if len(block) < size:
            return
        size = min(2 * size, LARGEST_BLOCK)
