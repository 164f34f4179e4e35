"""Convex hulls of components in three dimensions, one after another.

The hull of a component is that of the midpoints of its elements' faces, by SciPy's ``ConvexHull``
(Qhull). It holds the elements whose centres lie within it or on it: along each line those between
two planes. Feret diameters are those of the midpoints of the faces of these elements. That is what
scikit-image takes for the hull of a component that is not flat; of a flat one it has none.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Corners = NDArray[np.int64]

# How far from a plane of Qhull's, which is rounded, an element still lies on it.
TOLERANCE = 1e-10
MIDPOINTS = np.concatenate([np.eye(3), -np.eye(3)]) / 2


def measure_solids(
    components: Iterable[Corners], spacing: tuple[float, ...]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return how many elements the hulls hold, and the largest Feret diameters.

    Components are arrays of the coordinates of elements, in order.
    """
    from scipy.spatial.distance import pdist  # which takes a while to import

    sizes, diameters = [], []
    for elements in components:
        firsts, lasts = lines_of_hull(elements)
        sizes.append((lasts[:, 2] - firsts[:, 2] + 1).sum())
        corners, _ = _hull(np.concatenate([firsts, lasts]))
        diameters.append(pdist(corners * spacing).max())
    return np.array(sizes, np.int64), np.array(diameters, np.float64)


def lines_of_hull(elements: Corners) -> tuple[Corners, Corners]:
    """Return the first and the last element of each line that the hull of elements has.

    Elements are in order, so that those at the ends of lines follow each other.
    """
    begins = np.ones(len(elements), bool)
    begins[1:] = (elements[1:, :2] != elements[:-1, :2]).any(axis=1)
    ends = np.append(begins[1:], True)
    _, planes = _hull(elements[begins | ends])
    low, high = elements.min(axis=0), elements.max(axis=0)
    lines = np.stack(
        np.meshgrid(*(np.arange(low[k], high[k] + 1) for k in range(2)), indexing="ij"), axis=-1
    ).reshape(-1, 2)
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


def _hull(elements: Corners) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return corners and planes of the hull of the midpoints of elements' faces."""
    from scipy.spatial import ConvexHull

    points = np.unique((elements[:, None] + MIDPOINTS).reshape(-1, 3), axis=0)
    hull = ConvexHull(points)
    return points[hull.vertices], hull.equations
