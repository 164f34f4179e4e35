"""The O(n) model: spins that are unit vectors of four components and more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_integer, check_range
from conncomp.graph import Graph
from conncomp.kernels.edges import EIGHT, FOUR
from conncomp.kernels.vector_spins import as_vectors
from conncomp.models.vectors.model import VectorModel
from conncomp.models.vectors.xy import LENGTH_TOLERANCE

MOST_COMPONENTS = 8


class ON(VectorModel):
    """The O(n) model of n from 4 to 8, simulated as `XY`; that is O(2), and `Heisenberg` O(3).

    Spins are unit vectors, of numbers in units of 2**-30: ``docs/contracts.md``, 10.

    Parameters
    ----------
    shape
        As of `XY`.
    n : int
        How many components a spin has.
    lattice
        As of `XY`.
    temperature : float, "critical", or sequence of float, optional
        "critical", the default, is 1 / 0.935856(2) J of n = 4 on the cubic lattice [1]_.
    beta : float or sequence of float, optional
        As of `XY`.
    coupling, field, periodic, replicas, seed, start, first_replica, device
        As of `XY`.

    Attributes
    ----------
    n : int
    updates : int
        How many updates were made.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As of `XY`.

    References
    ----------
    U. Wolff, Phys. Rev. Lett. 62, 361 (1989).

    .. [1] Y. Deng, Phys. Rev. E 73, 056116 (2006).

    Examples
    --------
    >>> from conncomp.models import ON
    >>> model = ON((6, 6, 6), n=4, beta=0.9, seed=1)
    >>> series = model.swendsen_wang(200)
    >>> bool(-1.1 < series.energy[50:].mean() / model.sites < -0.8)
    True
    >>> model.spins.shape
    (6, 6, 6, 4)
    """

    _name = "ON"

    def __init__(self, shape: int | Sequence[int] | Graph, n: int, **options: Any) -> None:
        if as_integer("n", n) in (1, 2, 3):
            instead = ("Ising", "XY", "Heisenberg")[n - 1]
            raise ValueError(f"n={n} must be 4 to {MOST_COMPONENTS}; O({n}) is {instead}")
        self.n = self._states = check_range("n", n, 4, MOST_COMPONENTS)
        self._edge_kind = FOUR if n == 4 else EIGHT
        super().__init__(shape, **options)

    @property
    def _components(self) -> int:
        return self.n

    @property
    def _states_of_vectors(self) -> int:
        return self.n

    def _described(self) -> dict[str, Any]:
        return {**super()._described(), "n": self.n}

    def _are_spins(self, spins: NDArray[Any]) -> bool:
        squares = (as_vectors(np, self._edge_kind, spins, self.n) ** 2).sum(axis=-1)
        near = abs(squares - 1) < LENGTH_TOLERANCE
        return bool(near.all() and not spins[..., self.n :].any())
