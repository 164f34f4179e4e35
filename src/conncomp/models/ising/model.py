"""The Ising model on any lattice: its parameters, its spins, and what one asks of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_bool, as_sequence, check_choice, shown
from conncomp.graph import Graph, connected_components
from conncomp.kernels.cells import CellLattice, Kind
from conncomp.kernels.lattice import unpack
from conncomp.models import potts
from conncomp.models._arguments import (
    as_numbers,
    as_tuple,
    check_finite,
    check_shape,
    check_start,
)
from conncomp.models.ising.lattices import CRITICAL, LATTICES, UnitCell
from conncomp.models.ising.measurements import IsingMeasurements
from conncomp.models.potts.base import ClusterModel
from conncomp.models.potts.measurements import Measurements
from conncomp.models.potts.updates import KINDS, Asked
from conncomp.models.protocol import Update

HYPERCUBIC = ("chain", "square", "cubic", "hypercubic")
UPDATES = ("swendsen-wang", "wolff", "metropolis")
OF_POTTS = "ferromagnets on chain, square, cubic and hypercubic lattices without antiperiodic axes"
BORDERS = {True: "periodic", False: "open", "antiperiodic": "antiperiodic"}


class Ising(ClusterModel):
    """The Ising model on any lattice, simulated by clusters.

    The energy is ``H = -J sum over bonds of s_i s_j`` for spins of ±1, and k_B = 1. `Potts` of two
    states is the same model in another convention, with twice the inverse temperature.

    Parameters
    ----------
    shape : int or sequence of int
        How many cells there are along each primitive vector of the lattice: those of "honeycomb"
        have two sites, for instance. Along a periodic axis of length 1 or 2 sites have bonds as on
        a torus. One length is that of all axes.
    lattice : str or UnitCell, optional
        "chain", "square", "cubic" or "hypercubic", of 1 to 4 axes, "triangular", "honeycomb",
        "kagome", "bcc", "fcc" or "diamond"; or any cell.
    temperature : float, "critical", or sequence of float, optional
        T above 0; "critical", the default, is `critical_temperature` times J; one for all or for
        each replica.
    beta : float or sequence of float, optional
        The inverse temperature, instead of `temperature`.
    coupling : float, optional
        J: above 0 of a ferromagnet, below 0 of an antiferromagnet. On a lattice that frustrates it,
        clusters are right and soon as large as the lattice, so that little is decorrelated.
    periodic : bool, "antiperiodic", or sequence of these, optional
        Which axes close on themselves: one answer for all, or one for each axis. Over the end of an
        antiperiodic axis the coupling is -J.
    replicas : int, optional
        How many independent lattices run side by side; None, the default, is one, without an axis
        for replicas in what is returned.
    seed : int, optional
        0 to 2**64 - 1. Spins are a function of seed, replica and parameters alone: those of another
        device or number of threads are the same.
    start : {"hot", "cold"} or array_like of int, optional
        The first spins: random ones, all up, or these, ±1, of the shape of `spins` of one replica
        or of all. An array on a GPU puts the model there.
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
        If an argument is of the wrong kind, or out of its range.
    MemoryError
        If the lattice does not fit the GPU.

    References
    ----------
    R. H. Swendsen, J.-S. Wang, Phys. Rev. Lett. 58, 86 (1987).

    U. Wolff, Phys. Rev. Lett. 62, 361 (1989).

    Examples
    --------
    >>> from conncomp.models import Ising
    >>> model = Ising((32, 32), lattice="triangular", seed=1)
    >>> series = model.swendsen_wang(300, clusters=True)
    >>> bool(-2.2 < series.energy[100:].mean() / model.sites < -1.8)
    True
    >>> model.coordinates.shape
    (1024, 2)
    """

    _name, _folder = "Ising", __package__

    def __init__(
        self,
        shape: int | Sequence[int],
        *,
        lattice: str | UnitCell = "square",
        temperature: ArrayLike | None = None,
        beta: ArrayLike | None = None,
        coupling: float = 1.0,
        periodic: bool | str | Sequence[bool | str] = True,
        replicas: int | None = None,
        seed: int = 0,
        start: str | ArrayLike = "hot",
        first_replica: int = 0,
        device: str | None = None,
    ) -> None:
        self.cell = _check_lattice(lattice)
        self._lattice_name = lattice if isinstance(lattice, str) else _in_words(self.cell)
        axes = len(self.cell.vectors)
        lengths = check_shape(as_tuple(shape, axes))
        if len(lengths) != axes:
            raise ValueError(f"shape={shown(shape)} must have {axes} axes for this lattice")
        borders = _check_borders(periodic, axes)
        self.coupling = check_finite("coupling", coupling)
        if self.coupling == 0:
            raise ValueError(f"coupling={shown(coupling)} must not be 0")
        turns = tuple(border == "antiperiodic" for border in borders)
        closed = tuple(border != "open" for border in borders)
        check_shape((*lengths[:-1], lengths[-1] * len(self.cell.sites)))
        self._cells = CellLattice(
            lengths, len(self.cell.sites), self.cell.bonds, closed, turns, self.coupling < 0
        )
        # The engine of `Potts` is the fastest there is, and takes these lattices only.
        self._is_potts = lattice in HYPERCUBIC and self.coupling > 0 and not any(turns)
        if self._is_potts:
            self._folder = potts.__name__
        self._words_lattice = self._cells.of_sites
        self.lattice: Any = self._words_lattice if self._is_potts else self._cells
        super().__init__(replicas, first_replica, seed, device, start)
        self._betas = self._check_temperatures(temperature, beta)
        self._prepare()
        self._words = self._first_spins(start)

    @staticmethod
    def critical_temperature(lattice: str = "square") -> float:
        """Return the critical temperature of the infinite lattice, for a coupling of 1.

        Parameters
        ----------
        lattice : str, optional
            "square" [1]_, "triangular", "honeycomb" [2]_ and "kagome" [3]_ are exact; "cubic" [4]_;
            "bcc" [5]_.

        Raises
        ------
        ValueError
            For other lattices, of which none is kept here.

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
        if lattice not in CRITICAL:
            raise ValueError(
                f"no critical temperature of lattice={shown(lattice)} is known here, but of "
                f"{', '.join(CRITICAL)}; give temperature or beta as a number"
            )
        return CRITICAL[lattice]

    # ------------------------------------------------------------------------------------ the state

    @property
    def sites(self) -> int:
        """The number of sites of a replica."""
        return self._cells.sites

    @property
    def temperature(self) -> float | NDArray[np.float64]:
        """The temperature, of each replica if there are several; infinite where beta is 0."""
        with np.errstate(divide="ignore"):
            temperatures = 1 / self._betas
        return float(temperatures[0]) if self._single else temperatures

    @property
    def spins(self) -> Any:
        """The spins, ±1: a copy, int8, ``(*replicas, *shape)``, or with an axis for a cell's sites.

        The latter is the last axis, and there where a cell has more than one site.
        """
        xp = self._engine.xp
        states = unpack(xp, self._words_lattice, self._words).astype(np.int8)
        return self._of_replicas((1 - 2 * states).reshape(self.replicas, *self._shape_of_sites))

    @property
    def coordinates(self) -> NDArray[np.float64]:
        """Where the sites lie: a row for each of one replica, in C order of `spins`."""
        cells = np.indices(self._cells.shape).reshape(len(self._cells.shape), -1).T
        corners = cells @ np.array(self.cell.vectors)
        places: NDArray[np.float64] = corners[:, None] + np.array(self.cell.sites)
        return places.reshape(self.sites, -1)

    @property
    def edges(self) -> NDArray[np.int64]:
        """The two sites of each bond, in C order of `spins`, shape (bonds, 2)."""
        return self._cells.edges()

    @property
    def signs(self) -> NDArray[np.int8]:
        """The sign of the coupling of each bond, as `edges`."""
        return self._cells.signs()

    def bonds(self) -> Any:
        """Return which bonds the next cluster update makes active.

        Returns
        -------
        array of bool, shape ``(*replicas, bonds)``
            As `edges`.
        """
        xp, cells = self._engine.xp, self._cells
        words = self._engine.bonds(self._words, self.updates + 1, self._bond_probabilities())
        of_kind = []
        for k, kind in enumerate(cells.kinds):
            number, end = self._place_of(k, kind)
            plane = unpack(xp, self._words_lattice, words[:, number : number + 1])
            owners = xp.asarray(cells.edges_of_kind(kind)[:, end])
            of_kind.append(plane.reshape(self.replicas, -1)[:, owners])
        return self._of_replicas(xp.concatenate(of_kind, axis=1).astype(bool))

    def labels(self, *, numbering: str = "consecutive", return_num: bool = False) -> Any:
        """Label the clusters that the next update draws.

        Parameters
        ----------
        numbering, return_num
            As of `conncomp.label_bonds`.

        Returns
        -------
        array of int32 or int64
            Of the shape of `spins`; and, if `return_num`, how many there are, or an array of them.

        Examples
        --------
        >>> from conncomp.models import Ising
        >>> labels, num = Ising((4, 4), lattice="kagome", beta=9.0, start="cold").labels(
        ...     return_num=True
        ... )
        >>> labels.shape, num
        ((4, 4, 3), 1)
        """
        check_choice("numbering", numbering, ("consecutive", "roots"))
        xp, counted = self._engine.xp, as_bool("return_num", return_num)
        edges = xp.asarray(self.edges)
        labelled: Any = connected_components
        labels, counts = [], []
        for active in self.bonds().reshape(self.replicas, -1):
            graph = Graph.from_edges(edges[active, 0], edges[active, 1], self.sites)
            count, of_sites = labelled(graph, numbering=numbering, directed=False)
            labels.append(of_sites + (numbering == "consecutive"))
            counts.append(count)
        shaped = self._of_replicas(xp.stack(labels).reshape(self.replicas, *self._shape_of_sites))
        if not counted:
            return shaped
        return shaped, counts[0] if self._single else np.array(counts, np.int64)

    # ---------------------------------------------------------------------------------- the updates

    def swendsen_wang(
        self, sweeps: int = 1, *, measure: bool = True, clusters: bool = False
    ) -> Measurements | None:
        """Let each cluster of spins change, or stay, with probability one half.

        Parameters
        ----------
        sweeps : int, optional
            How many times.
        measure : bool, optional
            Whether to measure each of them.
        clusters : bool, optional
            Whether to measure the sizes of clusters, too, which takes longer.

        Returns
        -------
        Measurements or None
            None if nothing is measured.
        """
        return self._repeat("sweeps", sweeps, measure, clusters=clusters)

    def wolff(
        self, updates: int = 1, *, measure: bool = True, clusters: bool = False
    ) -> Measurements | None:
        """Flip the cluster of one chosen site.

        Parameters
        ----------
        updates : int, optional
            How many clusters, one after the other. On lattices that `Potts` does not have, each
            takes as long as a sweep of `swendsen_wang`.
        measure, clusters, returns
            As of `swendsen_wang`.
        """
        return self._repeat("updates", updates, measure, update="wolff", clusters=clusters)

    def updater(
        self, *, update: str = "swendsen-wang", clusters: bool = False
    ) -> Update[Measurements]:
        """Return a kind of updates, of which `conncomp.models.simulate` makes many.

        Parameters
        ----------
        update : {"swendsen-wang", "wolff", "metropolis"}, optional
            The last one, sweeps of single spins, for ferromagnets on the lattices of `Potts`.
        clusters : bool, optional
            As of `swendsen_wang`.

        Returns
        -------
        Update

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind, or not for these updates.

        Examples
        --------
        >>> from conncomp.models import Ising, simulate
        >>> run = simulate(Ising(16, lattice="honeycomb", seed=1), 100, update="wolff")
        >>> run.series.energy.shape
        (100,)
        """
        check_choice("update", update, UPDATES)
        sizes = as_bool("clusters", clusters)
        if update == "metropolis" and not self._is_potts:
            raise ValueError(f'update="metropolis" is for {OF_POTTS}; use "swendsen-wang"')
        if sizes and (self.coupling < 0 or any(self._cells.antiperiodic)):
            raise ValueError(
                "clusters=True gives the magnetisation of clusters of equal spins; leave it out "
                "for an antiferromagnet, or where an axis is antiperiodic"
            )
        return KINDS[update](self, Asked(None, None, sizes, False))

    # ----------------------------------------------------------------------- what the base asks for

    def _described(self) -> dict[str, Any]:
        borders = zip(self._cells.periodic, self._cells.antiperiodic, strict=True)
        return {
            "lattice": self._lattice_name,
            "shape": list(self._cells.shape),
            "coupling": self.coupling,
            "periodic": [BORDERS["antiperiodic" if turn else closed] for closed, turn in borders],
        }

    @property
    def _gain(self) -> float:
        return 2 * abs(self.coupling)

    @property
    def _spins_in_words(self) -> str:
        return f"the spins of shape={self._cells.shape} with {self._cells.cell} sites a cell"

    @property
    def _shape_of_sites(self) -> tuple[int, ...]:
        cells = self._cells
        return cells.shape if cells.cell == 1 else (*cells.shape, cells.cell)

    def _critical_beta(self) -> float:
        if self.coupling < 0:
            raise ValueError(
                f"coupling={self.coupling:g} below 0 has no critical temperature here; give "
                "temperature or beta as a number"
            )
        return 1 / (self.critical_temperature(self._lattice_name) * self.coupling)

    def _updates_engine(self) -> Any:
        if self._is_potts:
            return self._new_engine(self._words_lattice, "auto", {})
        return self._new_engine(self._cells)

    def _given_states(self, start: ArrayLike) -> Any:
        given = check_start(start, "i", "of integers", self.replicas, self._shape_of_sites)
        if not (abs(given) == 1).all():
            raise ValueError("start has spins that are neither 1 nor -1")
        shape: Any = given.shape[: given.ndim - len(self._shape_of_sites)]
        return (given < 0).astype("u1").reshape(*shape, *self._words_lattice.shape)

    def _series(self, records: NDArray[np.int64], *measured: bool) -> Measurements:
        return IsingMeasurements(records, self.lattice, self.coupling, *measured)

    # -------------------------------------------------------------------------------------- helpers

    def _place_of(self, number: int, kind: Kind) -> tuple[int, int]:
        """Return where the engine has the bonds of a kind, and which of their ends has them.

        That of `Potts` has those of axes in order, and of the first one of two sites.
        """
        if not self._is_potts:
            return number, 0
        return (kind.step.index(-1), 1) if any(kind.step) else (len(kind.step), 0)

    def _check_temperatures(self, temperature: Any, beta: Any) -> NDArray[np.float64]:
        if temperature is not None and beta is not None:
            raise ValueError("temperature and beta exclude each other; give one of them")
        if beta is not None:
            return self._check_betas(beta)
        if temperature is None or isinstance(temperature, str):
            check_choice("temperature", temperature or "critical", ("critical",))
            return self._check_betas("critical")
        temperatures = as_numbers("temperature", temperature)
        with np.errstate(divide="ignore", over="ignore"):
            betas = 1 / temperatures
        if not (temperatures > 0).all() or np.isinf(betas).any() or np.isinf(temperatures).any():
            raise ValueError(f"temperature={shown(temperature)} must be above 0, and finite")
        return self._check_betas(betas)


