"""The Ising spin glass: couplings of both signs, and many replicas of each sample of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import INT32_MAX, as_bool, as_number, check_choice, check_range, shown
from conncomp._array_storage import placed
from conncomp._core import native
from conncomp.grid import label
from conncomp.grid._arguments import check_periodic
from conncomp.kernels.lattice import BITS, Lattice
from conncomp.kernels.spin_glass import GlassReplicas, check_words, pack, unpack
from conncomp.kernels.updates import LOCAL_RULES, Drawn
from conncomp.models._arguments import (
    MOST_REPLICAS,
    as_numbers,
    as_reals,
    check_shape,
    check_start,
    flat,
    room_for,
)
from conncomp.models.base import Update
from conncomp.models.disorder import check_distribution
from conncomp.models.protocol import Floats, Integers, ModelUpdate, make_updates
from conncomp.models.spin_glass.couplings import (
    Acting,
    Bonds,
    as_acting,
    as_bonds,
    check_array,
    draw_couplings,
)
from conncomp.models.spin_glass.disorder import OverlapSummary, summarise_overlaps, with_identities
from conncomp.models.spin_glass.pairs import Overlaps, measure_overlaps, move_clusters, pairs_of
from conncomp.models.spin_glass.rounds import FIELDS, GlassMeasurements, GlassRound, GlassSeries
from conncomp.models.thermal import Thermal


class GlassEngine:
    """Sweeps by a rule of `LOCAL_RULES`, by ``kernels/cpu/models/spin_glass.h``."""

    xp: Any = np

    def __init__(self, drawn: Drawn, rule: str, acting: Acting) -> None:
        replicas = acting.replicas.struct(rule).tobytes()
        engine = native.SpinGlassEngine(replicas, acting.replicas.lattice.ndim)
        kind = "numbers" if acting.numbers else "bits"
        names = "start", f"sweep_{kind}", f"count_{kind}", "compare_pairs", "flip_pairs"
        # The latter write where pairs differ, and flip the spins of replicas that have a pair.
        calls = [flat(getattr(engine, name)) for name in names]
        self.start, self._sweep, self._count, self.compare_pairs, self.flip_pairs = calls
        self._arrays, self._tables = acting.arrays, acting.tables

    def sweep(self, words: NDArray[np.uint64], number: int, temperatures: NDArray[Any]) -> None:
        """Make a sweep of the spins in `words`."""
        self._sweep(words, number, *self._arrays, temperatures, *self._tables)

    def count(self, words: NDArray[np.uint64], record: NDArray[np.int64]) -> None:
        """Add to each replica's record."""
        self._count(words, *self._arrays, record)


