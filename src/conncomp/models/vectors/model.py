"""The XY and the Heisenberg model: their parameters, their spins, and what one asks of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_bool, check_choice, shown
from conncomp._arrays import placed
from conncomp.grid._arguments import check_periodic
from conncomp.kernels.lattice import Lattice, unpack
from conncomp.kernels.vector_spins import (
    ANGLE,
    DIRECTION,
    FIELDS,
    Kind,
    as_angles,
    as_spins,
    as_vectors,
)
from conncomp.models._arguments import check_finite, check_shape, check_start, one_each
from conncomp.models._clusters import label_clusters
from conncomp.models._memory import room_for
from conncomp.models.base import Simulated
from conncomp.models.protocol import Update
from conncomp.models.vectors.measurements import VectorMeasurements
from conncomp.models.vectors.strengths import MOST, strengths_of
from conncomp.models.vectors.summaries import VectorSummary, summarise_vectors
from conncomp.models.vectors.updates import UPDATES, ClusterUpdate

MOST_SITES = (1 << 31) - 1
# How far from 1 the square of a direction's length may be in a state that is restored.
LENGTH_TOLERANCE = 1e-4


class VectorModel(Simulated[VectorMeasurements]):
    """What `XY` and `Heisenberg` share; they say `_kind`, how spins are held, and `_critical`."""

    _folder = __package__
    _changing, _memory = ("_betas", "_spins"), ("_new_spins",)
    _kind: ClassVar[Kind]
    _critical: ClassVar[dict[int, float]]

    _spins: Any
    _new_spins: Any

    def __init__(
        self,
        shape: int | Sequence[int],
        *,
        temperature: ArrayLike | None = None,
        beta: ArrayLike | None = None,
        coupling: float = 1.0,
        periodic: bool | Sequence[bool] = True,
        replicas: int | None = None,
        seed: int = 0,
        start: str | ArrayLike = "hot",
        first_replica: int = 0,
        device: str | None = None,
    ) -> None:
        lengths = check_shape(shape)
        # Clusters are reflected or not: of two states.
        self.lattice = Lattice(lengths, check_periodic(periodic, len(lengths), "the lattice"), 2)
        if self.lattice.sites > MOST_SITES:
            raise ValueError(f"shape={shown(shape)} must have fewer than 2**31 sites")
        self.coupling = check_finite("coupling", coupling)
        if self.coupling == 0:
            raise ValueError(f"coupling={shown(coupling)} must not be 0")
        super().__init__(replicas, first_replica, seed, device, start)
        self._betas = self._betas_of(temperature, beta)
        self._prepare()
        self._spins = self._first_spins(start)

    # ------------------------------------------------------------------------------------ the state

    @property
    def sites(self) -> int:
        """The number of sites of a replica."""
        return self.lattice.sites

    @property
    def beta(self) -> float | NDArray[np.float64]:
        """The inverse temperature, of each replica if there are several."""
        return float(self._betas[0]) if self._single else self._betas.copy()

    @property
    def temperature(self) -> float | NDArray[np.float64]:
        """The temperature, of each replica if there are several; infinite where beta is 0."""
        with np.errstate(divide="ignore"):
            temperatures = 1 / self._betas
        return float(temperatures[0]) if self._single else temperatures

    @property
    def spins(self) -> Any:
        """The spins as vectors: a copy, float64, shape ``(*replicas, *shape, components)``."""
        return self._of_replicas(as_vectors(self._engine.xp, self._kind, self._spins))

    def parameters(self) -> dict[str, Any]:
        """Return which model it is: values that JSON has, and `beta` as an array."""
        return {**super().parameters(), "beta": np.asarray(self.beta)}

    def measure(self) -> VectorMeasurements:
        """Return what can be measured without an update: all but clusters.

        Returns
        -------
        VectorMeasurements
            Of the present spins, without an axis for updates.

        Examples
        --------
        >>> from conncomp.models import XY
        >>> XY((8, 8), beta=1.0, start="cold", replicas=2).measure().energy
        array([-128., -128.])
        """
        return self._read(self._present())

    def energy(self) -> Any:
        """Return the energy of the whole lattice, for each replica."""
        return self.measure().energy[()]

    def magnetisation(self) -> Any:
        """Return the mean spin, a vector, for each replica."""
        return self.measure().magnetisation

    def bonds(self) -> Any:
        """Return which bonds the next update makes active.

        Returns
        -------
        array of bool, shape ``(ndim, *replicas, *shape)``
            As `conncomp.label_bonds` takes them.
        """
        xp, lattice = self._engine.xp, self.lattice
        words = self._engine.bonds(self._spins, self.updates + 1, self._strengths())
        planes = (unpack(xp, lattice, words[:, k : k + 1]) for k in range(lattice.ndim))
        return xp.stack([self._of_replicas(plane) for plane in planes]).astype(bool)

    def labels(self, *, numbering: str = "consecutive", return_num: bool = False) -> Any:
        """Label the clusters that the next update draws.

        Parameters
        ----------
        numbering, return_num
            As of `conncomp.label_bonds`.

        Returns
        -------
        array of int32 or int64, shape ``(*replicas, *shape)``
            And, if `return_num`, how many there are, or an array of them.

        Examples
        --------
        >>> from conncomp.models import XY
        >>> labels, num = XY((4, 4), beta=50.0, start="cold", seed=1).labels(return_num=True)
        >>> labels.shape, num
        ((4, 4), 1)
        """
        how: Any = {"numbering": numbering, "return_num": return_num}
        return label_clusters(self.bonds(), self.lattice, self._batch_axes, **how)

    # ---------------------------------------------------------------------------------- the updates

    def swendsen_wang(
        self, sweeps: int = 1, *, measure: bool = True, clusters: bool = False
    ) -> VectorMeasurements | None:
        """Draw a mirror, and let each cluster be reflected in it with probability one half.

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
        VectorMeasurements or None
            None if nothing is measured.
        """
        return self._repeat("sweeps", sweeps, measure, clusters=clusters)

    def wolff(self, updates: int = 1, *, measure: bool = True) -> VectorMeasurements | None:
        """Draw a mirror, and reflect the cluster of one chosen site in it.

        Parameters
        ----------
        updates : int, optional
            How many clusters, one after the other.
        measure, returns
            As of `swendsen_wang`.
        """
        return self._repeat("updates", updates, measure, update="wolff")

    def updater(
        self, *, update: str = "swendsen-wang", clusters: bool = False
    ) -> Update[VectorMeasurements]:
        """Return a kind of updates, of which `conncomp.models.simulate` makes many.

        Parameters
        ----------
        update : {"swendsen-wang", "wolff"}, optional
        clusters : bool, optional
            As of `swendsen_wang`; not for "wolff".

        Returns
        -------
        Update

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind, or not for these updates.

        Examples
        --------
        >>> from conncomp.models import Heisenberg, simulate
        >>> run = simulate(Heisenberg((4, 4, 4), seed=1), 100, update="wolff")
        >>> run.series.energy.shape
        (100,)
        """
        check_choice("update", update, UPDATES)
        if as_bool("clusters", clusters) and update == "wolff":
            raise ValueError('clusters=True is for update="swendsen-wang", which draws all of them')
        return ClusterUpdate(self, update, clusters)

    @staticmethod
    def summaries(series: VectorMeasurements, parameters: Mapping[str, Any]) -> list[VectorSummary]:
        """Return means and errors by inverse temperature, for `Simulation.summarise`."""
        return summarise_vectors(series, parameters["beta"], parameters["measure_every"])

    # ----------------------------------------------------------------------- what the base asks for

    def _described(self) -> dict[str, Any]:
        return {
            "shape": list(self.lattice.shape),
            "periodic": list(self.lattice.periodic),
            "coupling": self.coupling,
        }

    def _prepare(self) -> None:
        self._engine = self._new_engine(self.lattice, self._kind, self.coupling < 0)
        self._new_spins = self._no_spins()

    def _checked(self, arrays: tuple[NDArray[Any], ...]) -> tuple[Any, ...]:
        betas, spins = arrays
        shape, dtype = self._new_spins.shape, self._kind.dtype
        if spins.shape != shape or spins.dtype != dtype:
            raise ValueError(
                f"the state has spins of {spins.dtype} and shape {spins.shape}; they must be "
                f"{dtype} of shape {shape}"
            )
        held = spins.copy()  # what is checked is not changed afterwards
        if not self._are_spins(held):
            raise ValueError("the state has spins that are no unit vectors")
        return self._check_betas("the state's beta", betas), placed(self._engine.xp, held)

    @property
    def _record_length(self) -> int:
        return FIELDS

    def _measure(self, record: Any) -> None:
        self._engine.count(self._spins, record)

    def _read(self, records: NDArray[np.int64]) -> VectorMeasurements:
        return self._series(records, False)

    def _series(self, records: NDArray[np.int64], clusters: bool) -> VectorMeasurements:
        return VectorMeasurements(
            records, self.lattice, self._kind, self.coupling, self.beta, clusters
        )

    def _ladders(self) -> NDArray[np.int64]:
        return np.argsort(self._betas, kind="stable")[None, :]

    def _energy_unit(self) -> float:
        return -self.coupling / (1 << 28)

    def _read_in_order(
        self, records: NDArray[np.int64], ladders: NDArray[np.int64]
    ) -> VectorMeasurements:
        betas = self._betas[ladders[0]]
        return VectorMeasurements(records, self.lattice, self._kind, self.coupling, betas)

    # -------------------------------------------------------------------------------------- helpers

    @abstractmethod
    def _are_spins(self, spins: NDArray[Any]) -> bool:
        """Return whether numbers are spins."""

    def _strengths(self) -> Any:
        """Return how strong the bonds of each replica are."""
        strengths = strengths_of(self._betas, self.coupling)
        return placed(self._engine.xp, strengths.view(np.uint32))

    def _no_spins(self) -> Any:
        shape = self.replicas, *self.lattice.shape
        itemsize = self._kind.dtype.itemsize
        what = f"the spins of shape={self.lattice.shape} and {self.replicas} replicas, twice"
        with room_for(what, 2 * itemsize * self.replicas * self.lattice.sites):
            return self._engine.xp.zeros(shape, self._kind.dtype)

    def _first_spins(self, start: str | ArrayLike) -> Any:
        xp = self._engine.xp
        if isinstance(start, str):
            check_choice("start", start, ("hot", "cold"))
            spins = self._no_spins()
            if start == "hot":
                self._engine.start(spins)
                return spins
            first = np.eye(self._kind.components)[0]
            spins[...] = as_spins(np, self._kind, first[None])[0]
            return spins
        wanted = f"of {self._kind.components} numbers along the last axis"
        shape = *self.lattice.shape, self._kind.components
        given = xp.asarray(check_start(start, "f", wanted, self.replicas, shape), np.float64)
        lengths = xp.sqrt((given**2).sum(axis=-1, keepdims=True))
        if not (xp.isfinite(lengths) & (lengths > 0)).all():
            raise ValueError("start has vectors without a direction: of length 0, or not finite")
        spins = as_spins(xp, self._kind, given / lengths)
        first = self._no_spins()
        first[...] = spins
        return first

    def _betas_of(self, temperature: Any, beta: Any) -> NDArray[np.float64]:
        if temperature is not None and beta is not None:
            raise ValueError("temperature and beta exclude each other; give one of them")
        if beta is not None:
            return self._check_betas("beta", one_each("beta", beta, self.replicas))
        if temperature is None or isinstance(temperature, str):
            check_choice("temperature", temperature or "critical", ("critical",))
            temperature = self._critical_temperature()
        temperatures = one_each("temperature", temperature, self.replicas)
        if not ((temperatures > 0) & np.isfinite(temperatures)).all():
            raise ValueError(f"temperature={shown(temperature)} must be above 0, and finite")
        with np.errstate(over="ignore"):
            return self._check_betas("the inverse of temperature", 1 / temperatures)

    def _check_betas(self, name: str, betas: NDArray[np.float64]) -> NDArray[np.float64]:
        if betas.shape != (self.replicas,) or betas.dtype != np.float64:
            raise ValueError(f"{name} must be {self.replicas} numbers of float64")
        if not (betas >= 0).all() or not (betas * abs(self.coupling) < MOST).all():
            raise ValueError(
                f"{name}={shown(betas.tolist())} must not be negative and, times the coupling, "
                f"below {MOST:g}"
            )
        return betas.copy()

    def _critical_temperature(self) -> float:
        axes = self.lattice.ndim
        if axes not in self._critical or self.coupling < 0:
            raise ValueError(
                f"no critical temperature of the {self._name} model on {axes} axes with "
                f"coupling={self.coupling:g} is known here; give temperature or beta as a number"
            )
        return self._critical[axes] * self.coupling


class XY(VectorModel):
    """The XY model on a hypercubic lattice, simulated by clusters of Wolff's embedding.

    The energy is ``H = -J sum over bonds of s_i . s_j`` of unit vectors in the plane, and k_B = 1.
    An update draws a mirror, joins spins on one side of it by bonds of the probability that
    belongs to them [1]_, and reflects clusters as wholes. Angles are held as 16 bits, which changes
    no mean that double precision could tell: ``docs/contracts.md``, 10.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of 1 to 4 axes. Along a periodic axis of length 1 or 2 sites have bonds as on a
        torus.
    temperature : float, "critical", or sequence of float, optional
        T above 0, one for all replicas or one for each; "critical", the default, is 1 / 1.1199(1) J
        [2]_ of the square lattice, the transition of Kosterlitz and Thouless, or 1 / 0.4541652(11)
        J [3]_ of the cubic one.
    beta : float or sequence of float, optional
        The inverse temperature, instead of `temperature`.
    coupling : float, optional
        J: above 0 of a ferromagnet, below 0 of an antiferromagnet.
    periodic : bool or sequence of bool, optional
        Which axes close on themselves: one answer for all, or one for each axis.
    replicas : int, optional
        How many independent lattices run side by side; None, the default, is one, without an axis
        for replicas in what is returned.
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
    .. [3] M. Campostrini, M. Hasenbusch, A. Pelissetto, E. Vicari, Phys. Rev. B 74, 144506 (2006).

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

    _name, _kind = "XY", ANGLE
    _critical: ClassVar[dict[int, float]] = {2: 1 / 1.1199, 3: 1 / 0.4541652}

    @property
    def angles(self) -> Any:
        """The angles of the spins, from 0 to 2 pi: a copy, float64, ``(*replicas, *shape)``."""
        return self._of_replicas(as_angles(self._spins))

    def _are_spins(self, spins: NDArray[Any]) -> bool:
        return True


class Heisenberg(VectorModel):
    """The classical Heisenberg model on a hypercubic lattice, simulated as `XY`.

    Spins are unit vectors of three components, each held as 21 bits: ``docs/contracts.md``, 10.

    Parameters
    ----------
    shape
        As of `XY`.
    temperature : float, "critical", or sequence of float, optional
        "critical", the default, is 1 / 0.693002(2) J [1]_, of the cubic lattice.
    beta, coupling, periodic, replicas, seed, start, first_replica, device
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

    _name, _kind = "Heisenberg", DIRECTION
    _critical: ClassVar[dict[int, float]] = {3: 1 / 0.693002}

    def _are_spins(self, spins: NDArray[Any]) -> bool:
        squares = (as_vectors(np, self._kind, spins) ** 2).sum(axis=-1)
        return bool(
            (abs(squares - 1) < LENGTH_TOLERANCE).all() and (spins >> np.uint64(63) == 0).all()
        )
