"""Spins that are unit vectors, on a GPU: drives ``vector_spins.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import Gpu, launch
from conncomp.kernels.cuda.models.replicas import Over, Replicas
from conncomp.kernels.vector_spins import ANGLE, DIRECTION, Kind

FILE = "cuda/models/vector_spins.cuh"
# Rows that half a warp goes through: so many, by blocks for words, or one where these are too few
# blocks for the multiprocessors.
ROWS, BLOCKS_OF_MULTIPROCESSOR = 16, 4


class VectorKernels:
    """The kernels of spins of a kind.

    Parameters
    ----------
    gpu : Gpu
    replicas : Replicas
    kind : Kind
    negative : bool
        Whether the coupling is.
    """

    def __init__(self, gpu: Gpu, replicas: Replicas, kind: Kind, negative: bool) -> None:
        self._replicas, self._negative = replicas, np.int32(-1 if negative else 0)
        self._start, self._count, self._draw, self._reflect = gpu.load(FILE, _names(kind))
        blocks, _ = replicas.grid_over("words")
        large = blocks >= BLOCKS_OF_MULTIPROCESSOR * gpu.multiprocessors
        self._over: Over = "words" if large else "sites"
        self._rows = np.int32(ROWS if large and replicas.lattice.ndim > 1 else 1)

    def start(self, spins: Any) -> None:
        """Draw the first spins."""
        replicas = self._replicas
        launch(self._start, replicas.grid_over("sites"), replicas.struct(0, "sites"), spins)

    def count(self, spins: Any, records: Any) -> None:
        """Add what the spins tell to ``Records``."""
        self._launch(self._count, 0, spins, records)

    def draw(self, spins: Any, step: int, strengths: Any, bonds: Any, records: Any) -> None:
        """Draw the bonds of an update as words, and count them in ``Records``, if any."""
        self._launch(self._draw, step, spins, strengths, self._negative, bonds, records)

    def reflect(self, spins: Any, step: int, reflected: Any, new: Any) -> None:
        """Write the new spins, given words of which sites are reflected."""
        self._launch(self._reflect, step, spins, reflected, new)

    def _launch(self, kernel: Any, step: int, *arguments: Any) -> None:
        replicas, over = self._replicas, self._over
        struct = replicas.struct(step, over)
        launch(kernel, replicas.grid_over(over), struct, self._rows, *arguments)


def _names(kind: Kind) -> tuple[str, ...]:
    return tuple(
        f"{name}<conncomp::{kind.name}>"
        for name in ("start_vectors", "count_vectors", "draw_vector_bonds", "reflect_vectors")
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `VectorKernels` can load."""
    for kind in (ANGLE, DIRECTION):
        yield FILE, _names(kind)
