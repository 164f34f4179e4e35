"""Make images binary by a given or computed threshold, and tell labels from intensities."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp._optional import optional

WAYS = ("otsu", "li", "triangle", "local")
# Elements of the window of a local threshold along each axis.
WINDOW, MOST_WINDOW = 51, 2001


def window_of(way: str) -> int:
    """Return the window of a way such as ``"local:31"``, or raise ValueError."""
    match = re.fullmatch(r"local(?::(\d{1,4}))?", way)
    window = 0 if match is None else int(match[1] or WINDOW)
    if not (3 <= window <= MOST_WINDOW and window % 2):
        raise ValueError(f"{way!r} is no window of an odd number of elements, such as local:51")
    return window


def foreground(
    image: NDArray[Any], threshold: float | str, *, is_dark: bool = False, batch_axes: int = 0
) -> tuple[NDArray[np.bool_], Any]:
    """Return where an image is above a threshold, and that, or the name of a local one.

    Local thresholds are computed per image along `batch_axes`, others for all images together.
    `is_dark` selects what is not above. NaN is never selected.
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


def _found(image: NDArray[Any], way: str) -> Any:
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


def otsu(image: NDArray[Any]) -> Any:
    """Return the value that splits the finite values into classes whose means differ most.

    Otsu's criterion, the variance between the classes, is computed at every value, without bins.
    """
    values, counts = _counted(image)
    if len(values) == 0:
        raise ValueError("threshold otsu needs an image with finite values")
    scaled = values
    if values.dtype.kind == "f":  # divide by a power of two, to keep sums finite
        wide = values.astype(np.promote_types(values.dtype, np.float64))
        scaled = np.ldexp(wide, -np.frexp(abs(wide).max())[1])
    sums = np.cumsum(scaled.astype(np.float64) * counts)
    below = np.cumsum(counts).astype(np.float64)
    above = below[-1] - below[:-1]
    apart = sums[:-1] / below[:-1] - (sums[-1] - sums[:-1]) / above
    variance = below[:-1] * above * apart**2
    return values[variance.argmax() if len(variance) else 0]


def _counted(image: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
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


def above(image: NDArray[Any], threshold: Any) -> NDArray[np.bool_]:
    """Return where `image` is larger than a number, compared exactly."""
    if image.dtype.kind == "b":
        image = image.view(np.uint8)  # NumPy compares these with integers of any size
    if isinstance(threshold, np.integer):
        threshold = int(threshold)
    if image.dtype.kind != "f":
        return np.asarray(image > math.floor(threshold))
    if isinstance(threshold, np.floating):  # a value of the image
        return np.asarray(image > threshold)
    kind = np.longdouble if image.dtype.itemsize > 8 else np.float64
    below = kind(str(threshold) if isinstance(threshold, int) else threshold)
    if isinstance(threshold, int) and int(below) > threshold:
        below = np.nextafter(below, kind(-np.inf))
    return np.asarray(image > below)


LOOKED_AT = 1 << 20  # elements, in the middle of an image
EXACT = 2.0**53  # labels in floats are whole numbers below this
# Fewer pairs of neighbours, or fewer labels, allow no judgement.
LEAST, FEW = 64, 16


def middle_of(shape: Sequence[int], batch: int = 0) -> tuple[slice, ...]:
    """Return the middle of an image, or of the middle image: about `LOOKED_AT` elements or fewer.

    >>> middle_of((5, 10_000, 30), 1)
    (slice(2, 3, None), slice(4488, 5512, None), slice(0, 30, None))
    """
    edge = int(LOOKED_AT ** (1 / max(1, len(shape) - batch)))
    lengths = [1 if k < batch else min(edge, length) for k, length in enumerate(shape)]
    begins = [(whole - part) // 2 for whole, part in zip(shape, lengths, strict=True)]
    return tuple(slice(b, b + n) for b, n in zip(begins, lengths, strict=True))


def has_fractions(values: NDArray[Any]) -> bool:
    """Whether some finite value is not a whole number."""
    if values.dtype.kind != "f":
        return False
    known = values[np.isfinite(values)]
    return bool((known != np.rint(known)).any())


def as_whole_numbers(values: NDArray[Any], option: str = "without --threshold") -> NDArray[Any]:
    """Return labels as integers; raise if they are not whole, and name the option."""
    if values.dtype.kind in "iu":
        return values
    whole = values.dtype.kind == "f" and (values == np.rint(values)).all()
    if whole and abs(values).max(initial=0) < EXACT:
        return values.astype(np.int64)
    which = "not all of them whole numbers" if values.dtype.kind == "f" else "a mask"
    told = f"{option}, images are labels, and these are values of dtype {values.dtype}, {which}"
    by_zero = "find objects by --threshold 0, which takes what is > 0"
    raise TypeError(f"{told}; {by_zero}, or save labels by .astype(int)")


def look_like_intensities(sample: NDArray[Any], elements: int, labels: int, highest: int) -> bool:
    """Whether an image measured as labels looks like intensities.

    The elements of a label are connected: a component of n elements has at least n - 1 pairs of
    equal neighbours, and a compact one in d axes about n (1 - n^(-1/d)) along each axis. Most
    neighbouring intensities differ. Of 60 pictures of scikit-image, as they are and blurred to 16
    bits, this recognises 51; the others are drawings and masks. It takes none of 32 label images
    for intensities: sparse selections, markers of single elements, watersheds, superpixels of 3
    elements, percolation clusters, lines.
    """
    inside = sample != 0
    equal, touching = np.zeros((2, max(1, sample.ndim)), np.int64)
    for axis in range(sample.ndim):
        values, held = np.moveaxis(sample, axis, 0), np.moveaxis(inside, axis, 0)
        both = held[1:] & held[:-1]
        touching[axis] = np.count_nonzero(both)
        equal[axis] = np.count_nonzero(both & (values[1:] == values[:-1]))
    count, pairs = int(np.count_nonzero(inside)), int(touching.sum())
    if pairs < max(LEAST, count / 2) or (labels == highest and elements < 4 * labels):
        return False
    size = elements / labels
    if 3 * equal.sum() < pairs and equal.sum() < 0.75 * count * (1 - 1 / size) + 0.5:
        return True
    share = (equal / np.maximum(touching, 1)).max()
    ndim = np.count_nonzero(touching)
    return bool(labels >= FEW and share < 0.65 and 1 - share > 4 * size ** (-1 / ndim))
