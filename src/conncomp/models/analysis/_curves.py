"""Curves of several sizes, as users give them."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_number, shown
from conncomp._arrays import as_numpy, check_kind

Curves = dict[float, NDArray[np.float64]]


def as_curves(curves: Any, least: int) -> Curves:
    """Return curves by size, ascending, each with rows of x, y and error in order of x.

    ValueError is raised unless there are two sizes or more, with at least so many points each.
    """
    if not isinstance(curves, Mapping):
        raise TypeError(f"curves={shown(curves)} must be a dict: of each size an array of points")
    if len(curves) < 2:
        raise ValueError(f"curves has {len(curves)} sizes; there must be two or more")
    sizes = [as_number("a size of curves", size) for size in curves]
    if not all(0 < size < np.inf for size in sizes):
        raise ValueError(
            f"curves has sizes {shown(list(curves))}; they must be above 0, and finite"
        )
    if len(set(sizes)) < len(sizes):
        raise ValueError(
            f"curves has sizes {shown(list(curves))}, which are {shown(sizes)} as floats; each "
            "must be there once"
        )
    points = [_points(f"curves[{shown(size)}]", each, least) for size, each in curves.items()]
    return dict(sorted(zip(sizes, points, strict=True), key=itemgetter(0)))


def as_points(name: str, given: Any) -> NDArray[np.float64]:
    """Return points as rows of x, y and error, in the order in which they are given."""
    array = as_numpy(given, name)
    check_kind(array, "iuf", given, name, "of real numbers")
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name} has shape {array.shape}; its rows must be x, y and error of y")
    points = array.astype(np.float64)
    if not np.isfinite(points).all():
        raise ValueError(f"{name} has numbers that are not finite")
    return points


def _points(name: str, given: Any, least: int) -> NDArray[np.float64]:
    points = as_points(name, given)
    if len(points) < least:
        raise ValueError(f"{name} has {len(points)} points; there must be {least} or more")
    if not (points[:, 2] > 0).all():
        raise ValueError(f"{name} has errors that are not above 0")
    points = points[np.argsort(points[:, 0], kind="stable")]
    if (np.diff(points[:, 0]) == 0).any():
        raise ValueError(f"{name} has a value of x twice; give each one once")
    return points
