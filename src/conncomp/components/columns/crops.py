"""Columns of arrays, such as the elements of a component or an image of it, made one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from conncomp.components.columns.solids import lines_of_hull


@dataclass(frozen=True)
class Contents:
    """What entries are made of; none of it is the caller's, who may change labels and image.

    `runs` of native code have the elements, `boxes` are of shape (n, ndim, 2), and `channels` are
    copies of the values, with their dtype as the user gave it.
    """

    runs: Any
    boxes: NDArray[np.int64]
    shape: tuple[int, ...]
    spacing: tuple[float, ...]
    channels: tuple[tuple[NDArray[Any], np.dtype[Any]], ...]
    has_channels: bool

    def coordinates(self, row: int) -> NDArray[np.int64]:
        """Return those of the elements of a component within its item, in order."""
        return self.places_of(self.runs.indices(row))

    def line_ends(self, row: int) -> NDArray[np.int64]:
        """Return the coordinates of the first and the last element of each line of a component."""
        return self.places_of(self.runs.line_ends(row))

    def places_of(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return coordinates within items, of indices among all elements."""
        places = np.empty((len(indices), len(self.shape)), np.int64)
        for axis in reversed(range(len(self.shape))):
            indices, places[:, axis] = np.divmod(indices, self.shape[axis])
        return places


class LazyColumn(Sequence[Any]):
    """A column whose entries are made when one of them is asked for, all by ``numpy.asarray``."""

    def __init__(self, contents: Contents, make: Callable[[Contents, int], Any]) -> None:
        self._contents, self._make = contents, make

    def __len__(self) -> int:
        return len(self._contents.boxes)

    @overload
    def __getitem__(self, row: int) -> Any: ...
    @overload
    def __getitem__(self, row: slice) -> list[Any]: ...
    def __getitem__(self, row: int | slice) -> Any:
        if isinstance(row, slice):
            return [self[k] for k in range(*row.indices(len(self)))]
        return self._make(self._contents, range(len(self))[row])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        objects = np.empty(len(self), object)
        for row, entry in enumerate(self):
            objects[row] = entry
        return objects


def slices(contents: Contents, row: int) -> tuple[slice, ...]:
    """Return the bounding box, as what indexes the item."""
    return tuple(slice(first, end) for first, end in contents.boxes[row].tolist())


def scaled_coordinates(contents: Contents, row: int) -> Any:
    """Return the coordinates of the elements in units of the spacing."""
    return contents.coordinates(row) * np.array(contents.spacing)


def image(contents: Contents, row: int) -> NDArray[np.bool_]:
    """Return which elements of the box are of the component."""
    box = contents.boxes[row]
    inside = np.zeros(box[:, 1] - box[:, 0], bool)
    inside[tuple((contents.coordinates(row) - box[:, 0]).T)] = True
    return inside


def filled_image(contents: Contents, row: int) -> NDArray[np.bool_]:
    """Return which elements of the box are of the component, or enclosed by it."""
    from scipy.ndimage import binary_fill_holes

    corners = np.ones((3,) * len(contents.shape))
    filled: NDArray[np.bool_] = binary_fill_holes(image(contents, row), corners)
    return filled


def hull_image(contents: Contents, row: int) -> NDArray[np.bool_]:
    """Return which elements of the box are in the component's convex hull."""
    box = contents.boxes[row]
    inside = np.zeros(box[:, 1] - box[:, 0], bool)
    if len(contents.shape) == 2:
        ends = contents.runs.hull_extents(row).reshape(-1, 2) - box[1, 0]
        for line, (first, last) in zip(inside, ends.tolist(), strict=True):
            line[max(first, 0) : max(last + 1, 0)] = True
        return inside
    firsts, lasts = (ends - box[:, 0] for ends in lines_of_hull(contents.line_ends(row)))
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        inside[first[0], first[1], first[2] : last[2] + 1] = True
    return inside


def image_of_values(contents: Contents, row: int) -> Any:
    """Return the values of the box, 0 where the component is not; the last axis is of channels."""
    box, indices = contents.boxes[row], contents.runs.indices(row)
    places = tuple((contents.places_of(indices) - box[:, 0]).T)
    crops = []
    for values, dtype in contents.channels:
        crop = np.zeros(box[:, 1] - box[:, 0], dtype)
        crop[places] = values[indices]
        crops.append(crop)
    return np.stack(crops, axis=-1) if contents.has_channels else crops[0]
