"""Which sites change at once in local updates: ``kernels/cpu/models/vertex_classes.h``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.kernels.edges import EdgeBonds


class Classes(NamedTuple):
    """The arcs of sites, and sites in classes no two of which are neighbours.

    Attributes
    ----------
    arcs : tuple
        Where those of each site begin, their ends, and their couplings or None.
    order : ndarray of int32, shape (sites,)
        The sites of the first class, of the second one, and so on; at last bits that are no sites.
    bounds : list of int
        Where classes begin in `order`, and the end.
    """

    arcs: tuple[Any, ...]
    order: NDArray[np.int32]
    bounds: list[int]


def classes_of(edges: EdgeBonds) -> Classes:
    """Return the classes of all sites."""
    begins, targets, couplings = edges.arcs()
    class_of = np.empty(edges.sites, np.int32)
    count = native.classify_vertices(begins, targets, class_of)
    beyond = edges.beyond
    if beyond is not None:
        class_of[beyond] = count
    order = np.argsort(class_of, kind="stable").astype(np.int32)
    sizes = np.bincount(class_of, minlength=count)
    bounds = [0, *np.cumsum(sizes[:count]).tolist()]
    return Classes((begins, targets, couplings), order, bounds)
