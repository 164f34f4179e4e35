"""The Ising model on any lattice: its parameters, its spins and its critical points."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import shown
from conncomp.kernels.edges import UP_DOWN
from conncomp.kernels.lattice import Lattice, unpack
from conncomp.kernels.updates import LOCAL_RULES
from conncomp.models._arguments import check_start
from conncomp.models.lattices import CRITICAL, UnitCell
from conncomp.models.places import HYPERCUBIC, OnLattice
from conncomp.models.protocol import Floats
from conncomp.models.spins.measurements import COUNTS, IsingMeasurements
from conncomp.models.spins.model import WordModel
from conncomp.models.spins.state import Layout, engines_on


class Ising(WordModel):
    """The Ising model on any lattice, simulated by clusters.

    The energy is ``H = -J sum over bonds of s_i s_j - h sum of s_i`` for spins of ±1, and k_B = 1.
    `Potts` of two states is the same model without a field in another convention, with twice the
    inverse temperature.

    Parameters
    ----------
    shape : int, sequence of int, or Graph
        How many cells there are along each primitive vector, or one length for all; a cell of
        "honeycomb" has two sites, for instance. Along a periodic axis of length 2 sites have two
        bonds, and one of length 1 has a bond from each site to itself, as on a torus: a constant of
        the energy, which no update sees. Or a graph, whose vertices are the sites: an arc and the
        one back are one bond.
    lattice : str or UnitCell, optional
        "chain", "square", the default, "cubic" or "hypercubic", of 1 to 4 axes, "triangular",
        "honeycomb", "kagome", "bcc", "fcc" or "diamond"; or any cell.
    temperature : float, "critical", or sequence of float, optional
        T above 0; "critical", the default, is `critical_temperature` times J; one for all or for
        each replica.
    beta : float or sequence of float, optional
        The inverse temperature, instead of `temperature`.
    coupling : float or array_like of float, optional
        J: above 0 of a ferromagnet, below 0 of an antiferromagnet; or one for each bond of a
        lattice, in the order of `edges`, or each arc of a graph, in that of ``Graph.arcs``: several
        arcs from one vertex to another add up, and an arc back must have the same. Where bonds
        frustrate each other, clusters are right and soon as large as the lattice, so that little is
        decorrelated.
    field : float or array_like of float, optional
        h, of all sites or of each, in the shape of `spins` of one replica. A site in a field has a
        bond to a ghost spin that is always up, and clusters with such bonds stay [1]_.
    periodic : bool, "antiperiodic", or sequence of these, optional
        Which axes close on themselves: one answer for all, or one for each axis. Over the end of an
        antiperiodic axis the coupling is -J.
    replicas : int, optional
        How many independent lattices run side by side: by default as many as temperatures. Without
        it, one has no axis for replicas in what is returned.
    seed : int, optional
        0 to 2**64 - 1. Spins are a function of seed, replica and parameters alone: those of another
        device or number of threads are the same.
    start : {"hot", "cold"} or array_like of int, optional
        The first spins: random ones, all up, or these, ±1, of the shape of `spins` of one replica
        or of all. An array on a GPU puts the model there.
    first_replica : int, optional
        The number of the first replica: a model of one, with first replica k, repeats replica k of
        a model of many.
    device : {None, "cpu", "cuda"}, optional
        Where the spins are; None is where `start` is, the CPU otherwise.

    Attributes
    ----------
    updates : int
        How many updates were made.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, or out of its range.
    MemoryError
        If the lattice does not fit the GPU.

    Notes
    -----
    With a field, on a graph, or with couplings of their own bonds are drawn one by one, not 64 at
    once. Couplings and fields are then multiples of 2**-29 times the strongest one, and the
    probabilities of bonds are off by a relative 2**-26 at most, the same on every device.

    References
    ----------
    R. H. Swendsen, J.-S. Wang, Phys. Rev. Lett. 58, 86 (1987).

    U. Wolff, Phys. Rev. Lett. 62, 361 (1989).

    .. [1] J. Kent-Dobias, J. P. Sethna, Phys. Rev. E 98, 063306 (2018).

    Examples
    --------
    >>> from conncomp.models import Ising
    >>> model = Ising((32, 32), lattice="triangular", seed=1)
    >>> series = model.swendsen_wang(300, clusters=True)
    >>> bool(-2.2 < series.energy[100:].mean() / model.sites < -1.8)
    True
    >>> model.coordinates.shape
    (1024, 2)

    A small world in a field:

    >>> from conncomp import Graph
    >>> ring = Graph.from_edges([0, 1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 0, 3])
    >>> float(Ising(ring, temperature=2.0, field=0.125, start="cold").energy())
    -7.75
    """

    _name, _series_class = "Ising", IsingMeasurements
    _described_spins = "the spins of {0.sites} sites"
    _place: Any
    _labels_by_axis, _default_lattice = False, "square"

    def _lay_out(self, fields: Floats | None) -> Layout:
        place, length = self._place, COUNTS + 2
        if fields is None and isinstance(place, OnLattice) and isinstance(self.coupling, float):
            cells, rows, engines = place.cells, place.cells.of_sites, engines_on(self.device)
            # The engine of `Potts` is the fastest there is, and takes these lattices only.
            if place.name in HYPERCUBIC and not cells.is_mixed:
                words = partial(engines.words, lattice=rows, labelling="auto", options={})
                return Layout(rows, rows, UP_DOWN, length, self.coupling, engine=words)
            by_cells = partial(engines.cells, cells=cells)
            return Layout(cells, rows, UP_DOWN, length, self.coupling, engine=by_cells)
        edges = place.bonds(fields)
        return Layout(edges, edges.of_sites, UP_DOWN, length, edges.scale, edges)

    @property
    def cell(self) -> UnitCell:
        """The unit cell of a lattice."""
        cell: UnitCell = self._place.cell
        return cell

    @staticmethod
    def critical_temperature(lattice: str = "square") -> float:
        """Return the critical temperature of the infinite lattice, for a coupling of 1.

        Parameters
        ----------
        lattice : str, optional
            "square" [1]_, "triangular", "honeycomb" [2]_ and "kagome" [3]_ are exact; "cubic" [4]_;
            "bcc" [5]_. Others raise ValueError.

        References
        ----------
        .. [1] L. Onsager, Phys. Rev. 65, 117 (1944).
        .. [2] R. M. F. Houtappel, Physica 16, 425 (1950).
        .. [3] K. Kano, S. Naya, Prog. Theor. Phys. 10, 158 (1953).
        .. [4] A. M. Ferrenberg, J. Xu, D. P. Landau, Phys. Rev. E 97, 043301 (2018).
        .. [5] P. Butera, M. Comi, Phys. Rev. B 62, 14837 (2000).

        Examples
        --------
        >>> from conncomp.models import Ising
        >>> round(Ising.critical_temperature(), 4), round(Ising.critical_temperature("kagome"), 4)
        (2.2692, 2.1433)
        """
        if not isinstance(lattice, str) or lattice not in CRITICAL:
            raise ValueError(
                f"no critical temperature of lattice={shown(lattice)} is known here, but of "
                f"{', '.join(CRITICAL)}; give temperature or beta as a number"
            )
        return CRITICAL[lattice]

    @property
    def spins(self) -> Any:
        """The spins, ±1: a copy, int8, ``(*replicas, *shape)``.

        If a cell of the lattice has several sites, these have an axis after the shape.
        """
        states = unpack(self._engine.xp, self._layout.words, self._state.now).astype(np.int8)
        return self._of_replicas((1 - 2 * states).reshape(self.replicas, *self._place.shape))

    @property
    def signs(self) -> NDArray[np.int8]:
        """The sign of the coupling of each bond, as `edges`."""
        edges = self._layout.edges
        given = None if edges is None else edges.couplings
        signs: NDArray[np.int8] = self._place.signs() if given is None else np.sign(given)
        return signs.astype(np.int8)

    def bonds(self) -> Any:
        """Return which bonds the next cluster update makes active: ``(*replicas, bonds)``."""
        if self._layout.edges is not None:
            return super().bonds()
        xp, planes, of_kind = self._engine.xp, self._state.planes_of_bonds(), []
        cells, of_axes = self._place.cells, isinstance(self.lattice, Lattice)
        for number, kind in enumerate(cells.kinds):
            end = 0
            # `Potts` has those of axes in order, and of the first one of two sites.
            if of_axes:
                end = int(any(kind.step))
                number = kind.step.index(-1) if end else len(kind.step)
            owners = xp.asarray(cells.ends_of_kind(kind)[end])
            of_kind.append(planes[number].reshape(self.replicas, -1)[:, owners])
        return self._of_replicas(xp.concatenate(of_kind, axis=1))

    def _described(self) -> dict[str, Any]:
        if self._layout.edges is None:
            return {**self._place.described(), "coupling": self.coupling}
        return super()._described()

    def _known_beta(self, lattice: str, coupling: float) -> float:
        return 1 / (self.critical_temperature(lattice) * coupling)

    def _given_spins(self, start: ArrayLike) -> Any:
        given = check_start(start, "i", "of integers", self.replicas, self._place.shape)
        if not (abs(given) == 1).all():
            raise ValueError("start has spins that are neither 1 nor -1")
        return (given < 0).astype("u1")

    def _check_measures(self, update: str, clusters: bool, wrapping: bool) -> None:
        edges = self._layout.edges
        bonds = self._place.cells if edges is None else edges
        if clusters and update not in LOCAL_RULES and bonds.is_mixed:
            raise ValueError(
                "clusters=True gives the magnetisation of clusters of equal spins; leave it out "
                "for an antiferromagnet or frustrated couplings, or where an axis is antiperiodic"
            )
        super()._check_measures(update, clusters, wrapping)
