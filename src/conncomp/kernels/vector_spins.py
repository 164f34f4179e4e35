"""Spins that are unit vectors, as the kernels hold them: see ``kernels/core/vector_spins.h``."""

from __future__ import annotations

from math import pi
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.lattice import MOST_AXES

# Of ``core/vector_spins.h``: the units, as powers of two, and the fields of a record; sums of
# projections are squared in units of 2**-16.
MEASURE_BITS, DIRECTION_BITS, DIRECTION_WIDTH = 28, 19, 21
NUMBER_BITS = 30  # of vectors of more than three numbers
ENERGY, CLUSTERS, ALONG = 0, 2, 14
CURRENTS = ALONG + MOST_AXES
MAGNETISATION = CURRENTS + 3 * MOST_AXES
VORTICES = MAGNETISATION + 3
PROJECTED = VORTICES + 1
FIELDS = PROJECTED + 3
# ``BondStrength``.
STRENGTH = np.dtype([("factor", "u4"), ("most", "u4"), ("left", "i4"), ("right", "i4")])


class Kind(NamedTuple):
    """How spins of a model are held."""

    name: str  # the struct of ``core/vector_spins.h``
    dtype: Any
    components: int
    rotations: int  # the planes in which a vector can be rotated


ANGLE = Kind("Angle", np.dtype("u2"), 2, 1)
DIRECTION = Kind("UnitVector", np.dtype("u8"), 3, 3)
TURN = 1 << 16


def as_spins(xp: Any, kind: Any, vectors: Any, states: int = 0) -> Any:
    """Return unit vectors, (..., components) of float64, as spins.

    `states` are the hours of a clock, or the numbers of a vector of more than three.
    """
    if kind.components == 2:
        turns, around = xp.arctan2(vectors[..., 1], vectors[..., 0]) / (2 * pi), states or TURN
        return (xp.rint(turns * around).astype(np.int64) % around).astype(kind.dtype)
    if kind.components > 3:
        spins = xp.zeros((*vectors.shape[:-1], kind.components), kind.dtype)
        spins[..., :states] = xp.rint(xp.ldexp(vectors, NUMBER_BITS))
        return spins
    numbers = xp.rint(xp.ldexp(vectors, DIRECTION_BITS)).astype(np.int64)
    digits = (numbers & ((1 << DIRECTION_WIDTH) - 1)).astype(kind.dtype)
    spins = digits[..., 0].copy()
    for k in (1, 2):
        spins |= digits[..., k] << np.uint64(k * DIRECTION_WIDTH)
    return spins


def as_angles(spins: Any, hours: int = 0) -> Any:
    """Return angles from 0 to 2 pi, of float64; of a clock by its hours."""
    return spins.astype(np.float64) * (2 * pi / (hours or TURN))


def as_vectors(xp: Any, kind: Any, spins: Any, states: int = 0) -> Any:
    """Return spins as vectors, (..., components) of float64; `states` as of `as_spins`."""
    if kind.components == 2:
        angles = as_angles(spins, states)
        return xp.stack([xp.cos(angles), xp.sin(angles)], axis=-1)
    if kind.components > 3:
        return xp.ldexp(spins[..., :states].astype(np.float64), -NUMBER_BITS)
    return xp.ldexp(xp.stack(numbers_of(spins), axis=-1).astype(np.float64), -DIRECTION_BITS)


def numbers_of(spins: Any) -> list[Any]:
    """Return the three numbers, of int64, that directions are held as."""
    above = 64 - DIRECTION_WIDTH
    left = (spins << np.uint64(above - DIRECTION_WIDTH * k) for k in range(3))
    return [each.view(np.int64) >> np.int64(above) for each in left]
