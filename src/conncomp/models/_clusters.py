"""Labels of the clusters that active bonds make on a hypercubic lattice, or on any edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_bool, check_choice
from conncomp.graph import Graph, connected_components
from conncomp.grid import label_bonds
from conncomp.kernels.lattice import Lattice


def label_clusters(
    bonds: Any, lattice: Lattice, batch_axes: int, *, numbering: str, return_num: bool
) -> Any:
    """Return what `conncomp.label_bonds` does of the active bonds of a model."""
    labelled: Any = label_bonds
    return labelled(
        bonds,
        periodic=lattice.periodic,
        batch_axes=batch_axes,
        numbering=numbering,
        return_num=return_num,
    )


def label_on_edges(
    xp: Any, edges: Any, bonds: Any, sites: int, *, numbering: str, return_num: bool
) -> tuple[Any, NDArray[np.int64] | None]:
    """Return labels, (replicas, sites), and how many there are in each replica, if that is wanted.

    `edges` are (bonds, 2) sites, and `bonds`, (replicas, bonds), says which of them are active.
    """
    check_choice("numbering", numbering, ("consecutive", "roots"))
    ends, counted = xp.asarray(edges), as_bool("return_num", return_num)
    labelled: Any = connected_components
    labels, counts = [], []
    for active in bonds:
        graph = Graph.from_edges(ends[active, 0], ends[active, 1], sites)
        count, of_sites = labelled(graph, numbering=numbering, directed=False)
        labels.append(of_sites + (numbering == "consecutive"))
        counts.append(count)
    return xp.stack(labels), np.array(counts, np.int64) if counted else None
