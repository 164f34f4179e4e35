"""The Hilbert curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def hilbert_path(xp: Any, order: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the coordinates of the ``4**order`` points of the Hilbert curve, in its order."""
    x = y = xp.zeros(1, np.int32)
    for level in range(order):
        side = np.int32(1 << level)
        x, y = (
            xp.concatenate([y, x, x + side, 2 * side - 1 - y]),
            xp.concatenate([x, y + side, y + side, side - 1 - x]),
        )
    return x, y
