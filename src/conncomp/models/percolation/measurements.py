"""Measurements of configurations of percolation, and means and thresholds of many of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import check_choice
from conncomp._array_storage import on_host
from conncomp.components import component_sizes
from conncomp.grid import cluster_wrapping, component_wrapping, label, label_bonds
from conncomp.kernels.cells import CellLattice
from conncomp.kernels.lattice import Lattice, unpack_planes
from conncomp.models.observables.clusters import label_on_edges
from conncomp.models.observables.series import (
    EVENTS,
    LIMB,
    add_wrapping,
    happens,
    sum_of_limbs,
    wrapped_axes,
)
from conncomp.models.percolation.lattices import BALANCE, SQUARE, Geometry, crossing_at_threshold
from conncomp.models.protocol import Floats, Integers
from conncomp.models.statistics.estimates import Estimate

# The fields of a record, of int64: those of ``kernels/core/percolation.h``.
ELEMENTS, CLUSTERS, LARGEST, SQUARES, AXES, RANK, CLASSES = 0, 1, 2, 3, 5, 6, 7
SIZE_CLASSES = 41
RECORD_LENGTH = CLASSES + SIZE_CLASSES

# By how many of its standard deviations a slope must be above 0 to be divided by.
LEAST_RISE = 5


class PercolationSummary(NamedTuple):
    """Means over configurations, and their errors.

    Attributes
    ----------
    occupied : Estimate
        The share of sites, or of bonds, that are there.
    clusters, largest_cluster, mean_size : Estimate
        As of `SweepEstimates`.
    wraps_any, wraps_all, cross : Estimate
        The probabilities that the lattice wraps along any axis, along all of them, and that a
        cluster does in full rank.
    """

    occupied: Estimate
    clusters: Estimate
    largest_cluster: Estimate
    mean_size: Estimate
    wraps_any: Estimate
    wraps_all: Estimate
    cross: Estimate


@dataclass(frozen=True)
class PercolationMeasurements:
    """The measurements of configurations of percolation.

    Attributes
    ----------
    records : ndarray of int64, shape (..., fields)
        What was counted. Other arrays have the axes before the last one: updates, of a series, and
        replicas.
    lattice : object
        The sites and bonds.
    kind : {"site", "bond"}
    geometry : str
        The name of the lattice.
    """

    records: Integers
    lattice: Lattice | CellLattice
    kind: str = "site"
    geometry: str = SQUARE

    def observables(self) -> dict[str, NDArray[Any]]:
        """Return what was measured, by name."""
        names = ["occupied", "clusters", "largest_cluster", "squared_sizes", "size_counts"]
        names += ["wraps", "rank"]
        return {name: getattr(self, name) for name in names}

    def summarise(self) -> PercolationSummary:
        """Return means over all configurations with their errors, NaN of a single configuration.

        Examples
        --------
        >>> from conncomp.models import Percolation
        >>> summary = Percolation((64, 64), p=0.3, replicas=50, seed=1).measure().summarise()
        >>> bool(abs(summary.occupied.value - 0.3) < 4 * summary.occupied.error)
        True
        """
        sites, wraps, rank = self.lattice.sites, self.wraps, self.rank
        shares = self.occupied / max(self.elements, 1), self.clusters / sites
        sizes = self.largest_cluster / sites, self.mean_size
        wrapping = (happens(event, wraps, rank) for event in EVENTS[1:])
        return PercolationSummary(*map(_mean, (*shares, *sizes, *wrapping)))

    def threshold(self, event: str = "axis", crossing: float | None = None) -> Estimate:
        """Estimate p_c from configurations near it, on any device.

        It is where the wrapping probability is what it is in the limit of many sites. How fast that
        rises follows from the same configurations: those in which more is there wrap more often. A
        line is laid through that, so the probability of the configurations must be near p_c: as
        near as their shares of sites or bonds scatter. If it is not, repeat it at the estimate. Too
        few configurations to see the rise raise ValueError.

        Parameters
        ----------
        event, crossing
            As of `PercolationSweep.threshold`; "axis" is the mean over all axes.

        Examples
        --------
        >>> from conncomp.models import Percolation
        >>> threshold = Percolation((64, 64), replicas=4000, seed=1).measure().threshold()
        >>> bool(abs(threshold.value - 0.59274605) < 4 * threshold.error < 0.01)
        True
        """
        check_choice("event", event, (*EVENTS, BALANCE))
        wanted = crossing_at_threshold(self.lattice, self.geometry, event, crossing)
        events = ("any", "cross") if event == BALANCE else (event,)
        each = [happens(one, self.wraps, self.rank).astype(float) for one in events]
        wraps = np.mean(each, axis=0).reshape(-1)
        share = self.occupied.reshape(-1) / max(self.elements, 1)
        wraps_above, share_above = wraps - wraps.mean(), share - share.mean()
        spread = float(share_above @ share_above)
        slope = float(share_above @ wraps_above) / spread if spread else 0.0
        scatter = sqrt(float(((wraps_above - slope * share_above) ** 2).mean()))
        if not slope * sqrt(spread) > LEAST_RISE * scatter:
            raise ValueError(
                f"{wraps.size} configurations do not show how the wrapping probability, "
                f"{wraps.mean():.3g}, rises with p; measure more of them, nearer to p_c"
            )
        value = share.mean() + (wanted - wraps.mean()) / slope
        return Estimate(float(value), scatter / slope / sqrt(wraps.size))

    @property
    def elements(self) -> int:
        """The number of sites, or of bonds, that may be there."""
        return self.lattice.bonds if self.kind == "bond" else self.lattice.sites

    @property
    def occupied(self) -> Integers:
        """The number of sites, or of bonds, that are occupied."""
        return self.records[..., ELEMENTS]

    @property
    def clusters(self) -> Integers:
        """The number of clusters; of bonds, those of single sites among them."""
        return self.records[..., CLUSTERS]

    @property
    def largest_cluster(self) -> Integers:
        """The sites of the largest cluster."""
        return self.records[..., LARGEST]

    @property
    def squared_sizes(self) -> Floats:
        """The sum over clusters of the squares of their sizes."""
        return sum_of_limbs(self.records[..., SQUARES:AXES])

    @property
    def mean_size(self) -> Floats:
        """The sum of squared sizes without the largest cluster, a site of the lattice."""
        squares = self.squared_sizes - self.largest_cluster.astype(float) ** 2
        return np.asarray(squares / self.lattice.sites)

    @property
    def size_counts(self) -> Integers:
        """The number of clusters of 2^k to 2^(k + 1) - 1 sites, k along the last axis."""
        return self.records[..., CLASSES:]

    @property
    def cluster_numbers(self) -> Floats:
        """n_s: clusters of s sites, a site of the lattice, as means over the classes of s."""
        return self.size_counts / np.ldexp(1.0, np.arange(SIZE_CLASSES)) / self.lattice.sites

    @property
    def wraps(self) -> NDArray[np.bool_]:
        """Along which axes, the last axis here, some cluster closes on itself."""
        return wrapped_axes(self.records[..., AXES], self.lattice.ndim)

    @property
    def rank(self) -> Integers:
        """The largest rank of a cluster's windings; 1 is a ring or a helix, 2 a cross."""
        return self.records[..., RANK]


