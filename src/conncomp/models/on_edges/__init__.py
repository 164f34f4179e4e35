"""Models on any edges, with any couplings and fields; and which sites change at once there.

Classes of sites are those of ``kernels/cpu/models/edge_spins.h``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.kernels.edges import EdgeBonds


class Classes(NamedTuple):
    """The arcs of sites, and sites in classes no two of which are neighbours.

    `arcs` are where those of each site begin, their ends, and their couplings or None; a bond of a
    site to itself has none, as its energy is a constant. `order` has the sites of one class after
    the other, and at last bits that are no sites; `bounds`, where classes begin, and the end.
    """

    arcs: tuple[Any, ...]
    order: NDArray[np.int32]
    bounds: list[int]


def classes_of(edges: EdgeBonds) -> Classes:
    """Return the classes of all sites."""
    begins, targets, couplings = arcs_of(edges)
    class_of = np.empty(edges.sites, np.int32)
    count = native.classify_vertices(begins, targets, class_of)
    beyond = edges.beyond
    if beyond is not None:
        class_of[beyond] = count
    bounds, order = grouped(class_of, count + 1)
    return Classes((begins, targets, couplings), order, bounds[: count + 1].tolist())


def arcs_of(edges: EdgeBonds) -> tuple[Any, ...]:
    """Return the arcs of `Classes`, those of a site in the order of bonds."""
    ends, couplings = edges.ends, edges.couplings
    apart = ends[0] != ends[1]
    if not apart.all():
        ends, couplings = ends[:, apart], None if couplings is None else couplings[apart]
    begins, order = grouped(ends.reshape(-1), edges.sites)
    both = None if couplings is None else np.tile(couplings, 2).take(order)
    return begins, ends[::-1].reshape(-1).take(order), both


def grouped(keys: NDArray[Any], groups: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return where groups begin, and the places of keys by group: a stable sort; Ctrl-C ends it."""
    index = np.dtype(np.int32 if len(keys) < 1 << 31 else np.int64)
    begins, order = np.empty(groups + 1, np.int64), np.empty(len(keys), index)
    places = np.arange(len(keys), dtype=index)
    native.csr_of_arcs(keys.astype(index, copy=False), places, begins, order)
    return begins, order
