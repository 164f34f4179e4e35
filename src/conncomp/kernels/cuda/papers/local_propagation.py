"""Local propagation, Kernel B, on the GPU: drives ``local_propagation.cuh``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.grid.image import OF_IMAGES, Image
from conncomp.kernels.cuda.launcher import Gpu, Templates, launch
from conncomp.kernels.cuda.papers.blocks import CELLS, FLAT, LARGE, SQUARE, block_of_cells
from conncomp.kernels.cuda.workspace import Workspace

KERNELS = Templates(
    "cuda/papers/local_propagation.cuh",
    "start_labels<{rule}, {rank}, {index}>",
    "propagate_in_blocks<{rule}, {rank}, {index}>",
    **OF_IMAGES,
)
specialisations = KERNELS.modules
LINK_BYTES = 2
OPTIONS = {"block": (SQUARE, FLAT, LARGE), "cells": CELLS}


def fill_roots(
    gpu: Gpu,
    image: Image,
    roots: Any,
    workspace: Workspace,
    *,
    block: tuple[int, int] = (16, 16),
    cells: int = 1,
) -> None:
    """Fill `roots` with the smallest index of each element's component, -1 for background."""
    start, _ = KERNELS.load(gpu, image.rule_name, image.rank, roots.dtype)
    (last_change,) = workspace.take(gpu, LAST_CHANGE)
    width, height, threads = block_of_cells(block, cells)
    by_block = image.blocks(gpu, width, height, threads)
    shape = image.grid, image.rule, np.int32(width), np.int32(height), image.values
    launch(start, by_block, *shape, roots, last_change)
    sweep_until_settled(sweep_by_blocks(gpu, image, roots, last_change, block, cells), last_change)


def sweep_by_blocks(
    gpu: Gpu, image: Image, roots: Any, last_change: Any, block: tuple[int, int], cells: int
) -> Callable[[int], None]:
    """Return what launches the sweep of a number; `roots` must be started."""
    width, height, threads = block_of_cells(block, cells)
    _, propagate = KERNELS.load(gpu, image.rule_name, image.rank, roots.dtype)
    by_block = image.blocks(gpu, width, height, threads)
    shape = image.grid, image.rule, np.int32(width), np.int32(height), image.values
    shared = width * height * (roots.dtype.itemsize + LINK_BYTES)

    def sweep(number: int) -> None:
        launch(propagate, by_block, *shape, roots, last_change, number, shared=shared)

    return sweep
