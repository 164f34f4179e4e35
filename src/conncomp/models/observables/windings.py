"""How clusters wrap, as records of models have it: along which axes, and the highest rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.lattice import Lattice
from conncomp.kernels.seams import MOST_ITEMS, MOST_LINKS

EVENTS = ("axis", "any", "all", "cross")


def wrapped_axes(bits: NDArray[np.int64], ndim: int) -> NDArray[np.bool_]:
    """Return along which axes, the last axis here, some cluster wraps, given a bit for each."""
    return np.asarray(bits[..., np.newaxis] >> np.arange(ndim) & 1, bool)


def happens(event: str, wraps: NDArray[np.bool_], rank: NDArray[np.int64]) -> NDArray[Any]:
    """Return whether an event happens in configurations; of "axis", along which share of the axes.

    `wraps` is (..., ndim), and `rank` the highest of a cluster's windings, (...).
    """
    events: dict[str, Callable[[], Any]] = {
        "axis": lambda: wraps.mean(axis=-1),
        "any": lambda: wraps.any(axis=-1),
        "all": lambda: wraps.all(axis=-1),
        "cross": lambda: rank == wraps.shape[-1],
    }
    return np.asarray(events[event]())


def check_wrapping(lattice: Lattice, replicas: int) -> None:
    """Raise ValueError if the links over the ends of axes are more than can be numbered."""
    faces = [lattice.sites // length for length in lattice.shape]
    closed = zip(faces, lattice.periodic, strict=True)
    links = replicas * sum(face for face, closes in closed if closes)
    if links > MOST_LINKS or replicas > MOST_ITEMS:
        raise ValueError(
            f"{replicas} lattices of shape={lattice.shape} have {links} links over the ends of "
            f"periodic axes; for wrapping there may be up to {MOST_LINKS}, of up to {MOST_ITEMS} "
            "lattices: choose fewer replicas"
        )


def add_wrapping(xp: Any, wrapping: Any, record: Any, field: int) -> None:
    """Record along which axes an item's components wrap, and in the next field the highest rank.

    `wrapping` is of a batch, an item for each replica; both fields are 0 before.
    """
    wraps = wrapping.wrapping
    replica = xp.searchsorted(xp.cumsum(wrapping.counts), wraps, side="right")
    rank = (wrapping.bases != 0).any(2).sum(1)
    for axis in range(wrapping.axes.shape[1]):
        of_axis = xp.zeros(len(record), np.int64)
        of_axis[replica[wrapping.axes[wraps, axis]]] = 1 << axis
        record[:, field] += of_axis
        # Larger ranks come later, and replace smaller ones.
        record[replica[rank > axis], field + 1] = axis + 1
