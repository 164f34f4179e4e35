"""Columns of arrays, such as the elements of a component or an image of it, made one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from conncomp.components.columns.accumulators import Accumulators
from conncomp.components.columns.solids import lines_of_hull


class LazyColumn(Sequence[Any]):
    """A column whose entries are made when one of them is asked for.

    As an array, by ``numpy.asarray``, it is one of objects, all of which are made.
    """

    def __init__(self, measured: Accumulators, make: Callable[[Accumulators, int], Any]) -> None:
        self._measured, self._make = measured, make

    def __len__(self) -> int:
        return len(self._measured.rows)

    @overload
    def __getitem__(self, row: int) -> Any: ...
    @overload
    def __getitem__(self, row: slice) -> list[Any]: ...
    def __getitem__(self, row: int | slice) -> Any:
        if isinstance(row, slice):
            return [self[k] for k in range(*row.indices(len(self)))]
        return self._make(self._measured, range(len(self))[row])

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        objects = np.empty(len(self), object)
        for row, entry in enumerate(self):
            objects[row] = entry
        return objects


def slices(measured: Accumulators, row: int) -> tuple[slice, ...]:
    """Return the bounding box, as what indexes the item."""
    return tuple(slice(first, end) for first, end in measured.boxes[row].tolist())


def scaled_coordinates(measured: Accumulators, row: int) -> Any:
    """Return the coordinates of the elements in units of the spacing."""
    return measured.coordinates(row) * np.array(measured.spacing)


def image(measured: Accumulators, row: int) -> NDArray[np.bool_]:
    """Return which elements of the box are of the component."""
    box = measured.boxes[row]
    inside = np.zeros(box[:, 1] - box[:, 0], bool)
    inside[tuple((measured.coordinates(row) - box[:, 0]).T)] = True
    return inside


def filled_image(measured: Accumulators, row: int) -> NDArray[np.bool_]:
    """Return which elements of the box are of the component, or enclosed by it."""
    from scipy.ndimage import binary_fill_holes

    filled: NDArray[np.bool_] = binary_fill_holes(
        image(measured, row), np.ones((3,) * measured.ndim)
    )
    return filled


def hull_image(measured: Accumulators, row: int) -> NDArray[np.bool_]:
    """Return which elements of the box are in the component's convex hull."""
    box = measured.boxes[row]
    inside = np.zeros(box[:, 1] - box[:, 0], bool)
    if measured.ndim == 2:
        ends = measured.runs.extents(row, True).reshape(-1, 2) - box[1, 0]
        for line, (first, last) in zip(inside, ends.tolist(), strict=True):
            line[max(first, 0) : max(last + 1, 0)] = True
        return inside
    firsts, lasts = (ends - box[:, 0] for ends in lines_of_hull(measured.coordinates(row)))
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        inside[first[0], first[1], first[2] : last[2] + 1] = True
    return inside


def image_of_values(measured: Accumulators, row: int) -> Any:
    """Return the values of the box, 0 where the component is not; the last axis is of channels."""
    items, inside = measured.items, image(measured, row)
    place = (int(measured.rows[row]) // max(items.rows, 1), *slices(measured, row))
    channels = (channel.image for channel in measured.channels)
    crops = [
        np.where(inside, channel.values.reshape(-1, *items.shape)[place], 0).astype(channel.dtype)
        for channel in channels
    ]
    return np.stack(crops, axis=-1) if measured.has_channels else crops[0]
