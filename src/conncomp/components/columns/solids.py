"""Convex hulls of components in three dimensions, one after another.

The hull of a component is that of the midpoints of its elements' faces, by SciPy's ``ConvexHull``
(Qhull). It holds the elements whose centres lie within it or on it: along each line those between
two planes. Of a component only the ends of its lines are known, and of these only those that are at
an end along every axis can be corners: memory is that of the lines of its box. Feret diameters are
those of the midpoints of the faces of the hull's elements. That is what scikit-image takes for the
hull of a component that is not flat; of a flat one it has none.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Corners = NDArray[np.int64]

# How far from a plane of Qhull's, which is rounded, an element still lies on it.
TOLERANCE = 1e-10
BLOCK = 1 << 20  # distances that are known at once
MIDPOINTS = np.concatenate([np.eye(3), -np.eye(3)]) / 2


def measure_solids(
    components: Iterable[Corners], spacing: tuple[float, ...]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return how many elements hulls hold, and largest Feret diameters, by ends of lines."""
    sizes, diameters = [], []
    for ends in components:
        firsts, lasts = lines_of_hull(ends)
        sizes.append((lasts[:, 2] - firsts[:, 2] + 1).sum())
        corners, _ = _hull(np.concatenate([firsts, lasts]))
        diameters.append(_largest_distance(corners * spacing))
    return np.array(sizes, np.int64), np.array(diameters, np.float64)


def lines_of_hull(ends: Corners) -> tuple[Corners, Corners]:
    """Return the first and the last element of each line that a component's hull has."""
    _, planes = _hull(ends)
    low, high = ends.min(axis=0), ends.max(axis=0)
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

    points = np.unique((_outermost(elements)[:, None] + MIDPOINTS).reshape(-1, 3), axis=0)
    hull = ConvexHull(points)
    return points[hull.vertices], hull.equations


def _outermost(elements: Corners) -> Corners:
    """Leave out elements between two others along an axis, whose hull holds their midpoints."""
    for along in range(3):
        others = [k for k in range(3) if k != along]
        elements = elements[np.lexsort(elements[:, [along, *others]].T)]
        begins = np.ones(len(elements), bool)
        begins[1:] = (elements[1:, others] != elements[:-1, others]).any(axis=1)
        elements = elements[begins | np.append(begins[1:], True)]
    return elements


def _largest_distance(points: NDArray[np.float64]) -> float:
    """Return the largest distance of two points: of those farthest out first, a block at a time.

    Memory is that of `BLOCK` distances; time, of points all as far out, their number squared.
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
        near = cdist(points[begin : begin + block], points[:others])
        largest = max(largest, float(near.max()))
    return largest
