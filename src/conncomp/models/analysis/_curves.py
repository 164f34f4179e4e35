"""Curves of several sizes, as users give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import shown
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
    checked = {float(size): _points(size, points, least) for size, points in curves.items()}
    if not all(0 < size < np.inf for size in checked):
        raise ValueError(f"curves has sizes {shown(list(curves))}; they must be above 0")
    return dict(sorted(checked.items()))


def _points(size: Any, given: Any, least: int) -> NDArray[np.float64]:
    name = f"curves[{size!r}]"
    array = as_numpy(given, name)
    check_kind(array, "iuf", given, name, "of real numbers")
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name} has shape {array.shape}; its rows must be x, y and error of y")
    points = array.astype(np.float64)
    if len(points) < least:
        raise ValueError(f"{name} has {len(points)} points; there must be {least} or more")
    if not np.isfinite(points).all() or not (points[:, 2] > 0).all():
        raise ValueError(f"{name} has points that are not finite, or errors that are not above 0")
    points = points[np.argsort(points[:, 0], kind="stable")]
    if (np.diff(points[:, 0]) == 0).any():
        raise ValueError(f"{name} has a value of x twice; give each one once")
    return points
