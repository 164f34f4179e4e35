"""Structure factors at the smallest wave vectors, and the correlation length.

What: ``S(k) = |sum of s exp(i k.r)|^2 / N`` along each periodic axis, where k is the axis'
reciprocal vector over its length, so that S(0) is ``N m^2``. The correlation length of the second
moment is ``sqrt(S(0) / S(k) - 1) / (|k| sinc(1 / L))``, of L cells along the axis. How: kernels sum
cosines and sines in integers (``kernels/core/structure.h``). The improved estimator is the sum over
clusters of ``|sum of exp(i k.r)|^2 / N`` or, of vectors, n times that of their projections on the
mirror's normal. Source: F. Cooper, B. Freedman, D. Preston, Nucl. Phys. B 210, 210 (1982), for the
length; U. Wolff, Nucl. Phys. B 334, 581 (1990), for clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import INT32_MAX, shown
from conncomp.kernels.structure import LIMBS, SQUARE_BITS, SUM_BITS, components_of, waves_of
from conncomp.models.observables.clusters import Clusters
from conncomp.models.observables.series import sum_of_limbs
from conncomp.models.places import check_lattice
from conncomp.models.spins.state import SpinState, engines_on


class Structure:
    """The structure factors of spins, and by `clusters`, too, if that is wanted."""

    def __init__(self, state: SpinState, clusters: bool) -> None:
        place, layout = check_lattice(state.place, "structure"), state.layout
        cells, cell, sites = place.cells, place.cell, place.sites
        closed, lengths = np.array(cells.periodic), np.array(cells.shape)
        axes = np.flatnonzero(closed & ~np.array(cells.antiperiodic) & (lengths > 1)).tolist()
        if not axes:
            raise ValueError(
                f"observe='structure' is for axes of length 2 or more that are periodic, and shape="
                f"{shown(cells.shape)} has none"
            )
        if sites > INT32_MAX:
            raise ValueError(
                f"observe='structure' is for fewer than 2**31 sites, and there are {sites}"
            )
        vectors, kind, rows = place.vectors(), layout.kind, layout.rows
        # Engines of words have the squares of clusters themselves.
        zero = clusters and bool(kind.components) and layout.edges is not None
        places = np.array(cell.sites) @ np.linalg.inv(vectors)
        waves = waves_of(cells.shape, axes, places, zero)
        self._state = state
        self._clusters = Clusters(state, place) if clusters else None
        self._sums = state.new_engine(engines_on(state.device).structure, rows, kind, waves)
        wave_vectors = 2 * np.pi * np.linalg.inv(vectors).T / lengths[:, None]
        steps = np.linalg.norm(wave_vectors, axis=1) * np.sinc(1 / lengths)
        extents = lengths * np.linalg.norm(vectors, axis=1)
        along, spans = tuple(steps[axes].tolist()), tuple(extents[axes].tolist())
        count, states = components_of(kind, rows.states), 0 if kind.components else rows.states
        ndim = len(cells.shape)
        self.reader = Factors(sites, ndim, tuple(axes), along, spans, count, states, clusters, zero)

    def measure(self, record: Any, field: int) -> None:
        """Add sums of the present spins, and of the clusters that the next update draws."""
        spins, number = self._state.now, self._state.number + 1
        self._sums.count(spins, record, field)
        if self._clusters is not None:
            labels = self._clusters.labels()
            self._sums.square(spins, number, labels, record, field + self.reader.sums)


@dataclass(frozen=True)
class Factors:
    """Reads structure factors.

    Each of `axes` has a wave vector, ``|k| sinc(1 / L)`` in `steps`, and a length in `extents`.
    `states` is 0 of vectors, whose `components` are summed. With `zero` there is a wave vector of
    0, which tells the magnetisation.
    """

    sites: int
    ndim: int
    axes: tuple[int, ...]
    steps: tuple[float, ...]
    extents: tuple[float, ...]
    components: int
    states: int
    clusters: bool
    zero: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the observables."""
        squares = ("improved_squared_magnetisation",) * self.zero
        return ("structure", *squares, *("improved_structure",) * self.clusters)

    @property
    def sums(self) -> int:
        """The number of fields with sums over all sites: by component, wave, cosine and sine."""
        return 2 * self.components * self.waves

    @property
    def waves(self) -> int:
        """The number of wave vectors."""
        return len(self.axes) + self.zero

    @property
    def length(self) -> int:
        """The number of fields."""
        return self.sums + LIMBS * self.waves * self.clusters

    def value(self, name: str, fields: NDArray[np.int64], series: Any) -> NDArray[np.float64]:
        """Return structure factors, an axis of the lattice along the last axis."""
        batch, waves = fields.shape[:-1], self.waves
        if name == "structure":
            sums = np.ldexp(fields[..., : self.sums].astype(np.float64), -SUM_BITS)
            squares = (sums.reshape(*batch, self.components, waves, 2) ** 2).sum(axis=(-3, -1))
            factor = self.states / (self.states - 1) if self.states > 2 else 1.0
        else:
            limbs = fields[..., self.sums :].reshape(*batch, waves, LIMBS)
            squares = sum_of_limbs(limbs, SQUARE_BITS)
            factor = 1.0 if self.states else float(series.kind.components)
        by_wave = factor * squares / self.sites
        if name == "improved_squared_magnetisation":
            return np.asarray(by_wave[..., -1] / self.sites)
        factors = np.full((*batch, self.ndim), np.nan)
        factors[..., self.axes] = by_wave[..., : len(self.axes)]
        return factors

    def estimates(self, values: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """Return the correlation length, and its share of the lattice, as functions of means."""
        factors = values[self.names[-1]]
        means = values["squares"], *(factors[..., axis] for axis in self.axes)
        steps, extents = np.array(self.steps), np.array(self.extents)

        @np.errstate(divide="ignore", invalid="ignore")
        def root(units: NDArray[np.float64], square: Any, *along: Any) -> Any:
            pairs = zip(along, units, strict=True)
            excess = [(self.sites * square / each - 1) / unit**2 for each, unit in pairs]
            return np.sqrt(sum(excess) / len(excess))

        units = {"correlation_length": steps, "correlation_ratio": steps * extents}
        return {name: (partial(root, each), *means) for name, each in units.items()}
