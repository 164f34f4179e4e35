"""The Ising model with exchange dynamics: spins change places, and none is made or lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import INT32_MAX, as_integer, check_choice, shown
from conncomp._array_storage import native_layout, on_host, placed
from conncomp._core import native
from conncomp.components import component_sizes
from conncomp.grid import label
from conncomp.kernels.exchange import PERIOD, ExchangeLattice, check_words, pack, unpack
from conncomp.kernels.lattice import BITS
from conncomp.kernels.updates import Drawn
from conncomp.models._arguments import (
    as_many_as,
    as_tuple,
    check_positive,
    check_start,
    check_states,
    flat,
    one_each,
)
from conncomp.models._probabilities import exchange_digits
from conncomp.models.base import Simulated
from conncomp.models.lattices import CRITICAL as OF_ISING
from conncomp.models.protocol import Floats, Integers
from conncomp.models.thermal import inverses_of, temperature_or_beta

# Lattices of so many sites are labelled at once, so that labels take little memory.
LABELLED_SITES = 1 << 26

# The critical temperatures at fraction 1/2, for a coupling of 1.
CRITICAL = {"square": OF_ISING["square"], "sc": OF_ISING["cubic"], "bcc": OF_ISING["bcc"]}

# The fields of a record.
SATISFIED, COMPONENTS, LARGEST, FIELDS = 0, 1, 2, 3


@dataclass(frozen=True)
class KawasakiMeasurements:
    """Measurements at one moment, or before each of several sweeps.

    Attributes
    ----------
    records : ndarray of int64, shape (..., 3)
        What was counted.
    lattice : ExchangeLattice
    coupling : float
    """

    records: Integers
    lattice: ExchangeLattice
    coupling: float

    @property
    def satisfied_bonds(self) -> Integers:
        """The number of bonds between equal spins."""
        return self.records[..., SATISFIED]

    @property
    def energy(self) -> Floats:
        """The energy of the whole lattice, -J sum of s_i s_j over bonds."""
        excess = 2 * self.satisfied_bonds - self.lattice.bonds
        return np.asarray(-self.coupling * excess, np.float64)

    @property
    def components(self) -> Integers:
        """The number of components of the spins that are up."""
        return self.records[..., COMPONENTS]

    @property
    def largest_component(self) -> Integers:
        """The sites of the largest component."""
        return self.records[..., LARGEST]

    @property
    def largest_fraction(self) -> Floats:
        """`largest_component` as a share of the lattice."""
        return np.asarray(self.largest_component / self.lattice.sites, np.float64)

    def observables(self) -> dict[str, NDArray[Any]]:
        """Return what was measured, by name."""
        names = "satisfied_bonds", "energy", "components", "largest_component", "largest_fraction"
        return {name: getattr(self, name) for name in names}


class KawasakiEngine:
    """Sweeps of exchanges by ``kernels/cpu/models/kawasaki.h``, up to `most_sweeps` at once."""

    xp: Any = np
    most_sweeps = 1

    def __init__(self, drawn: Drawn, lattice: ExchangeLattice) -> None:
        self._engine = native.KawasakiEngine(lattice.struct.tobytes(), *drawn)
        self._replicas, self.start = drawn.replicas, flat(self._engine.start)

    def sweep(self, words: Any, new: Any, first: int, count: int, acceptance: Any) -> None:
        """Make one sweep of `words`, number `first`, and leave the spins in `new`."""
        assert count == self.most_sweeps
        self._engine.sweep(words.reshape(-1), new.reshape(-1), first, acceptance.reshape(-1))

    def count_unsatisfied(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the number of unsatisfied bonds of each replica."""
        counts = np.zeros(self._replicas, np.int64)
        self._engine.count_unsatisfied(words.reshape(-1), counts)
        return counts


