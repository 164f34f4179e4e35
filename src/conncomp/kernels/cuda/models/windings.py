"""Windings of the clusters of replicas, put into records: drives ``cuda/grid/windings.cuh``."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from conncomp.kernels.cuda.grid.windings import (
    FILE,
    cleared_windings,
    close_windings,
)
from conncomp.kernels.cuda.launcher import Templates, launch
from conncomp.kernels.cuda.models.replicas import Replicas
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.neighbourhood import Neighbourhood
from conncomp.kernels.seams import MOST_CLOSED, seams_of

KERNELS = Templates(FILE, "record_windings<>")
specialisations = KERNELS.modules

# ``ClosedAxes`` of ``windings.cuh``.
_CLOSED_AXES = np.dtype([("axis", "i4", MOST_CLOSED)])


class ClusterWindings:
    """Tables of the windings of clusters, in memory that is taken once.

    An axis at least is periodic. In the `field` of a record are the axes along which clusters close
    on themselves, a bit for each, and behind it the highest rank of a cluster. `seams` are the
    links over the ends of axes, of an item a replica, and `boxes` theirs, on the GPU.
    """

    def __init__(self, replicas: Replicas, field: int) -> None:
        self._gpu, self._field, self._workspace = replicas.gpu, np.int32(field), Workspace()
        lattice = replicas.lattice
        strides = tuple(prod(lattice.shape[k + 1 :]) for k in range(lattice.ndim))
        neighbourhood = Neighbourhood(1, None, lattice.periodic)
        self.seams = seams_of(lattice.shape, strides, neighbourhood, replicas.count, lattice.sites)
        self.boxes = self._gpu.xp.asarray(self.seams.boxes.view(np.int64))
        closed = np.zeros((), _CLOSED_AXES)
        axes = np.flatnonzero(lattice.periodic)
        closed["axis"][: len(axes)] = axes
        self._closed = closed[()]

    def record(self, records: Any, unite: Callable[[Any], None]) -> None:
        """Fill two fields of records, which are 0, by ``SeamWindings`` that `unite` is given."""
        windings = cleared_windings(self._gpu, self.seams, self._workspace)
        unite(windings)
        close_windings(self._gpu, self.seams, windings)
        (kernel,) = KERNELS.load(self._gpu)
        by_slot = self._gpu.grid(self.seams.slots)
        launch(kernel, by_slot, windings, self._closed, records, self._field)
