"""Directional propagation, Kernel C, on the GPU: drives ``directional_propagation.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, SMALL_BATCH, sweep_until_settled
from conncomp.kernels.cuda.grid.image import OF_IMAGES, Image
from conncomp.kernels.cuda.launcher import Gpu, Templates, launch
from conncomp.kernels.cuda.workspace import Workspace

KERNELS = Templates(
    "cuda/papers/directional_propagation.cuh",
    "start_labels<{rule}, {rank}, {index}>",
    "propagate_along<{rule}, {rank}, {index}>",
    **OF_IMAGES,
)
specialisations = KERNELS.modules
THREADS, START_BLOCK = 64, (32, 8)


def fill_roots(gpu: Gpu, image: Image, roots: Any, workspace: Workspace) -> None:
    """Fill `roots` with the smallest index of each element's component, -1 for background."""
    start, along = KERNELS.load(gpu, image.rule_name, image.rank, roots.dtype)
    (last_change,) = workspace.take(gpu, LAST_CHANGE)
    width, height = START_BLOCK
    by_block = image.blocks(gpu, width, height, width * height)
    described = image.grid, image.rule
    shape = np.int32(width), np.int32(height)
    launch(start, by_block, *described, *shape, image.values, roots, last_change)

    def sweep(number: int) -> None:
        for axis, length in enumerate(image.shape):
            by_row = gpu.grid(image.size // length, THREADS)
            for direction in (1, -1) if length > 1 else ():
                way = np.int32(axis), np.int32(direction)
                launch(along, by_row, *described, *way, image.values, roots, last_change, number)

    sweep_until_settled(sweep, last_change, SMALL_BATCH)
