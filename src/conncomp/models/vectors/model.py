"""Models of spins that are unit vectors: XY, Heisenberg, clock and O(n) ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import log, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_integer, check_range
from conncomp._array_storage import placed
from conncomp.graph import Graph
from conncomp.kernels.edges import ANGLES, DIRECTIONS, EIGHT, FOUR, HOURS, SpinKind
from conncomp.kernels.vector_spins import (
    ANGLE,
    DIRECTION,
    FIELDS,
    MEASURE_BITS,
    Kind,
    as_angles,
    as_spins,
    as_vectors,
)
from conncomp.models import places
from conncomp.models._arguments import check_start, check_states
from conncomp.models._probabilities import MOST_STRENGTH
from conncomp.models.protocol import Integers
from conncomp.models.spins.measurements import COUNTS
from conncomp.models.spins.model import SpinModel
from conncomp.models.spins.state import Layout, engines_on
from conncomp.models.spins.updates import NOTHING, OF_VECTORS, OfClusters
from conncomp.models.vectors.measurements import VectorMeasurements

LENGTH_TOLERANCE = 1e-4  # of the square of a vector's length, in a state that is restored

# Critical temperatures for a coupling of 1, by model, hours or components, and lattice; the classes
# cite the sources. Clocks of two to four hours are Ising and Potts models.
_ISING = 2 / log(1 + sqrt(2))
CRITICAL: dict[tuple[str, int], dict[str, float]] = {
    ("XY", 0): {"square": 1 / 1.1199, "cubic": 1 / 0.4541659},
    ("Heisenberg", 0): {"cubic": 1 / 0.693003},
    ("ON", 4): {"cubic": 1 / 0.935856},
    ("Clock", 2): {"square": _ISING},
    ("Clock", 3): {"square": 1.5 / log(1 + sqrt(3))},
    ("Clock", 4): {"square": _ISING / 2},
}


class VectorModel(SpinModel[VectorMeasurements]):
    """A model of vectors, held as `_kind` where words have kernels, else as `_edge_kind`."""

    _most = MOST_STRENGTH
    _updates = OF_VECTORS
    _kind: ClassVar[Kind | None] = None
    _edge_kind: SpinKind
    _components: int  # of a vector; `_edge_kind` may have more
    _states = 2  # of each spin: see `EdgeBonds`
    _states_of_vectors = 0  # what `as_vectors` has to know of spins, 0 if nothing
    _most_sites = (1 << 31) - 1

    def _lay_out(self, fields: Any) -> Layout:
        # Clusters are reflected or not: of two states.
        plain = self._kind is not None and fields is None
        of_words = places.in_words(self._place, 2) if plain else None
        if of_words is not None:
            vectors, negative = engines_on(self.device).vectors, self.coupling < 0
            made = partial(vectors, lattice=of_words, kind=self._kind, negative=negative)
            strongest = float(self.coupling)
            return Layout(of_words, of_words, self._edge_kind, FIELDS, strongest, engine=made)
        edges = self._place.bonds(fields, self._states)
        length = COUNTS + self._edge_kind.components
        return Layout(edges, edges.of_sites, self._edge_kind, length, edges.scale, edges)

    @property
    def spins(self) -> Any:
        """The spins as vectors: a copy, float64, ``(*replicas, *shape, components)``.

        If a cell of the lattice has several sites, these have an axis after the shape.
        """
        xp, states = self._engine.xp, self._states_of_vectors
        vectors = as_vectors(xp, self._edge_kind, self._state.now, states)
        return self._of_replicas(vectors.reshape(self.replicas, *self._place.shape, -1))

    def wolff(
        self, updates: int = 1, *, measure: bool = True, observe: str | Sequence[str] = ()
    ) -> VectorMeasurements | None:
        """Draw a mirror, and reflect the cluster of one chosen site in it.

        Parameters
        ----------
        updates : int, optional
            How many clusters.
        measure, observe, returns
            As of `swendsen_wang`.
        """
        return self._repeat("updates", updates, measure, "wolff", observe=observe)

    def _checked(self, arrays: tuple[NDArray[Any], ...]) -> tuple[Any, ...]:
        betas, spins = arrays
        shape, dtype = self._state.next.shape, self._edge_kind.dtype
        if spins.shape != shape or spins.dtype != dtype:
            raise ValueError(
                f"the state has spins of {spins.dtype} and shape {spins.shape}; they must be "
                f"{dtype} of shape {shape}"
            )
        held = spins.copy()  # what is checked is not changed afterwards
        if not self._are_spins(held):
            raise ValueError("the state has spins that are no unit vectors")
        return self._check_betas("the state's beta", betas), placed(self._engine.xp, held)

    def _check_measures(self, update: str, clusters: bool, wrapping: bool) -> None:
        if update != "swendsen-wang":
            name = "clusters" if clusters else "wrapping"
            raise ValueError(f'{name}=True is for update="swendsen-wang", which draws all of them')
        super()._check_measures(update, clusters, wrapping)

    def _read(
        self, records: Integers, of_clusters: OfClusters = NOTHING, ladders: Integers | None = None
    ) -> VectorMeasurements:
        kind: Any = self._kind
        if self._layout.edges is not None:
            kind = self._edge_kind._replace(components=self._components)
        beta = self.beta if ladders is None else self._state.betas[ladders[0]]
        lattice, coupling = self.lattice, self._strongest
        return VectorMeasurements(records, lattice, kind, coupling, beta, of_clusters.clusters)

    def _energy_unit(self) -> float:
        return -self._strongest / (1 << MEASURE_BITS)

    def _are_spins(self, spins: NDArray[Any]) -> bool:
        """Return whether numbers are spins: unit vectors, but for rounding."""
        vectors = as_vectors(np, self._edge_kind, spins, self._states_of_vectors)
        return bool((abs((vectors**2).sum(axis=-1) - 1) < LENGTH_TOLERANCE).all())

    def _no_spins(self) -> Any:
        dtype, width = self._edge_kind.dtype, self._edge_kind.width
        sites = (self.sites,) if width == 1 else (self.sites, width)
        shape = self.replicas, *(self.lattice.shape if self._layout.edges is None else sites)
        return self._zeros(f"the spins of {self._place.shape}", shape, dtype)

    def _cold_spin(self) -> Any:
        first, states = np.eye(self._components)[:1], self._states_of_vectors
        return self._engine.xp.asarray(as_spins(np, self._edge_kind, first, states)[0])

    def _held(self, given: Any) -> Any:
        spins, axes = self._no_spins(), len(self._place.shape) + (self._edge_kind.width > 1)
        spins[...] = given.reshape(*given.shape[: given.ndim - axes], *spins.shape[1:])
        return spins

    def _given_spins(self, start: ArrayLike) -> Any:
        xp, count = self._engine.xp, self._components
        wanted = f"of floats: vectors of {count} numbers along the last axis"
        shape = *self._place.shape, count
        given = xp.asarray(check_start(start, "f", wanted, self.replicas, shape), np.float64)
        largest = abs(given).max(axis=-1, keepdims=True)
        if not (xp.isfinite(largest) & (largest > 0)).all():
            raise ValueError("start has vectors without a direction: of length 0, or not finite")
        near = given / largest  # whose squares no float64 is too small or too large for
        lengths = xp.sqrt((near**2).sum(axis=-1, keepdims=True))
        return as_spins(xp, self._edge_kind, near / lengths, self._states_of_vectors)

    def _known_beta(self, lattice: str, coupling: float) -> float | None:
        known = CRITICAL.get((self._name, self._states_of_vectors), {}).get(lattice)
        return known and 1 / (known * coupling)


class XY(VectorModel):
    """The XY model on any lattice, simulated by clusters of Wolff's embedding.

    The energy is ``H = -J sum over bonds of s_i . s_j`` of unit vectors in the plane, and k_B = 1.
    An update draws a mirror, joins spins on one side of it by bonds of the probability that
    belongs to them [1]_, and reflects clusters as wholes. Angles are held as 16 bits, which changes
    no mean that double precision could tell: ``docs/contracts.md``, 10.

    Parameters
    ----------
    shape : int, sequence of int, or Graph
        The lengths of 1 to 4 axes, in cells of the lattice, fewer than 2**31 sites; or a graph. See
        `Ising`.
    lattice : str or UnitCell, optional
        As of `Ising`; by default the hypercubic one of as many axes. Hypercubic lattices without
        antiperiodic axes and with one coupling have kernels of their own, several times as fast.
    temperature : float, "critical", or sequence of float, optional
        T above 0, one for all replicas or one for each; "critical", the default, is 1 / 1.1199(1) J
        [2]_ of the square lattice, the transition of Kosterlitz and Thouless, or 1 / 0.4541659(10)
        J [3]_ of the cubic one.
    field : float or array_like of float, optional
        h along the first axis, of all sites or of each, in the shape of the lattice: -h times the
        first component of a spin is its energy. Sites in a field have bonds to a ghost that points
        there, and clusters with such bonds stay.
    start : {"hot", "cold"} or array_like of float, optional
        The first spins: random ones, all along the first axis, or these: vectors of any length but
        0, of the shape of `spins` of one replica or of all. An array on a GPU puts the model there.
    beta, coupling, periodic, replicas, seed, first_replica, device
        As of `Ising`, with its errors.

    Attributes
    ----------
    updates : int
        How many updates were made.

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

    _name, _kind, _edge_kind, _components = "XY", ANGLE, ANGLES, 2

    @property
    def angles(self) -> Any:
        """The angles of the spins, from 0 to 2 pi: a copy, float64, ``(*replicas, *shape)``."""
        angles = as_angles(self._state.now)
        return self._of_replicas(angles.reshape(self.replicas, *self._place.shape))

    def _are_spins(self, spins: NDArray[Any]) -> bool:
        return True