def _check_lattice(lattice: Any) -> UnitCell:
    if isinstance(lattice, UnitCell):
        return lattice
    if not isinstance(lattice, str):
        raise TypeError(f"lattice={shown(lattice)} must be the name of a lattice, or a UnitCell")
    check_choice("lattice", lattice, tuple(LATTICES))
    return LATTICES[lattice]


def _check_borders(periodic: Any, axes: int) -> list[str]:
    single = isinstance(periodic, (bool, np.bool_, str))
    borders = [periodic] * axes if single else list(as_sequence("periodic", periodic))
    if len(borders) != axes:
        raise ValueError(
            f"periodic={shown(periodic)} has {len(borders)} entries; the lattice has {axes} axes"
        )
    for border in borders:
        is_name = isinstance(border, str) and border == "antiperiodic"
        if not is_name and not isinstance(border, (bool, np.bool_)):
            raise TypeError(
                f'periodic={shown(periodic)} must be True, False or "antiperiodic", or one of '
                "these for each axis"
            )
    return [BORDERS[border if isinstance(border, str) else bool(border)] for border in borders]


def _in_words(cell: UnitCell) -> str:
    """Return a cell as text, by which simulations of different ones are told apart."""
    return json.dumps([cell.vectors, cell.sites, cell.bonds])
