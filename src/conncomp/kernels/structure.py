"""Wave vectors of a lattice, and the phases of its sites: see ``kernels/core/structure.h``."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels import layout
from conncomp.kernels.edges import SpinKind
from conncomp.kernels.lattice import MOST_AXES

# The units of cosines and of clusters' sums, and of sums of all, as powers of two.
PHASE_BITS, SUM_BITS, SQUARE_BITS, LIMBS = 30, 28, 32, 3

# ``Waves`` of ``core/structure.h``.
_WAVE = np.dtype([("stride", "i8"), ("length", "i8"), ("phases", "u8")])
WAVES = layout(("row", "i8"), ("cell count", "i4"), ("wave", (_WAVE, MOST_AXES + 1)))
STATES = "States"


class Waves(NamedTuple):
    """The smallest wave vectors of a lattice of cells along `axes`.

    The last axis again at the end is for a wave vector of 0. `phases` are the cosines and sines of
    each, (length * cell, 2), by cell along the axis and site of the cell.
    """

    shape: tuple[int, ...]
    cell: int
    axes: tuple[int, ...]
    phases: tuple[NDArray[np.int32], ...]

    def struct(self, first: int) -> Any:
        """Return ``Waves``, where phases lie from an address on, one after the other."""
        struct = np.zeros((), WAVES)
        struct["row"] = self.shape[-1] * self.cell
        struct["cell"], struct["count"] = self.cell, len(self.axes)
        for wave, axis, phases in zip(struct["wave"], self.axes, self.phases, strict=False):
            wave["stride"] = prod(self.shape[axis + 1 :]) * self.cell
            wave["length"], wave["phases"] = self.shape[axis], first
            first += phases.nbytes
        return struct[()]

    @property
    def table(self) -> NDArray[np.int32]:
        """All phases, one axis after the other."""
        return np.concatenate([phases.reshape(-1) for phases in self.phases])


def waves_of(
    shape: tuple[int, ...], axes: Sequence[int], places: NDArray[np.float64], zero: bool = False
) -> Waves:
    """Return the smallest wave vectors along some axes, and that of `zero` if wanted.

    `places`, (sites of a cell, ndim), are where sites lie in the cell, as shares of its vectors.
    """
    tables = []
    of = [(axis, 1) for axis in axes] + [(len(shape) - 1, 0)] * zero
    for axis, periods in of:
        turns = (np.arange(shape[axis])[:, None] + places[:, axis]) * (periods / shape[axis])
        waves = np.exp(2j * np.pi * turns).reshape(-1)
        both = np.stack([waves.real, waves.imag], axis=1)
        tables.append(np.rint(np.ldexp(both, PHASE_BITS)).astype(np.int32))
    return Waves(shape, len(places), tuple(axis for axis, _ in of), tuple(tables))


def components_of(kind: SpinKind, states: int) -> int:
    """Return how many numbers of a spin are summed."""
    if not kind.components:
        return 1 if states == 2 else states
    return kind.components if kind.components < 4 else states
