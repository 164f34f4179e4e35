"""The domains of both phases of fields, which one labelling finds."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp._arrays import on_gpu
from conncomp.components import component_sizes
from conncomp.grid import label
from conncomp.kernels.field import (
    CELLS,
    COMPONENTS,
    HISTOGRAM,
    LARGEST,
    PHASES,
    SQUARES,
    FieldLattice,
)


def count_domains(xp: Any, lattice: FieldLattice, above: Any, workspace: Any, records: Any) -> None:
    """Count the components of both phases, which one labelling finds, into records.

    `above`, (replicas, *shape), has the cells of the first phase.
    """
    labelled: Any = label
    # No byte is -1: all cells are foreground, and connected if they are of one phase.
    roots = labelled(
        above.view(np.uint8),
        -1,
        connectivity=1,
        periodic=True,
        batch_axes=1,
        numbering="roots",
        workspace=workspace if on_gpu(above) else None,
    )
    sizes: Any
    if len(roots) == 1:  # which need not be numbered apart from others
        sizes = component_sizes(roots[0], background=-1)[None]
    else:
        sizes = component_sizes(roots, background=-1, batch_axes=1)
    replicas, rows = sizes.shape
    flat = sizes.reshape(-1)
    places = xp.flatnonzero(flat)
    replica, root = places // rows, places % rows
    group = PHASES * replica + xp.where(above.reshape(replicas, -1)[replica, root], 0, 1)
    groups, span = xp.arange(PHASES * replicas), lattice.cells + 1
    # Ordered by phase and size, so that all that is asked for lies between places.
    ordered = xp.sort(group * span + flat[places])
    least = xp.asarray([*(1 << k for k in range(lattice.bins)), span])  # of a bin, and beyond all
    ends = xp.searchsorted(ordered, (groups[:, None] * span + least).reshape(-1))
    ends = ends.reshape(-1, lattice.bins + 1)
    size = ordered % span
    first, last = ends[:, 0], ends[:, -1]
    by_replica = replicas, -1
    records[:, COMPONENTS:LARGEST] = (last - first).reshape(by_replica)
    largest = xp.where(last > first, size[last - 1], 0)
    records[:, LARGEST:CELLS] = largest.reshape(by_replica)
    for begin, end, power in ((CELLS, SQUARES, size), (SQUARES, HISTOGRAM, size * size)):
        # Differences of sums are right even where the sum over all replicas is beyond 64 bits.
        sums = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(power)])
        records[:, begin:end] = (sums[last] - sums[first]).reshape(by_replica)
    records[:, HISTOGRAM:] = (ends[:, 1:] - ends[:, :-1]).reshape(by_replica)
