"""Images made binary by a threshold."""

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
