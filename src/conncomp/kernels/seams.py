"""The seam links of an array, over the ends of periodic axes: see ``core/wrapping/seams.h``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels import layout
from conncomp.kernels.neighbourhood import Neighbourhood, Shape, Step, steps_along

MOST_AXES, MOST_CLOSED = 10, 4
MOST_LINKS = 1 << 29  # so that slots, of which there are up to four for each, have 32 bits
ITEM_SHIFT = 40  # in keys, which are not negative
MOST_ITEMS = 1 << (63 - ITEM_SHIFT)
LABEL_BITS = (1 << ITEM_SHIFT) - 1

SEAMS = layout(("rank boxes links items item_size item_stride", "i8"))
BOX = layout(
    ("first from from_value distance value_distance", "i8"),
    ("periods", ("i8", MOST_CLOSED)),
    ("axis forward", "i8"),
    ("extent stride value_stride", ("i8", MOST_AXES)),
)
# The integers of a ``Hook``, of 32 bits, and of a ``WindingLattice``, of 64.
HOOK, LATTICE = 1 + MOST_CLOSED, 1 + MOST_CLOSED**2

Numbers = NDArray[np.int64]


class Seams(NamedTuple):
    """The seam links of the items of an array.

    `struct` is ``Seams`` of ``core/wrapping/seams.h``, and `boxes` are of `BOX`. All items have
    `links`; a table of `slots`, a power of 2, has room for all components at the seams, and no more
    than `lattices` components can wrap.
    """

    struct: Any
    boxes: NDArray[Any]
    links: int
    slots: int
    lattices: int


@lru_cache(maxsize=256)
def seams_of(
    shape: Shape,
    value_strides: tuple[int, ...],
    neighbourhood: Neighbourhood,
    items: int = 1,
    item_stride: int = 0,
) -> Seams:
    """Return the seam links of arrays of a kind, with up to `MOST_CLOSED` periodic axes.

    `shape` is that of an item; strides, and `item_stride` from item to item, are in elements.
    """
    ndim, size = len(shape), prod(shape)
    closed = [k for k in range(ndim) if neighbourhood.periodic[k]]
    strides = tuple(prod(shape[k + 1 :]) for k in range(ndim))
    steps = steps_along(neighbourhood, tuple(range(ndim))).backward
    # Those over the ends of the same axes are next to each other: their elements are, too.
    kinds = [(over, step) for step in steps for over in _choices([k for k in closed if step[k]])]
    boxes, first = [], 0

    def box_of(step: Step, over: tuple[int, ...], extent: list[int]) -> Any:
        """Return the box of a step whose links lead over the ends of the axes `over`."""
        box = np.zeros((), BOX)
        for k, move in enumerate(step):
            begin = (shape[k] - 1 if move > 0 else 0) if k in over else int(move < 0)
            to = begin + move - (shape[k] * move if k in over else 0)
            box["from"] += begin * strides[k]
            box["from_value"] += begin * value_strides[k]
            box["distance"] += (to - begin) * strides[k]
            box["value_distance"] += (to - begin) * value_strides[k]
            if k in over:
                box["periods"][closed.index(k)] = move
        moves = [k for k, move in enumerate(step) if move]
        box["axis"], box["forward"] = len(step) - 1 - moves[0], step[moves[0]] > 0
        # Links go along the longest axis first; of several, along that of the least stride.
        order = sorted(range(ndim), key=lambda k: (extent[k], -abs(value_strides[k])))
        for place, k in enumerate(order):
            box["extent"][place] = extent[k]
            box["stride"][place], box["value_stride"][place] = strides[k], value_strides[k]
        return box

    for over, step in sorted(kinds):
        extent = [
            1 if k in over else length - abs(move)
            for k, (length, move) in enumerate(zip(shape, step, strict=True))
        ]
        if prod(extent) <= 0:
            continue
        box = box_of(step, over, extent)
        box["first"] = first
        first += prod(extent)
        boxes.append(box)
    struct = np.array((ndim, len(boxes), first, items, size, item_stride), SEAMS)
    faces = [size // shape[k] for k in closed] if size else []
    at_ends = sum(min(shape[k], 2) * face for k, face in zip(closed, faces, strict=False))
    components = items * min(2 * first, at_ends, size)
    slots = 1 << max(6, (2 * components - 1).bit_length())
    lattices = max(1, items * sum(faces))
    return Seams(struct[()], np.array(boxes, BOX), items * first, slots, lattices)


def _choices(axes: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield every choice of one axis or more."""
    for count in range(1, len(axes) + 1):
        yield from combinations(axes, count)


class Windings(NamedTuple):
    """Which components wrap.

    Each item has `counts` components; `rows`, (k,), are the numbers of those that wrap among all,
    from 0; `bases` those of their windings by closed axes, (k, MOST_CLOSED, MOST_CLOSED), or by all
    axes, (k, ndim, ndim).
    """

    counts: Numbers
    rows: Numbers
    bases: Numbers

    def of_all_axes(self, periodic: tuple[bool, ...]) -> Windings:
        """Return windings by all axes; rows of zeros come last in each basis."""
        closed, ndim = np.flatnonzero(periodic).tolist(), len(periodic)
        bases = np.zeros((len(self.rows), ndim, ndim), np.int64)
        if len(self.rows) == 0:
            return self._replace(bases=bases)
        order = np.argsort((self.bases == 0).all(2), axis=1, kind="stable")
        packed = np.take_along_axis(self.bases, order[:, :, None], 1)
        bases[:, : len(closed), closed] = packed[:, : len(closed), : len(closed)]
        return self._replace(bases=bases)


def no_windings(counts: Numbers) -> Windings:
    """Return the windings where no link leads over the end of an axis."""
    rows, bases = np.zeros(0, np.int64), np.zeros((0, MOST_CLOSED, MOST_CLOSED), np.int64)
    return Windings(counts, rows, bases)


def number_windings(
    first: Numbers, bases: Numbers, open_counts: Numbers, left_below: Callable[[Numbers], Numbers]
) -> Windings:
    """Return the windings of components, with their numbers among all.

    Components that wrap have the smallest keys `first`, (k,), and `bases`. Labels follow from the
    `open_counts` of the open items, as both are in the order of first elements: those connected to
    smaller ones are left out. ``left_below(numbers)`` counts them below ascending numbers.
    """
    order = np.argsort(first)
    first, bases = first[order], bases.reshape(-1, MOST_CLOSED, MOST_CLOSED)[order]
    ends = np.arange(1, len(open_counts) + 1) << ITEM_SHIFT
    bounds = np.concatenate([first, ends])
    ascending = np.argsort(bounds)
    below = np.empty(len(bounds), np.int64)
    below[ascending] = left_below(bounds[ascending])
    below_first, below_ends = below[: len(first)], below[len(first) :]
    counts = open_counts - below_ends
    counts[1:] += below_ends[:-1]
    first_rows = np.cumsum(open_counts) - open_counts
    rows = first_rows[first >> ITEM_SHIFT] + (first & LABEL_BITS) - 1 - below_first
    return Windings(counts, rows, bases)
