"""The clock model: spins of q directions in a plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import check_range
from conncomp.graph import Graph
from conncomp.kernels.edges import HOURS
from conncomp.kernels.vector_spins import as_angles
from conncomp.models._arguments import check_start, check_states
from conncomp.models.vectors.model import VectorModel

MOST_HOURS = 1 << 16


class Clock(VectorModel):
    """The clock model, or planar Potts model, simulated by clusters of Wolff's embedding.

    The energy is ``H = -J sum over bonds of cos(2 pi (k_i - k_j) / q)`` of spins ``k`` from 0 to
    q - 1, and k_B = 1. A mirror c takes spin k to c - k, which is one of q again [1]_. Of q = 2 it
    is the Ising model, of 3 the Potts model with 3/2 J, of 4 two Ising models with J/2.

    Parameters
    ----------
    shape
        As of `XY`.
    q : int
        The number of states, 2 to 65536.
    lattice
        As of `XY`.
    temperature : float, "critical", or sequence of float, optional
        "critical", the default, is that of the square lattice for q up to 4.
    beta, coupling, field, periodic, replicas, seed
        As of `XY`.
    start : {"hot", "cold"} or array_like of int, optional
        The first spins: random ones, all 0, or these, of the shape of `states` of one replica or of
        all.
    first_replica, device
        As of `XY`.

    Attributes
    ----------
    q : int
    updates : int
        How many updates were made.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As of `XY`.

    References
    ----------
    .. [1] U. Wolff, Phys. Rev. Lett. 62, 361 (1989).

    Examples
    --------
    >>> from conncomp.models import Clock
    >>> model = Clock((16, 16), q=6, temperature=0.8, seed=1)
    >>> series = model.swendsen_wang(200)
    >>> bool(-1.7 < series.energy[50:].mean() / model.sites < -1.4)
    True
    >>> model.states.shape, model.spins.shape
    ((16, 16), (16, 16, 2))
    """

    _name, _edge_kind = "Clock", HOURS

    def __init__(
        self,
        shape: int | Sequence[int] | Graph,
        q: int,
        *,
        start: str | ArrayLike = "hot",
        **options: Any,
    ) -> None:
        self.q = self._states = check_range("q", q, 2, MOST_HOURS)
        super().__init__(shape, start=start, **options)

    @property
    def states(self) -> Any:
        """The spins, 0 to q - 1: a copy, uint16, ``(*replicas, *shape)``."""
        return self._of_replicas(self._spins.copy().reshape(self.replicas, *self._place.shape))

    @property
    def angles(self) -> Any:
        """The angles of the spins, from 0 to 2 pi: a copy, float64, as `states`."""
        return as_angles(self.states, self.q)

    @property
    def _states_of_vectors(self) -> int:
        return self.q

    def _described(self) -> dict[str, Any]:
        return {**super()._described(), "q": self.q}

    def _are_spins(self, spins: NDArray[Any]) -> bool:
        return bool((spins < self.q).all()) if self.q < MOST_HOURS else True

    def _given_spins(self, start: ArrayLike) -> Any:
        given = check_start(start, "iu", "of integers", self.replicas, self._place.shape)
        return check_states(given, "states", self.q, f"from 0 to q - 1 = {self.q - 1}", "u2")
