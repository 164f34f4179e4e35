"""Percolation on the CPU: passes arrays to ``kernels/cpu/models/percolation/percolation.h``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.kernels.lattice import MOST_AXES, Lattice
from conncomp.kernels.updates import Drawn
from conncomp.models.percolation.lattices import Geometry

MOST_SITES = (1 << 31) - 1


class PercolationEngine:
    """Configurations of replicas, as words, and what is measured of them; runs of sweeps."""

    xp: Any = np

    def __init__(self, drawn: Drawn, cells: Lattice, geometry: Geometry) -> None:
        self._cells, self._sites = cells, cells.sites * geometry.sites_of_cell
        self._drawn, self._planes = drawn, geometry.planes
        before = (0,) * (MOST_AXES - cells.ndim)
        kinds = [
            (site, [((*before, *step), to) for step, to in steps]) for site, steps in geometry.kinds
        ]
        self._native = native.PercolationLattice(
            *cells.closed_lengths, cells.ndim, geometry.of_bonds, geometry.sites_of_cell, kinds
        )

    def check_measured(self) -> None:
        """Raise ValueError if the lattice is too large for what is measured of clusters."""
        if self._sites > MOST_SITES:
            raise ValueError(
                f"shape={self._cells.shape} has {self._sites} sites; clusters of at most "
                f"{MOST_SITES} are measured on a CPU"
            )

    def draw(self, number: int, probability: int | None) -> NDArray[np.uint64]:
        """Return configurations as words, (replicas, planes, rows, columns); None is certain."""
        words = np.empty(*self._cells.words_of(self._drawn.replicas, self._planes))
        certain = probability is None
        self._native.draw(*self._drawn, number, probability or 0, certain, words.reshape(-1))
        return words

    def measure(self, number: int, probability: int | None, record: NDArray[np.int64]) -> None:
        """Draw configurations, and fill a record, (replicas, fields), of zeros."""
        self.measure_words(self.draw(number, probability), record)

    def measure_words(self, words: NDArray[np.uint64], record: NDArray[np.int64]) -> None:
        """Fill a record of given configurations."""
        self._native.measure(self._drawn.replicas, words.reshape(-1), record.reshape(-1))

    def sweep(self, first: int, numbers: range, series: Any, wraps: Any) -> None:
        """Add to series, (batches, numbers, fields), and fill wraps, (runs, ndim + 1)."""
        sums, begin, end = series.reshape(-1), numbers.start, numbers.stop
        runs, batches, seed = len(wraps), len(series), self._drawn.seed
        self._native.sweep(seed, first, runs, batches, begin, end, sums, wraps.reshape(-1))
