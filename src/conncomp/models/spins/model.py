"""Models of spins on a lattice or a graph: their parameters, and the updates that all have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_bool, check_choice, shown
from conncomp._array_storage import on_host, placed
from conncomp.graph import Graph
from conncomp.grid import label_bonds
from conncomp.kernels.edges import WHOLE
from conncomp.kernels.lattice import check_words, pack
from conncomp.kernels.updates import LOCAL_RULES, ChosenSites
from conncomp.models import places
from conncomp.models._arguments import as_many_as
from conncomp.models._probabilities import CERTAIN
from conncomp.models.base import Update
from conncomp.models.lattices import UnitCell
from conncomp.models.observables.clusters import label_on_edges
from conncomp.models.observables.observing import observing
from conncomp.models.observables.series import check_wrapping
from conncomp.models.places import HYPERCUBIC, OnLattice, digest_of
from conncomp.models.protocol import Floats, Integers, Measured, ModelUpdate, make_updates
from conncomp.models.spins.measurements import Measurements
from conncomp.models.spins.state import Layout, SpinState
from conncomp.models.spins.updates import (
    NOTHING,
    ON_EDGES,
    ClusterUpdate,
    LocalUpdate,
    OfClusters,
    SpinUpdate,
    check_tile,
)
from conncomp.models.statistics.summaries import Summary, summarise
from conncomp.models.thermal import Thermal, inverses_of, temperature_or_beta


class SpinModel(Thermal[Measured]):
    """A model of spins whose sites lie where `_place` says.

    It has the updates `_updates`, and a satisfied bond lowers the energy by `_gain` couplings.
    """

    _changing = ("betas", "now")
    _updates: ClassVar[tuple[str, ...]] = ON_EDGES
    _gain: ClassVar[float] = 2.0
    _default_lattice: ClassVar[str | None] = None  # which is hypercubic
    _most_sites: ClassVar[float] = inf
    _labels_by_axis: ClassVar[bool] = True

    lattice: Any
    _state: SpinState
    _field: Any

    def __init__(
        self,
        shape: int | Sequence[int] | Graph,
        *,
        lattice: str | UnitCell | None = None,
        temperature: ArrayLike | None = None,
        beta: ArrayLike | None = None,
        coupling: ArrayLike = 1.0,
        field: ArrayLike | None = None,
        periodic: bool | str | Sequence[bool | str] = True,
        replicas: int | None = None,
        seed: int = 0,
        start: str | ArrayLike = "hot",
        first_replica: int = 0,
        device: str | None = None,
    ) -> None:
        self.coupling = places.as_coupling(coupling)
        lattice = self._default_lattice if lattice is None else lattice
        self._place = places.place_of(shape, lattice, periodic, self.coupling)
        if self._place.sites > self._most_sites:
            raise ValueError(f"shape={shown(shape)} must have fewer than 2**31 sites")
        fields = places.as_field(field, self._place.shape)
        self._field = places.as_one_number(fields)
        many = as_many_as(replicas, temperature, beta)
        super().__init__(many, first_replica, seed, device, start)
        self._layout = layout = self._lay_out(fields)
        self.lattice, self._record_length = layout.lattice, layout.fields
        self._strongest = layout.strongest
        self._given_betas = self._betas_of(temperature, beta)
        self._prepare()
        self._state.betas, self._state.now = self._given_betas, self._first_spins(start)

    @abstractmethod
    def _lay_out(self, fields: Floats | None) -> Layout:
        """Return where the spins lie, given the field of each site."""

    def _betas_of(self, temperature: Any, beta: Any) -> Floats:
        """Return each replica's inverse temperature, given one of both, or neither."""
        name, given = temperature_or_beta(temperature, beta)
        if isinstance(given, str):
            given, name = self._critical_beta(), "beta"
        if name == "beta":
            return self._check_betas("beta", given)
        _, betas = inverses_of(name, given, self.replicas)
        return self._check_betas("the inverse of temperature", betas)

    def _critical_beta(self) -> float:
        coupling, place = self.coupling, self._place
        if isinstance(place, OnLattice) and isinstance(coupling, float) and coupling > 0:
            known = self._known_beta(place.name, coupling)
            if known is not None:
                return known
        where = "a graph" if place.name == "graph" else f"this lattice, {place.name},"
        if place.name in HYPERCUBIC:
            where = f"{1 + HYPERCUBIC.index(place.name)} axes"
        if isinstance(coupling, np.ndarray):
            where += " with couplings of their own"
        elif coupling < 0:
            where += f" with coupling={coupling:g}"
        raise ValueError(
            f"no critical temperature of the {self._name} model on {where} is known here; give a "
            "temperature or beta as a number"
        )

    @abstractmethod
    def _known_beta(self, lattice: str, coupling: float) -> float | None:
        """Return the critical beta of the infinite lattice, if it is known."""

    def _prepare(self) -> None:
        gain = self._gain * abs(self._strongest)
        where = self._name, self._place, self._layout
        self._state = SpinState(self.device, self._random, *where, gain)
        # Of words, bits beyond the rows are 0 in both: updates write what belongs to sites.
        self._state.next = self._no_spins()

    @abstractmethod
    def _no_spins(self) -> Any:
        """Return memory for spins, all 0."""

    def _first_spins(self, start: str | ArrayLike) -> Any:
        if not isinstance(start, str):
            return self._held(self._given_spins(start))
        check_choice("start", start, ("hot", "cold"))
        spins = self._no_spins()
        if start == "hot":
            self._engine.start(spins)
        else:
            spins[...] = self._cold_spin()
        return spins

    def _cold_spin(self) -> Any:
        return 0

    @abstractmethod
    def _given_spins(self, start: ArrayLike) -> Any:
        """Return the spins that a user gave, of one replica or of all."""

    @abstractmethod
    def _held(self, given: Any) -> Any:
        """Return given spins as updates take them."""

    @property
    def sites(self) -> int:
        """The number of sites of a replica."""
        return self._place.sites

    @property
    def coordinates(self) -> NDArray[np.float64]:
        """The coordinates of a lattice's sites: a row each, in C order of one replica's `spins`."""
        return self._place.coordinates()

    @property
    def edges(self) -> Integers:
        """The two sites of each bond, in C order of `spins`, shape (bonds, 2)."""
        return np.ascontiguousarray(self._place.ends().T, np.int64)

    def swendsen_wang(
        self,
        sweeps: int = 1,
        *,
        measure: bool = True,
        clusters: bool = False,
        wrapping: bool = False,
        observe: str | Sequence[str] = (),
    ) -> Measured | None:
        """Give each cluster of spins a new state.

        It is any of q states of `Potts`; of `Ising`, the other one with probability one half. Of
        vectors a mirror is drawn, in which each cluster is reflected with probability one half.

        Parameters
        ----------
        sweeps : int, optional
            How many times.
        measure : bool, optional
            Whether to measure each of them.
        clusters, wrapping, observe
            What to measure besides: see `updater`.

        Returns
        -------
        Measurements, VectorMeasurements or None
            None if nothing is measured.

        Examples
        --------
        >>> from conncomp.models import Potts
        >>> series = Potts((8, 8), beta=50.0, start="cold", seed=1).swendsen_wang(wrapping=True)
        >>> series.wraps.tolist(), series.rank.tolist()
        ([[True, True]], [2])
        """
        return self._repeat("sweeps", sweeps, measure, "swendsen-wang", clusters, wrapping, observe)

    def metropolis(
        self, sweeps: int = 1, *, measure: bool = True, observe: str | Sequence[str] = ()
    ) -> Measured | None:
        """Offer each site in turn another state, accepted with a min(1, exp(-beta dE)).

        Couplings may have any sign, and sites fields. Sites that are not neighbours are offered at
        once: those of even coordinate sums, then the others, or classes of a graph in turn. Given
        their neighbours they are independent, and each is in detailed balance, so that a sweep
        leaves the distribution of Boltzmann as it is.

        The factor a is 15/16 for two states and 1 for more. So a sweep of two states may flip any
        of the sites and leave the others; with a = 1 some starts would never leave a cycle of one
        energy. Of more states two sweeps lead from all spins to all spins, by a third state. A
        vector is offered its reflection, with a = 1, in a mirror that is drawn for each site.

        Parameters
        ----------
        sweeps, measure, observe, returns
            As of `swendsen_wang`.

        References
        ----------
        N. Metropolis and others, J. Chem. Phys. 21, 1087 (1953).

        Examples
        --------
        >>> from conncomp.models import Ising
        >>> model = Ising((6, 6), lattice="triangular", coupling=-1.0, beta=5.0, seed=1)
        >>> float(model.metropolis(300).energy[-1])  # one bond of each triangle is not satisfied
        -36.0
        """
        return self._repeat("sweeps", sweeps, measure, "metropolis", observe=observe)

    def updater(
        self,
        *,
        update: str = "swendsen-wang",
        clusters: bool = False,
        wrapping: bool = False,
        observe: str | Sequence[str] = (),
    ) -> ModelUpdate[Measured]:
        """Return a kind of updates, a `ModelUpdate`: `conncomp.models.simulate` makes many.

        All that it measures besides takes longer; what is not for these updates raises ValueError.

        Parameters
        ----------
        update : {"swendsen-wang", "wolff", "metropolis", "heat-bath"}, optional
            "heat-bath" not of vectors.
        clusters : bool, optional
            Whether to measure the sizes of clusters, too: not with a field, nor in local updates,
            and of vectors in "swendsen-wang" only.
        wrapping : bool, optional
            Whether to measure how clusters wrap, too, in the same updates on a lattice: along which
            axes one closes on itself, and the highest rank of a cluster's windings, of which
            `Potts.wrapping` tells more. All replicas, up to 2**23, have at most 2**29 bonds over
            the ends of periodic axes.
        observe : str or sequence of str, optional
            "structure", the structure factors, of which the correlation length follows, with
            `clusters` by an improved estimator, too, on lattices with a periodic axis;
            "helicity_modulus" of `XY` and `Heisenberg` on any lattice, and "vortices" of `XY` on
            those in the plane whose bonds do not cross. The latter two are always measured of one
            coupling on hypercubic lattices without antiperiodic axes.

        Examples
        --------
        >>> from conncomp.models import Heisenberg, simulate
        >>> run = simulate(Heisenberg((4, 4, 4), seed=1), 100, update="wolff")
        >>> run.series.energy.shape
        (100,)
        """
        check_choice("update", update, self._updates)
        return self._make_update(update, clusters, wrapping, observe)

    @staticmethod
    def summaries(series: Any, parameters: Mapping[str, Any]) -> list[Summary]:
        """Summarise a series at each temperature."""
        return summarise(series, parameters["beta"], measure_every=parameters["measure_every"])

    def _make_update(
        self,
        update: str,
        clusters: bool = False,
        wrapping: bool = False,
        observe: str | Sequence[str] = (),
        tile: int | Sequence[int] | None = None,
        p_flip: Any = None,
    ) -> Update:
        sizes, winds = as_bool("clusters", clusters), as_bool("wrapping", wrapping)
        if sizes or winds or update not in ON_EDGES:
            self._check_measures(update, sizes, winds)
        state = self._state
        own = winds and state.engine.winds
        if own:
            check_wrapping(self.lattice, self.replicas)
        options: dict[str, Any] = {"update": update, "clusters": sizes}
        if not self._layout.kind.components:
            options["wrapping"] = own
        made: SpinUpdate
        chosen = None
        if update == "few-cluster":
            chosen = check_tile(tile, p_flip, self.lattice.shape)
            options |= {"tile": list(chosen.tile), "p_flip": float(p_flip)}
        elif tile is not None or p_flip is not None:
            raise ValueError('tile and p_flip are for update="few-cluster" only')
        elif update == "wolff":
            chosen = ChosenSites(self.lattice.shape, CERTAIN)
        if update in LOCAL_RULES:
            state.local_engine(update)  # made, or refused, before the first update
            made = LocalUpdate(self, options, state=state)
        else:
            asked = OfClusters(sizes, chosen is None or sizes or own, own)
            made = ClusterUpdate(self, options, state=state, of_clusters=asked, chosen=chosen)
        if winds == own and isinstance(observe, tuple) and not observe:
            return made
        return observing(made, observe, clusters=sizes, wrapping=winds and not own)

    def _check_measures(self, update: str, clusters: bool, wrapping: bool) -> None:
        """Raise ValueError unless these updates measure clusters."""
        if update in LOCAL_RULES:
            name = "clusters" if clusters else "wrapping"
            raise ValueError(f'{name}=True is not for update="{update}", which has none')
        edges = self._layout.edges
        if clusters and edges is not None and edges.fields is not None:
            raise ValueError("clusters=True is of clusters that flip; leave it out with a field")

    def _repeat(
        self, name: str, count: int, measure: bool, *kind: Any, **options: Any
    ) -> Measured | None:
        """Make `count` updates, an argument of this name, and return what they measure."""
        update = self._make_update(*kind, **options)
        measured, numbers = as_bool("measure", measure), self._next_updates(name, count)
        records = update.new_records(len(numbers)) if measured else None
        make_updates(update, numbers, records)
        return update.read(on_host(records)) if measured else None

    def _measure(self, record: Any) -> None:
        self._engine.count(self._state.now, record)

    def bonds(self) -> Any:
        """Return which bonds the next cluster update makes active.

        Returns
        -------
        array of bool, shape ``(ndim, *replicas, *shape)``
            As `conncomp.label_bonds` takes them. On other than hypercubic lattices, with couplings
            of their own, in a field, and of `Clock` and `ON`: ``(*replicas, bonds)``, as `edges`.
        """
        if self._layout.edges is None:
            planes = self._state.planes_of_bonds()
            return planes[:, 0] if self._single else planes
        return self._of_replicas(self._state.bonds().astype(bool))

    def _labels(self, **how: Any) -> Any:
        if self._layout.edges is None and self._labels_by_axis:
            closed, batch_axes = self.lattice.periodic, self._batch_axes
            return label_bonds(self.bonds(), periodic=closed, batch_axes=batch_axes, **how)
        bonds = self.bonds().reshape(self.replicas, -1)
        labels, counts = label_on_edges(self._engine.xp, self.edges, bonds, self.sites, **how)
        shaped = self._of_replicas(labels.reshape(self.replicas, *self._place.shape))
        return shaped if counts is None else (shaped, int(counts[0]) if self._single else counts)

    def _described(self) -> dict[str, Any]:
        """Return parameters, with a digest of couplings and fields that are not numbers."""
        if self._layout.edges is None:
            lattice = {name: list(getattr(self.lattice, name)) for name in ("shape", "periodic")}
            return {**lattice, "coupling": self.coupling}
        numbers = {"coupling": self.coupling, "field": self._field}
        known = {name: n for name, n in numbers.items() if isinstance(n, (int, float))}
        return {**self._place.described(), **known, "bonds": digest_of(self._layout.edges)}


