"""Fill labels of arrays on the CPU, by runs or by the papers' serial algorithms.

The kernels are C++, in ``kernels/cpu``: they take an array as a `NativeImage`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._algorithms import Task
from conncomp._core import native
from conncomp.grid.array import Array
from conncomp.kernels import seconds_left
from conncomp.kernels.links import Links
from conncomp.kernels.neighbourhood import Neighbourhood, Shape, Strides, steps_along

# Shorter rows leave part of a 64-bit word empty; longer ones are all as good.
SHORT_ROW = 64


class NativeImage:
    """An array, not empty, as kernels on the CPU take it: see `link_rule` and `describe_axes`."""

    def __init__(self, array: Array) -> None:
        values, links, question = array.values, array.links, array.question
        self.address: int = values.__array_interface__["data"][0]
        layout = values.shape, values.strides, values.itemsize
        self.grid, self.order = describe_axes(*layout, question.neighbourhood, question.batch_axes)
        if links.bonds:
            links = links._replace(bonds=tuple(links.bonds[k] for k in self.order))
        self.rule = link_rule(links)


@lru_cache(maxsize=1024)
def link_rule(links: Links) -> Any:
    """Return a link rule as kernels on the CPU take it; bonds are those of the last axis first."""
    if links.bonds:
        return native.LinkRule.bonds(links.bonds[::-1])
    if links.rule == "equal":
        return native.LinkRule.equal(links.value_type, links.background)
    return native.LinkRule.within(links.value_type, links.background, links.limit, links.signed)


@lru_cache(maxsize=1024)
def describe_axes(
    shape: Shape, strides: Strides, itemsize: int, neighbourhood: Neighbourhood, batch_axes: int
) -> tuple[Any, tuple[int, ...]]:
    """Return a `native.Grid`, batch axes first and rows last, and the order of an item's axes.

    An axis of the grid has its length, whether it is periodic, and the strides of labels, in
    elements, and of values, in bytes. Axes of length 1 connect nothing and are left out.
    """
    batch = [k for k in range(batch_axes) if shape[k] > 1]
    item, item_strides = shape[batch_axes:], strides[batch_axes:]
    axes = [k for k in range(len(item)) if item[k] > 1] or [len(item) - 1]
    straight = dict(zip(axes, steps_along(neighbourhood, tuple(axes)).straight, strict=True))

    # Runs should be long, and rows contiguous in the image rather than among the labels: values are
    # read several times and labels are written once.
    rows = min(
        axes,
        key=lambda k: (
            *(not straight[k], -min(item[k], SHORT_ROW)),
            *(max(abs(item_strides[k]), itemsize), -k),
        ),
    )
    order = (*(k for k in axes if k != rows), rows)
    steps = steps_along(neighbourhood, order)
    periodic = [False] * len(batch) + list(steps.periodic)
    kept = batch + [batch_axes + k for k in order]
    pairs = zip(kept, periodic, strict=True)
    table = [(shape[k], closed, prod(shape[k + 1 :]), strides[k]) for k, closed in pairs]
    return native.Grid(np.array(table, np.int64), steps.packed, len(batch)), order


# In the order in which kernels number them.
LOCAL = ("self-labelling", "bfs", "union-find")
MERGE = ("sewing", "relaxation")
TILES = (4, 8, 16, 32, 64)
TILE_OPTIONS = {"local": LOCAL, "merge": MERGE, "tile": (None, *TILES)}
MOST_TILED_AXES = 3
DEFAULT_TILE, DEFAULT_TILE_OF_VOLUMES = 16, 8


def _filling_by(
    label: Callable[..., None], is_limited: bool = True
) -> Callable[..., NDArray[np.int64]]:
    """Return the `fill` of an `Algorithm`; if it `is_limited`, it may end by TimeoutError.

    Labels are C-contiguous. Consecutive labels number the components of each item from 1,
    background 0; roots are the smallest index of a component in its item, background -1.
    """

    def fill(array: Array, task: Task, *options: int) -> NDArray[np.int64]:
        counts = np.zeros(prod(array.batch_shape), np.int64)
        if array.values.size:
            image, consecutive, labels = NativeImage(array), task.consecutive, task.labels
            address, rule, grid = image.address, image.rule, image.grid
            seconds = seconds_left() if is_limited else inf
            label(address, rule, grid, consecutive, labels.reshape(-1), counts, seconds, *options)
        return counts

    return fill


fill_by_runs = _filling_by(native.label_by_runs, is_limited=False)
fill_by_raster_scans = _filling_by(native.label_by_raster_scans)
fill_by_equivalence = _filling_by(native.label_by_equivalence)
_fill_by_tiles = _filling_by(native.label_by_tiles)


def fill_by_tiles(
    array: Array,
    task: Task,
    *,
    local: str = LOCAL[0],
    merge: str = MERGE[0],
    tile: int | None = None,
) -> NDArray[np.int64]:
    """Fill labels by tiles; a side is 16 by default, 8 for three axes."""
    volume = _longer_axes(array) == MOST_TILED_AXES
    side = tile or (DEFAULT_TILE_OF_VOLUMES if volume else DEFAULT_TILE)
    return _fill_by_tiles(array, task, LOCAL.index(local), MERGE.index(merge), side)


def check_tiles(array: Array, **options: Any) -> None:
    """Raise ValueError unless tiles label an array."""
    if _longer_axes(array) > MOST_TILED_AXES:
        raise ValueError(
            "algorithm='tiles' labels arrays of up to three axes that are longer than 1; image "
            f"has shape {array.values.shape}; use algorithm='auto'"
        )


def _longer_axes(array: Array) -> int:
    return sum(length > 1 for length in array.values.shape[array.question.batch_axes :])
