"""Bonds between any sites, and spins on them, as kernels take them: ``core/edge_spins.h``."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.lattice import BITS, WORD, Lattice

UNIT_BITS = 29  # of the strongest coupling or field
WHOLE = 1 << UNIT_BITS  # ``kWhole``
MOST_VERTICES = (1 << 31) - 1


class _Arrays(NamedTuple):
    sites: int
    ends: NDArray[np.int32]
    couplings: NDArray[np.int32] | None
    fields: NDArray[np.int32] | None
    scale: float
    states: int = 2
    rows: Lattice | None = None


class SpinKind(NamedTuple):
    """A kind of spins on edges.

    A spin has `width` numbers of `dtype`, 0 where words of bits have the spins.
    """

    name: str  # of the CPU's engine
    struct: str  # of ``core/edge_spins.h`` or ``core/edge_vectors.h``
    dtype: np.dtype[Any]
    width: int
    components: int  # of a vector; 0 for a state
    waves: str  # the struct of ``core/structure.h``


def _vectors(name: str, struct: str, dtype: str, width: int, components: int) -> SpinKind:
    held, waves = f"Embedded<conncomp::{struct}>", f"WavedVectors<conncomp::{struct}>"
    return SpinKind(name, held, np.dtype(dtype), width, components, waves)


UP_DOWN, STATES, TWO_STATES = (
    SpinKind(name, name, BITS, 0, 0, "WavedStates") for name in ("UpDown", "States", "TwoStates")
)
ANGLES = _vectors("Angle", "OfLattices<conncomp::Angle>", "u2", 1, 2)
DIRECTIONS = _vectors("UnitVector", "OfLattices<conncomp::UnitVector>", "u8", 1, 3)
HOURS = _vectors("Hours", "Hours", "u2", 1, 2)
FOUR, EIGHT = (_vectors(f"Components{n}", f"Components<{n}>", "i4", n, n) for n in (4, 8))
KINDS = UP_DOWN, STATES, TWO_STATES, ANGLES, DIRECTIONS, HOURS, FOUR, EIGHT


class EdgeBonds(_Arrays):
    """Bonds and fields in a common unit: `scale` is the worth of `WHOLE`.

    `ends` are (2, bonds), C-contiguous; `couplings` are None if all are `WHOLE`. A spin has
    `states`, or as many components if it is a vector of more than three. `rows` are those whose
    words have the spins, a bit for a vertex; None is one row.
    """

    ndim = 1

    @property
    def bonds(self) -> int:
        """The number of bonds between sites."""
        return len(self.ends[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of sites, as the length of one axis."""
        return (self.sites,)

    @property
    def of_sites(self) -> Lattice:
        """The lattice of one row that has the spins as words."""
        return Lattice((self.sites,), (False,), self.states)

    @cached_property
    def is_uniform(self) -> bool:
        """Whether all couplings are equally strong, without a field."""
        strong = self.couplings is None or bool((abs(self.couplings) == WHOLE).all())
        return strong and self.fields is None

    @cached_property
    def is_mixed(self) -> bool:
        """Whether a coupling is below 0."""
        return self.couplings is not None and bool((self.couplings < 0).any())

    @cached_property
    def total(self) -> int:
        """The sum of the strengths of all couplings and fields."""
        given = [array for array in (self.couplings, self.fields) if array is not None]
        total = sum(int(abs(array).sum(dtype=np.int64)) for array in given)
        return total + (WHOLE * self.bonds if self.couplings is None else 0)

    @cached_property
    def below(self) -> int:
        """The sum of couplings and fields below 0, which different states satisfy."""
        given = [array for array in (self.couplings, self.fields) if array is not None]
        return sum(int(np.minimum(array, 0).sum(dtype=np.int64)) for array in given)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """Both ends, couplings and fields."""
        return (*self.ends, self.couplings, self.fields)

    def in_words_of(self, rows: Lattice) -> EdgeBonds:
        """Return the same bonds between the bits of a lattice's words."""
        sites, length = rows.words * WORD, rows.shape[-1]
        if sites > MOST_VERTICES:
            raise ValueError(f"the words of shape={rows.shape} have {sites} bits, 2**31 or more")
        ends = self.ends
        if rows.rows > 1 and length % WORD:
            gap = np.int32(rows.columns * WORD - length)  # of bits between rows
            ends = ends + ends // np.int32(length) * gap
        return self._replace(sites=sites, ends=ends, fields=None, rows=rows)

    @property
    def beyond(self) -> NDArray[np.bool_] | None:
        """Which vertices are bits beyond the rows; None if there are none."""
        if self.rows is None or self.rows.shape[-1] % WORD == 0:
            return None
        row = np.arange(self.rows.columns * WORD) >= self.rows.shape[-1]
        return np.tile(row, self.rows.rows)
