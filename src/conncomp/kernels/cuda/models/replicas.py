"""Lattices of one shape side by side, as the kernels of this folder take them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import INDEX_TYPES, WARP, Gpu, ctype
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
    grid, site_grid : tuple of int
        Blocks, and their threads, of kernels that go through words, a thread each, and of those
        that go through sites.
    """

    def __init__(self, gpu: Gpu, lattice: Lattice, seed: int, first: int, count: int) -> None:
        self.gpu, self.lattice, self.count = gpu, lattice, count
        wanted = -(-gpu.multiprocessors * BLOCKS_OF_MULTIPROCESSOR // count)

        def parts(threads: int) -> int:
            return max(1, min(-(-threads // THREADS), wanted))

        of_words, of_sites = parts(lattice.words), parts(lattice.words * WARP)
        self.grid, self.site_grid = (count * of_words, THREADS), (count * of_sites, THREADS)
        struct = np.zeros((), _STRUCT)
        struct["lattice"], struct["axes"] = lattice.struct, lattice.ndim
        struct["first"], struct["seed"] = first, seed
        self._struct, self._site_struct = struct, struct.copy()
        self._struct["parts"], self._site_struct["parts"] = of_words, of_sites

    def struct(self, step: int) -> Any:
        """Return ``Replicas`` for an update, of kernels on `grid`."""
        self._struct["step"] = step
        return self._struct[()]

    def site_struct(self, step: int) -> Any:
        """Return ``Replicas`` for an update, of kernels on `site_grid`."""
        self._site_struct["step"] = step
        return self._site_struct[()]


_OF_LABELS = "choose_clusters", "flip_clusters", "clear_sizes", "measure_clusters", "sum_clusters"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that engines load but for updates by bricks."""
    for name in ("start_spins<>", "activate_bonds<>", "count_states<>", "update_class<>"):
        yield SPINS, (name,)
    yield CLUSTERS, ("spread_bonds<>",)
    for index in INDEX_TYPES:
        for name in _OF_LABELS:
            yield CLUSTERS, (f"{name}<{ctype(index)}>",)
