"""Checks what every function on labels is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arrays import INT32_MAX, as_numpy

Labels = NDArray[Any]

# Tables have a row for each number up to the largest label. Labels far beyond the number of
# elements, which no labelling gives, would make tables far larger than the labels.
ROWS_PER_ELEMENT = 16
ROWS_ALWAYS = 1 << 24


def check_labels(labels: ArrayLike, background: int | None) -> tuple[Labels, int, int]:
    """Return contiguous labels of int32 or int64, the background (-1: none), and the rows needed.

    Raises
    ------
    TypeError
        If `labels` is not of integers.
    ValueError
        If a label is negative and not background, or far larger than the number of elements, or
        `background` is not 0, -1 or None.
    """
    array = as_numpy(labels, "labels")
    if array.size == 0 and array.dtype.kind == "f" and not isinstance(labels, np.ndarray):
        array = array.astype(np.int32)  # an empty list
    if array.dtype.kind not in "iu":
        raise TypeError(f"labels is of dtype {array.dtype}; it must be of integers")
    if background not in (0, -1, None) or isinstance(background, bool):
        raise ValueError(f"background={background!r} must be 0, -1 or None")
    low, high = (int(array.min()), int(array.max())) if array.size else (0, -1)
    if low < (-1 if background == -1 else 0):
        raise ValueError(f"labels holds {low}; labels are not negative")
    if high >= max(ROWS_PER_ELEMENT * array.size, ROWS_ALWAYS):
        raise ValueError(
            f"labels holds {high}, too large for its {array.size} elements; renumber it first, "
            "with numpy.unique(labels, return_inverse=True)"
        )
    dtype = np.int64 if array.dtype == np.int64 or high > INT32_MAX else np.int32
    array = np.require(array, dtype=dtype, requirements=["C", "A"])
    return array, -1 if background is None else background, high + 1
