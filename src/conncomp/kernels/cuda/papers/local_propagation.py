"""Local propagation, Kernel B, on the GPU: drives ``local_propagation.cuh``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.grid.image import (
    Image,
    rule_kinds,
)
from conncomp.kernels.cuda.launcher import INDEX_TYPES, Gpu, ctype, launch
from conncomp.kernels.cuda.papers.blocks import CELLS, FLAT, LARGE, SQUARE, block_of_cells
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/local_propagation.cuh"
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
    """Fill `roots` with the smallest index of each element's component, -1 for background.

    It waits for the GPU, so it cannot be captured in a CUDA graph.

    Parameters
    ----------
    gpu : Gpu
    image : Image
    roots : array, shape (image.size,)
    workspace : Workspace
    block : {(16, 16), (32, 6), (32, 32)}, optional
        How many cells along the last axis, and the last but one, are a block's.
    cells : {1, 4}, optional
        How many cells are a thread's; 4 needs blocks of a height that is a multiple of it.
    """
    start, _ = gpu.load(FILE, _names(image.rule_name, image.rank, roots.dtype))
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
    _, propagate = gpu.load(FILE, _names(image.rule_name, image.rank, roots.dtype))
    by_block = image.blocks(gpu, width, height, threads)
    shape = image.grid, image.rule, np.int32(width), np.int32(height), image.values
    shared = width * height * (roots.dtype.itemsize + LINK_BYTES)

    def sweep(number: int) -> None:
        launch(propagate, by_block, *shape, roots, last_change, number, shared=shared)

    return sweep


@cache
def _names(rule: str, rank: int, index: np.dtype[Any]) -> tuple[str, ...]:
    types = f"{rule}, {rank}, {ctype(index)}"
    return f"start_labels<{types}>", f"propagate_in_blocks<{types}>"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_roots` can load."""
    for rule, rank in rule_kinds():
        for index in INDEX_TYPES:
            yield FILE, _names(rule, rank, index)
