"""Bonds between any sites, as kernels of the Ising model take them: ``core/edge_spins.h``."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.lattice import Lattice

UNIT_BITS = 29  # of the strongest coupling or field
WHOLE = 1 << UNIT_BITS  # ``kWhole``
MOST_VERTICES = (1 << 31) - 1


class _Arrays(NamedTuple):
    sites: int
    ends: NDArray[np.int32]
    couplings: NDArray[np.int32] | None
    fields: NDArray[np.int32] | None
    scale: float


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
    """

    states = 2
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
