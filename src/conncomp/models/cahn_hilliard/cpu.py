"""The equation of Cahn and Hilliard on the CPU: passes arrays to ``cpu/models/cahn_hilliard.h``."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from conncomp._arrays import on_gpu
from conncomp._core import native
from conncomp.components import component_sizes
from conncomp.grid import label
from conncomp.kernels import field as of
from conncomp.kernels.field import Coefficients, FieldLattice
from conncomp.kernels.updates import Drawn
from conncomp.models._arguments import flat


class FieldEngine:
    """Steps of the fields of replicas; coefficients are those of ``core/cahn_hilliard.h``."""

    xp: Any = np

    def __init__(
        self, drawn: Drawn, lattice: FieldLattice, dtype: Any, coefficients: Coefficients
    ) -> None:
        self._lattice, axes, of_shape = lattice, lattice.ndim, (lattice.lengths, *drawn)
        self.start = flat(partial(native.start_fields, *of_shape))
        self.advance = flat(partial(native.advance_fields, *of_shape, axes, coefficients))
        counted = lattice.lengths, drawn.replicas, axes
        self.measure = flat(partial(native.measure_fields, *counted))  # adds ``FieldTally``

    def count_domains(self, threshold: float, field: Any, records: Any) -> None:
        """Count the domains of both phases into records."""
        count_domains(np, self._lattice, above(threshold, field), None, records)

    def labels(
        self, threshold: float, field: Any, connectivity: Any, numbering: Any, return_num: Any
    ) -> Any:
        """Return labels of the cells above a threshold, of one field or of each of several."""
        how: Any = {"numbering": numbering, "return_num": return_num}
        marks, how["batch_axes"] = above(threshold, field), field.ndim - self._lattice.ndim
        return label(marks, connectivity=connectivity, periodic=True, **how)


def above(threshold: float, field: Any) -> Any:
    """Return which cells are above a threshold."""
    return field > field.dtype.type(threshold)


def count_domains(xp: Any, lattice: FieldLattice, marks: Any, workspace: Any, records: Any) -> None:
    """Count components of both phases, the first of which is `marks`, by one labelling."""
    how: Any = {"numbering": "roots", "workspace": workspace if on_gpu(marks) else None}
    # No byte is -1: all cells are foreground, and connected if they are of one phase.
    roots: Any = label(marks.view(np.uint8), -1, connectivity=1, periodic=True, batch_axes=1, **how)
    axes = int(len(roots) > 1)  # a single one need not be numbered apart from others
    sizes: Any = component_sizes(roots if axes else roots[0], background=-1, batch_axes=axes)
    flat, replicas = sizes.reshape(-1), len(roots)
    rows, places = len(flat) // replicas, xp.flatnonzero(flat)
    replica, root = places // rows, places % rows
    group = of.PHASES * replica + xp.where(marks.reshape(replicas, -1)[replica, root], 0, 1)
    groups, span = xp.arange(of.PHASES * replicas), lattice.cells + 1
    # Ordered by phase and size, so that all that is asked for lies between places.
    ordered = xp.sort(group * span + flat[places])
    least = xp.asarray([*(1 << k for k in range(lattice.bins)), span])  # of a bin, and beyond all
    ends = xp.searchsorted(ordered, (groups[:, None] * span + least).reshape(-1))
    ends = ends.reshape(-1, lattice.bins + 1)
    size = ordered % span
    first, last = ends[:, 0], ends[:, -1]
    by_replica = replicas, -1
    records[:, of.COMPONENTS : of.LARGEST] = (last - first).reshape(by_replica)
    largest = xp.where(last > first, size[last - 1], 0)
    records[:, of.LARGEST : of.CELLS] = largest.reshape(by_replica)
    ends_of = of.CELLS, of.SQUARES, of.HISTOGRAM
    for begin, end, power in zip(ends_of[:-1], ends_of[1:], (size, size * size), strict=True):
        # Differences of sums are right even where the sum over all replicas is beyond 64 bits.
        sums = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(power)])
        records[:, begin:end] = (sums[last] - sums[first]).reshape(by_replica)
    records[:, of.HISTOGRAM :] = (ends[:, 1:] - ends[:, :-1]).reshape(by_replica)
