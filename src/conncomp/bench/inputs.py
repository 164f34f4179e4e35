"""An input to measure on: what it is, how it is made, and how much memory that takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from conncomp._memory import available_memory
from conncomp.graph import Graph

# The first is for tests: whole suites of it run in seconds.
SIZES = ("tiny", "small", "medium", "full")

# Memory at the peak, measured with all other libraries. Beyond MOST_OBJECTS arcs, those that hold
# edges as Python objects are left out.
ARC_BYTES, VERTEX_BYTES, ELEMENT_BYTES = 56, 64, 48
MOST_OBJECTS, OBJECT_BYTES = 1 << 23, 100

# On a GPU, of the input, the labels and a workspace; arcs that are made there take more.
GPU_ARC_BYTES, GPU_VERTEX_BYTES, GPU_ELEMENT_BYTES = 16, 32, 24
GPU_MADE_ARC_BYTES = 56


@dataclass(frozen=True)
class Input:
    """An input of a suite."""

    name: str  # unique in its suite, and the same at every size
    description: str
    num_bytes: int  # an estimate of the memory needed to make it and to label it
    make: Callable[..., Graph | NDArray[Any]]
    stand_in: bool = False  # whether it stands in for data that others published
    connectivity: int = 0  # as for conncomp.label; 0 for a graph
    gpu_bytes: int = 0  # an estimate of the GPU's memory for the same


def check_memory(inputs: Iterable[Input], gpu_free: int | None = None) -> None:
    """Raise MemoryError if an input has too little memory, here or on the GPU."""
    free = available_memory()
    for entry in inputs:
        both = (entry.num_bytes, free, ""), (entry.gpu_bytes, gpu_free, " on the GPU")
        for needed, available, where in both:
            if available is not None and needed > available:
                raise MemoryError(
                    f"{entry.name} needs some {in_bytes(needed)}{where}, and {in_bytes(available)} "
                    "are available; choose others with --input, or a smaller --size"
                )


def in_bytes(count: float) -> str:
    """Return a number of bytes in words.

    >>> in_bytes(4_200_000_000)
    '4.2 GB'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
