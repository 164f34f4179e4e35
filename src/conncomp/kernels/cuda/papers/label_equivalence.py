"""Label equivalence, Kernel D, on the GPU: drives ``label_equivalence.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, SMALL_BATCH, sweep_until_settled
from conncomp.kernels.cuda.grid.image import GRIDS, Image, rule_kinds
from conncomp.kernels.cuda.launcher import INDEX_TYPES, Gpu, ctype, launch
from conncomp.kernels.cuda.papers.blocks import CELLS, FLAT, LARGE, SQUARE, block_of_cells
from conncomp.kernels.cuda.papers.local_propagation import sweep_by_blocks
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/label_equivalence.cuh"
THREADS = 256
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
    """Fill `roots` with the smallest index of each element's component, -1 for background.

    It waits for the GPU, so it cannot be captured in a CUDA graph.

    Parameters
    ----------
    gpu : Gpu
    image : Image
    roots : array, shape (image.size,)
    workspace : Workspace
    block : {(32, 6), (16, 16), (32, 32)}, optional
        How many cells along the last axis, and the last but one, are a block's.
    cells : {1, 4}, optional
        How many cells are a thread's; 4 needs blocks of a height that is a multiple of it.
    first : {"scan", "blocks"}, optional
        What the first sweep is: one of label equivalence, or one of Kernel B, in shared memory.
    lower : {"minimum", "store"}, optional
        How a cell lowers what its label refers to: to the minimum, atomically, or to what it has.
    """
    width, height, threads = block_of_cells(block, cells)
    names = _names(image.rule_name, image.rank, roots.dtype)
    start, scan, analyse, relabel = gpu.load(FILE, names)
    references, last_change = workspace.take(gpu, (image.size, roots.dtype), LAST_CHANGE)
    by_block = image.blocks(gpu, width, height, threads)
    by_cell = gpu.blocks(image.size, THREADS), THREADS
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


@cache
def _names(rule: str, rank: int, index: np.dtype[Any]) -> tuple[str, ...]:
    types = f"{rule}, {rank}, {ctype(index)}"
    return (
        f"equivalence_start<{types}>",
        f"equivalence_scan<{types}>",
        f"equivalence_analyse<{ctype(index)}>",
        f"equivalence_relabel<{ctype(index)}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_roots` can load."""
    for rule, rank in rule_kinds():
        for index in INDEX_TYPES:
            yield FILE, _names(rule, rank, index)
