"""Columns of arrays, such as images of components, made one at a time; hulls in three dimensions.

The hull of a component is that of the midpoints of its elements' faces, by SciPy's ``ConvexHull``
(Qhull). It holds the elements whose centres lie within or on it: along each line those between two
planes. Only ends of lines that are at an end along every axis can be corners. Feret diameters are
those of the midpoints of the faces of the hull's elements. scikit-image has the same hulls, of
components that are not flat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

TOLERANCE = 1e-10  # of Qhull's rounded planes
BLOCK = 1 << 20  # distances that are known at once
MIDPOINTS = np.concatenate([np.eye(3), -np.eye(3)]) / 2


class Contents(NamedTuple):
    """The data that entries are made of, apart from the caller's, who may change labels and image.

    `runs` are those of native code; `channels` are copies of values, with the dtype that was given.
    """

    runs: Any
    boxes: Integers
    shape: tuple[int, ...]
    spacing: tuple[float, ...]
    channels: tuple[tuple[NDArray[Any], np.dtype[Any]], ...]
    has_channels: bool

    def coordinates(self, row: int) -> Integers:
        """Return those of the elements of a component within its item, in order."""
        return self.places_of(self.runs.indices(row))

    def scaled_coordinates(self, row: int) -> Any:
        """Return the same in units of the spacing."""
        return self.coordinates(row) * np.array(self.spacing)

    def line_ends(self, row: int) -> Integers:
        """Return the coordinates of the first and the last element of each line of a component."""
        return self.places_of(self.runs.line_ends(row))

    def places_of(self, indices: Integers) -> Integers:
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


def box_slices(box: Integers) -> tuple[slice, ...]:
    """Return a bounding box, shape (ndim, 2), as what indexes an array."""
    return tuple(slice(first, end) for first, end in box.tolist())


def slices(contents: Contents, row: int) -> tuple[slice, ...]:
    """Return the bounding box, as what indexes the item."""
    return box_slices(contents.boxes[row])


def image(contents: Contents, row: int) -> NDArray[np.bool_]:
    """Return which elements of the box are of the component."""
    box = contents.boxes[row]
    inside = np.zeros(box[:, 1] - box[:, 0], bool)
    inside[tuple((contents.coordinates(row) - box[:, 0]).T)] = True
    return inside


def filled_image(contents: Contents, row: int) -> Any:
    """Return which elements of the box are of the component, or enclosed by it."""
    from scipy.ndimage import binary_fill_holes

    return binary_fill_holes(image(contents, row), np.ones((3,) * len(contents.shape)))


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


def measure_solids(
    components: Iterable[Integers], spacing: tuple[float, ...]
) -> tuple[Integers, NDArray[np.float64]]:
    """Return how many elements hulls hold, and largest Feret diameters, by ends of lines."""
    sizes, diameters = [], []
    for ends in components:
        firsts, lasts = lines_of_hull(ends)
        sizes.append((lasts[:, 2] - firsts[:, 2] + 1).sum())
        corners, _ = _hull(np.concatenate([firsts, lasts]))
        diameters.append(_largest_distance(corners * spacing))
    return np.array(sizes, np.int64), np.array(diameters, np.float64)


def lines_of_hull(ends: Integers) -> tuple[Integers, Integers]:
    """Return the first and the last element of each line that a component's hull has."""
    _, planes = _hull(ends)
    low, high = ends.min(axis=0), ends.max(axis=0)
    edges = (np.arange(low[k], high[k] + 1) for k in range(2))
    lines = np.stack(np.meshgrid(*edges, indexing="ij"), axis=-1).reshape(-1, 2)
    first, last = np.full(len(lines), low[2], float), np.full(len(lines), high[2], float)
    for normal_z, normal_y, slope, offset in planes:
        room = TOLERANCE - offset - lines @ (normal_z, normal_y)
        if abs(slope) < TOLERANCE:
            last[room <= 0] = -1  # the plane goes along lines: all of one is before it, or behind
        elif slope > 0:
            np.minimum(last, np.floor(room / slope), out=last)
        else:
            np.maximum(first, np.ceil(room / slope), out=first)
    kept = first <= last
    lines, first, last = lines[kept], first[kept].astype(int), last[kept].astype(int)
    return np.column_stack([lines, first]), np.column_stack([lines, last])


def _hull(elements: Integers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.spatial import ConvexHull

    points = np.unique((_outermost(elements)[:, None] + MIDPOINTS).reshape(-1, 3), axis=0)
    hull = ConvexHull(points)
    return points[hull.vertices], hull.equations


def _outermost(elements: Integers) -> Integers:
    """Leave out elements between two others along an axis, whose hull holds their midpoints."""
    for along in range(3):
        others = [k for k in range(3) if k != along]
        elements = elements[np.lexsort(elements[:, [along, *others]].T)]
        begins = np.ones(len(elements), bool)
        begins[1:] = (elements[1:, others] != elements[:-1, others]).any(axis=1)
        elements = elements[begins | np.append(begins[1:], True)]
    return elements


def _largest_distance(points: NDArray[np.float64]) -> float:
    """Return the largest distance of two points: of those farthest out first, `BLOCK` at a time.

    Time is the square of the number of points, if all are as far out.
    """
    from scipy.spatial.distance import cdist  # which takes a while to import

    reach = np.linalg.norm(points - (points.min(axis=0) + points.max(axis=0)) / 2, axis=1)
    order = np.argsort(-reach)
    points, reach = points[order], reach[order]
    block = max(1, BLOCK // len(points))
    largest = 0.0
    for begin in range(0, len(points), block):
        # Less than it is, as reaches are rounded.
        least = largest * (1 - TOLERANCE) - reach[begin]
        others = np.searchsorted(-reach, -least, side="right")
        if others <= begin:
            break
        largest = max(largest, float(cdist(points[begin : begin + block], points[:others]).max()))
    return largest