class Heisenberg(VectorModel):
    """The classical Heisenberg model on any lattice, simulated as `XY`, with its errors.

    Spins are unit vectors of three components, each held as 21 bits: ``docs/contracts.md``, 10.

    Parameters
    ----------
    temperature : float, "critical", or sequence of float, optional
        "critical", the default, is 1 / 0.693003(2) J [1]_, of the cubic lattice.
    shape, lattice, beta, coupling, field, periodic, replicas, seed, start, first_replica, device
        As of `XY`.

    Attributes
    ----------
    updates : int
        How many updates were made.

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

    _name, _kind, _edge_kind, _components = "Heisenberg", DIRECTION, DIRECTIONS, 3

    def _are_spins(self, spins: NDArray[Any]) -> bool:
        return super()._are_spins(spins) and not (spins >> np.uint64(63)).any()


MOST_HOURS = 1 << 16


class Clock(VectorModel):
    """The clock model, or planar Potts model, simulated as `XY`, with its errors.

    The energy is ``H = -J sum over bonds of cos(2 pi (k_i - k_j) / q)`` of spins ``k`` from 0 to
    q - 1, and k_B = 1. A mirror c takes spin k to c - k, which is one of q again [1]_. Of q = 2 it
    is the Ising model, of 3 the Potts model with 3/2 J, of 4 two Ising models with J/2.

    Parameters
    ----------
    q : int
        The number of states, 2 to 65536.
    temperature : float, "critical", or sequence of float, optional
        "critical", the default, is that of the square lattice for q up to 4.
    start : {"hot", "cold"} or array_like of int, optional
        The first spins: random ones, all 0, or these, of the shape of `states` of one replica or of
        all.
    shape, lattice, beta, coupling, field, periodic, replicas, seed, first_replica, device
        As of `XY`.

    Attributes
    ----------
    q : int
    updates : int
        How many updates were made.

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

    _name, _edge_kind, _components = "Clock", HOURS, 2

    def __init__(self, shape: int | Sequence[int] | Graph, q: int, **options: Any) -> None:
        self.q = self._states = self._states_of_vectors = check_range("q", q, 2, MOST_HOURS)
        super().__init__(shape, **options)

    @property
    def states(self) -> Any:
        """The spins, 0 to q - 1: a copy, uint16, ``(*replicas, *shape)``."""
        return self._of_replicas(self._state.now.copy().reshape(self.replicas, *self._place.shape))

    @property
    def angles(self) -> Any:
        """The angles of the spins, from 0 to 2 pi: a copy, float64, as `states`."""
        return as_angles(self.states, self.q)

    def _described(self) -> dict[str, Any]:
        return {**super()._described(), "q": self.q}

    def _are_spins(self, spins: NDArray[Any]) -> bool:
        return bool((spins < self.q).all()) if self.q < MOST_HOURS else True

    def _given_spins(self, start: ArrayLike) -> Any:
        given = check_start(start, "iu", "of integers", self.replicas, self._place.shape)
        return check_states(given, "states", self.q, f"from 0 to q - 1 = {self.q - 1}", "u2")


MOST_COMPONENTS = 8


class ON(VectorModel):
    """The O(n) model of n from 4 to 8, simulated as `XY`, with its errors.

    `XY` is O(2), and `Heisenberg` O(3). Spins are unit vectors, of numbers in units of 2**-30:
    ``docs/contracts.md``, 10.

    Parameters
    ----------
    n : int
        How many components a spin has.
    temperature : float, "critical", or sequence of float, optional
        "critical", the default, is 1 / 0.935856(2) J of n = 4 on the cubic lattice [1]_.
    shape, lattice, beta, coupling, field, periodic, replicas, seed, start, first_replica, device
        As of `XY`.

    Attributes
    ----------
    n : int
    updates : int
        How many updates were made.

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
        self.n = self._states = self._states_of_vectors = check_range("n", n, 4, MOST_COMPONENTS)
        self._components, self._edge_kind = self.n, FOUR if n == 4 else EIGHT
        super().__init__(shape, **options)

    def _described(self) -> dict[str, Any]:
        return {**super()._described(), "n": self.n}

    def _are_spins(self, spins: NDArray[Any]) -> bool:
        return super()._are_spins(spins) and not spins[..., self.n :].any()
