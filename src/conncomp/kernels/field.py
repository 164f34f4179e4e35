"""The lattice of a field, and the fields of its records: see ``kernels/core/cahn_hilliard.h``."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

# The fields of a record, of int64: before COMPONENTS ``FieldEntry`` of ``core/cahn_hilliard.h``,
# then two each, above the threshold and not, and at the end the bins of both.
OUTSIDE, VALUE, ENERGY, FACES = 0, 1, 3, 5
COMPONENTS, LARGEST, CELLS, SQUARES, HISTOGRAM = 6, 8, 10, 12, 14
PHASES = 2

# What sums of whole numbers and of parts of one have room for.
SUM_BITS = 62

# ``FieldShape``.
FIELD_SHAPE = np.dtype([("layers", "i8"), ("rows", "i8"), ("columns", "i8")])


class Coefficients(NamedTuple):
    """``FieldCoefficients``, as the dtype of a field has them; the flux is 0 without noise."""

    cubic: float
    linear: float
    gradient: float
    flux: float


class Gauge(NamedTuple):
    """``FieldGauge``: the factors of an energy, a threshold, and the unit of parts of sums."""

    half_linear: float
    quarter_cubic: float
    half_gradient: float
    threshold: float
    parts: float
    most: float


class FieldLattice(NamedTuple):
    """A torus of cells, of two or three axes; `dx` is the distance of neighbouring cells."""

    shape: tuple[int, ...]
    dx: float

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return prod(self.shape)

    @property
    def lengths(self) -> tuple[int, int, int]:
        """Layers, rows of a layer, columns."""
        return (self.shape[0], self.shape[1] if self.ndim == 3 else 1, self.shape[-1])

    @property
    def bins(self) -> int:
        """The number of powers of two, from 1 on, that are sizes of components."""
        return self.cells.bit_length()

    @property
    def record_length(self) -> int:
        """How many integers a record has."""
        return HISTOGRAM + PHASES * self.bins

    @property
    def part_bits(self) -> int:
        """The number of binary digits after the point in sums."""
        return SUM_BITS - (self.cells - 1).bit_length()
