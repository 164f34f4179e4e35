"""Spins that are vectors on the CPU: passes arrays to ``kernels/cpu/models/vector_spins.h``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp._core import native
from conncomp.kernels.lattice import Lattice
from conncomp.kernels.vector_spins import FIELDS, PROJECTED, Kind
from conncomp.models._arguments import Drawn
from conncomp.models.observables.series import ACTIVE
from conncomp.models.potts.cpu import NativeSpins
from conncomp.models.potts.measurements import COUNTS
from conncomp.models.spins.updates import Flips


class Engine(NativeSpins):
    """Updates of the spins of replicas.

    Clusters are reflected or not: `lattice` is of two states. `negative` says whether the coupling
    is.
    """

    def __init__(self, drawn: Drawn, lattice: Lattice, kind: Kind, negative: bool) -> None:
        replicas, first_replica, seed = drawn
        struct, self._replicas = lattice.struct, replicas
        lengths, closed = struct["length"].tolist(), int(struct["periodic"])
        made = getattr(native, f"{kind.name}Engine")
        engine = made(lengths, closed, lattice.ndim, negative, seed, first_replica, replicas)
        super().__init__(engine, (replicas, lattice.ndim, lattice.rows, lattice.columns))

    def update(self, spins: Any, new: Any, step: int, strengths: Any, flips: Flips) -> None:
        """Fill `new` with the spins after clusters are reflected, all or one."""
        record, replicas = flips.record, self._replicas
        if record is not None:
            assert record.shape[-1] == FIELDS
            self.count(spins, record)
        spun = spins.reshape(-1), new.reshape(-1), step, strengths, flips.chosen is not None
        if not flips.clusters:
            self._engine.update(*spun, None, None)
            return
        sizes = np.zeros((replicas, COUNTS + 2), np.int64)
        projected = np.zeros((replicas, FIELDS - PROJECTED), np.int64)
        self._engine.update(*spun, sizes.reshape(-1), projected.reshape(-1))
        record[:, ACTIVE:COUNTS] += sizes[:, ACTIVE:COUNTS]
        record[:, PROJECTED:] += projected
