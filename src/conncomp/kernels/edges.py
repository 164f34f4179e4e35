"""Bonds between any sites, and spins on them, as kernels take them: ``core/edge_spins.h``."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.lattice import BITS, Lattice

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


class SpinKind(NamedTuple):
    """What spins on edges are.

    Attributes
    ----------
    name : str
        What the engine of the CPU is called, but for its end.
    struct : str
        Of ``core/edge_spins.h`` or ``core/edge_vectors.h``.
    dtype : dtype
        Of the numbers that spins are held as.
    width : int
        How many of them a spin has; 0 where words of bits have the spins.
    components : int
        Of a vector; 0 where spins are states.
    """

    name: str
    struct: str
    dtype: np.dtype[Any]
    width: int
    components: int


def _vectors(name: str, struct: str, dtype: str, width: int, components: int) -> SpinKind:
    return SpinKind(name, f"Embedded<conncomp::{struct}>", np.dtype(dtype), width, components)


UP_DOWN, STATES = (SpinKind(name, name, BITS, 0, 0) for name in ("UpDown", "States"))
ANGLES = _vectors("Angle", "OfLattices<conncomp::Angle>", "u2", 1, 2)
DIRECTIONS = _vectors("UnitVector", "OfLattices<conncomp::UnitVector>", "u8", 1, 3)
HOURS = _vectors("Hours", "Hours", "u2", 1, 2)
FOUR, EIGHT = (_vectors(f"Components{n}", f"Components<{n}>", "i4", n, n) for n in (4, 8))
KINDS = UP_DOWN, STATES, ANGLES, DIRECTIONS, HOURS, FOUR, EIGHT


class EdgeBonds(_Arrays):
    """Bonds and fields, in a unit that all of them have.

    Attributes
    ----------
    sites : int
    ends : ndarray of int32, shape (2, bonds)
        C-contiguous.
    couplings : ndarray of int32, shape (bonds,), or None
        None if all are `WHOLE`.
    fields : ndarray of int32, shape (sites,), or None
    scale : float
        What `WHOLE` is worth.
    states : int
        How many a spin has; of vectors of more than three components, how many these are.
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
        """Whether all couplings are equally strong, and there is no field."""
        strong = self.couplings is None or bool((abs(self.couplings) == WHOLE).all())
        return strong and self.fields is None

    @cached_property
    def total(self) -> int:
        """The sum of the strengths of all couplings and fields."""
        given = [array for array in (self.couplings, self.fields) if array is not None]
        total = sum(int(abs(array).sum(dtype=np.int64)) for array in given)
        return total + (WHOLE * self.bonds if self.couplings is None else 0)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """Both ends, couplings and fields."""
        return (*self.ends, self.couplings, self.fields)

    def arcs(self) -> tuple[Any, ...]:
        """Return where the arcs of each site begin, their ends, and their couplings or None."""
        u, v = self.ends
        sources, targets = np.concatenate([u, v]), np.concatenate([v, u])
        order = np.argsort(sources, kind="stable")
        begins = np.zeros(self.sites + 1, np.int64)
        np.cumsum(np.bincount(sources, minlength=self.sites), out=begins[1:])
        both = None if self.couplings is None else np.tile(self.couplings, 2)[order]
        return begins, targets[order], both
