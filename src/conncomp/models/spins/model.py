"""Models of spins on a lattice or a graph: where the sites lie, and the updates that all have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_bool, check_choice, shown
from conncomp._array_storage import on_host, placed
from conncomp.graph import Graph
from conncomp.grid import label_bonds
from conncomp.kernels.edges import STATES, UNIT_BITS, WHOLE, EdgeBonds, SpinKind
from conncomp.kernels.lattice import Lattice, check_words, pack, unpack_planes
from conncomp.kernels.updates import ChosenSites, SpinEngine
from conncomp.models import places
from conncomp.models._arguments import as_many_as
from conncomp.models._probabilities import (
    CERTAIN,
    acceptances,
    bond_probabilities,
    logarithm_table,
    temperature_factors,
)
from conncomp.models.base import Thermal, Update
from conncomp.models.lattices import UnitCell
from conncomp.models.observables import cpu as observables
from conncomp.models.observables.clusters import label_on_edges
from conncomp.models.observables.observing import observing
from conncomp.models.observables.series import check_wrapping
from conncomp.models.places import HYPERCUBIC, OnLattice, digest_of
from conncomp.models.protocol import Integers, Measured, ModelUpdate, make_updates
from conncomp.models.spins import cpu
from conncomp.models.spins.measurements import Measurements
from conncomp.models.spins.updates import (
    LOCAL,
    ON_EDGES,
    ClusterUpdate,
    LocalUpdate,
    Measures,
    check_tile,
)
from conncomp.models.statistics.summaries import Summary, summarise


class Engines(NamedTuple):
    """The classes of engines of spins for a device: for updates, and for what is observed."""

    words: Callable[..., SpinEngine]
    cells: Callable[..., SpinEngine]
    vectors: Callable[..., SpinEngine]
    edges: Callable[..., SpinEngine]
    labels: Callable[..., Any]
    structure: Callable[..., Any]


def _engines_on(device: str) -> Engines:
    """Return the classes for a device; what needs CuPy is imported when it is wanted."""
    if device == "cpu":
        made = cpu.WordEngine, cpu.CellEngine, cpu.VectorEngine, cpu.EdgeEngine
        return Engines(*made, observables.EdgeLabels, observables.StructureSums)
    from conncomp.kernels.cuda.models import cell_spins, edge_spins, structure
    from conncomp.models.spins import cuda

    found = cuda.WordEngine, cell_spins.CellEngine, cuda.VectorEngine, edge_spins.EdgeEngine
    return Engines(*found, edge_spins.EdgeLabels, structure.StructureSums)


class Layout(NamedTuple):
    """Where the spins of a model lie, and which engine has them.

    Attributes
    ----------
    lattice : what measurements read
    words : the rows of spins held as words of bits
    kind : of the spins on `edges`
    fields : how many a record has
    strongest : the coupling of all bonds; on `edges` a bound of couplings and fields
    engine : without `edges`, what makes the engine
    """

    lattice: Any
    words: Lattice
    kind: SpinKind
    fields: int
    strongest: float
    edges: EdgeBonds | None = None
    engine: Callable[..., SpinEngine] | None = None


class SpinModel(Thermal[Measured]):
    """A model of spins whose sites lie where `_place` says, and that updates change.

    It has the kinds `_updates`, and `_gain`, how many couplings a satisfied bond gains.
    """

    _changing, _memory = ("betas", "now"), ("_local", "_strong")
    _updates: ClassVar[tuple[str, ...]] = ON_EDGES
    _gain: ClassVar[float] = 2.0
    _default_lattice: ClassVar[str | None] = None  # which is hypercubic
    _most_sites: ClassVar[float] = inf
    _labels_by_axis: ClassVar[bool] = True
    _reflects: ClassVar[bool] = False  # vectors

    lattice: Any
    _engine: SpinEngine
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
        self._state.betas = self._given_betas = self._betas_of(temperature, beta)
        self._prepare()
        self._state.now = self._first_spins(start)

    @abstractmethod
    def _lay_out(self, fields: Any) -> Layout:
        """Return where the spins lie, given the field of each site, or None."""

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

    @property
    def sites(self) -> int:
        """The number of sites of a replica."""
        return self._place.sites

    @property
    def coordinates(self) -> NDArray[np.float64]:
        """Where the sites of a lattice lie: a row each, in C order of one replica's `spins`."""
        return self._place.coordinates()

    @property
    def edges(self) -> Integers:
        """The two sites of each bond, in C order of `spins`, shape (bonds, 2)."""
        return np.ascontiguousarray(self._place.ends().T, np.int64)

    def bonds(self) -> Any:
        """Return which bonds the next cluster update makes active.

        Returns
        -------
        array of bool, shape ``(ndim, *replicas, *shape)``
            As `conncomp.label_bonds` takes them. On other than hypercubic lattices, with couplings
            of their own, in a field, and of `Clock` and `ON`: ``(*replicas, bonds)``, as `edges`.
        """
        if self._layout.edges is None:
            planes = self._planes_of_bonds()
            return planes[:, 0] if self._single else planes
        active = self._engine.bonds(self._state.now, self.updates + 1, self._strengths())
        return self._of_replicas(active.astype(bool))

    def _labels(self, **how: Any) -> Any:
        if self._layout.edges is None and self._labels_by_axis:
            closed, batch_axes = self.lattice.periodic, self._batch_axes
            return label_bonds(self.bonds(), periodic=closed, batch_axes=batch_axes, **how)
        bonds = self.bonds().reshape(self.replicas, -1)
        labels, counts = label_on_edges(self._engine.xp, self.edges, bonds, self.sites, **how)
        shaped = self._of_replicas(labels.reshape(self.replicas, *self._place.shape))
        return shaped if counts is None else (shaped, int(counts[0]) if self._single else counts)

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
        asked = {"clusters": clusters, "wrapping": wrapping, "observe": observe}
        return self._repeat("sweeps", sweeps, measure, "swendsen-wang", **asked)

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
        return self._updater(update, clusters, wrapping, observe)

    @staticmethod
    def summaries(series: Any, parameters: Mapping[str, Any]) -> list[Summary]:
        """Summarise a series at each temperature."""
        return summarise(series, parameters["beta"], measure_every=parameters["measure_every"])

    def _repeat(
        self, name: str, count: Any, measure: Any, update: str, **options: Any
    ) -> Measured | None:
        """Make so many updates of a kind, and return what they measured if it is wanted."""
        measured, made = as_bool("measure", measure), self._updater(update, **options)
        numbers = self._next_updates(name, count)
        if not measured:
            make_updates(made, numbers)
            return None
        records = made.new_records(len(numbers))
        make_updates(made, numbers, records)
        series: Measured = made.read(on_host(records))
        return series

    def _updater(
        self,
        update: str,
        clusters: Any = False,
        wrapping: Any = False,
        observe: Any = (),
        tile: Any = None,
        p_flip: Any = None,
    ) -> Update:
        sizes, winds = as_bool("clusters", clusters), as_bool("wrapping", wrapping)
        if sizes or winds or update not in ON_EDGES:
            self._check_measures(update, sizes, winds)
        own = winds and self._engine.winds
        if own:
            check_wrapping(self.lattice, self.replicas)
        options: dict[str, Any] = {"update": update, "clusters": sizes}
        if not self._reflects:
            options["wrapping"] = own
        chosen, state = None, self._state
        if update == "few-cluster":
            chosen = check_tile(tile, p_flip, self.lattice.shape)
            options |= {"tile": list(chosen.tile), "p_flip": float(p_flip)}
        elif tile is not None or p_flip is not None:
            raise ValueError('tile and p_flip are for update="few-cluster" only')
        elif update == "wolff":
            chosen = ChosenSites(self.lattice.shape, CERTAIN)
        made: Update
        if update in LOCAL:
            engine, drawn = self._local_engine(update)
            made = LocalUpdate(self, options, state=state, offering=engine, strengths=drawn)
        else:
            measured = Measures(sizes, chosen is None or sizes or own, own)
            drawn = self._strengths()
            made = ClusterUpdate(
                self, options, state=state, measured=measured, chosen=chosen, strengths=drawn
            )
        if winds != own or not isinstance(observe, tuple) or observe:
            made = observing(self, made, observe, clusters=sizes, wrapping=winds and not own)
        return made

    def _check_measures(self, update: str, clusters: bool, wrapping: bool) -> None:
        """Raise ValueError if such an update does not measure clusters, or is not made here."""
        if update in LOCAL:
            name = "clusters" if clusters else "wrapping"
            raise ValueError(f'{name}=True is not for update="{update}", which has none')
        edges = self._layout.edges
        if clusters and edges is not None and edges.fields is not None:
            raise ValueError("clusters=True is of clusters that flip; leave it out with a field")

    @property
    def _engines(self) -> Engines:
        return _engines_on(self.device)

    @abstractmethod
    def _no_spins(self) -> Any:
        """Return memory for spins, all 0."""

    def _cold_spin(self) -> Any:
        return 0

    @abstractmethod
    def _given_spins(self, start: ArrayLike) -> Any:
        """Return the spins that a user gave, of the shape of one replica's spins or of all."""

    @abstractmethod
    def _held(self, given: Any) -> Any:
        """Return given spins as updates take them."""

    @abstractmethod
    def _new_strengths(self) -> Any:
        """Return by what the engine of a model without edges draws bonds."""

    @abstractmethod
    def _all_bonds(self) -> EdgeBonds:
        """Return the bonds of a model without edges, in words if its spins are."""

    @abstractmethod
    def _held_spins(self) -> tuple[Any, SpinKind, Lattice]:
        """Return the present spins, their kind, and the lattice of rows that they lie in."""

    def _described(self) -> dict[str, Any]:
        """Return parameters; of couplings and fields that are no numbers the digest tells."""
        if self._layout.edges is None:
            lattice = {name: list(getattr(self.lattice, name)) for name in ("shape", "periodic")}
            return {**lattice, "coupling": self.coupling}
        numbers = {"coupling": self.coupling, "field": self._field}
        known = {name: n for name, n in numbers.items() if isinstance(n, (int, float))}
        return {**self._place.described(), **known, "bonds": digest_of(self._layout.edges)}

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
        """Return where the model orders on a lattice without end, if that is known."""

    def _prepare(self) -> None:
        self._local: Any = None
        self._strong: Any = None, None
        edges, made = self._layout.edges, self._layout.engine
        if edges is not None:
            self._state.made = self._edge_engine(edges)
        else:
            assert made is not None
            self._state.made = self._new_engine(made)
        # Of words, bits beyond the rows are 0 in both: updates write what belongs to sites.
        self._state.next = self._no_spins()

    def _measure(self, record: Any) -> None:
        self._engine.count(self._state.now, record)

    def _edge_engine(self, bonds: EdgeBonds) -> SpinEngine:
        classes = cache(partial(places.classes_of, bonds))
        made = bonds, self._layout.kind, logarithm_table(), classes
        return self._new_engine(self._engines.edges, *made)

    def _local_engine(self, rule: str) -> tuple[Any, Any]:
        """Return the engine of local updates, which is one of edges, and strengths for it."""
        if self._layout.edges is not None:
            return self._engine, self._strengths_on(self._layout.edges)
        if self._local is None:
            bonds = self._all_bonds()
            self._local = bonds, self._edge_engine(bonds)
        bonds, engine = self._local
        return engine, self._strengths_on(bonds)

    def _strengths(self) -> Any:
        """Return by what bonds are drawn in each replica, made once for the same temperatures."""
        betas, strengths = self._strong
        if betas is not self._state.betas:
            edges = self._layout.edges
            strengths = self._new_strengths() if edges is None else self._strengths_on(edges)
            self._strong = self._state.betas, strengths
        return strengths

    def _strengths_on(self, edges: Any) -> Any:
        """Return a ``GlassTemperature`` of each replica, in units of the strongest bond."""
        with np.errstate(over="ignore"):
            betas = self._state.betas * (edges.scale * self._gain / 2)
        return self._engine.xp.asarray(temperature_factors(betas, np.full(len(betas), UNIT_BITS)))

    def _planes_of_bonds(self) -> Any:
        """Return which bonds the next update makes active, by planes of words: bool."""
        words = self._engine.bonds(self._state.now, self.updates + 1, self._strengths())
        return unpack_planes(self._engine.xp, self._layout.words, words)


