"""Lattices of one shape side by side, as the kernels of this folder take them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import INDEX_TYPES, Gpu, ctype
from conncomp.kernels.lattice import LATTICE, Lattice

SPINS, CLUSTERS = "cuda/models/spins.cuh", "cuda/models/clusters.cuh"
THREADS = 128
# How many blocks a multiprocessor gets, so that all of them end at about the same time.
BLOCKS_OF_MULTIPROCESSOR = 64

# ``Replicas`` and ``Records`` of ``spins.cuh``.
_STRUCT = np.dtype(
    [
        ("lattice", LATTICE),
        ("axes", "i4"),
        ("parts", "i4"),
        ("first", "i8"),
        ("seed", "u8"),
        ("step", "u4"),
    ],
    align=True,
)
RECORDS = np.dtype([("record", "u8"), ("length", "i8")])


class Replicas:
    """Lattices of one shape, and which random numbers are theirs.

    Parameters
    ----------
    gpu : Gpu
    lattice : Lattice
    seed, first : int
        Of the random numbers, and the number of the first replica.
    count : int
        How many replicas there are.

    Attributes
    ----------
    grid : tuple of int
        Blocks, and their threads, of kernels that go through words.
    """

    def __init__(self, gpu: Gpu, lattice: Lattice, seed: int, first: int, count: int) -> None:
        self.gpu, self.lattice, self.count = gpu, lattice, count
        wanted = -(-gpu.multiprocessors * BLOCKS_OF_MULTIPROCESSOR // count)
        parts = max(1, min(-(-lattice.words // THREADS), wanted))
        self.grid = count * parts, THREADS
        struct = np.zeros((), _STRUCT)
        struct["lattice"], struct["axes"], struct["parts"] = lattice.struct, lattice.ndim, parts
        struct["first"], struct["seed"] = first, seed
        self._struct = struct

    def struct(self, step: int) -> Any:
        """Return ``Replicas`` for an update."""
        self._struct["step"] = step
        return self._struct[()]


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that engines load but for updates by bricks."""
    for name in ("start_spins<>", "activate_bonds<>", "count_states<>", "update_class<>"):
        yield SPINS, (name,)
    yield CLUSTERS, ("spread_bonds<>",)
    for index in INDEX_TYPES:
        for name in ("choose_clusters", "flip_clusters", "measure_clusters", "sum_clusters"):
            yield CLUSTERS, (f"{name}<{ctype(index)}>",)
