"""Thresholds of images."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Image = NDArray[Any]


def above(image: Image, threshold: Any) -> NDArray[np.bool_]:
    """Return where `image` is larger than a number, which is compared exactly."""
    if image.dtype.kind == "b":
        image = image.view(np.uint8)  # which NumPy compares with integers of any size
    if image.dtype.kind != "f":
        return np.asarray(image > math.floor(threshold))
    if isinstance(threshold, np.floating):  # of the image itself
        return np.asarray(image > threshold)
    kind = np.longdouble if image.dtype.itemsize > 8 else np.float64
    below = kind(str(threshold) if isinstance(threshold, int) else threshold)
    if isinstance(threshold, int) and int(below) > threshold:
        below = np.nextafter(below, kind(-np.inf))
    return np.asarray(image > below)


def otsu(image: Image) -> Any:
    """Return the value that splits the image into two classes whose means differ most.

    Otsu's criterion, the variance between the classes, at every value that occurs, without bins.
    NaN and infinities are left out.
    """
    values, counts = np.unique(image[np.isfinite(image)], return_counts=True)
    if len(values) == 0:
        raise ValueError("--threshold otsu needs an image with finite values")
    sums = np.cumsum(_in_range(values) * counts)
    below = np.cumsum(counts).astype(np.float64)
    above = below[-1] - below[:-1]
    apart = sums[:-1] / below[:-1] - (sums[-1] - sums[:-1]) / above
    variance = below[:-1] * above * apart**2
    return values[variance.argmax() if len(variance) else 0]


def _in_range(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return `values`; floating ones scaled by a power of two, so that sums stay in range."""
    if values.dtype.kind == "f":
        values = values.astype(np.promote_types(values.dtype, np.float64))
        values = np.ldexp(values, -np.frexp(abs(values).max())[1])
    return values.astype(np.float64)
