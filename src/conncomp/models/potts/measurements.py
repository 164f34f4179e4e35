"""What updates of a spin model measure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.edges import WHOLE
from conncomp.kernels.lattice import Lattice
from conncomp.models.observables.series import ACTIVE, Observed, ObservedSeries, wrapped_axes
from conncomp.models.statistics.summaries import Told

# The fields of a record, of int64: see `Measurements`. Sums of powers of sizes are limbs of 32
# bits, each summed by itself, so that they are exact and do not depend on the order.
SATISFIED, SQUARES, FOURTHS = 0, 4, 7  # and `ACTIVE`, `CLUSTERS`, `LARGEST`
WINDING_AXES, WINDING_RANK, COUNTS = 12, 13, 14
LIMB = 32


@dataclass(frozen=True)
class Measurements(ObservedSeries):
    """What was measured in each of several updates.

    An update measures the spins that it finds, and the clusters that it draws among them; so all
    observables of a row are of one configuration.

    Attributes
    ----------
    records : ndarray of int64, shape (updates, fields) or (updates, replicas, fields)
        What was counted.
    lattice : Lattice
    coupling : float
    clusters_measured, bonds_measured, wrapping_measured : bool
        Whether clusters, active bonds, and how clusters wrap were measured. What needs those that
        were not raises ValueError.
    observed : tuple
        What else was measured, by ``observe=`` of an update, and where it is in the records.
    """

    records: NDArray[np.int64]
    lattice: Lattice
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
        names = ["satisfied_bonds"] if getattr(self.lattice, "is_uniform", True) else []
        names += ["state_counts", "energy", "magnetisation", "squared_magnetisation"]
        if self.bonds_measured:
            names.append("active_bonds")
        if self.clusters_measured:
            names += ["clusters", "largest_cluster"]
            names += ["improved_squared_magnetisation", "improved_fourth_magnetisation"]
        if self.wrapping_measured:
            names += ["wraps", "rank"]
        return self._by_name(names)

    @property
    def satisfied_bonds(self) -> NDArray[np.int64]:
        """The number of bonds between equal spins."""
        return self.records[..., SATISFIED]

    @property
    def active_bonds(self) -> NDArray[np.int64]:
        """The number of bonds that connect clusters; its mean is p times that of satisfied ones."""
        if not self.bonds_measured:
            raise ValueError(
                "active bonds were not measured; update by Swendsen-Wang, or with clusters=True or "
                "wrapping=True"
            )
        return self.records[..., ACTIVE]

    @property
    def state_counts(self) -> NDArray[np.int64]:
        """The number of sites in each state, along the last axis."""
        return self.records[..., COUNTS : COUNTS + self.lattice.states]

    @property
    def energy(self) -> NDArray[np.float64]:
        """The energy of the whole lattice, minus the coupling for each satisfied bond."""
        return np.asarray(-self.coupling * self.satisfied_bonds, np.float64)

    @property
    def magnetisation(self) -> NDArray[np.float64]:
        """The magnetisation a site.

        For q = 2 that of the Ising model, from -1 to 1: state 0 is spin up. For more states
        (q rho - 1)/(q - 1), where rho is the share of the most frequent state.
        """
        return np.asarray(order_parameter(self.lattice, self.state_counts), np.float64)

    @property
    def squared_magnetisation(self) -> NDArray[np.float64]:
        """m^2 = (q sum of rho^2 - 1)/(q - 1) over the shares rho of all states."""
        shares = self.state_counts / self.lattice.sites
        q = self.lattice.states
        return np.asarray((q * (shares**2).sum(axis=-1) - 1) / (q - 1), np.float64)

    @property
    def fourth_magnetisation(self) -> NDArray[np.float64]:
        """The square of `squared_magnetisation`."""
        return self.squared_magnetisation**2

    @property
    def improved_squared_magnetisation(self) -> NDArray[np.float64]:
        """The mean of `squared_magnetisation` over all states that these clusters could take."""
        return self._sizes(SQUARES, FOURTHS) / float(self.lattice.sites) ** 2

    @property
    def improved_fourth_magnetisation(self) -> NDArray[np.float64]:
        """The same of `fourth_magnetisation`: [(q + 1) S_2^2 - 2 S_4]/(q - 1).

        S_k is the sum of the k-th powers of the sizes of clusters, as shares of the sites.
        """
        q, sites = self.lattice.states, float(self.lattice.sites)
        squares = self._sizes(SQUARES, FOURTHS) / sites**2
        fourths = self._sizes(FOURTHS, WINDING_AXES) / sites**4
        return ((q + 1) * squares**2 - 2 * fourths) / (q - 1)

    def told(self, records: NDArray[np.int64], beta: float) -> Told:
        """Return what some of the records say of one inverse temperature, for `summarise`."""
        some = replace(self, records=records)
        squares = some.squared_magnetisation
        moments = squares, some.fourth_magnetisation
        if self.clusters_measured:
            moments = some.improved_squared_magnetisation, some.improved_fourth_magnetisation
        energy, magnitude = some.energy / self.lattice.sites, abs(some.magnetisation)
        others = some._estimates(moments[0])
        wrapping = (
            (some.wraps, some.rank) if self.wrapping_measured else others.pop("wrapping", None)
        )
        return Told(energy, magnitude, squares, moments, moments[0], None, others, wrapping)

    def _of_windings(self, name: str) -> NDArray[Any]:
        if not self.wrapping_measured:
            return self._observed(name)
        axes, rank = self.records[..., WINDING_AXES], self.records[..., WINDING_RANK]
        return rank if name == "rank" else wrapped_axes(axes, self.lattice.ndim)

    def _sizes(self, begin: int, end: int) -> NDArray[np.float64]:
        """Return a sum of powers of sizes from its limbs."""
        self._of_clusters(begin)
        limbs = self.records[..., begin:end].astype(np.float64)
        return limbs @ np.ldexp(1.0, LIMB * np.arange(end - begin))


@dataclass(frozen=True)
class WeightedBonds(Measurements):
    """The same on any edges, where satisfied bonds count as much as they are strong."""

    lattice: Any

    @property
    def satisfied_bonds(self) -> NDArray[np.int64]:
        """The number of satisfied bonds, where all are equally strong and no site has a field."""
        if not self.lattice.is_uniform:
            raise ValueError(
                "satisfied bonds are not counted where couplings differ or sites have fields; the "
                "energy is there"
            )
        return self.records[..., SATISFIED] // WHOLE


@dataclass(frozen=True)
class EdgeMeasurements(WeightedBonds):
    """What was measured of a Potts model on any edges; `coupling` is the strongest, or a field."""

    @property
    def energy(self) -> NDArray[np.float64]:
        """The energy of the whole lattice."""
        satisfied = self.records[..., SATISFIED] + self.lattice.below
        return np.asarray(0.0 - self.coupling / WHOLE * satisfied, np.float64)  # 0, not -0


def order_parameter(lattice: Lattice, counts: Any) -> Any:
    """Return the magnetisation a site of states that are so frequent."""
    q, sites = lattice.states, lattice.sites
    if q == 2:
        return (counts[..., 0] - counts[..., 1]) / sites
    return (q * counts.max(axis=-1) / sites - 1) / (q - 1)


@dataclass(frozen=True)
class IsingMeasurements(Measurements):
    """What was measured in each of several updates, as `Measurements`, in the Ising convention.

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
    def energy(self) -> NDArray[np.float64]:
        """The energy of the whole lattice, -J sum of s_i s_j over bonds."""
        excess = 2 * self.satisfied_bonds - self.lattice.bonds
        return np.asarray(-abs(self.coupling) * excess, np.float64)


@dataclass(frozen=True)
class WeightedMeasurements(WeightedBonds, IsingMeasurements):
    """The same of several couplings, or fields: records sum the strengths of satisfied bonds."""

    @property
    def energy(self) -> NDArray[np.float64]:
        """The energy of the whole lattice: minus all J_ij s_i s_j, minus all h_i s_i."""
        excess = 2 * self.records[..., SATISFIED] - self.lattice.total
        return np.asarray(-self.lattice.scale / WHOLE * excess, np.float64)
