"""Series whose records have more fields than their model's, and what reads these."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.cells import CellLattice
from conncomp.kernels.edges import EdgeBonds
from conncomp.kernels.lattice import Lattice
from conncomp.kernels.seams import MOST_ITEMS, MOST_LINKS
from conncomp.models.protocol import Floats, Integers

SpinLattice = Lattice | CellLattice | EdgeBonds

# Fields of records of models of spins, of int64.
ACTIVE, CLUSTERS, LARGEST = 1, 2, 3
LIMB = 32  # bits, of sums that have several fields

# What errors say of observables that few models have.
_NOT_MEASURED = {
    "helicity_modulus": "the helicity modulus, of the XY and the Heisenberg model on lattices, was "
    "not measured",
    "vortices": "vortices, of the XY model on lattices in the plane, were not counted",
}


def sum_of_limbs(limbs: Integers, bits: int = 0) -> Floats:
    """Return the sums that records hold as limbs, along the last axis, times 2**-bits."""
    powers = LIMB * np.arange(limbs.shape[-1]) - bits
    return np.asarray(limbs.astype(np.float64) @ np.ldexp(1.0, powers))


class Reader(Protocol):
    """Reads observables of fields of records."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the observables."""

    @property
    def length(self) -> int:
        """The number of fields."""

    def value(self, name: str, fields: Integers, series: Any) -> NDArray[Any]:
        """Return an observable, given the fields along the last axis."""

    def estimates(self, values: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """Return, by name, a function of means for a `Summary`, and the series of these means.

        `values` are those of all `names`, and "squares", of m.
        """


class Observed(NamedTuple):
    """Fields of records from `first` on, and their reader."""

    reader: Reader
    first: int

    def value(self, name: str, series: ObservedSeries) -> NDArray[Any]:
        """Return the values of an observable in a series."""
        fields = series.records[..., self.first : self.first + self.reader.length]
        return self.reader.value(name, fields, series)


class ObservedSeries:
    """A series of `records`, with what they have `observed` behind the model's fields."""

    records: Integers
    lattice: SpinLattice
    clusters_measured: bool
    observed: tuple[Observed, ...]

    @property
    def clusters(self) -> Integers:
        """The number of clusters."""
        return self._of_clusters(CLUSTERS)

    @property
    def largest_cluster(self) -> Integers:
        """The sites of the largest cluster."""
        return self._of_clusters(LARGEST)

    @property
    def wraps(self) -> NDArray[np.bool_]:
        """Along which axes, the last axis here, some cluster closes on itself."""
        return self._observed("wraps")

    @property
    def rank(self) -> Integers:
        """The largest rank of a cluster's windings; 1 is a ring or a helix, 2 a cross."""
        return self._observed("rank")

    @property
    def structure(self) -> Floats:
        """The structure factor at the smallest wave vector along each axis, the last axis here.

        ``|sum of s exp(i k.r)|^2`` over the sites, of vectors the sum over components; of states,
        what `squared_magnetisation` is of m times the sites. NaN along axes that are not periodic.
        Update with ``observe="structure"``.
        """
        return self._observed("structure")

    @property
    def improved_structure(self) -> Floats:
        """The mean of `structure` over all states that these clusters could take.

        Update with ``observe="structure", clusters=True``.
        """
        return self._observed("improved_structure")

    def _of_clusters(self, number: int) -> Integers:
        if not self.clusters_measured:
            raise ValueError("clusters were not measured; update with clusters=True")
        return self.records[..., number]

    def _observed(self, name: str) -> NDArray[Any]:
        for each in self.observed:
            if name in each.reader.names:
                return each.value(name, self)
        if name in ("wraps", "rank"):
            raise ValueError("wrapping was not measured; update with wrapping=True")
        observe = "structure" if name.startswith("improved_") else name
        how = ", clusters=True" if observe != name else ""
        reason = _NOT_MEASURED.get(name, f"{name} was not measured")
        raise ValueError(f"{reason}; update with observe={observe!r}{how}")

    def _by_name(self, names: list[str]) -> dict[str, NDArray[Any]]:
        """Return measurements by name: those of these names, and observed ones."""
        observed = [name for each in self.observed for name in each.reader.names]
        return {name: getattr(self, name) for name in [*names, *observed]}

    def _estimates(self, squares: Floats) -> dict[str, Any]:
        """Return the estimates of observables in a `Summary`, by name."""
        found: dict[str, Any] = {}
        for each in self.observed:
            values = {name: each.value(name, self) for name in each.reader.names}
            found |= each.reader.estimates({**values, "squares": squares})
        return found


# How clusters wrap, as records of models have it.
EVENTS = ("axis", "any", "all", "cross")


def wrapped_axes(bits: Integers, ndim: int) -> NDArray[np.bool_]:
    """Return along which axes, the last axis here, some cluster wraps, given a bit for each."""
    return np.asarray(bits[..., np.newaxis] >> np.arange(ndim) & 1, bool)


def happens(event: str, wraps: NDArray[np.bool_], rank: Integers) -> NDArray[Any]:
    """Return whether an event happens; of "axis", along which share of the axes."""
    if event == "cross":
        return np.asarray(rank == wraps.shape[-1])
    return np.asarray(getattr(wraps, "mean" if event == "axis" else event)(axis=-1))


def check_wrapping(lattice: Lattice, replicas: int) -> None:
    """Raise ValueError if the links over the ends of axes are more than can be numbered."""
    faces = [lattice.sites // length for length in lattice.shape]
    closed = zip(faces, lattice.periodic, strict=True)
    links = replicas * sum(face for face, closes in closed if closes)
    if links > MOST_LINKS or replicas > MOST_ITEMS:
        raise ValueError(
            f"{replicas} lattices of shape={lattice.shape} have {links} links over the ends of "
            f"periodic axes; for wrapping there may be up to {MOST_LINKS}, of up to {MOST_ITEMS} "
            "lattices: choose fewer replicas"
        )


def add_wrapping(xp: Any, wrapping: Any, record: Any, field: int) -> None:
    """Record along which axes a replica's components wrap and, in the next field, the rank."""
    wraps = wrapping.wrapping
    replica = xp.searchsorted(xp.cumsum(wrapping.counts), wraps, side="right")
    rank = (wrapping.bases != 0).any(2).sum(1)
    for axis in range(wrapping.axes.shape[1]):
        of_axis = xp.zeros(len(record), np.int64)
        of_axis[replica[wrapping.axes[wraps, axis]]] = 1 << axis
        record[:, field] += of_axis
        # Larger ranks come later, and replace smaller ones.
        record[replica[rank > axis], field + 1] = axis + 1
