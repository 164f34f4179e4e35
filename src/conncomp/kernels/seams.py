"""The seam links of an array, which lead over the ends of periodic axes: see ``core/seams.h``."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.neighbourhood import Neighbourhood, Step

MOST_AXES, MOST_CLOSED = 10, 4
MOST_LINKS = (1 << 31) - 1
NO_KEY, NO_LINK, NO_LATTICE = -1, -1, -1
MOST_KEY = np.iinfo(np.int64).max

_AXIS = np.dtype([(name, "i8") for name in ("length", "index_stride", "value_stride", "closed")])
SEAMS = np.dtype(
    [
        *((name, "i8") for name in ("rank", "boxes", "links", "items", "item_size", "item_stride")),
        ("axis", _AXIS, MOST_AXES),
    ]
)
BOX = np.dtype(
    [("first", "i8"), *((name, "i8", MOST_AXES) for name in ("begin", "extent", "step"))]
)
# The integers of a ``Hook``, of 32 bits, and of a ``WindingLattice``, of 64.
HOOK, LATTICE = 1 + MOST_CLOSED, 1 + MOST_CLOSED**2


class Seams(NamedTuple):
    """The seam links of the items of an array.

    Attributes
    ----------
    struct : numpy.void
        ``Seams`` of ``core/seams.h``.
    boxes : ndarray of BOX
    links : int
        How many links all items have.
    slots : int
        Of a table with room for all components at the seams: a power of 2.
    lattices : int
        No more components than this can wrap.
    """

    struct: Any
    boxes: NDArray[Any]
    links: int
    slots: int
    lattices: int


@lru_cache(maxsize=256)
def seams_of(
    shape: tuple[int, ...],
    value_strides: tuple[int, ...],
    neighbourhood: Neighbourhood,
    items: int = 1,
    item_stride: int = 0,
) -> Seams:
    """Return the seam links of arrays of a kind.

    Parameters
    ----------
    shape : tuple of int
        Of an item.
    value_strides : tuple of int
        In elements.
    neighbourhood : Neighbourhood
        Up to `MOST_CLOSED` axes are periodic.
    items : int, optional
        How many separate arrays there are.
    item_stride : int, optional
        Their distance in elements.
    """
    ndim = len(shape)
    closed = [k for k in range(ndim) if neighbourhood.periodic[k]]
    steps = neighbourhood.steps(tuple(range(ndim))).backward
    rows = [row for step in steps for row in _boxes(shape, neighbourhood.periodic, step)]
    boxes = np.zeros(len(rows), BOX)
    first, size = 0, prod(shape)
    for box, (begin, extent, step) in zip(boxes, rows, strict=True):
        box["first"] = first
        box["begin"][:ndim], box["extent"][:ndim], box["step"][:ndim] = begin, extent, step
        first += prod(extent)
    struct = np.zeros((), SEAMS)
    struct["rank"], struct["boxes"], struct["links"] = ndim, len(rows), first
    struct["items"], struct["item_size"], struct["item_stride"] = items, size, item_stride
    for k in range(ndim):
        number = closed.index(k) if k in closed else -1
        struct["axis"][k] = shape[k], prod(shape[k + 1 :]), value_strides[k], number
    faces = [size // shape[k] for k in closed] if size else []
    at_ends = sum(min(shape[k], 2) * face for k, face in zip(closed, faces, strict=False))
    components = items * min(2 * first, at_ends, size)
    slots = 1 << max(6, (2 * components - 1).bit_length())
    return Seams(struct[()], boxes, items * first, slots, max(1, items * sum(faces)))


def _boxes(
    shape: tuple[int, ...], periodic: tuple[bool, ...], step: Step
) -> list[tuple[tuple[int, ...], tuple[int, ...], Step]]:
    """Return the begin and the extent of boxes whose elements this step leads over an end."""
    within = []  # where the step does not lead over an end
    for length, move in zip(shape, step, strict=True):
        within.append((int(move < 0), length - abs(move)))
    over = [k for k in range(len(shape)) if step[k] and periodic[k]]
    boxes = []
    for number, axis in enumerate(over):
        ranges = [(0, shape[k]) if k in over[number:] else within[k] for k in range(len(shape))]
        ranges[axis] = (0 if step[axis] < 0 else shape[axis] - 1), 1
        begin, extent = zip(*ranges, strict=True)
        if min(extent) > 0:
            boxes.append((begin, extent, step))
    return boxes


class SeamTables(NamedTuple):
    """What is known of seams: see ``SeamWindings`` of ``core/seams.h``.

    Attributes
    ----------
    key : array of int64, shape (slots,)
        What each slot is of: the label of an open component, and 2**40 times its item.
    link : array of int32, shape (slots,)
    hook : array of int32, shape (links * HOOK,)
    lattice_of : array of int32, shape (slots,)
    lattices : array of int64, shape (lattices, LATTICE)
    count : array of int32, shape (1,)
    smallest : array of int64, shape (slots,)
    """

    key: Any
    link: Any
    hook: Any
    lattice_of: Any
    lattices: Any
    count: Any
    smallest: Any

    @classmethod
    def of(cls, xp: Any, seams: Seams) -> SeamTables:
        """Return tables of which nothing is known yet."""
        return cls(
            xp.full(seams.slots, NO_KEY, np.int64),
            xp.full(seams.slots, NO_LINK, np.int32),
            xp.empty(seams.links * HOOK, np.int32),
            xp.full(seams.slots, NO_LATTICE, np.int32),
            xp.zeros((seams.lattices, LATTICE), np.int64),
            xp.zeros(1, np.int32),
            xp.full(seams.slots, MOST_KEY, np.int64),
        )


class Windings(NamedTuple):
    """Which components of an item wrap.

    Attributes
    ----------
    count : int
        The number of components.
    labels : array of int64, shape (k,)
        Of those that wrap, in order.
    bases : array of int64, shape (k, MOST_CLOSED, MOST_CLOSED)
        Of their windings, by closed axes.
    """

    count: int
    labels: Any
    bases: Any


def read_windings(xp: Any, tables: SeamTables, open_components: int) -> Windings:
    """Return what kernels have found about the seams of one item.

    Numbers of components follow from those of the open array, as both are in the order of first
    elements: those are left out that are connected to smaller ones.
    """
    at_seams = tables.key != NO_KEY
    keys, smallest = tables.key[at_seams], tables.smallest[at_seams]
    left_out = xp.sort(keys[keys != smallest])
    wrapping = xp.nonzero(tables.lattice_of >= 0)[0]
    first = tables.smallest[wrapping]
    order = xp.argsort(first)
    labels = first[order] - xp.searchsorted(left_out, first[order])
    rows = tables.lattices[tables.lattice_of[wrapping[order]], 1:]
    bases = rows.reshape(-1, MOST_CLOSED, MOST_CLOSED)
    return Windings(open_components - len(left_out), labels, bases)
