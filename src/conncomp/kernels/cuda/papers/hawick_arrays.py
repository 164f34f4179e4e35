"""Kernels A to D of Hawick, Leist and Playne, for arrays.

Drives ``neighbour_propagation.cuh`` (A), ``local_propagation.cuh`` (B),
``directional_propagation.cuh`` (C) and ``label_equivalence.cuh`` (D).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, SMALL_BATCH, sweep_until_settled
from conncomp.kernels.cuda.grid.image import GRIDS, OF_IMAGES, Image
from conncomp.kernels.cuda.launcher import DeviceArray, Gpu, Kernel, Templates, launch
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


class _Blocks(NamedTuple):
    """An image cut into blocks, each `cells` of a thread, by which kernels fill `roots`."""

    gpu: Gpu
    image: Image
    roots: DeviceArray
    block: Block
    cells: int = 1

    @property
    def grid(self) -> tuple[int, int]:
        """The grid of kernels."""
        width, height = self.block
        return self.image.blocks(self.gpu, width, height, width * height // self.cells)

    def start(self, kernels: Templates, workspace: Workspace) -> tuple[Kernel, DeviceArray]:
        """Label each cell by itself; return the kernel of sweeps, and the last change."""
        image, index = self.image, self.roots.dtype
        start, sweep = kernels.load(self.gpu, image.rule_name, image.rank, index)
        (last_change,) = workspace.take(self.gpu, LAST_CHANGE)
        self.sweep(start, last_change)()
        return sweep, last_change

    def sweep(self, kernel: Kernel, last_change: DeviceArray, shared: int = 0) -> partial[None]:
        """Return what launches a kernel, given the number of a sweep unless it starts labels."""
        grid, rule, values = self.image.grid, self.image.rule, self.image.values
        width, height = map(np.int32, self.block)
        of_blocks = partial(launch, kernel, self.grid, grid, rule, width, height, shared=shared)
        return partial(of_blocks, values, self.roots, last_change)

    def sweep_in_blocks(self, last_change: DeviceArray) -> Callable[[int], None]:
        """Return what launches a sweep of Kernel B; `roots` must be started."""
        image, index = self.image, self.roots.dtype
        _, propagate = IN_BLOCKS.load(self.gpu, image.rule_name, image.rank, index)
        shared = prod(self.block) * (index.itemsize + LINK_BYTES)
        return self.sweep(propagate, last_change, shared)


def fill_by_neighbours(
    gpu: Gpu, image: Image, roots: DeviceArray, workspace: Workspace, *, block: Block = FLAT
) -> None:
    """Fill `roots` by Kernel A."""
    blocks = _Blocks(gpu, image, roots, block)
    propagate, last_change = blocks.start(BY_NEIGHBOURS, workspace)
    sweep_until_settled(blocks.sweep(propagate, last_change), last_change)


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
    blocks = _Blocks(gpu, image, roots, block, cells)
    _, last_change = blocks.start(IN_BLOCKS, workspace)
    sweep_until_settled(blocks.sweep_in_blocks(last_change), last_change)


def fill_along_rows(gpu: Gpu, image: Image, roots: DeviceArray, workspace: Workspace) -> None:
    """Fill `roots` by Kernel C."""
    along, last_change = _Blocks(gpu, image, roots, START_BLOCK).start(ALONG_ROWS, workspace)
    grid, rule, values = image.grid, image.rule, image.values

    def sweep(number: int) -> None:
        for axis, length in enumerate(image.shape):
            by_row, k = gpu.grid(image.size // length, ROW_THREADS), np.int32(axis)
            for direction in (1, -1) if length > 1 else ():
                way = np.int32(direction)
                launch(along, by_row, grid, rule, k, way, values, roots, last_change, number)

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
    of_image = _Blocks(gpu, image, roots, block, cells)
    start, scan, analyse, relabel = EQUIVALENCE.load(gpu, image.rule_name, image.rank, roots.dtype)
    references, last_change = workspace.take(gpu, (image.size, roots.dtype), LAST_CHANGE)
    by_block, by_cell = of_image.grid, gpu.grid(image.size)
    fields = {"grid": image.grid, "width": block[0], "height": block[1]}
    blocks, rule, values = BLOCKS[image.rank].pack(fields), image.rule, image.values
    launch(start, by_block, blocks, rule, values, roots, references, last_change)
    stores = int(lower == "store")
    sweep_in_blocks = of_image.sweep_in_blocks(last_change) if first == "blocks" else None

    def sweep(number: int) -> None:
        if number == 0 and sweep_in_blocks:
            sweep_in_blocks(number)
            return
        launch(scan, by_block, blocks, rule, values, roots, references, stores, last_change, number)
        launch(analyse, by_cell, image.size, roots, references, last_change, number)
        launch(relabel, by_cell, image.size, roots, references, last_change, number)

    sweep_until_settled(sweep, last_change, SMALL_BATCH)
