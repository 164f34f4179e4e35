"""Large images with few elements: what ``tiled_bricks`` needs to drive ``sparse_tiles.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.grid.image import Geometry
from conncomp.kernels.cuda.launcher import Gpu
from conncomp.kernels.links import Links

FILE = "cuda/grid/sparse_tiles.cuh"
AXES, INDEX = 2, np.dtype(np.int32)
# How many elements an image has at least, so that launches that may be in vain take little of its
# time; and how many labels are written at once.
LEAST, TOGETHER = 1 << 27, 4
# The threads of a block that labels or follows, and how many tiles are labelled at once on a
# multiprocessor.
LABELLING, FOLLOWING, AT_ONCE = 128, 256, 6


def takes(geometry: Geometry, links: Links, index: np.dtype[Any]) -> bool:
    """Whether tiles of an array, cut as usual, may be labelled as sparse ones, by roots."""
    return (
        len(geometry.shape) == AXES
        and links.rule == "equal"
        and geometry.connectivity is not None
        and index == INDEX
        and geometry.item_size >= LEAST
        and geometry.shape[-1] % TOGETHER == 0
    )


def names(rule: str, tiles: str) -> tuple[str, ...]:
    """Return the names of the kernels: to sample, to label, to follow what was put off."""
    return (
        f"sample_tiles<{rule}, {tiles}>",
        f"label_sparse_tiles<{rule}, {tiles}>",
        f"follow_sparse_tiles<{tiles}>",
    )


def grids(gpu: Gpu, tiles: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the blocks and threads of the kernels that label and that follow."""
    following = gpu.blocks(tiles * LABELLING // 2, FOLLOWING), FOLLOWING
    return (min(tiles, gpu.multiprocessors * AT_ONCE), LABELLING), following
