"""Whether what a model holds fits the memory, said in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from conncomp._memory import total_memory


@contextmanager
def room_for(what: str, num_bytes: int) -> Iterator[None]:
    """Say how much memory something takes where there is too little to make it."""
    try:
        yield
    except (MemoryError, ValueError):  # the latter if the size is beyond any address
        raise _too_much(what, num_bytes) from None


def room_on_host(what: str, num_bytes: int) -> AbstractContextManager[None]:
    """Do so for main memory; ask for no more than there is, as systems end who writes it."""
    if num_bytes > (total_memory() or num_bytes):
        raise _too_much(what, num_bytes)
    return room_for(what, num_bytes)


def _too_much(what: str, num_bytes: int) -> MemoryError:
    return MemoryError(f"{what}, take {num_bytes} bytes, more than are free; choose fewer")


def check_room(gpu: Any, what: str, num_bytes: int) -> None:
    """Raise MemoryError unless something fits the memory of a GPU."""
    available = gpu.free_memory()
    if num_bytes > available:
        raise MemoryError(
            f"{what} take {num_bytes} bytes on the GPU, which has {available} free; choose fewer, "
            "or smaller ones"
        )
