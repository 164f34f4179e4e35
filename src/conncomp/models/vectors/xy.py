"""The XY and the Heisenberg model: spins that are unit vectors of two and of three components."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.edges import ANGLES, DIRECTIONS
from conncomp.kernels.vector_spins import ANGLE, DIRECTION, as_angles, as_vectors
from conncomp.models.vectors.model import VectorModel

# How far from 1 the square of a direction's length may be in a state that is restored.
LENGTH_TOLERANCE = 1e-4


class XY(VectorModel):
    """The XY model on any lattice, simulated by clusters of Wolff's embedding.

    The energy is ``H = -J sum over bonds of s_i . s_j`` of unit vectors in the plane, and k_B = 1.
    An update draws a mirror, joins spins on one side of it by bonds of the probability that
    belongs to them [1]_, and reflects clusters as wholes. Angles are held as 16 bits, which changes
    no mean that double precision could tell: ``docs/contracts.md``, 10.

    Parameters
    ----------
    shape : int, sequence of int, or Graph
        The lengths of 1 to 4 axes, in cells of the lattice. Along a periodic axis of length 2
        sites have two bonds, and one of length 1 has a bond from each site to itself, as of
        `Ising`. Or a graph, whose vertices are the sites, as of `Ising`.
    lattice : str or UnitCell, optional
        As of `Ising`; by default the hypercubic one of as many axes. Hypercubic lattices without
        antiperiodic axes and with one coupling have kernels of their own, several times as fast.
    temperature : float, "critical", or sequence of float, optional
        T above 0, one for all replicas or one for each; "critical", the default, is 1 / 1.1199(1) J
        [2]_ of the square lattice, the transition of Kosterlitz and Thouless, or 1 / 0.4541659(10)
        J [3]_ of the cubic one.
    beta : float or sequence of float, optional
        The inverse temperature, instead of `temperature`.
    coupling : float or array_like of float, optional
        J: above 0 of a ferromagnet, below 0 of an antiferromagnet; or one for each bond of a
        lattice, in the order of `edges`, or each arc of a graph, in the order of ``Graph.arcs``,
        as of `Ising`.
    field : float or array_like of float, optional
        h along the first axis, of all sites or of each, in the shape of the lattice: -h times the
        first component of a spin is its energy. Sites in a field have bonds to a ghost that points
        there, and clusters with such bonds stay.
    periodic : bool, "antiperiodic", or sequence of these, optional
        Which axes close on themselves: one answer for all, or one for each axis. Over the end of an
        antiperiodic axis the coupling is -J.
    replicas : int, optional
        How many independent lattices run side by side. By default there are as many as
        temperatures; for one there is no axis for replicas in what is returned.
    seed : int, optional
        0 to 2**64 - 1. Spins are a function of seed, replica and parameters alone: those of another
        device or number of threads are the same.
    start : {"hot", "cold"} or array_like of float, optional
        The first spins: random ones, all along the first axis, or these: vectors of any length but
        0, of the shape of `spins` of one replica or of all. An array on a GPU puts the model there.
    first_replica : int, optional
        The number of the first replica: replica k of a model of many is the one of a model of one
        whose first replica is k.
    device : {None, "cpu", "cuda"}, optional
        Where the spins are; None is where `start` is, the CPU otherwise.

    Attributes
    ----------
    updates : int
        How many updates were made.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, or out of its range; of 2**31 sites and more.
    MemoryError
        If the lattice does not fit the memory.

    References
    ----------
    .. [1] U. Wolff, Phys. Rev. Lett. 62, 361 (1989).
    .. [2] M. Hasenbusch, J. Phys. A 38, 5869 (2005).
    .. [3] Y. Deng, H. W. J. Blöte, M. P. Nightingale, Phys. Rev. E 72, 016128 (2005).

    Examples
    --------
    >>> from conncomp.models import XY
    >>> model = XY((16, 16), seed=1)
    >>> series = model.swendsen_wang(300)
    >>> bool(-1.6 < series.energy[50:].mean() / model.sites < -1.3)
    True
    >>> model.spins.shape, model.angles.shape
    ((16, 16, 2), (16, 16))
    """

    _name, _kind, _edge_kind = "XY", ANGLE, ANGLES

    @property
    def angles(self) -> Any:
        """The angles of the spins, from 0 to 2 pi: a copy, float64, ``(*replicas, *shape)``."""
        angles = as_angles(self._spins)
        return self._of_replicas(angles.reshape(self.replicas, *self._place.shape))

    def _are_spins(self, spins: NDArray[Any]) -> bool:
        return True


class Heisenberg(VectorModel):
    """The classical Heisenberg model on any lattice, simulated as `XY`.

    Spins are unit vectors of three components, each held as 21 bits: ``docs/contracts.md``, 10.

    Parameters
    ----------
    shape, lattice
        As of `XY`.
    temperature : float, "critical", or sequence of float, optional
        "critical", the default, is 1 / 0.693003(2) J [1]_, of the cubic lattice.
    beta, coupling, field, periodic, replicas, seed, start, first_replica, device
        As of `XY`.

    Attributes
    ----------
    updates : int
        How many updates were made.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As of `XY`.

    References
    ----------
    .. [1] Y. Deng, H. W. J. Blöte, M. P. Nightingale, Phys. Rev. E 72, 016128 (2005).

    Examples
    --------
    >>> from conncomp.models import Heisenberg
    >>> model = Heisenberg((8, 8, 8), seed=1)
    >>> series = model.swendsen_wang(200)
    >>> bool(-1.2 < series.energy[50:].mean() / model.sites < -0.95)
    True
    >>> model.spins.shape
    (8, 8, 8, 3)
    """

    _name, _kind, _edge_kind = "Heisenberg", DIRECTION, DIRECTIONS

    def _are_spins(self, spins: NDArray[Any]) -> bool:
        squares = (as_vectors(np, DIRECTIONS, spins) ** 2).sum(axis=-1)
        return bool(
            (abs(squares - 1) < LENGTH_TOLERANCE).all() and (spins >> np.uint64(63) == 0).all()
        )