class SpinGlass(Thermal[GlassMeasurements]):
    """The Ising spin glass of Edwards and Anderson on a hypercubic lattice, simulated.

    The energy is ``H = -sum over bonds of J s s - sum over sites of h s`` for spins of ±1, k_B = 1.
    Replicas, of several temperatures and with one set of couplings or several, run side by side, 64
    of them in a word.

    Where all couplings have one magnitude, or are absent, and there is no field, bits are computed
    with, and acceptance probabilities are exact to 2**-64. Otherwise couplings and fields of all
    samples are rounded to 31 bits, as `couplings` returns them, of which probabilities are exact to
    a relative 2**-26 and 2**-32; of the given ones, to another
    ``(2 * ndim + 1) * 2**-29 * beta * h``, where h is the largest field that a spin can be in, of
    its neighbours and its own. Spins are a function of seed, replica, sample and parameters alone.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of 1 to 4 axes; short ones as of `Ising`.
    couplings : {"pm", "gaussian"} or array_like
        ``J[a][site]`` is the coupling from a site to the next one along axis a, of shape
        ``(ndim, *shape)``, or ``(samples, ndim, *shape)``; 0 is no bond, and what leaves an open
        border is ignored. "pm" are ±1 and "gaussian" normal numbers of mean 0 and variance 1, drawn
        by (seed, sample).
    beta, temperature : float or sequence of float
        One of them: 1/T, 0 or more, or T, above 0; one for all, or for each replica, or for each
        temperature of which there are `copies` of all samples.
    periodic : bool or sequence of bool, optional
        Which axes close on themselves: one answer for all, or one for each axis.
    samples : int, optional
        How many sets of couplings there are. By default as many as `couplings` has, or one.
    copies : int, optional
        How many replicas each sample has at each temperature, side by side.
    replicas : int, optional
        How many there are of all samples together: those of sample 0, then of sample 1, and so on.
        By default as many as samples, copies and temperatures make; if all are one, then there is
        no axis for replicas in what is returned.
    update : {"metropolis", "heat-bath"}, optional
        How a sweep changes each spin in turn: flips it with probability 15/16 min(1, exp(-dE/T)),
        or draws it anew, given the neighbours.
    positive : float, optional
        Which share of the bonds of "pm" is positive, 0 to 1; by default one half.
    dilution : float, optional
        With which probability a bond that is drawn is absent, 0 or more and below 1; by default 0.
    field : float or array_like, optional
        h, one for all, of the lattice's shape, or with an axis for the samples before.
    first_sample : int, optional
        The number of the first sample.
    start : {"hot", "cold"} or array_like of int, optional
        The first spins: random ones, all up, or these, of ±1, of the lattice's shape or with an
        axis for the replicas before. An array on a GPU puts the model there.
    first_replica, seed, device
        As of `Ising`, with its errors.

    Attributes
    ----------
    updates : int
        How many sweeps were made.
    samples, copies : int

    References
    ----------
    S. F. Edwards, P. W. Anderson, J. Phys. F 5, 965 (1975).

    Examples
    --------
    >>> from conncomp.models import SpinGlass
    >>> model = SpinGlass((6, 6, 6), couplings="pm", temperature=[1.0, 2.0, 4.0], samples=2, seed=1)
    >>> model.replicas
    6
    >>> model.step(100)
    >>> energies = model.energy().reshape(2, 3) / 6**3
    >>> bool((energies[:, 0] < energies[:, 1]).all())
    True
    """

    _name = "SpinGlass"
    _changing, _memory = ("betas", "now"), ("_acting", "_asked")
    _record_length = FIELDS

    def __init__(
        self,
        shape: int | Sequence[int],
        couplings: str | ArrayLike = "pm",
        *,
        beta: ArrayLike | None = None,
        temperature: ArrayLike | None = None,
        periodic: bool | Sequence[bool] = True,
        samples: int | None = None,
        copies: int | None = None,
        replicas: int | None = None,
        update: str = "metropolis",
        positive: float | None = None,
        dilution: float | None = None,
        field: ArrayLike | None = None,
        first_sample: int = 0,
        first_replica: int = 0,
        seed: int = 0,
        start: str | ArrayLike = "hot",
        device: str | None = None,
    ) -> None:
        lengths = check_shape(shape)
        self.lattice = Lattice(lengths, check_periodic(periodic, len(lengths), "the lattice"), 2)
        if self.lattice.sites > INT32_MAX:
            raise ValueError(f"shape={shown(shape)} must have fewer than 2**31 sites")
        check_choice("update", update, LOCAL_RULES)
        self.update = update
        is_drawn = couplings is None or isinstance(couplings, str)
        given = None if is_drawn else as_reals("couplings", couplings, "biuf")
        betas = _betas_of(beta, temperature)
        held = 1 if given is None or given.ndim != self.lattice.ndim + 2 else len(given)
        wanted = held if samples is None else samples
        self.samples = check_range("samples", wanted, 1, MOST_REPLICAS)
        self.copies = 1 if copies is None else check_range("copies", copies, 1, MOST_REPLICAS)
        all_one = samples is None and copies is None and betas.ndim == 0 and self.samples == 1
        spread = _spread(betas, replicas, self.samples, self.copies)
        many = None if replicas is None and all_one else len(spread)
        super().__init__(many, first_replica, seed, device, start)
        per_sample = self.replicas // self.samples
        self._replicas_of = GlassReplicas(self.lattice, self._random, per_sample)
        beyond = MOST_REPLICAS - self.samples
        self.first_sample = check_range("first_sample", first_sample, 0, beyond)
        self._state.betas = self._given_betas = spread
        self._drawn = None
        if isinstance(couplings, str):
            self._drawn = check_distribution("couplings", couplings, positive, dilution)
        elif positive is not None:
            raise ValueError(f'positive={shown(positive)} is for couplings="pm"; leave it out')
        elif dilution is not None:
            raise ValueError(
                f"dilution={shown(dilution)} is for couplings that are drawn; let those that are "
                "given be 0 where there is no bond"
            )
        self._bonds, self._fields_given = self._make_bonds(given, field)
        self._prepare()
        self._state.now = self._first_words(start)

    @property
    def sample(self) -> Integers:
        """The number of each replica's sample, 0 for the first one here."""
        return np.repeat(np.arange(self.samples), self.replicas // self.samples)

    @property
    def couplings(self) -> Floats:
        """The couplings that act, as rounded, of shape ``(samples, ndim, *shape)``."""
        bonds, lattice = self._bonds, self.lattice
        values = bonds.couplings * bonds.units[:, None, None]
        return values.reshape(self.samples, lattice.ndim, *lattice.shape)

    @property
    def spins(self) -> Any:
        """The spins, ±1: a copy, int8, of shape ``(*replicas, *shape)``."""
        up = unpack(self._engine.xp, self._replicas_of, self._state.now).view("i1")
        return self._of_replicas((2 * up - 1).reshape(self.replicas, *self.lattice.shape))

    def parameters(self) -> dict[str, Any]:
        """Return which model it is: values that JSON has, and arrays."""
        described = super().parameters()
        if self._drawn is None:
            described["couplings"] = self.couplings
        if self._fields_given is not None:
            described["field"] = self._fields_given
        return described

    def overlaps(self) -> Overlaps:
        """Return how pairs of replicas of one sample and temperature overlap; without, ValueError.

        Examples
        --------
        >>> from conncomp.models import SpinGlass
        >>> model = SpinGlass((4, 4), "pm", beta=[0.5, 1.0], copies=2, start="cold")
        >>> model.overlaps().overlap
        array([1., 1.])
        """
        pairs, per_sample = self._pairs("overlaps"), self.replicas // self.samples
        of_pairs = self._state.now, pairs, self._bonds, per_sample
        measured = measure_overlaps(self._engine, self.lattice, *of_pairs)
        return Overlaps(self._state.betas[pairs[:, 0]], self.sample[pairs[:, 0]], pairs, *measured)

    def step(self, n: int = 1, *, houdayer: bool = False) -> None:
        """Make so many sweeps without measuring.

        Parameters
        ----------
        n : int, optional
            0 or more; with those that were made, below 2**32.
        houdayer : bool, optional
            Whether a cluster move of each pair follows each sweep: see `updater`.
        """
        make_updates(self.updater(houdayer=houdayer), self._next_updates("n", n))

    def updater(
        self, *, houdayer: bool = False, overlaps: bool = False, tempering: bool = False
    ) -> ModelUpdate[GlassMeasurements]:
        """Return a kind of updates, a `ModelUpdate`: `conncomp.models.simulate` makes many.

        It measures the state that it finds, makes a sweep, moves clusters, and lets temperatures
        exchange. Moves and overlaps need two replicas of a sample at one temperature; exchanges,
        the same temperatures in all samples, each once.

        Parameters
        ----------
        houdayer : bool, optional
            Whether a move of Houdayer follows each sweep [1]_: two replicas of one sample and
            temperature exchange the spins of a cluster of sites where they differ, that of a site
            drawn among these. The energy of both together stays.
        overlaps : bool, optional
            Whether to measure overlaps of pairs, too: the series is a `GlassSeries`, by
            temperature, and `conncomp.models.results.Simulation.summarise` returns what
            `conncomp.models.summarise_overlaps` makes of it.
        tempering : bool, optional
            Whether replicas of a sample and copy exchange temperatures after each sweep, as by
            `conncomp.models.parallel_tempering`. The series is likewise by temperature.

        References
        ----------
        .. [1] J. Houdayer, Eur. Phys. J. B 22, 479 (2001).

        Examples
        --------
        >>> from conncomp.models import SpinGlass
        >>> model = SpinGlass((4, 4), "pm", beta=[0.5, 1.0], copies=2, seed=1)
        >>> model.step(10, houdayer=True)
        >>> model.updates
        10
        """
        given = {"houdayer": houdayer, "overlaps": overlaps, "tempering": tempering}
        chosen = {name: as_bool(name, value) for name, value in given.items()}
        for name in ("houdayer", "overlaps"):
            if chosen[name]:
                self._pairs(f"{name}=True")
        if chosen["overlaps"] or chosen["tempering"]:
            return GlassRound(self, chosen)
        options = {"houdayer": True} if chosen["houdayer"] else {}
        return Update(self, options, advance_by=options)

    @staticmethod
    def summaries(series: GlassMeasurements, parameters: Mapping[str, Any]) -> list[OverlapSummary]:
        """Summarise overlaps, with the test of Gaussian couplings."""
        if not isinstance(series, GlassSeries):
            raise ValueError("overlaps were not measured; simulate with overlaps=True")
        summaries = summarise_overlaps(series.overlaps(), parameters["shape"])
        return with_identities(series, parameters, summaries)

    _acting: Acting

    def _labels(self, **how: Any) -> Any:
        how |= {"periodic": self.lattice.periodic, "batch_axes": self._batch_axes}
        return label((self.spins > 0).astype("u1"), connectivity=1, **how)

    def _described(self) -> dict[str, Any]:
        drawn = zip(("couplings", "positive", "dilution"), self._drawn or (None,) * 3, strict=True)
        lattice = {name: list(getattr(self.lattice, name)) for name in ("shape", "periodic")}
        own = "samples", "copies", "first_sample", "update"
        return {**lattice, **dict(drawn), **{name: getattr(self, name) for name in own}}

    def _prepare(self) -> None:
        self._acting = as_acting(self._replicas_of, self._bonds)
        make = self._state.engine_of(GlassEngine, "kernels.cuda.models.spin_glass:GlassEngine")
        self._state._engine = self._state.new_engine(make, self.update, self._acting)
        shape = self._replicas_of.groups, self.lattice.sites
        self._state.next = self._zeros(f"the spins of shape={self.lattice.shape}", shape, BITS)
        self._asked: tuple[Any, Any] = (None, None)

    def _checked(self, arrays: tuple[NDArray[Any], ...]) -> tuple[Any, ...]:
        betas, words = arrays
        if betas.shape != (self.replicas,) or betas.dtype != np.float64:
            raise ValueError(f"the state's betas must be {self.replicas} numbers of float64")
        checked = self._check_betas("the state's beta", betas)
        check_words(self._replicas_of, words)
        return checked, placed(self._engine.xp, words.copy())

    def _advance(self, number: int, houdayer: bool = False) -> None:
        state, engine = self._state, self._engine
        state.next[...] = state.now
        engine.sweep(state.next, number, self._temperatures())
        if houdayer:
            pairs = self._pairs("houdayer=True")
            move_clusters(engine, self._replicas_of, state.next, pairs, number)
        state.take_next(number)

    def _temperatures(self) -> Any:
        """Return the temperatures as the kernels take them, made once for the same ones."""
        (betas, made), now = self._asked, self._state.betas
        if betas is None or not np.array_equal(betas, now):
            made = self._engine.xp.asarray(self._acting.temperatures(now, self.update))
            self._asked = now.copy(), made
        return made

    def _measure(self, record: Any) -> None:
        self._engine.count(self._state.now, record)

    def _read(self, records: Integers, ladders: Any = None) -> GlassMeasurements:
        unit, offset = self._energy_unit(), self._energy_offset()
        if ladders is not None:
            order = ladders.reshape(-1)
            return GlassMeasurements(records, self.lattice, unit[order], offset[order])
        return GlassMeasurements(records, self.lattice, *map(self._of_replicas, (unit, offset)))

    def _energy_unit(self) -> Floats:
        """Return what a replica's record is multiplied by in the energy."""
        units = self._bonds.units[self.sample]
        return -units if self._bonds.magnitude is None else 2 * units

    def _energy_offset(self) -> Floats:
        bonds = self._bonds
        satisfied = 0 if bonds.magnitude is None else bonds.numbers * bonds.units
        return (bonds.constant - satisfied)[self.sample]

    def _ladders(self) -> Integers:
        """Return the replicas of each sample and copy, of ascending beta."""
        numbers = np.arange(self.replicas).reshape(self.samples, -1, self.copies)
        ladders = np.ascontiguousarray(numbers.swapaxes(1, 2)).reshape(-1, numbers.shape[1])
        order = np.argsort(self._state.betas[ladders], axis=1, kind="stable")
        ordered = np.take_along_axis(ladders, order, axis=1)
        first, *_ = betas = self._state.betas[ordered]
        for ladder in betas:
            twice = ladder[1:][ladder[1:] == ladder[:-1]]
            if twice.size:
                raise ValueError(
                    f"model has beta={twice[0]:g} twice among replicas that exchange; each must "
                    "have another temperature, and copies, where there are some, lie side by side"
                )
            if not np.array_equal(ladder, first):
                raise ValueError(
                    f"model has samples or copies of beta={shown(first.tolist())} and of "
                    f"beta={shown(ladder.tolist())}; all must have the same temperatures: make a "
                    "model of each"
                )
        return ordered

    def _pairs(self, what: str) -> NDArray[np.int32]:
        pairs = pairs_of(self._state.betas, self._given_betas, self.samples)
        if not len(pairs):
            raise ValueError(
                f"{what} needs two replicas of a sample at one temperature; choose copies=2"
            )
        return pairs

    def _make_bonds(self, given: Any, field: Any) -> tuple[Bonds, Floats | None]:
        lattice, samples = self.lattice, self.samples
        what = f"the couplings of {samples} samples of shape={lattice.shape}"
        if self._drawn is None:
            couplings = check_array("couplings", given, (lattice.ndim, *lattice.shape), samples)
        else:
            numbers = range(self.first_sample, self.first_sample + samples)
            with room_for(what, 8 * samples * lattice.ndim * lattice.sites):
                couplings = draw_couplings(lattice, self._drawn, self.seed, numbers)
        fields = None
        if field is not None:
            one = np.full(lattice.shape, as_number("field", field)) if np.isscalar(field) else field
            fields = check_array("field", one, lattice.shape, samples).reshape(samples, -1)
        return as_bonds(lattice, couplings.reshape(samples, lattice.ndim, -1), fields), fields

    def _first_words(self, start: str | ArrayLike) -> Any:
        xp, lattice = self._engine.xp, self.lattice
        up: Any = np.ones((), "u1")
        if isinstance(start, str):
            check_choice("start", start, ("hot", "cold"))
            if start == "hot":
                words = xp.zeros_like(self._state.next)
                self._engine.start(words)
                return words
        else:
            given = check_start(start, "i", "of integers", self.replicas, lattice.shape)
            if not ((given == 1) | (given == -1)).all():
                raise ValueError("start has spins other than 1 and -1")
            up = (given > 0).astype("u1")
        spins = xp.broadcast_to(xp.asarray(up), (self.replicas, *lattice.shape))
        return pack(xp, self._replicas_of, spins.reshape(self.replicas, -1))


def _betas_of(beta: Any, temperature: Any) -> Floats:
    """Return inverse temperatures: an array without axes if there is one for all."""
    if (beta is None) == (temperature is None):
        raise ValueError("beta or temperature must be given, and not both")
    is_beta = temperature is None
    name, given = ("beta", beta) if is_beta else ("temperature", temperature)
    betas = as_numbers(name, given)
    allowed = np.isfinite(betas) & (betas >= 0 if is_beta else betas > 0)
    if betas.ndim != 1 or not betas.size or not allowed.all():
        wanted = "not negative" if is_beta else "above 0"
        raise ValueError(f"{name}={shown(given)} must be finite, and {wanted}")
    if not is_beta:
        with np.errstate(over="ignore", divide="ignore"):
            betas = 1 / betas
    if not np.isfinite(betas).all():
        raise ValueError(f"temperature={shown(given)} is too near to 0")
    return betas[0] if np.ndim(given) == 0 else betas


def _spread(betas: Floats, replicas: Any, samples: int, copies: int) -> Floats:
    """Return an inverse temperature for each replica."""
    made = samples * copies * betas.size
    count = check_range("replicas", made if replicas is None else replicas, 1, MOST_REPLICAS)
    if count % (samples * copies):
        raise ValueError(
            f"replicas={count} must be a multiple of samples={samples} times copies={copies}"
        )
    if betas.size in (1, count):
        return np.broadcast_to(betas.reshape(-1), count).copy()
    if made != count:
        raise ValueError(
            f"there are {betas.size} temperatures; there must be one, one for each of "
            f"replicas={count}, or as many as make them with samples={samples}, copies={copies}"
        )
    return np.tile(np.repeat(betas, copies), samples)
