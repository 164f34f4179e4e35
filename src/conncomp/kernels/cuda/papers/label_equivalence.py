"""Label equivalence, Kernel D, on the GPU: drives ``label_equivalence.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, SMALL_BATCH, sweep_until_settled
from conncomp.kernels.cuda.grid.image import GRIDS, OF_IMAGES, Image
from conncomp.kernels.cuda.launcher import Gpu, Templates, launch
from conncomp.kernels.cuda.papers.blocks import CELLS, FLAT, LARGE, SQUARE, block_of_cells
from conncomp.kernels.cuda.papers.local_propagation import sweep_by_blocks
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace

KERNELS = Templates(
    "cuda/papers/label_equivalence.cuh",
    "equivalence_start<{rule}, {rank}, {index}>",
    "equivalence_scan<{rule}, {rank}, {index}>",
    "equivalence_analyse<{index}>",
    "equivalence_relabel<{index}>",
    **OF_IMAGES,
)
specialisations = KERNELS.modules
BLOCKS = {
    rank: Struct(
        f"CellBlocks<{rank}>", grid=grid, width=np.dtype(np.int32), height=np.dtype(np.int32)
    )
    for rank, grid in GRIDS.items()
}
OPTIONS = {
    "block": (FLAT, SQUARE, LARGE),
    "cells": CELLS,
    "first": ("scan", "blocks"),
    "lower": ("minimum", "store"),
}


def fill_roots(
    gpu: Gpu,
    image: Image,
    roots: Any,
    workspace: Workspace,
    *,
    block: tuple[int, int] = (32, 6),
    cells: int = 1,
    first: str = "scan",
    lower: str = "minimum",
) -> None:
    """Fill `roots` with the smallest index of each element's component, -1 for background."""
    width, height, threads = block_of_cells(block, cells)
    kind = image.rule_name, image.rank, roots.dtype
    start, scan, analyse, relabel = KERNELS.load(gpu, *kind)
    references, last_change = workspace.take(gpu, (image.size, roots.dtype), LAST_CHANGE)
    by_block = image.blocks(gpu, width, height, threads)
    by_cell = gpu.grid(image.size)
    blocks = BLOCKS[image.rank].pack({"grid": image.grid, "width": width, "height": height})
    arrays = blocks, image.rule, image.values, roots, references
    launch(start, by_block, *arrays, last_change)
    stores = int(lower == "store")

    sweep_of_blocks = None
    if first == "blocks":
        sweep_of_blocks = sweep_by_blocks(gpu, image, roots, last_change, block, cells)

    def sweep(number: int) -> None:
        if number == 0 and sweep_of_blocks:
            sweep_of_blocks(number)
            return
        launch(scan, by_block, *arrays, stores, last_change, number)
        cells_and_labels = image.size, roots, references, last_change, number
        launch(analyse, by_cell, *cells_and_labels)
        launch(relabel, by_cell, *cells_and_labels)

    sweep_until_settled(sweep, last_change, SMALL_BATCH)