def _mean(measured: NDArray[Any]) -> Estimate:
    values = np.asarray(measured, float)
    error = values.std(ddof=1) / sqrt(values.size) if values.size > 1 else nan
    return Estimate(float(values.mean()), float(error))


# Clusters by labels of sites: of any lattice, by the public functions.
def are_labelled(geometry: Geometry) -> bool:
    """Return whether `label` or `label_bonds` take the lattice."""
    return geometry.is_hypercubic or (geometry.sites_of_cell == 1 and not geometry.of_bonds)


def who_is_linked(cells: Lattice, geometry: Geometry) -> dict[str, Any]:
    """Return the arguments of `label` and `label_bonds`."""
    options: dict[str, Any] = {"periodic": cells.periodic}
    if not geometry.is_hypercubic:
        options["structure"] = geometry.structure
    elif not geometry.of_bonds:
        options["connectivity"] = 1
    return options


def label_by_search(
    xp: Any, cells: Lattice, geometry: Geometry, there: Any, numbering: str
) -> tuple[Any, Integers]:
    """Return labels of sites, and the number of clusters of each replica, on any lattice.

    `there` is (planes, replicas, *shape), and labels (replicas, *shape, sites of a cell), without
    the last axis if that is 1.
    """
    replicas, per_cell = there.shape[1], geometry.sites_of_cell
    edges, leaving = map(xp.asarray, geometry.edges(cells.periodic))
    flat = there.reshape(len(there), replicas, -1)
    sites = per_cell * flat.shape[-1]
    if geometry.of_bonds:
        active = flat.transpose(1, 0, 2).reshape(replicas, -1)
        occupied = xp.ones((replicas, sites), bool)
    else:
        occupied = flat.transpose(1, 2, 0).reshape(replicas, sites)
        active = occupied[:, edges[..., 0]] & occupied[:, edges[..., 1]] & ~leaving
        active = active.reshape(replicas, -1)
    # Sites that are not there are clusters of one, which are left out.
    ends = edges.reshape(-1, 2)
    roots, _ = label_on_edges(xp, ends, active, sites, numbering="roots", return_num=False)
    is_root, labels = occupied & (roots == xp.arange(sites)), xp.where(occupied, roots, -1)
    if numbering == "consecutive":
        labels = xp.where(occupied, xp.take_along_axis(xp.cumsum(is_root, axis=1), roots, 1), 0)
    shape = (*geometry.shape, per_cell) if per_cell > 1 else geometry.shape
    counts: Integers = on_host(is_root.sum(axis=1))
    return labels.reshape(replicas, *shape).astype(roots.dtype), counts


def measure_by_labels(xp: Any, cells: Lattice, geometry: Geometry, words: Any, record: Any) -> None:
    """Fill a record but for how many elements are there: it labels twice, once for windings."""
    options = {**who_is_linked(cells, geometry), "batch_axes": 1}
    there = unpack_planes(xp, cells, words)
    if geometry.of_bonds:
        labels, wrapping = label_bonds(there, **options), cluster_wrapping(there, **options)
    else:
        sites = there[0]
        labels, wrapping = label(sites, **options), component_wrapping(sites, **options)
    _record_sizes(component_sizes(labels, background=0, batch_axes=1), record)
    add_wrapping(xp, wrapping, record, AXES)


def _record_sizes(sizes: Any, record: Any) -> None:
    """Record sizes, (replicas, clusters), of which those of 0 are of no cluster."""
    record[:, CLUSTERS] = (sizes > 0).sum(axis=1)
    record[:, LARGEST] = sizes.max(axis=1)
    # Squares of up to 80 bits, by the upper and lower digits of sizes.
    digits = LIMB // 2
    upper, lower = sizes >> digits, sizes & ((1 << digits) - 1)
    below = ((upper * lower) << (digits + 1)) + lower * lower
    record[:, SQUARES] = (below & ((1 << LIMB) - 1)).sum(axis=1)
    record[:, SQUARES + 1] = (upper * upper + (below >> LIMB)).sum(axis=1)
    for k in range(SIZE_CLASSES):
        record[:, CLASSES + k] = (sizes >> k == 1).sum(axis=1)