class Kawasaki(Simulated[KawasakiMeasurements]):
    """The ferromagnetic Ising model with Kawasaki's exchange dynamics, periodic.

    The energy is ``H = -J sum over bonds of s_i s_j`` for spins of ±1, and k_B = 1. Neighbouring
    spins change places with probability min(1, exp(-dE/T)), so that the share of those that are up
    never changes.

    Bonds are in classes, 8 of the square lattice, 12 of the simple cubic and 32 of the body-centred
    one, whose pairs neither share sites nor are neighbours, so that they can exchange at once. A
    sweep has as many substeps as classes. Each draws a class, and attempts three of four of its
    pairs, drawn one by one: 3/4 as many attempts a sweep as the lattice has bonds, which is 1.5,
    2.25 or 3 a site, those of equal spins among them. Each substep is in detailed balance, and each
    pair may be the only one that exchanges, so that spins come to the distribution of Boltzmann.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths along the primitive vectors, or one for all: multiples of 4, as the classes
        repeat after four sites. So n x n x n are n**3 sites of the body-centred lattice, too, those
        of n**3/2 of its cubes.
    lattice : {"bcc", "sc", "square"}, optional
        Body-centred cubic, an array with the neighbours ±e1, ±e2, ±e3 and ±(1, 1, 1); simple cubic;
        square.
    temperature : float, "critical", or sequence of float, optional
        T above 0, one for all or for each replica; "critical", the default, is
        `critical_temperature` times J.
    beta : float, "critical", or sequence of float, optional
        1/T, instead of `temperature`.
    fraction : float or sequence of float, optional
        Which share of the spins is up, above 0 and below 1, rounded to a whole number of sites; one
        for all or for each replica. By default that of `start`, or one half.
    coupling : float, optional
        J > 0.
    start : array_like of int, optional
        The first spins, 1 for up and 0, of the lattice's shape or with an axis for the replicas
        before. By default all places of the spins that are up are equally probable. An array on a
        GPU puts the model there.
    replicas, first_replica, seed, device
        As of `Ising`, with its errors; by default there are as many replicas as temperatures or
        fractions.

    Attributes
    ----------
    updates : int
        How many sweeps were made.

    References
    ----------
    K. Kawasaki, Phys. Rev. 145, 224 (1966).

    Examples
    --------
    >>> from conncomp.models import Kawasaki
    >>> model = Kawasaki(16, lattice="bcc", temperature=3.0, fraction=0.2, seed=1)
    >>> before = model.measure()
    >>> model.step(200)
    >>> after = model.measure()
    >>> bool(after.energy < before.energy), bool(after.components < before.components)
    (True, True)
    >>> int(model.spins.sum()), round(0.2 * 16**3)
    (819, 819)
    """

    _name = "Kawasaki"
    _changing, _memory = ("now",), ("_acceptance",)

    def __init__(
        self,
        shape: int | Sequence[int],
        *,
        lattice: str = "bcc",
        temperature: ArrayLike | None = None,
        beta: ArrayLike | None = None,
        fraction: ArrayLike | None = None,
        coupling: float = 1.0,
        replicas: int | None = None,
        first_replica: int = 0,
        seed: int = 0,
        start: ArrayLike | None = None,
        device: str | None = None,
    ) -> None:
        check_choice("lattice", lattice, ("bcc", "sc", "square"))
        self.lattice = ExchangeLattice(_check_shape(shape, lattice), lattice)
        self.coupling = check_positive("coupling", coupling)
        many = as_many_as(replicas, temperature, beta, fraction)
        super().__init__(many, first_replica, seed, device, start)
        self._temperatures = self._temperatures_of(temperature, beta)
        self._up = None if fraction is None else self._check_fractions(fraction)
        self._prepare()
        self._state.now = self._first_words(start)

    @staticmethod
    def critical_temperature(lattice: str = "bcc") -> float:
        """Return the critical temperature at fraction 1/2, for a coupling of 1.

        Parameters
        ----------
        lattice : {"bcc", "sc", "square"}, optional
            6.3543, 4.5115 or 2.2692: those of `Ising.critical_temperature`.

        Examples
        --------
        >>> from conncomp.models import Kawasaki
        >>> round(Kawasaki.critical_temperature("square"), 4)
        2.2692
        """
        check_choice("lattice", lattice, tuple(CRITICAL))
        return CRITICAL[lattice]

    @property
    def temperature(self) -> float | Floats:
        """The temperature, of each replica if there are several."""
        return float(self._temperatures[0]) if self._single else self._temperatures.copy()

    @property
    def beta(self) -> float | Floats:
        """The inverse temperature, of each replica if there are several."""
        return 1 / self.temperature

    @property
    def fraction(self) -> float | Floats:
        """The share of the spins that is up, in each replica if there are several."""
        assert self._up is not None
        shares = self._up / self.lattice.sites
        return float(shares[0]) if self._single else shares

    @property
    def structure(self) -> NDArray[np.bool_]:
        """The steps to neighbours, for ``conncomp.label(..., periodic=True)``."""
        return self.lattice.structure

    @property
    def spins(self) -> Any:
        """The spins, 1 for up and 0: a copy, uint8, of shape ``(*replicas, *shape)``."""
        return self._of_replicas(unpack(self._engine.xp, self.lattice, self._state.now))

    def parameters(self) -> dict[str, Any]:
        """Return which model it is: values that JSON has, and two arrays."""
        each = {name: np.asarray(getattr(self, name)) for name in ("temperature", "fraction")}
        return {**super().parameters(), **each}

    _record_length = FIELDS

    def _labels(self, **how: Any) -> Any:
        return self._label(self.spins, self._batch_axes, **how)

    def _described(self) -> dict[str, Any]:
        shape = list(self.lattice.shape)
        return {"lattice": self.lattice.kind, "shape": shape, "coupling": self.coupling}

    def _prepare(self) -> None:
        make = self._state.engine_of(KawasakiEngine, "kernels.cuda.models.kawasaki:KawasakiEngine")
        self._state._engine = self._state.new_engine(make, self.lattice)
        xp, shape = self._engine.xp, (self.replicas, self.lattice.words)
        digits = exchange_digits(self._temperatures, self.coupling, self.lattice.coordination)
        self._acceptance = xp.asarray(digits)
        self._state.next = self._zeros(f"the spins of shape={self.lattice.shape}", shape, BITS)

    def _checked(self, arrays: tuple[NDArray[Any], ...]) -> tuple[Any, ...]:
        (given,) = arrays
        check_words(self.lattice, self.replicas, given)
        words = native_layout(given).copy()
        up = np.array([int(np.unpackbits(replica.view("u1")).sum()) for replica in words])
        if self._up is None or (up != self._up).any():
            raise ValueError("the state has other numbers of spins that are up than this model")
        return (placed(self._engine.xp, words),)

    def _step(self, numbers: range) -> None:
        most = self._engine.most_sweeps
        for first in numbers[::most]:
            self._advance(first, min(most, numbers.stop - first))

    def _advance(self, number: int, count: int = 1) -> None:
        self._engine.sweep(self._state.now, self._state.next, number, count, self._acceptance)
        self._state.take_next(number + count - 1)

    def _measure(self, record: Any) -> None:
        xp, lattice = self._engine.xp, self.lattice
        record[:, SATISFIED] = lattice.bonds - self._engine.count_unsatisfied(self._state.now)
        labelled_together = max(1, LABELLED_SITES // lattice.sites)
        for begin in range(0, self.replicas, labelled_together):
            replicas = slice(begin, begin + labelled_together)
            spins = unpack(xp, lattice, self._state.now[replicas])
            roots = self._label(spins, 1, numbering="roots")
            sizes: Any = component_sizes(roots, background=-1, batch_axes=1)
            record[replicas, COMPONENTS] = (sizes > 0).sum(axis=1)
            record[replicas, LARGEST] = sizes.max(axis=1)

    def _read(self, records: Integers) -> KawasakiMeasurements:
        return KawasakiMeasurements(records, self.lattice, self.coupling)

    def _label(self, spins: Any, batch_axes: int, **how: Any) -> Any:
        structure = self.lattice.structure
        return label(spins, structure=structure, periodic=True, batch_axes=batch_axes, **how)

    def _first_words(self, start: ArrayLike | None) -> Any:
        xp, lattice = self._engine.xp, self.lattice
        if start is None:
            if self._up is None:
                self._up = self._check_fractions(0.5)
            shape = self.replicas, lattice.words
            words = self._zeros(f"the spins of shape={lattice.shape}", shape, BITS, np)
            KawasakiEngine(self._random, lattice).start(self._up, words)
            return placed(xp, words)
        if self._up is not None:
            raise ValueError("start has a fraction of its own; leave out fraction, or start")
        given = check_start(start, "biu", "of integers", self.replicas, lattice.shape)
        states = check_states(given, "spins", 2, "0 or 1, for up")
        spins = xp.broadcast_to(xp.asarray(states), (self.replicas, *lattice.shape))
        self._up = on_host(spins.reshape(self.replicas, -1).sum(axis=1, dtype=np.int64))
        if self._up.min() == 0 or self._up.max() == lattice.sites:
            raise ValueError("start has a lattice without spins of both kinds; none can exchange")
        return pack(xp, lattice, xp.ascontiguousarray(spins))

    def _temperatures_of(self, temperature: Any, beta: Any) -> Floats:
        """Return each replica's temperature, given one of both, or neither."""
        name, given = temperature_or_beta(temperature, beta)
        if isinstance(given, str):
            return np.full(self.replicas, self.coupling * CRITICAL[self.lattice.kind])
        numbers, inverses = inverses_of(name, given, self.replicas)
        return numbers if name == "temperature" else inverses

    def _check_fractions(self, fraction: Any) -> Integers:
        """Return how many spins of each replica are up."""
        fractions, sites = one_each("fraction", fraction, self.replicas), self.lattice.sites
        up = []
        for share in fractions.tolist():
            wrong = fraction if np.isscalar(fraction) else share
            if not 0 < share < 1:
                raise ValueError(f"fraction={shown(wrong)} must be above 0 and below 1")
            up.append(floor(share * sites + 0.5))
            if not 0 < up[-1] < sites:
                raise ValueError(
                    f"fraction={shown(wrong)} of {sites} sites is none or all of them; choose one "
                    f"from {1 / sites:g} to {1 - 1 / sites:g}"
                )
        return np.array(up, np.int64)


def _check_shape(shape: int | Sequence[int], kind: str) -> tuple[int, ...]:
    ndim = 2 if kind == "square" else 3
    lengths = tuple(as_integer("shape", length) for length in as_tuple(shape, ndim))
    if len(lengths) != ndim:
        raise ValueError(f"shape={shown(shape)} must have {ndim} axes for lattice={kind!r}")
    if min(lengths) < 1 or any(length % PERIOD for length in lengths):
        near = tuple(max(PERIOD, round(length / PERIOD) * PERIOD) for length in lengths)
        raise ValueError(
            f"shape={shown(shape)} must have multiples of {PERIOD}, as pairs that are exchanged "
            f"together repeat so; the nearest is {near}"
        )
    if prod(lengths) > INT32_MAX:
        raise ValueError(f"shape={shown(shape)} must have fewer than 2**31 sites")
    return lengths
