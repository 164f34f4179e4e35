"""The wrapping of clusters on any lattice: along which axes one closes on itself, and its rank.

How: labels are those of the bonds that do not lead over an end of an axis; the others then join
these open clusters on the CPU, a period farther, and closed paths have windings
(``kernels/core/wrapping/windings.h``). Cost: a labelling, and 100 bytes a bond over an end. Source:
J. Machta, Y. S. Choi, A. Lucke, T. Schweizer, L. M. Chayes, Phys. Rev. E 54, 1332 (1996); ours for
any lattice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._array_storage import on_host
from conncomp._core import native
from conncomp.grid import cluster_wrapping
from conncomp.kernels.lattice import MOST_AXES
from conncomp.models.observables.clusters import Clusters
from conncomp.models.observables.series import add_wrapping, wrapped_axes
from conncomp.models.places import check_lattice
from conncomp.models.spins.state import SpinState


@dataclass(frozen=True)
class Windings:
    """Reads how clusters wrap on a lattice of so many axes."""

    axes: int

    names, length = ("wraps", "rank"), 2

    def value(self, name: str, fields: NDArray[np.int64], series: Any) -> NDArray[Any]:
        """Return along which axes, the last axis here, clusters wrap, or the highest rank."""
        return fields[..., 1] if name == "rank" else wrapped_axes(fields[..., 0], self.axes)

    def estimates(self, values: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """Return both, of which probabilities follow."""
        return {"wrapping": (values["wraps"], values["rank"])}


class Wrapping:
    """The wrapping of the clusters that the next update draws on a lattice."""

    def __init__(self, state: SpinState, clusters: bool) -> None:
        place = check_lattice(state.place, "wrapping")
        self.reader = Windings(len(place.cells.shape))
        self._state, self._clusters = state, Clusters(state, place)
        windings = self._clusters.windings
        if windings is None:
            return
        xp = state.engine.xp
        leaves = windings.any(axis=1)
        over = np.flatnonzero(leaves)
        self._over, self._inside = xp.asarray(over), xp.asarray(~leaves).view("u1")
        self._along = np.zeros((len(over), MOST_AXES), np.int8)
        self._along[:, : windings.shape[1]] = windings[over]
        self._ends = xp.asarray(self._clusters.ends[:, over])

    def measure(self, record: Any, field: int) -> None:
        """Fill two fields of a record, which are 0."""
        state, xp = self._state, self._state.engine.xp
        if self._clusters.windings is None:
            periodic, planes = state.layout.words.periodic, state.planes_of_bonds()
            wrapping: Any = cluster_wrapping(planes, periodic=periodic, batch_axes=1)
            add_wrapping(xp, wrapping, record, field)
            return
        active = self._clusters.active()
        labels = self._clusters.labels(active & self._inside)
        item, bond = xp.nonzero(active[:, self._over])
        ends = (labels[item, end[bond]].astype(np.int64) for end in self._ends)
        axes_and_rank = np.zeros((2, state.drawn.replicas), np.int64)
        along, items = self._along[on_host(bond)].reshape(-1), on_host(item).astype(np.int64)
        native.wind_bonds(items, *map(on_host, ends), along, *axes_and_rank)
        record[:, field : field + 2] += xp.asarray(axes_and_rank).T
