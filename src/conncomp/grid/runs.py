"""Label arrays on the CPU by runs, or by the papers' serial algorithms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._algorithms import Task
from conncomp._array_storage import new_array
from conncomp._core import native
from conncomp.grid.array import Array
from conncomp.kernels import seconds_left
from conncomp.kernels.links import Links
from conncomp.kernels.neighbourhood import Neighbourhood, steps_along

# The most elements of an array for `KeptRuns`.
LARGEST = np.iinfo(np.int32).max
# Shorter rows leave part of a 64-bit word empty; longer ones are all as good.
SHORT_ROW = 64


def described(array: Array) -> tuple[int, Any, Any, tuple[int, ...]]:
    """Return address, link rule, grid and order of axes (`describe_axes`) of a non-empty array."""
    values, links, question = array.values, array.links, array.question
    who = question.neighbourhood, question.batch_axes
    grid, order = describe_axes(values.shape, values.strides, values.itemsize, *who)
    if links.bonds:
        links = links._replace(bonds=tuple(links.bonds[k] for k in order))
    return values.__array_interface__["data"][0], link_rule(links), grid, order


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
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    itemsize: int,
    neighbourhood: Neighbourhood,
    batch_axes: int,
) -> tuple[Any, tuple[int, ...]]:
    """Return a `native.Grid` of the axes, batch axes first and rows last, and the item's order.

    The order lists the axes of an item as the grid has them. An axis of the grid has its length,
    whether it is periodic, and the strides of labels, in elements, and of values, in bytes. Axes of
    length 1 connect nothing and are left out.
    """
    batch = [k for k in range(batch_axes) if shape[k] > 1]
    item, item_strides = shape[batch_axes:], strides[batch_axes:]
    axes = [k for k in range(len(item)) if item[k] > 1] or [len(item) - 1]
    straight = dict(zip(axes, steps_along(neighbourhood, tuple(axes)).straight, strict=True))

    # Runs should be long. Values are read several times and labels are written once: rows should be
    # contiguous in the image rather than among the labels.
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
    kernel: Callable[..., None], is_limited: bool = True
) -> Callable[..., NDArray[np.int64]]:
    """Return the `fill` of an `Algorithm`; if it `is_limited`, it may end by TimeoutError.

    Labels are C-contiguous. Consecutive labels number the components of each item from 1,
    background 0; roots are the smallest index of a component in its item, background -1.
    """

    def fill(array: Array, task: Task, *options: int) -> NDArray[np.int64]:
        counts = np.zeros(prod(array.batch_shape), np.int64)
        seconds = seconds_left() if is_limited else inf
        if array.values.size:
            data, links, grid, _ = described(array)
            labels = task.consecutive, task.labels.reshape(-1)
            kernel(data, links, grid, *labels, counts, seconds, *options)
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


class KeptRuns:
    """The components of an array: one item, not empty, of up to `LARGEST` elements.

    Components are numbered from 1, in the order of their first elements.

    Attributes
    ----------
    roots : int32, the index of each component's first element
    nbytes : memory of the runs
    one_value : whether all foreground is known to have one value
    """

    def __init__(self, array: Array) -> None:
        data, links, grid, self._order = described(array)
        self.shape = array.values.shape
        self._runs = native.KeptRuns(data, links, grid)
        self.roots: NDArray[np.int32] = self._runs.roots()
        self.nbytes: int = self._runs.bytes
        self.one_value: bool = self._runs.one_value

    def side(self, axis: int, last: bool) -> NDArray[np.int32]:
        """Return the numbers of the elements on a side, 0 for background, without its axis."""
        ahead, after = self.shape[:axis], self.shape[axis + 1 :]
        if axis not in self._order:  # of length 1: the side is the whole array
            numbers = self.write(np.arange(len(self.roots) + 1, dtype=np.int32))
            return numbers.reshape(ahead + after)
        order = [k for k in self._order if k != axis]
        numbers = np.empty([self.shape[k] for k in order], np.int32)
        self._runs.write_side(self._order.index(axis), last, numbers.reshape(-1))
        return numbers.transpose(np.argsort(order)).reshape(ahead + after)

    def write(
        self, table: NDArray[np.int32], out: NDArray[np.int32] | None = None
    ) -> NDArray[np.int32]:
        """Return ``table[numbers]`` for the numbers of all elements, in `out` if given."""
        if out is None:
            out = new_array(np, self.shape, np.int32)
        self._runs.write(*self._placed(table, out))
        return out

    def _placed(
        self, table: NDArray[np.int32], out: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], list[int], int]:
        """Return table, strides in elements and address for native calls; check that they fit."""
        if out.shape != self.shape or out.dtype != np.int32 or len(table) != len(self.roots) + 1:
            raise ValueError("a table or an array is not that of these runs")
        strides = [out.strides[k] // out.itemsize for k in self._order]
        return table, strides, out.__array_interface__["data"][0]


class Placed(NamedTuple):
    """Arguments of `KeptRuns.write`: runs, table, and `out`, a part of a larger array."""

    runs: KeptRuns
    table: NDArray[np.int32]
    out: NDArray[np.int32]


def write_together(parts: Sequence[Placed]) -> None:
    """Call `KeptRuns.write` for parts of an array together, in memory order: twice as fast."""
    placed = [(runs._runs, *runs._placed(table, out)) for runs, table, out in parts]
    native.write_runs_together(placed)
