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


def label_on_edges(
    xp: Any, edges: Any, bonds: Any, sites: int, *, numbering: str, return_num: bool
) -> tuple[Any, NDArray[np.int64] | None]:
    """Return labels by those of the edges, (bonds, 2), that replicas have, and counts if wanted."""
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
    """The clusters of a model.

    Where bonds are not by axis, `ends`, (2, bonds), are their sites in the order of `active`, and
    `windings`, (bonds, ndim), how many periods farther each leads; else `windings` is None.
    """

    def __init__(self, model: Any, place: OnLattice) -> None:
        self._model = model
        self.windings: NDArray[np.int32] | None = None
        self._by_axis = isinstance(model.lattice, Lattice)
        if self._by_axis:
            return
        cells, self._of_words = place.cells, model._layout.edges is None
        if self._of_words:
            of_kinds = [cells.ends_of_kind(kind, everywhere=True) for kind in cells.kinds]
            ends = np.concatenate(of_kinds, axis=1)
        else:
            ends = cells.ends()
        self.windings = cells.windings(everywhere=self._of_words)
        self.ends = np.ascontiguousarray(ends, INDEX)
        self._labels = model._new_engine(model._engines.labels, place.sites, *self.ends)

    def active(self) -> Any:
        """Return which bonds are active, not by axis: uint8 of (replicas, bonds)."""
        model = self._model
        if not self._of_words:
            return model.bonds().reshape(model.replicas, -1).view("u1")
        planes = model._planes_of_bonds().swapaxes(0, 1).reshape(model.replicas, -1)
        return model._engine.xp.ascontiguousarray(planes).view("u1")

    def labels(self, active: Any = None) -> Any:
        """Return the smallest site of each cluster, (replicas, sites), by `active` or all bonds."""
        model = self._model
        if not self._by_axis:
            return self._labels.label(self.active() if active is None else active)
        how: Any = {"periodic": model.lattice.periodic, "batch_axes": 1, "numbering": "roots"}
        labels: Any = label_bonds(model._planes_of_bonds(), **how)
        return model._engine.xp.ascontiguousarray(labels.reshape(model.replicas, -1), INDEX)
