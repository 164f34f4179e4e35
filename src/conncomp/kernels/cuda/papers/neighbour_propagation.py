"""Neighbour propagation, Kernel A, on the GPU: drives ``neighbour_propagation.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.grid.image import OF_IMAGES, Image
from conncomp.kernels.cuda.launcher import Gpu, Templates, launch
from conncomp.kernels.cuda.papers.blocks import FLAT, LARGE, SQUARE, block_of_cells
from conncomp.kernels.cuda.workspace import Workspace

KERNELS = Templates(
    "cuda/papers/neighbour_propagation.cuh",
    "start_labels<{rule}, {rank}, {index}>",
    "propagate<{rule}, {rank}, {index}>",
    **OF_IMAGES,
)
specialisations = KERNELS.modules
OPTIONS = {"block": (FLAT, SQUARE, LARGE)}


def fill_roots(
    gpu: Gpu, image: Image, roots: Any, workspace: Workspace, *, block: tuple[int, int] = (32, 6)
) -> None:
    """Fill `roots` with the smallest index of each element's component, -1 for background."""
    width, height, threads = block_of_cells(block, 1)
    start, propagate = KERNELS.load(gpu, image.rule_name, image.rank, roots.dtype)
    (last_change,) = workspace.take(gpu, LAST_CHANGE)
    by_block = image.blocks(gpu, width, height, threads)
    cells = image.grid, image.rule, np.int32(width), np.int32(height), image.values
    launch(start, by_block, *cells, roots, last_change)

    def sweep(number: int) -> None:
        launch(propagate, by_block, *cells, roots, last_change, number)

    sweep_until_settled(sweep, last_change)
