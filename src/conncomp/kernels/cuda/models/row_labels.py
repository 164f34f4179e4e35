"""Rows of a box of a lattice as ``row_labels.cuh`` takes them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import WARP
from conncomp.kernels.lattice import MOST_AXES

# ``BoxRows``.
BOX_ROWS = np.dtype(
    [
        ("extent", "i4", MOST_AXES - 1),
        ("rows", "i4"),
        ("width", "i4"),
        ("columns", "i4"),
        ("halves", "i4"),
    ]
)
# Bytes of a place; how many there may be.
PLACE_BYTES, MOST_PLACES = 2, 1 << 15


def box_rows(shape: tuple[int, ...], halves: int) -> Any:
    """Return ``BoxRows`` of a box of this shape, the bonds of whose rows have so many words."""
    box, width = np.zeros((), BOX_ROWS), shape[-1]
    box["extent"] = (*(1,) * (MOST_AXES - len(shape)), *shape[:-1])
    box["rows"], box["width"] = prod(shape[:-1]), width
    box["columns"], box["halves"] = -(-width // WARP), halves
    return box[()]


def word_bytes(axes: int) -> int:
    """Return the bytes of a place's word, for lattices of so many axes, with its places."""
    return PLACE_BYTES * WARP + (8 if axes < 3 else 16)


def list_bytes(axes: int) -> int:
    """Return the bytes of the list of a warp, for lattices of so many axes."""
    return max(2, axes) * WARP * 4


def places(shape: tuple[int, ...]) -> int:
    """Return how many places a box has: lanes of all words of 32 sites."""
    return prod(shape[:-1]) * -(-shape[-1] // WARP) * WARP
