"""Percolation on a GPU: clusters by bricks, with their windings, or else by labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp._arguments import shown
from conncomp.kernels.cuda.launcher import Gpu
from conncomp.kernels.cuda.models import bricks
from conncomp.kernels.cuda.models.replicas import ClusterWindings, Replicas, records_of
from conncomp.kernels.lattice import Lattice
from conncomp.kernels.updates import Drawn
from conncomp.models.observables.series import check_wrapping
from conncomp.models.percolation.lattices import Geometry
from conncomp.models.percolation.measurements import AXES, are_labelled, measure_by_labels


class PercolationEngine:
    """As the engine for the CPU, on the current CUDA device; not of all lattices."""

    def __init__(self, gpu: Gpu, drawn: Drawn, cells: Lattice, geometry: Geometry) -> None:
        if not are_labelled(geometry):
            raise ValueError(
                f"kind={'bond' if geometry.of_bonds else 'site'!r} of "
                f"lattice={shown(geometry.name)} is for the CPU: a GPU has sites of cells of one "
                "site, and bonds of lattice='square'; use device='cpu'"
            )
        self.gpu, self.xp, replicas = gpu, gpu.xp, drawn.replicas
        self._lattice, self._geometry, self._of_bonds = cells, geometry, geometry.of_bonds
        self._replicas = Replicas(gpu, drawn, cells)
        self._clusters: bricks.BrickClusters | None = None
        self._windings: ClusterWindings | None = None
        if geometry.is_hypercubic and bricks.takes(cells, replicas):
            tasks = bricks.OF_BONDS if self._of_bonds else bricks.OF_SITES
            self._clusters = bricks.BrickClusters(self._replicas, tasks)

    def check_measured(self) -> None:
        """Raise ValueError if the links over the ends of axes are too many."""
        if not any(self._lattice.periodic):
            return
        check_wrapping(self._lattice, self._replicas.count)
        if self._clusters is not None:
            self._windings = self._windings or ClusterWindings(self._replicas, AXES)

    def draw(self, number: int, probability: int | None, record: Any = None) -> Any:
        """Return configurations as words, and count what is there."""
        words = self.xp.empty(*self._lattice.words_of(self._replicas.count, self._geometry.planes))
        (kernel,) = bricks.DRAW.load(self.gpu)
        chance, certain = np.uint64(probability or 0), np.bool_(probability is None)
        records, of_bonds = records_of(self.gpu, record), np.bool_(self._of_bonds)
        self._replicas.launch(kernel, number, chance, certain, of_bonds, words, records)
        return words

    def measure(self, number: int, probability: int | None, record: Any) -> None:
        """Draw configurations, and fill a record, (replicas, fields), of zeros."""
        words = self.draw(number, probability, record)
        if self._clusters is None:
            measure_by_labels(self.xp, self._lattice, self._geometry, words, record)
            return
        self._clusters.find(words, records_of(self.gpu, record), windings=self._windings)

    def sweep(self, first: int, numbers: range, series: Any, wraps: Any) -> None:
        """Raise ValueError, as sweeps are of the CPU."""
        raise ValueError("sweeps run on the CPU; make the model with device='cpu'")
