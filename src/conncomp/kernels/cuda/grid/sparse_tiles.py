"""Which images may have sparse tiles: what ``tiled_bricks`` asks for ``sparse_tiles.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.grid.image import Geometry
from conncomp.kernels.links import Links

AXES, INDEX = 2, np.dtype(np.int32)
TOGETHER = 4  # labels that are written at once


def takes(geometry: Geometry, links: Links, index: np.dtype[Any]) -> bool:
    """Whether tiles of an array, cut as usual, may be labelled as sparse ones, by roots."""
    return (
        len(geometry.shape) == AXES
        and links.rule == "equal"
        and geometry.connectivity is not None
        and index == INDEX
        and geometry.shape[-1] % TOGETHER == 0
    )
