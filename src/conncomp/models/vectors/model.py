"""The base of models of vectors: their parameters, their spins, and what one asks of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import log, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._array_storage import placed
from conncomp.kernels.edges import SpinKind
from conncomp.kernels.vector_spins import FIELDS, MEASURE_BITS, Kind, as_spins, as_vectors
from conncomp.models import places
from conncomp.models._arguments import check_start
from conncomp.models._probabilities import MOST_STRENGTH
from conncomp.models.protocol import Integers
from conncomp.models.spins.measurements import COUNTS
from conncomp.models.spins.model import SpinModel
from conncomp.models.spins.state import Layout, engines_on
from conncomp.models.spins.updates import NOTHING, OF_VECTORS, OfClusters
from conncomp.models.vectors.measurements import VectorMeasurements

LENGTH_TOLERANCE = 1e-4  # of the square of a vector's length, in a state that is restored

# Critical temperatures for a coupling of 1, by model, hours or components, and lattice. XY on the
# square lattice, of Kosterlitz and Thouless: M. Hasenbusch, J. Phys. A 38, 5869 (2005). On the
# cubic one XY and Heisenberg: Y. Deng, H. W. J. Bloete, M. P. Nightingale, Phys. Rev. E 72, 016128
# (2005); four components: Y. Deng, Phys. Rev. E 73, 056116 (2006). Clocks of two to four hours are
# Ising and Potts models.
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
        update = self._updater("wolff", observe=observe)
        return self._repeat(update, "updates", updates, measure)

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
        self, records: Integers, measured: OfClusters = NOTHING, ladders: Integers | None = None
    ) -> VectorMeasurements:
        kind: Any = self._kind
        if self._layout.edges is not None:
            kind = self._edge_kind._replace(components=self._components)
        beta = self.beta if ladders is None else self._state.betas[ladders[0]]
        lattice, coupling = self.lattice, self._strongest
        return VectorMeasurements(records, lattice, kind, coupling, beta, measured.clusters)

    def _energy_unit(self) -> float:
        return -self._strongest / (1 << MEASURE_BITS)

    def _are_spins(self, spins: NDArray[Any]) -> bool:
        """Return whether numbers are spins: unit vectors, but for rounding."""
        vectors = as_vectors(np, self._edge_kind, spins, self._states_of_vectors)
        return bool((abs((vectors**2).sum(axis=-1) - 1) < LENGTH_TOLERANCE).all())

    @property
    def _components(self) -> int:
        """The number of components of a vector."""
        return self._edge_kind.components

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
