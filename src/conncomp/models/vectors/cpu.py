"""Spins that are vectors on the CPU: passes arrays to ``kernels/cpu/models/vector_spins.h``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.kernels.lattice import BITS, Lattice
from conncomp.kernels.vector_spins import FIELDS, PROJECTED, Kind
from conncomp.models._arguments import Drawn
from conncomp.models.potts.measurements import ACTIVE, COUNTS

Spins = NDArray[Any]
Record = NDArray[np.int64]


class Engine:
    """Updates of the spins of replicas.

    Parameters
    ----------
    drawn : Drawn
    lattice : Lattice
        Of two states, as clusters are reflected or not.
    kind : Kind
    negative : bool
        Whether the coupling is.
    """

    xp = np

    def __init__(self, drawn: Drawn, lattice: Lattice, kind: Kind, negative: bool) -> None:
        self._lattice, self._replicas = lattice, drawn.replicas
        struct = lattice.struct
        lengths, closed = struct["length"].tolist(), int(struct["periodic"])
        named = drawn.seed, drawn.first_replica, drawn.replicas
        made = getattr(native, f"{kind.name}Engine")
        self._engine = made(lengths, closed, lattice.ndim, negative, *named)

    def start(self, spins: Spins) -> None:
        """Draw the first spins."""
        self._engine.start(spins.reshape(-1))

    def count(self, spins: Spins, record: Record) -> None:
        """Add what the spins tell to each replica's record."""
        assert record.shape[-1] == FIELDS
        self._engine.count(spins.reshape(-1), record.reshape(-1))

    def bonds(self, spins: Spins, step: int, strengths: NDArray[Any]) -> NDArray[np.uint64]:
        """Return the bonds that an update at this step makes active, along each axis, as words."""
        lattice = self._lattice
        bonds = np.empty((self._replicas, lattice.ndim, lattice.rows, lattice.columns), BITS)
        self._engine.bonds(spins.reshape(-1), step, _flat(strengths), bonds.reshape(-1))
        return bonds

    def reflect(
        self,
        spins: Spins,
        new: Spins,
        step: int,
        strengths: NDArray[Any],
        one: bool,
        record: Record | None,
    ) -> None:
        """Reflect clusters, or one; add sizes of all to a record unless that is None."""
        flat = spins.reshape(-1), new.reshape(-1), step, _flat(strengths), one
        if record is None:
            self._engine.update(*flat, None, None)
            return
        sizes, projected = (
            np.zeros((self._replicas, fields), np.int64)
            for fields in (COUNTS + 2, FIELDS - PROJECTED)
        )
        self._engine.update(*flat, sizes.reshape(-1), projected.reshape(-1))
        record[:, ACTIVE:COUNTS] += sizes[:, ACTIVE:COUNTS]
        record[:, PROJECTED:] += projected


def _flat(strengths: NDArray[Any]) -> NDArray[np.uint32]:
    return strengths.view(np.uint32).reshape(-1)