class ClusterModel(SpinModel[Measurements]):
    """A model whose spins are words of states."""

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
        asked = {"clusters": clusters, "wrapping": wrapping, "observe": observe}
        return self._repeat("updates", updates, measure, "wolff", **asked)

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

    def _read(self, records: Integers, *measured: bool, ladders: Any = None) -> Measurements:
        held = self.lattice, self._strongest
        return self._series_class(records, *held, *(measured or Measures()))

    @property
    def _bond_gain(self) -> float:
        """How much energy a satisfied bond of the strongest coupling gains."""
        return self._gain * abs(self._strongest)

    def _energy_unit(self) -> float:
        return -self._bond_gain / (1 if self._layout.edges is None else WHOLE)

    def _held_spins(self) -> tuple[Any, SpinKind, Lattice]:
        return self._state.now, STATES, self._layout.words

    def _all_bonds(self) -> EdgeBonds:
        lattice = self._layout.words
        return self._place.bonds(self.coupling, None, lattice.states).in_words_of(lattice)

    def _new_strengths(self) -> Any:
        return self._engine.xp.asarray(bond_probabilities(self._state.betas, self._bond_gain))

    def _local_engine(self, rule: str) -> tuple[Any, Any]:
        engine = self._engine
        if self._layout.edges is None and rule in engine.rules:  # by words, 64 sites at once
            taken = acceptances(self._state.betas, self._bond_gain, self.lattice)
            return engine, engine.xp.asarray(taken)
        return super()._local_engine(rule)

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
