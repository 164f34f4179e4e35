"""The threshold that separates dark from bright best."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Image = NDArray[Any]


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
