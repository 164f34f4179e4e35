"""Clusters of percolation by labels of sites: of any lattice, by the public functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import on_host
from conncomp.components import component_sizes
from conncomp.grid import cluster_wrapping, component_wrapping, label, label_bonds
from conncomp.kernels.lattice import Lattice, unpack_planes
from conncomp.models.observables.clusters import label_on_edges
from conncomp.models.observables.series import add_wrapping
from conncomp.models.percolation import measurements as fields
from conncomp.models.percolation.lattices import Geometry
from conncomp.models.percolation.measurements import AXES


def are_labelled(geometry: Geometry) -> bool:
    """Whether `label` or `label_bonds` take the lattice."""
    return geometry.is_hypercubic or (geometry.sites_of_cell == 1 and not geometry.of_bonds)


def who_is_linked(cells: Lattice, geometry: Geometry) -> dict[str, Any]:
    """Return the arguments by which `label` and `label_bonds` link what is there."""
    options: dict[str, Any] = {"periodic": cells.periodic}
    if not geometry.is_hypercubic:
        options["structure"] = geometry.structure
    elif not geometry.of_bonds:
        options["connectivity"] = 1
    return options


def label_by_search(
    xp: Any, cells: Lattice, geometry: Geometry, there: Any, *, numbering: str
) -> tuple[Any, NDArray[np.int64]]:
    """Return labels of sites, and how many clusters each replica has, on any lattice.

    `there`, (planes, replicas, *shape), says which elements are; labels are of (replicas, *shape,
    sites of a cell), without the last axis if that is 1.
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
    ends: Any = {"numbering": "roots", "return_num": False}
    roots, _ = label_on_edges(xp, edges.reshape(-1, 2), active, sites, **ends)
    is_root = occupied & (roots == xp.arange(sites))
    labels = xp.where(occupied, roots, -1)
    if numbering == "consecutive":
        numbers = xp.cumsum(is_root, axis=1)
        labels = xp.where(occupied, xp.take_along_axis(numbers, roots, 1), 0)
    shape = (*geometry.shape, per_cell) if per_cell > 1 else geometry.shape
    counts: NDArray[np.int64] = on_host(is_root.sum(axis=1))
    return labels.reshape(replicas, *shape).astype(roots.dtype), counts


def measure_by_labels(
    xp: Any, lattice: Lattice, geometry: Geometry, words: Any, record: Any
) -> None:
    """Fill a record but for how many elements are there: it labels twice, once for windings."""
    options = {**who_is_linked(lattice, geometry), "batch_axes": 1}
    there = unpack_planes(xp, lattice, words)
    if geometry.of_bonds:
        labels, wrapping = label_bonds(there, **options), cluster_wrapping(there, **options)
    else:
        sites = there[0]
        labels, wrapping = label(sites, **options), component_wrapping(sites, **options)
    _record_sizes(component_sizes(labels, background=0, batch_axes=1), record)
    add_wrapping(xp, wrapping, record, AXES)


def _record_sizes(sizes: Any, record: Any) -> None:
    """Record sizes, (replicas, clusters), of which those of 0 are of no cluster."""
    record[:, fields.CLUSTERS] = (sizes > 0).sum(axis=1)
    record[:, fields.LARGEST] = sizes.max(axis=1)
    # Squares of up to 80 bits, by the upper and lower digits of sizes.
    digits = fields.LIMB // 2
    upper, lower = sizes >> digits, sizes & ((1 << digits) - 1)
    below = ((upper * lower) << (digits + 1)) + lower * lower
    record[:, fields.SQUARES] = (below & ((1 << fields.LIMB) - 1)).sum(axis=1)
    record[:, fields.SQUARES + 1] = (upper * upper + (below >> fields.LIMB)).sum(axis=1)
    for k in range(fields.SIZE_CLASSES):
        record[:, fields.CLASSES + k] = (sizes >> k == 1).sum(axis=1)
