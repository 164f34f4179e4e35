"""The measurements of updates of spins."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.edges import WHOLE, EdgeBonds
from conncomp.kernels.updates import WINDING_AXES
from conncomp.models.observables.series import (
    ACTIVE,
    Observed,
    ObservedSeries,
    SpinLattice,
    sum_of_limbs,
    wrapped_axes,
)
from conncomp.models.protocol import Floats, Integers
from conncomp.models.statistics.summaries import SummaryColumns

# The fields of a record, of int64: see `Measurements`. Sums of powers of sizes are limbs of 32
# bits, each summed by itself, so that they are exact and do not depend on the order. On any edges
# `SATISFIED` is the sum of strengths, in units of the strongest over `WHOLE`.
SATISFIED, SQUARES, FOURTHS = 0, 4, 7  # and `ACTIVE`, `CLUSTERS`, `LARGEST`
WINDING_RANK, COUNTS = WINDING_AXES + 1, WINDING_AXES + 2


@dataclass(frozen=True)
class Measurements(ObservedSeries):
    """The measurements of several updates.

    An update measures the spins that it finds, and the clusters that it draws among them; so all
    observables of a row are of one configuration.

    Attributes
    ----------
    records : ndarray of int64, shape (updates, fields) or (updates, replicas, fields)
        What was counted.
    lattice : object
        The sites and bonds.
    coupling : float
        That of all bonds, or of the strongest one.
    clusters_measured, bonds_measured, wrapping_measured : bool
        Whether clusters, active bonds, and how clusters wrap were measured. What needs those that
        were not raises ValueError.
    observed : tuple
        What else was measured, by ``observe=`` of an update, and where it is in the records.
    """

    records: Integers
    lattice: SpinLattice
    coupling: float
    clusters_measured: bool
    bonds_measured: bool = False
    wrapping_measured: bool = False
    observed: tuple[Observed, ...] = field(default=(), kw_only=True)

    def observables(self) -> dict[str, NDArray[Any]]:
        """Return what was measured, by name.

        >>> from conncomp.models import Potts
        >>> list(Potts((8, 8)).metropolis().observables())
        ['satisfied_bonds', 'state_counts', 'energy', 'magnetisation', 'squared_magnetisation']
        """
        uniform = not isinstance(self.lattice, EdgeBonds) or self.lattice.is_uniform
        names = ["satisfied_bonds"] * uniform + ["state_counts", "energy", "magnetisation"]
        names += ["squared_magnetisation"] + ["active_bonds"] * self.bonds_measured
        if self.clusters_measured:
            names += ["clusters", "largest_cluster"]
            names += ["improved_squared_magnetisation", "improved_fourth_magnetisation"]
        return self._by_name(names + ["wraps", "rank"] * self.wrapping_measured)

    @property
    def satisfied_bonds(self) -> Integers:
        """The number of bonds between equal spins, of one coupling and no field."""
        if not isinstance(self.lattice, EdgeBonds):
            return self.records[..., SATISFIED]
        if not self.lattice.is_uniform:
            raise ValueError(
                "satisfied bonds are not counted where couplings differ or sites have fields; the "
                "energy is there"
            )
        return self.records[..., SATISFIED] // WHOLE

    @property
    def active_bonds(self) -> Integers:
        """The number of bonds that connect clusters; its mean is p times that of satisfied ones."""
        if not self.bonds_measured:
            raise ValueError(
                "active bonds were not measured; update by Swendsen-Wang, or with clusters=True or "
                "wrapping=True"
            )
        return self.records[..., ACTIVE]

    @property
    def state_counts(self) -> Integers:
        """The number of sites in each state, along the last axis."""
        return self.records[..., COUNTS : COUNTS + self.lattice.states]

    @property
    def energy(self) -> Floats:
        """The energy of the whole lattice, minus what satisfied bonds and fields have."""
        if not isinstance(self.lattice, EdgeBonds):
            return np.asarray(-self.coupling * self.satisfied_bonds, np.float64)
        satisfied = self.records[..., SATISFIED] + self.lattice.below
        return np.asarray(0.0 - self.coupling / WHOLE * satisfied, np.float64)  # 0, not -0

    @property
    def magnetisation(self) -> Floats:
        """The magnetisation a site.

        For q = 2 that of the Ising model, from -1 to 1: state 0 is spin up. For more states
        (q rho - 1)/(q - 1), where rho is the share of the most frequent state.
        """
        q, sites, counts = self.lattice.states, self.lattice.sites, self.state_counts
        if q == 2:
            return np.asarray((counts[..., 0] - counts[..., 1]) / sites, np.float64)
        return np.asarray((q * counts.max(axis=-1) / sites - 1) / (q - 1), np.float64)

    @property
    def squared_magnetisation(self) -> Floats:
        """m^2 = (q sum of rho^2 - 1)/(q - 1) over the shares rho of all states."""
        q, shares = self.lattice.states, self.state_counts / self.lattice.sites
        return np.asarray((q * (shares**2).sum(axis=-1) - 1) / (q - 1), np.float64)

    @property
    def fourth_magnetisation(self) -> Floats:
        """The square of `squared_magnetisation`."""
        return self.squared_magnetisation**2

    @property
    def improved_squared_magnetisation(self) -> Floats:
        """The mean of `squared_magnetisation` over all states that these clusters could take."""
        return np.asarray(self._sizes(SQUARES, FOURTHS) / float(self.lattice.sites) ** 2)

    @property
    def improved_fourth_magnetisation(self) -> Floats:
        """The same of `fourth_magnetisation`: [(q + 1) S_2^2 - 2 S_4]/(q - 1).

        S_k is the sum of the k-th powers of the sizes of clusters, as shares of the sites.
        """
        q, sites = self.lattice.states, float(self.lattice.sites)
        squares = self._sizes(SQUARES, FOURTHS) / sites**2
        fourths = self._sizes(FOURTHS, WINDING_AXES) / sites**4
        return np.asarray(((q + 1) * squares**2 - 2 * fourths) / (q - 1))

    def summary_columns(self, records: Integers, beta: float) -> SummaryColumns:
        """Return columns for `summarise`, given the records of one inverse temperature."""
        some = replace(self, records=records)
        squares = some.squared_magnetisation
        moments = squares, some.fourth_magnetisation
        if self.clusters_measured:
            moments = some.improved_squared_magnetisation, some.improved_fourth_magnetisation
        energy, magnitude = some.energy / self.lattice.sites, abs(some.magnetisation)
        others = some._estimates(moments[0])
        if self.wrapping_measured:
            others["wrapping"] = some.wraps, some.rank
        return SummaryColumns(energy, magnitude, squares, moments, moments[0], None, others)

    def _observed(self, name: str) -> NDArray[Any]:
        if not self.wrapping_measured or name not in ("wraps", "rank"):
            return super()._observed(name)
        axes, rank = self.records[..., WINDING_AXES], self.records[..., WINDING_RANK]
        return rank if name == "rank" else wrapped_axes(axes, self.lattice.ndim)

    def _sizes(self, begin: int, end: int) -> Floats:
        """Return a sum of powers of sizes from its limbs."""
        self._of_clusters(begin)
        return sum_of_limbs(self.records[..., begin:end])


@dataclass(frozen=True)
class IsingMeasurements(Measurements):
    """The measurements of several updates, as `Measurements`, in the Ising convention.

    A bond is satisfied if its part of the energy is -abs(J): by equal spins of a ferromagnet, but
    over the end of an antiperiodic axis.

    Attributes
    ----------
    records, lattice, coupling, clusters_measured, bonds_measured, observed
        As of `Measurements`.
    wrapping_measured : bool
        Whether records have how clusters wrap, as of hypercubic lattices with one coupling and no
        field; of others `observed` has it.
    """

    @property
    def energy(self) -> Floats:
        """The energy of the whole lattice: minus all J_ij s_i s_j, minus all h_i s_i."""
        if not isinstance(self.lattice, EdgeBonds):
            excess = 2 * self.satisfied_bonds - self.lattice.bonds
            return np.asarray(-abs(self.coupling) * excess, np.float64)
        excess = 2 * self.records[..., SATISFIED] - self.lattice.total
        return np.asarray(-self.lattice.scale / WHOLE * excess, np.float64)
