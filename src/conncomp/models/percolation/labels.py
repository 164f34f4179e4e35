"""Clusters of percolation by labels of sites: of any lattice, by the functions that users have."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.components import component_sizes
from conncomp.grid import cluster_wrapping, component_wrapping, label, label_bonds
from conncomp.kernels.lattice import Lattice, unpack
from conncomp.models.percolation.measurements import (
    AXES,
    CLASSES,
    CLUSTERS,
    LARGEST,
    LIMB,
    RANK,
    SIZE_CLASSES,
    SQUARES,
)

# The neighbours of a site of the triangular lattice, as an array has them.
TRIANGULAR = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], bool)


def sites_of(xp: Any, lattice: Lattice, words: Any) -> Any:
    """Return the sites that words, (replicas, 1, rows, columns), hold: bool, (replicas, *shape)."""
    return unpack(xp, lattice, words).astype(bool)


def bonds_of(xp: Any, lattice: Lattice, words: Any) -> Any:
    """Return the bonds that words hold: bool, (ndim, replicas, *shape)."""
    axes = range(lattice.ndim)
    return xp.stack([sites_of(xp, lattice, words[:, axis : axis + 1]) for axis in axes])


def who_is_linked(lattice: Lattice, of_bonds: bool, triangular: bool) -> dict[str, Any]:
    """Return the arguments by which `label` and `label_bonds` link what is there."""
    options: dict[str, Any] = {"periodic": lattice.periodic}
    if triangular:
        options["structure"] = TRIANGULAR
    elif not of_bonds:
        options["connectivity"] = 1
    return options


def measure_by_labels(
    xp: Any, lattice: Lattice, of_bonds: bool, triangular: bool, words: Any, record: Any
) -> None:
    """Fill a record, (replicas, fields), but for how many sites or bonds are there.

    Configurations are labelled twice, once to find windings: this is for lattices that have no way
    of their own.
    """
    options = {**who_is_linked(lattice, of_bonds, triangular), "batch_axes": 1}
    if of_bonds:
        bonds = bonds_of(xp, lattice, words)
        labels, wrapping = label_bonds(bonds, **options), cluster_wrapping(bonds, **options)
    else:
        sites = sites_of(xp, lattice, words)
        labels, wrapping = label(sites, **options), component_wrapping(sites, **options)
    _record_sizes(component_sizes(labels, background=0, batch_axes=1), record)
    wraps = wrapping.wrapping
    replica = xp.searchsorted(xp.cumsum(wrapping.counts), wraps, side="right")
    rank = (wrapping.bases != 0).any(2).sum(1)
    for axis in range(lattice.ndim):
        of_axis = xp.zeros(len(record), np.int64)
        of_axis[replica[wrapping.axes[wraps, axis]]] = 1 << axis
        record[:, AXES] += of_axis
        # Larger ranks come later, and replace smaller ones.
        record[replica[rank > axis], RANK] = axis + 1


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
