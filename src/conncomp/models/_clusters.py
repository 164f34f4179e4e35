"""Labels of the clusters that active bonds make on a hypercubic lattice."""

from __future__ import annotations

from typing import Any

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
