"""Lattices of bonds as kernels read them, and their link rule."""

from __future__ import annotations

from typing import Any

from conncomp._arguments import as_batch_axes
from conncomp._arrays import check_kind
from conncomp.kernels.cuda.grid.image import steps_evenly
from conncomp.kernels.links import Links, joined_by_bonds

MOST_AXES = 6  # longer than 1
BITS = 8  # of a byte


def lattice_of(bonds: Any, batch_axes: int, given: object = None) -> tuple[tuple[int, ...], int]:
    """Return the shape of a lattice of bonds, and its number of batch axes."""
    wanted = "of bool, with a plane for each axis of the lattice, or of uint8, with a bit for each"
    check_kind(bonds, "bu", given, "bonds", wanted)
    if bonds.dtype.itemsize > 1:
        raise TypeError(f"bonds is of dtype {bonds.dtype}; it must be {wanted}")
    planes = bonds.dtype == bool
    if planes and len(bonds.shape) < 2:
        raise ValueError(
            f"bonds has shape {bonds.shape}; bonds of bool must have the shape (ndim, *shape), for "
            "one axis (1, length)"
        )
    shape = bonds.shape[1:] if planes else bonds.shape
    batch = as_batch_axes(batch_axes, len(shape), "the lattice of bonds", scalars=False)
    ndim = len(shape) - batch
    if planes and bonds.shape[0] != ndim:
        raise ValueError(
            f"bonds has shape {bonds.shape} with {bonds.shape[0]} planes, but a lattice of shape "
            f"{shape[batch:]} has {ndim} axes; bonds of bool must have the shape "
            "(ndim, *batch shape, *shape), and bonds of uint8 hold a bit for each axis"
        )
    if not planes and ndim > BITS:
        raise ValueError(
            f"bonds has {BITS} bits a site, but the lattice has {ndim} axes; use bonds of bool"
        )
    longer = sum(length > 1 for length in shape[batch:])
    if longer > MOST_AXES:
        raise ValueError(
            f"bonds has shape {bonds.shape}: the lattice has {longer} axes that are longer than 1, "
            f"and may have up to {MOST_AXES}"
        )
    return shape, batch


def with_even_items(bonds: Any, batch: int) -> Any:
    """Return bonds whose items are at equal distances in memory."""
    ahead = slice(1, 1 + batch) if bonds.dtype == bool else slice(batch)
    even = steps_evenly(bonds.shape[ahead], bonds.strides[ahead])
    return bonds if even else bonds.copy(order="C")


def describe_bonds(bonds: Any, batch_axes: int) -> tuple[Any, Links]:
    """Return the bytes of the sites, of the first plane if there are planes, and the link rule."""
    if bonds.dtype == bool:
        planes = bonds.view("u1")
        return planes[0], joined_by_bonds(
            tuple((k * bonds.strides[0], 255) for k in range(len(bonds)))
        )
    return bonds, joined_by_bonds(tuple((0, 1 << k) for k in range(bonds.ndim - batch_axes)))
