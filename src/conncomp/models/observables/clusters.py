"""The clusters of active bonds, and of those that the next update of a model draws.

Bonds of words along the axes of a hypercubic lattice go to `conncomp.label_bonds`, others to
union-find over all that are active.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_bool, check_choice
from conncomp.graph import Graph, connected_components
from conncomp.grid import label_bonds
from conncomp.kernels.lattice import Lattice
from conncomp.models.places import OnLattice
from conncomp.models.spins.state import SpinState, engines_on


def label_on_edges(
    xp: Any, edges: Any, bonds: Any, sites: int, *, numbering: str, return_num: bool
) -> tuple[Any, NDArray[np.int64] | None]:
    """Return labels by the edges, (bonds, 2), that replicas have, and counts if wanted."""
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


INDEX = np.dtype(np.int32)


class Clusters:
    """The clusters that the next update of some spins draws.

    Where bonds are not by axis, `ends`, (2, bonds), are their sites in the order of `active`, and
    `windings`, (bonds, ndim), count periods that each leads over; else `windings` is None.
    """

    def __init__(self, state: SpinState, place: OnLattice) -> None:
        self._state = state
        self.windings: NDArray[np.int32] | None = None
        if isinstance(state.layout.lattice, Lattice):
            return
        cells, in_words = place.cells, state.layout.edges is None
        if in_words:
            of_kinds = [cells.ends_of_kind(kind, everywhere=True) for kind in cells.kinds]
            ends = np.concatenate(of_kinds, axis=1)
        else:
            ends = cells.ends()
        self.windings = cells.windings(everywhere=in_words)
        self.ends = np.ascontiguousarray(ends, INDEX)
        self._labels = state.new_engine(engines_on(state.device).labels, place.sites, *self.ends)

    def active(self) -> Any:
        """Return which bonds are active, not by axis: uint8 of (replicas, bonds)."""
        state = self._state
        if state.layout.edges is not None:
            return state.bonds().astype(bool).view("u1")
        planes = state.planes_of_bonds().swapaxes(0, 1).reshape(state.drawn.replicas, -1)
        return state.engine.xp.ascontiguousarray(planes).view("u1")

    def labels(self, active: Any = None) -> Any:
        """Return the smallest site of each cluster, (replicas, sites), of `active` bonds or all."""
        state, lattice = self._state, self._state.layout.lattice
        if not isinstance(lattice, Lattice):
            return self._labels.label(self.active() if active is None else active)
        closed, planes = lattice.periodic, state.planes_of_bonds()
        labels: Any = label_bonds(planes, periodic=closed, batch_axes=1, numbering="roots")
        return state.engine.xp.ascontiguousarray(labels.reshape(state.drawn.replicas, -1), INDEX)
