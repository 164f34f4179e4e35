"""Series whose records have more fields than their models': which ones, and who reads them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

# Fields of records of models of spins, of int64.
ACTIVE, CLUSTERS, LARGEST = 1, 2, 3

# What errors say of observables that few models have.
_TOLD = {
    "helicity_modulus": "the helicity modulus, of the XY and the Heisenberg model on lattices, was "
    "not measured",
    "vortices": "vortices, of the XY model on lattices in the plane, were not counted",
}


class Reader(Protocol):
    """What fields of a record say, of an observable that can be measured besides."""

    @property
    def names(self) -> tuple[str, ...]:
        """What it has values of."""

    @property
    def length(self) -> int:
        """How many fields there are."""

    def value(self, name: str, fields: NDArray[np.int64], series: Any) -> NDArray[Any]:
        """Return the values of an observable, given its fields, the last axis, and the series."""

    def estimates(self, series: Any, values: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """Return by name a function of means and what these are of, for a `Summary`.

        `values` has what `value` returns, and "squares", of m; "wrapping" is returned as it is.
        """


class Observed(NamedTuple):
    """Fields of records: who reads them, and the first one."""

    reader: Reader
    first: int

    def value(self, name: str, series: Any) -> NDArray[Any]:
        """Return the values of an observable in a series."""
        fields = series.records[..., self.first : self.first + self.reader.length]
        return self.reader.value(name, fields, series)


class ObservedSeries:
    """A series with `records`, and `observed`, what they have behind the fields of the model."""

    records: NDArray[np.int64]
    lattice: Any
    clusters_measured: bool
    observed: tuple[Observed, ...]

    @property
    def clusters(self) -> NDArray[np.int64]:
        """The number of clusters."""
        return self._of_clusters(CLUSTERS)

    @property
    def largest_cluster(self) -> NDArray[np.int64]:
        """The sites of the largest cluster."""
        return self._of_clusters(LARGEST)

    @property
    def wraps(self) -> NDArray[np.bool_]:
        """Along which axes, the last axis here, some cluster closes on itself."""
        return self._of_windings("wraps")

    @property
    def rank(self) -> NDArray[np.int64]:
        """The largest rank of a cluster's windings; 1 is a ring or a helix, 2 a cross."""
        return self._of_windings("rank")

    @property
    def structure(self) -> NDArray[np.float64]:
        """The structure factor at the smallest wave vector along each axis, the last axis here.

        ``|sum of s exp(i k.r)|^2`` over the sites, of vectors the sum over components; of states,
        what `squared_magnetisation` is of m times the sites. NaN along axes that are not periodic.
        Update with ``observe="structure"``.
        """
        return self._observed("structure")

    @property
    def improved_structure(self) -> NDArray[np.float64]:
        """The mean of `structure` over all states that these clusters could take.

        Update with ``observe="structure", clusters=True``.
        """
        return self._observed("improved_structure")

    def told(self, records: NDArray[np.int64], beta: float) -> Any:
        """Return what some records say, those of one inverse temperature, for `summarise`."""
        raise NotImplementedError

    def _of_clusters(self, number: int) -> NDArray[np.int64]:
        if not self.clusters_measured:
            raise ValueError("clusters were not measured; update with clusters=True")
        return self.records[..., number]

    def _of_windings(self, name: str) -> NDArray[Any]:
        return self._observed(name)

    def _observed(self, name: str) -> NDArray[Any]:
        for each in self.observed:
            if name in each.reader.names:
                return each.value(name, self)
        if name in ("wraps", "rank"):
            raise ValueError("wrapping was not measured; update with wrapping=True")
        asked = "structure" if name.startswith("improved_") else name
        how = ", clusters=True" if asked != name else ""
        told = _TOLD.get(name, f"{name} was not measured")
        raise ValueError(f"{told}; update with observe={asked!r}{how}")

    def _by_name(self, names: list[str]) -> dict[str, NDArray[Any]]:
        """Return what was measured, by name: that of these names, and what was observed."""
        observed = [name for each in self.observed for name in each.reader.names]
        return {name: getattr(self, name) for name in [*names, *observed]}

    def _estimates(self, squares: NDArray[np.float64]) -> dict[str, Any]:
        """Return what a `Summary` has of what was observed, by name."""
        found: dict[str, Any] = {}
        for each in self.observed:
            values = {name: each.value(name, self) for name in each.reader.names}
            found |= each.reader.estimates(self, {**values, "squares": squares})
        return found
