"""Percolation on a GPU: clusters by bricks, with their windings, or else by labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import INDEX_TYPES, current_gpu, launch
from conncomp.kernels.cuda.models import bricks
from conncomp.kernels.cuda.models.percolation import FILE, OF_BONDS, OF_SITES
from conncomp.kernels.cuda.models.replicas import RECORDS, Replicas
from conncomp.kernels.cuda.models.windings import ClusterWindings
from conncomp.kernels.lattice import BITS, Lattice
from conncomp.models._arguments import Drawn
from conncomp.models._wrapping import check_wrapping
from conncomp.models.percolation.labels import measure_by_labels
from conncomp.models.percolation.measurements import AXES


class Engine:
    """As the engine for the CPU, on the current CUDA device.

    Parameters
    ----------
    drawn : Drawn
    lattice : Lattice
    kind : {"site", "bond"}
    triangular : bool
    """

    def __init__(self, drawn: Drawn, lattice: Lattice, kind: str, triangular: bool) -> None:
        self._gpu, (replicas, first_replica, seed) = current_gpu(), drawn
        self.xp = self._gpu.xp
        self._lattice, self._of_bonds, self._triangular = lattice, kind == "bond", triangular
        self._planes = lattice.ndim if self._of_bonds else 1
        self._replicas = Replicas(self._gpu, lattice, seed, first_replica, replicas)
        self._clusters: bricks.BrickClusters | None = None
        self._windings: ClusterWindings | None = None
        if not triangular and bricks.takes(lattice, replicas):
            index = INDEX_TYPES[lattice.sites * replicas >= 1 << 31]
            kernels = OF_BONDS if self._of_bonds else OF_SITES
            self._clusters = bricks.BrickClusters(self._replicas, index, kernels)

    def check_measured(self) -> None:
        """Raise ValueError if the links over the ends of axes are too many."""
        if not any(self._lattice.periodic):
            return
        check_wrapping(self._lattice, self._replicas.count)
        if self._clusters is not None:
            self._windings = self._windings or ClusterWindings(self._replicas, AXES)

    def draw(self, step: int, probability: int | None, record: Any = None) -> Any:
        """Return configurations as words, and count what is there."""
        lattice = self._lattice
        shape = self._replicas.count, self._planes, lattice.rows, lattice.columns
        words = self.xp.empty(shape, BITS)
        (kernel,) = self._gpu.load(FILE, ("draw_configurations<>",))
        launch(
            kernel,
            self._replicas.grid,
            self._replicas.struct(step),
            np.uint64(probability or 0),
            np.bool_(probability is None),
            np.bool_(self._of_bonds),
            words,
            self._records(record),
        )
        return words

    def measure(self, step: int, probability: int | None, record: Any) -> None:
        """Draw configurations, and fill a record, (replicas, fields), of zeros."""
        words = self.draw(step, probability, record)
        if self._clusters is None:
            of_what = self._lattice, self._of_bonds, self._triangular
            measure_by_labels(self.xp, *of_what, words, record)
            return
        records = self._records(record)
        windings = None if self._windings is None else (self._windings, records)
        self._clusters.find(words, records, windings)

    def sweep(self, first: int, numbers: range, series: Any, wraps: Any) -> None:
        """Raise ValueError, as sweeps are of the CPU."""
        raise ValueError("sweeps run on the CPU; make the model with device='cpu'")

    def _records(self, record: Any) -> Any:
        if record is None:
            return np.zeros((), RECORDS)[()]
        return np.array((self._gpu.address(record), record.shape[-1]), RECORDS)[()]