class WordModel(SpinModel[Measurements]):
    """A model whose spins are states in words of bits."""

    _series_class: ClassVar[type[Measurements]]
    _described_spins: ClassVar[str]  # as errors call the spins of a replica, by where sites lie

    def wolff(
        self,
        updates: int = 1,
        *,
        measure: bool = True,
        clusters: bool = False,
        wrapping: bool = False,
        observe: str | Sequence[str] = (),
    ) -> Measurements | None:
        """Flip the cluster of one chosen site; the new state is any but the old one.

        Two states at beta = 0 have clusters of single sites, so that the number of sites in a state
        is even and odd in turn: means over a series are right, those of every second update not.

        Parameters
        ----------
        updates : int, optional
            How many clusters. Each takes as long as a sweep of `swendsen_wang` but on hypercubic
            lattices with one coupling and no field.
        measure, clusters, wrapping, observe, returns
            As of `swendsen_wang`; all clusters are measured then, which takes longer on a CPU.
        """
        return self._repeat("updates", updates, measure, "wolff", clusters, wrapping, observe)

    def heat_bath(
        self, sweeps: int = 1, *, measure: bool = True, observe: str | Sequence[str] = ()
    ) -> Measurements | None:
        """Give each site in turn a state with the probability that it has, given its neighbours.

        Sites change as of `metropolis`. Each probability is right to 2**-25.

        Parameters
        ----------
        sweeps, measure, observe, returns
            As of `metropolis`.
        """
        return self._repeat("sweeps", sweeps, measure, "heat-bath", observe=observe)

    def _checked(self, arrays: tuple[NDArray[Any], ...]) -> tuple[Any, ...]:
        betas, words = arrays
        checked = self._check_betas("the state's beta", betas)
        check_words(self._layout.words, self._state.next.shape, words)
        return checked, placed(self._engine.xp, words.copy())

    def _read(
        self, records: Integers, of_clusters: OfClusters = NOTHING, ladders: Integers | None = None
    ) -> Measurements:
        return self._series_class(records, self.lattice, self._strongest, *of_clusters)

    def _energy_unit(self) -> float:
        return -self._state.gain / (1 if self._layout.edges is None else WHOLE)

    def _no_spins(self) -> Any:
        words = self._layout.words
        what = self._described_spins.format(self._place, words.states)
        return self._zeros(what, *words.words_of(self.replicas, words.planes))

    def _held(self, given: Any) -> Any:
        xp, lattice = self._engine.xp, self._layout.words
        batch = given.shape[: given.ndim - len(self._place.shape)]
        spins = xp.asarray(given).reshape(*batch, *lattice.shape)
        spins = xp.broadcast_to(spins, (self.replicas, *lattice.shape))
        return pack(xp, lattice, xp.ascontiguousarray(spins))
