"""Measurements of spins that are vectors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels import vector_spins as of
from conncomp.kernels.edges import EdgeBonds
from conncomp.kernels.lattice import MOST_AXES
from conncomp.models.observables.series import (
    ACTIVE,
    CLUSTERS,
    Observed,
    ObservedSeries,
    SpinLattice,
    sum_of_limbs,
)
from conncomp.models.protocol import Floats, Integers
from conncomp.models.spins.measurements import COUNTS
from conncomp.models.statistics.summaries import SummaryColumns

# Of the squares of clusters' sums, which are rounded to 2**-16.
_SQUARED_BITS = 32


@dataclass(frozen=True)
class VectorMeasurements(ObservedSeries):
    """Measurements at one moment, or in each of several updates.

    An update measures the spins that it finds, and the clusters that it draws among them.

    Attributes
    ----------
    records : ndarray of int64, shape (updates, fields) or (updates, replicas, fields)
        What was counted: sums are integers in units of 2**-28.
    lattice : object
        The sites and bonds.
    kind : object
        How spins are held.
    coupling : float
        That of all bonds, or of the strongest one.
    beta : float or ndarray of float64, shape (replicas,)
        The inverse temperature.
    clusters_measured : bool
        Whether clusters were counted; if not, what needs them raises ValueError.
    observed : tuple
        What else was measured, by ``observe=`` of an update, and where it is in the records.
    """

    records: Integers
    lattice: SpinLattice
    kind: Any
    coupling: float
    beta: Any
    clusters_measured: bool = False
    observed: tuple[Observed, ...] = field(default=(), kw_only=True)

    def observables(self) -> dict[str, NDArray[Any]]:
        """Return what was measured, by name.

        >>> from conncomp.models import XY
        >>> list(XY((8, 8), beta=1.0).measure().observables())
        ['energy', 'magnetisation', 'squared_magnetisation', 'helicity_modulus', 'vortices']
        """
        of_words = not isinstance(self.lattice, EdgeBonds)
        names = ["energy", "magnetisation", "squared_magnetisation"]
        names += ["helicity_modulus"] * of_words + ["vortices"] * self._has_vortices
        if self.clusters_measured:
            names += ["active_bonds", "clusters", "largest_cluster"]
            names += ["improved_squared_magnetisation"] * of_words
        return self._by_name(names)

    @property
    def energy(self) -> Floats:
        """The energy of the whole lattice, -J sum of s_i . s_j over bonds."""
        return -self.coupling * self._sums(of.ENERGY)

    @property
    def magnetisation(self) -> Floats:
        """The mean spin, a vector along the last axis."""
        first = COUNTS if isinstance(self.lattice, EdgeBonds) else of.MAGNETISATION
        sums = self._sums(slice(first, first + self.kind.components))
        return np.asarray(sums / self.lattice.sites)

    @property
    def squared_magnetisation(self) -> Floats:
        """The square of the mean spin."""
        return np.asarray((self.magnetisation**2).sum(axis=-1), np.float64)

    @property
    def helicity_modulus(self) -> Floats:
        """The helicity modulus along each axis, the last axis here, as a mean over updates.

        It is how much free energy a slow twist takes: of spins of n components and of the currents
        ``I_k = J sum of (s_i x s_j)_k`` over the bonds along an axis, in all planes k of rotations,
        ``(2/n J sum of s_i . s_j - beta mean over k of I_k^2) / sites``: S. Teitel, C. Jayaprakash,
        Phys. Rev. B 27, 598 (1983). On other than hypercubic lattices of one coupling it is along
        Cartesian axes, a volume; update with ``observe="helicity_modulus"``.
        """
        if isinstance(self.lattice, EdgeBonds):
            return self._observed("helicity_modulus")
        axes = range(MOST_AXES - self.lattice.ndim, MOST_AXES)
        along = self.coupling * self._sums([of.ALONG + axis for axis in axes])
        fields = [[of.CURRENTS + 3 * axis + k for k in range(self.kind.rotations)] for axis in axes]
        # Of angles the one rotation's current is the first of three.
        squares = (self.coupling * self._sums(fields)) ** 2
        beta = np.asarray(self.beta)[..., None]
        bent = 2 / self.kind.components * along - beta * squares.mean(axis=-1)
        return np.asarray(bent / self.lattice.sites, np.float64)

    @property
    def vortices(self) -> Integers:
        """The number of plaquettes around which angles turn, either way."""
        if not self._has_vortices:
            return self._observed("vortices")
        return self.records[..., of.VORTICES]

    @property
    def active_bonds(self) -> Integers:
        """The number of bonds that connect clusters."""
        return self._of_clusters(ACTIVE)

    @property
    def improved_squared_magnetisation(self) -> Floats:
        """The mean of `squared_magnetisation` over all states of these clusters, and all mirrors.

        The number of components times the sum of the squares of clusters' projections on this
        mirror's normal: U. Wolff, Nucl. Phys. B 334, 581 (1990). On other than hypercubic lattices
        of one coupling update with ``observe="structure", clusters=True``.
        """
        if isinstance(self.lattice, EdgeBonds):
            return self._observed("improved_squared_magnetisation")
        self._of_clusters(CLUSTERS)
        squares = sum_of_limbs(self.records[..., of.PROJECTED : of.FIELDS], _SQUARED_BITS)
        return np.asarray(self.kind.components * squares / float(self.lattice.sites) ** 2)

    def summary_columns(self, records: Integers, beta: float) -> SummaryColumns:
        """Return columns for `summarise`, given the records of one inverse temperature."""
        some, sites = replace(self, records=records, beta=beta), self.lattice.sites
        squares, known = some.squared_magnetisation, some.observables()
        improved = known.get("improved_squared_magnetisation", squares)
        others = some._estimates(improved)
        if "helicity_modulus" in known:
            others["helicity_modulus"] = np.asarray, some.helicity_modulus.mean(axis=-1)
        if "vortices" in known:
            others["vortices"] = np.asarray, some.vortices / sites
        energy, length, moments = some.energy / sites, np.sqrt(squares), (squares, squares**2)
        components = self.kind.components
        return SummaryColumns(energy, length, squares, moments, improved, components, others)

    @property
    def _has_vortices(self) -> bool:
        return bool(self.kind == of.ANGLE and self.lattice.ndim == 2)

    def _sums(self, fields: Any) -> Floats:
        return np.asarray(np.ldexp(self.records[..., fields].astype(np.float64), -of.MEASURE_BITS))
