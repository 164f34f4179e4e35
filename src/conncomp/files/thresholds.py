"""Images made binary: above a number, or one that is found by Otsu, Li, triangle or locally."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp._optional import optional

Image = NDArray[Any]

WAYS = ("otsu", "li", "triangle", "local")
# Of a local threshold, how many elements the window has along each axis, and has at most.
WINDOW, MOST_WINDOW = 51, 2001


def window_of(way: str) -> int:
    """Return the window of a way such as ``"local:31"``; raise ValueError if it is none."""
    match = re.fullmatch(r"local(?::(\d{1,4}))?", way)
    window = 0 if match is None else int(match[1] or WINDOW)
    if not (3 <= window <= MOST_WINDOW and window % 2):
        raise ValueError(f"{way!r} is no window of an odd number of elements, such as local:51")
    return window


def foreground(
    image: Image, threshold: float | str, *, is_dark: bool = False, batch_axes: int = 0
) -> tuple[NDArray[np.bool_], Any]:
    """Return where an image is above a threshold, and the threshold; of local ones, its name.

    It is a number, or the name of a way to find one: local ones in each of the images that
    `batch_axes` axes ahead hold, and one in all of them together. With `is_dark`, objects are
    what is not above it. NaN is in none.
    """
    if isinstance(threshold, str) and threshold.startswith("local"):
        window = window_of(threshold)
        filters = optional("skimage.filters")
        local = np.empty(image.shape)
        for item in np.ndindex(image.shape[:batch_axes]):
            local[item] = filters.threshold_local(image[item], window)
        mask = np.asarray(image > local)
        value: Any = f"local:{window}"
    else:
        value = _found(image, threshold) if isinstance(threshold, str) else threshold
        mask = above(image, value)
    if is_dark:
        mask = ~mask
        if image.dtype.kind == "f":
            mask &= ~np.isnan(image)
    return mask, value


def _found(image: Image, way: str) -> Any:
    if way == "otsu":
        return otsu(image)
    values = image[np.isfinite(image)] if image.dtype.kind == "f" else image
    if values.size == 0:
        raise ValueError(f"threshold {way} needs an image with finite values")
    found = getattr(optional("skimage.filters"), f"threshold_{way}")(values)
    number: Any = found.item() if hasattr(found, "item") else found
    if not math.isfinite(number):
        raise ValueError(f"threshold {way} finds none; give a number")
    return number


def otsu(image: Image) -> Any:
    """Return the value that splits the image into two classes whose means differ most.

    Otsu's criterion, the variance between the classes, at every value that occurs, without bins.
    NaN and infinities are left out.
    """
    values, counts = _counted(image)
    if len(values) == 0:
        raise ValueError("threshold otsu needs an image with finite values")
    sums = np.cumsum(_in_range(values) * counts)
    below = np.cumsum(counts).astype(np.float64)
    above = below[-1] - below[:-1]
    apart = sums[:-1] / below[:-1] - (sums[-1] - sums[:-1]) / above
    variance = below[:-1] * above * apart**2
    return values[variance.argmax() if len(variance) else 0]


def _counted(image: Image) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the finite values that occur, in order, and how often each does."""
    if image.dtype not in (np.uint8, np.uint16):
        values, counts = np.unique(image[np.isfinite(image)], return_counts=True)
        return values, counts
    entries = image.reshape(-1)
    if image.dtype == np.uint8:
        counts = np.zeros(1 << 8, np.int64)
        native.count_bytes(entries, counts)
    else:
        counts = np.bincount(entries)
    values = np.flatnonzero(counts)
    return values.astype(image.dtype), counts[values]


def _in_range(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return `values`; floating ones scaled by a power of two, so that sums stay in range."""
    if values.dtype.kind == "f":
        values = values.astype(np.promote_types(values.dtype, np.float64))
        values = np.ldexp(values, -np.frexp(abs(values).max())[1])
    return values.astype(np.float64)


def above(image: Image, threshold: Any) -> NDArray[np.bool_]:
    """Return where `image` is larger than a number, which is compared exactly."""
    if image.dtype.kind == "b":
        image = image.view(np.uint8)  # which NumPy compares with integers of any size
    if isinstance(threshold, np.integer):
        threshold = int(threshold)
    if image.dtype.kind != "f":
        return np.asarray(image > math.floor(threshold))
    if isinstance(threshold, np.floating):  # of the image itself
        return np.asarray(image > threshold)
    kind = np.longdouble if image.dtype.itemsize > 8 else np.float64
    below = kind(str(threshold) if isinstance(threshold, int) else threshold)
    if isinstance(threshold, int) and int(below) > threshold:
        below = np.nextafter(below, kind(-np.inf))
    return np.asarray(image > below)
