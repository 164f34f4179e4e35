"""What values tell of an image: whether they are labels, or intensities that were mistaken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# So many elements, in the middle of an image, are looked at.
LOOKED_AT = 1 << 20
# Floating labels are whole numbers below this.
EXACT = 2.0**53
# Fewer pairs of neighbours, or fewer values of many elements each, tell nothing.
LEAST, FEW = 64, 16


def middle_of(shape: Sequence[int], batch: int = 0) -> tuple[slice, ...]:
    """Return a place of about `LOOKED_AT` elements or fewer, in the middle image of several.

    >>> middle_of((5, 10_000, 30), 1)
    (slice(2, 3, None), slice(4488, 5512, None), slice(0, 30, None))
    """
    edge = int(LOOKED_AT ** (1 / max(1, len(shape) - batch)))
    lengths = [1 if k < batch else min(edge, length) for k, length in enumerate(shape)]
    begins = [(whole - part) // 2 for whole, part in zip(shape, lengths, strict=True)]
    return tuple(slice(b, b + n) for b, n in zip(begins, lengths, strict=True))


def has_fractions(values: NDArray[Any]) -> bool:
    """Say whether finite values are not all whole numbers."""
    if values.dtype.kind != "f":
        return False
    known = values[np.isfinite(values)]
    return bool((known != np.rint(known)).any())


def as_whole_numbers(values: NDArray[Any], option: str = "without --threshold") -> NDArray[Any]:
    """Return labels as integers, if they are whole; or raise, and name the option."""
    if values.dtype.kind in "iu":
        return values
    whole = values.dtype.kind == "f" and (values == np.rint(values)).all()
    if whole and abs(values).max(initial=0) < EXACT:
        return values.astype(np.int64)
    which = "not all of them whole numbers" if values.dtype.kind == "f" else "a mask"
    raise TypeError(
        f"{option}, images are labels, and these are values of dtype {values.dtype}, {which}; find "
        "objects by --threshold 0, which takes what is > 0, or save labels by .astype(int)"
    )


def look_like_intensities(sample: NDArray[Any], elements: int, labels: int, highest: int) -> bool:
    """Say whether what was measured as labels looks like intensities.

    Elements of a label hang together: a component of n elements has n - 1 pairs of equal
    neighbours or more, and a compact one in d axes has about n (1 - n^(-1/d)) along each axis. Of
    intensities most neighbours differ. Measured on the pictures of scikit-image, as they are and
    blurred to 16 bits, 51 of 60 images are told; the others are drawings and masks. Of 32 label
    images none is: sparse selections, markers of single elements, watersheds, superpixels of 3
    elements, clusters of percolation, lines.
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
