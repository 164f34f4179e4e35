"""What follows from what is measured of components, for all at once.

The formulas of shapes and moments are those of scikit-image's ``regionprops``, so that values are
the same. Areas and lengths of intercepts are Crofton's.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import pi
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.components._labels import library_at
from conncomp.components.columns.accumulators import Accumulators, directions

# Lengths of a path through an element of a border: straight, aslant, turning.
PATHS = [1, 2**0.5, (1 + 2**0.5) / 2]


def equivalent_diameter(measured: Accumulators) -> Any:
    """Return the diameters of circles or balls of the same size, as scikit-image defines them."""
    return (2 * measured.ndim * measured.sizes * measured.volume / pi) ** (1 / measured.ndim)


def bounding_box_areas(measured: Accumulators) -> Any:
    """Return the areas of bounding boxes, or their volumes."""
    boxes = measured.boxes
    return (boxes[:, :, 1] - boxes[:, :, 0]).prod(axis=1) * measured.volume


def inertia_tensor(measured: Accumulators) -> Any:
    """Return the matrices of the moments of inertia over the size."""
    xp, covariances = measured.xp, measured.covariances
    traces = xp.trace(covariances, axis1=1, axis2=2)
    return traces[:, None, None] * xp.eye(measured.ndim) - covariances


def axis_length(measured: Accumulators, axis: int) -> Any:
    """Return the length of an axis of the ellipsoids of the same covariances, 0 the longest."""
    return 2 * measured.xp.sqrt((measured.ndim + 2) * measured.variances[:, axis])


def eccentricity(measured: Accumulators) -> Any:
    """Return those of the ellipses of the same covariances: 0 of a circle or an element."""
    xp = measured.xp
    longest, shortest = measured.variances[:, 0], measured.variances[:, 1]
    ratio = xp.where(longest > 0, shortest / xp.where(longest > 0, longest, 1), 1)
    return xp.sqrt(1 - ratio)


def orientation(measured: Accumulators) -> Any:
    """Return the angles between the first axis and the longest one, of -pi/2 to pi/2."""
    xp, covariances = measured.xp, measured.covariances
    both, difference = covariances[:, 0, 1], covariances[:, 0, 0] - covariances[:, 1, 1]
    even = xp.where(both > 0, pi / 4, -pi / 4)
    return xp.where(difference == 0, even, xp.arctan2(2 * both, difference) / 2)


def perimeter(measured: Accumulators) -> Any:
    """Return the lengths of the paths through the elements of borders."""
    return _weighted_sums(measured.borders, PATHS) * measured.spacing[0]


def crofton(measured: Accumulators) -> Any:
    """Return the lengths of borders in two dimensions, and the areas of surfaces in three."""
    weights = crofton_weights(measured.spacing)
    return _weighted_sums(measured.configurations[:, measured.ndim :], weights)


def _weighted_sums(counts: Any, weights: Iterable[float]) -> Any:
    """Return the sum of weighted counts of each row: of the same digits on any device."""
    terms = (counts[:, k] * float(weight) for k, weight in enumerate(weights))
    return reduce(add, terms)


def crofton_weights(spacing: tuple[float, ...]) -> NDArray[np.float64]:
    """Return what an intercept adds, for each of the `directions`.

    It is the length, or area, per line, times the part of all directions that is nearest to it.
    """
    steps = directions(len(spacing)) * np.array(spacing)
    lengths = np.linalg.norm(steps, axis=1)
    nearer = _nearer_angles(steps) if len(spacing) == 2 else _nearer_areas(steps / lengths[:, None])
    weights: NDArray[np.float64] = nearer * (np.prod(spacing) / lengths)
    return weights


def _nearer_angles(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the angles of directions that are nearer to each of some lines; together pi."""
    angles = np.arctan2(steps[:, 0], steps[:, 1]) % pi
    order = np.argsort(angles)
    gaps = np.diff(angles[order], append=angles[order[0]] + pi)
    nearer = np.empty(len(steps))
    nearer[order] = (gaps + np.roll(gaps, 1)) / 2
    return nearer


def _nearer_areas(lines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the parts of the sphere that are nearer to each of some lines; together 4."""
    from scipy.spatial import SphericalVoronoi  # which takes a while to import

    cells = SphericalVoronoi(np.concatenate([lines, -lines]))
    areas: NDArray[np.float64] = cells.calculate_areas()[: len(lines)] * (2 / pi)
    return areas


def sphericity(measured: Accumulators) -> Any:
    """Return the surface of a ball of the same volume over the surface by Crofton's formula."""
    volumes = measured.sizes * measured.volume
    return pi ** (1 / 3) * (6 * volumes) ** (2 / 3) / crofton(measured)


def principal_axes(moments: Any) -> tuple[Any, Any]:
    """Return lengths and directions, as `ComponentStatistics.principal_axes` does."""
    xp, ndim = library_at(moments), moments.shape[-1]
    if not len(moments):
        return xp.empty((0, ndim)), xp.empty((0, ndim, ndim))
    variances, vectors = xp.linalg.eigh(moments)
    lengths = 2 * xp.sqrt((ndim + 2) * xp.maximum(variances[:, ::-1], 0))
    directions = vectors.swapaxes(1, 2)[:, ::-1]
    largest = xp.argmax(xp.abs(directions), axis=2)[..., None]
    signs = xp.where(xp.take_along_axis(directions, largest, axis=2) < 0, -1.0, 1.0)
    return lengths, directions * signs
