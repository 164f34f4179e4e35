"""Kernels A to D of Hawick, Leist and Playne, for arrays.

Drives ``neighbour_propagation.cuh`` (A), ``local_propagation.cuh`` (B),
``directional_propagation.cuh`` (C) and ``label_equivalence.cuh`` (D).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, SMALL_BATCH, sweep_until_settled
from conncomp.kernels.cuda.grid.image import GRIDS, OF_IMAGES, Image
from conncomp.kernels.cuda.launcher import DeviceArray, Gpu, Templates, launch
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace

# Blocks of cells along the last axis, and the last but one, and cells of a thread, as Maddix 2014
# compares them.
Block = tuple[int, int]
LARGE, SQUARE, FLAT = (32, 32), (16, 16), (32, 6)
CELLS = (1, 4)
LINK_BYTES = 2
ROW_THREADS, START_BLOCK = 64, (32, 8)


def _starting(file: str, sweep: str) -> Templates:
    return Templates(f"cuda/papers/{file}", "start_labels", sweep, **OF_IMAGES)


BY_NEIGHBOURS = _starting("neighbour_propagation.cuh", "propagate")
IN_BLOCKS = _starting("local_propagation.cuh", "propagate_in_blocks")
ALONG_ROWS = _starting("directional_propagation.cuh", "propagate_along")
EQUIVALENCE = Templates(
    "cuda/papers/label_equivalence.cuh",
    "equivalence_start equivalence_scan",
    "equivalence_analyse<{index}>",
    "equivalence_relabel<{index}>",
    **OF_IMAGES,
)
NEIGHBOUR_OPTIONS = {"block": (FLAT, SQUARE, LARGE)}
BLOCK_OPTIONS = {"block": (SQUARE, FLAT, LARGE), "cells": CELLS}
EQUIVALENCE_OPTIONS = {
    "block": (FLAT, SQUARE, LARGE),
    "cells": CELLS,
    "first": ("scan", "blocks"),
    "lower": ("minimum", "store"),
}
BLOCKS = {
    rank: Struct(f"CellBlocks<{rank}>", ("grid", grid), ("width height", "i4"))
    for rank, grid in GRIDS.items()
}


def check_cells(image: Image, *, block: Block, cells: int, **options: Any) -> None:
    """Raise ValueError unless the cells of a thread divide the height of a block."""
    if block[1] % cells:
        raise ValueError(
            f"cells={cells} does not divide the height of block={block!r}; use another block, or "
            "cells=1"
        )


def fill_by_neighbours(
    gpu: Gpu, image: Image, roots: DeviceArray, workspace: Workspace, *, block: Block = FLAT
) -> None:
    """Fill `roots` by Kernel A."""
    last_change, *sweep = _start(gpu, image, roots, workspace, BY_NEIGHBOURS, block, 1)
    sweep_until_settled(partial(launch, *sweep, roots, last_change), last_change)


def fill_in_blocks(
    gpu: Gpu,
    image: Image,
    roots: DeviceArray,
    workspace: Workspace,
    *,
    block: Block = SQUARE,
    cells: int = 1,
) -> None:
    """Fill `roots` by Kernel B."""
    last_change, *_ = _start(gpu, image, roots, workspace, IN_BLOCKS, block, cells)
    sweep_until_settled(_sweep_in_blocks(gpu, image, roots, last_change, block, cells), last_change)


def fill_along_rows(gpu: Gpu, image: Image, roots: DeviceArray, workspace: Workspace) -> None:
    """Fill `roots` by Kernel C."""
    last_change, along, *_ = _start(gpu, image, roots, workspace, ALONG_ROWS, START_BLOCK, 1)

    def sweep(number: int) -> None:
        for axis, length in enumerate(image.shape):
            by_row = gpu.grid(image.size // length, ROW_THREADS)
            for direction in (1, -1) if length > 1 else ():
                rule_and_way = image.grid, image.rule, np.int32(axis), np.int32(direction)
                launch(along, by_row, *rule_and_way, image.values, roots, last_change, number)

    sweep_until_settled(sweep, last_change, SMALL_BATCH)


def fill_by_equivalence(
    gpu: Gpu,
    image: Image,
    roots: DeviceArray,
    workspace: Workspace,
    *,
    block: Block = FLAT,
    cells: int = 1,
    first: str = "scan",
    lower: str = "minimum",
) -> None:
    """Fill `roots` by Kernel D."""
    width, height = block
    start, scan, analyse, relabel = EQUIVALENCE.load(gpu, image.rule_name, image.rank, roots.dtype)
    references, last_change = workspace.take(gpu, (image.size, roots.dtype), LAST_CHANGE)
    by_block, by_cell = _by_block(gpu, image, block, cells), gpu.grid(image.size)
    blocks = BLOCKS[image.rank].pack({"grid": image.grid, "width": width, "height": height})
    cells_and_roots = blocks, image.rule, image.values, roots, references
    launch(start, by_block, *cells_and_roots, last_change)
    stores = int(lower == "store")
    sweep_of_blocks = None
    if first == "blocks":
        sweep_of_blocks = _sweep_in_blocks(gpu, image, roots, last_change, block, cells)

    def sweep(number: int) -> None:
        if number == 0 and sweep_of_blocks:
            sweep_of_blocks(number)
            return
        launch(scan, by_block, *cells_and_roots, stores, last_change, number)
        cells_and_labels = image.size, roots, references, last_change, number
        launch(analyse, by_cell, *cells_and_labels)
        launch(relabel, by_cell, *cells_and_labels)

    sweep_until_settled(sweep, last_change, SMALL_BATCH)


def _start(
    gpu: Gpu, image: Image, roots: Any, workspace: Any, kernels: Templates, block: Block, cells: int
) -> Any:
    """Label each cell by itself; return the last change, and kernel, grid and data of sweeps."""
    start, sweep = kernels.load(gpu, image.rule_name, image.rank, roots.dtype)
    (last_change,) = workspace.take(gpu, LAST_CHANGE)
    by_block = _by_block(gpu, image, block, cells)
    image_args = image.grid, image.rule, *map(np.int32, block), image.values
    launch(start, by_block, *image_args, roots, last_change)
    return last_change, sweep, by_block, *image_args


def _sweep_in_blocks(
    gpu: Gpu, image: Image, roots: DeviceArray, last_change: DeviceArray, block: Block, cells: int
) -> Callable[[int], None]:
    """Return what launches the sweep of a number; `roots` must be started."""
    _, propagate = IN_BLOCKS.load(gpu, image.rule_name, image.rank, roots.dtype)
    image_args = image.grid, image.rule, *map(np.int32, block), image.values
    shared = block[0] * block[1] * (roots.dtype.itemsize + LINK_BYTES)
    by_block = _by_block(gpu, image, block, cells)
    return partial(launch, propagate, by_block, *image_args, roots, last_change, shared=shared)


def _by_block(gpu: Gpu, image: Image, block: Block, cells: int) -> tuple[int, int]:
    width, height = block
    return image.blocks(gpu, width, height, width * height // cells)
