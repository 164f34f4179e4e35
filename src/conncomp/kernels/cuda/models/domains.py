"""The domains of fields on a GPU: drives ``domains.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import INDEX_TYPES, Gpu, Module, Templates, launch
from conncomp.kernels.cuda.models import bricks
from conncomp.kernels.cuda.models.replicas import THREADS, Replicas, records_of
from conncomp.kernels.lattice import BITS, Lattice

FILE = "cuda/models/domains.cuh"
_MARK = Templates(FILE, "mark_phases<{value}>", value=(np.dtype(np.float32), np.dtype(np.float64)))
OF_PHASES = bricks.Kernels(FILE, "kPhases", "DomainSums")


class DomainKernels:
    """Kernels that count the domains of fields of one shape, whose axes all close on themselves."""

    def __init__(self, gpu: Gpu, shape: tuple[int, ...], count: int) -> None:
        self._gpu, self._lattice, self._count = gpu, _lattice(shape), count
        index = INDEX_TYPES[self._lattice.sites * count >= 1 << 31]
        replicas = Replicas(gpu, self._lattice, 0, 0, count)
        self._clusters = bricks.BrickClusters(replicas, index, OF_PHASES)

    def count(self, threshold: float, field: Any, records: Any) -> None:
        """Add what ``DomainSums`` has to the records, which have its entries as 0."""
        lattice, words = self._lattice, self._count * self._lattice.words
        phases = self._gpu.xp.empty(words, BITS)
        (mark,) = _MARK.load(self._gpu, field.dtype)
        blocks = self._gpu.grid(8 * words, THREADS)
        rows = lattice.columns, lattice.shape[-1]
        launch(mark, blocks, words, *rows, np.float64(threshold), field, phases)
        self._clusters.find(phases, records_of(self._gpu, records))


def takes(shape: tuple[int, ...], count: int) -> bool:
    """Whether `DomainKernels` takes fields."""
    return bricks.takes(_lattice(shape), count)


def _lattice(shape: tuple[int, ...]) -> Lattice:
    return Lattice(shape, (True,) * len(shape), 1)


def specialisations() -> Iterator[Module]:
    """Yield every module that `DomainKernels` loads."""
    yield from _MARK.modules()
    yield from bricks.specialisations(OF_PHASES)
