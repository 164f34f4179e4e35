"""Whether what a model holds fits the memory, said in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def room_for(what: str, num_bytes: int) -> Iterator[None]:
    """Say how much memory something takes where there is too little to make it."""
    try:
        yield
    except (MemoryError, ValueError):  # the latter if the size is beyond any address
        raise MemoryError(
            f"{what}, take {num_bytes} bytes, more than are free; choose fewer"
        ) from None


def check_room(gpu: Any, what: str, num_bytes: int) -> None:
    """Raise MemoryError unless something fits the memory of a GPU."""
    available = gpu.free_memory()
    if num_bytes > available:
        raise MemoryError(
            f"{what} take {num_bytes} bytes on the GPU, which has {available} free; choose fewer, "
            "or smaller ones"
        )
