"""Neighbour propagation, Kernel A, on the GPU: drives ``neighbour_propagation.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.grid.image import (
    Image,
    rule_kinds,
)
from conncomp.kernels.cuda.launcher import INDEX_TYPES, Gpu, ctype, launch
from conncomp.kernels.cuda.papers.blocks import FLAT, LARGE, SQUARE, block_of_cells
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/neighbour_propagation.cuh"
OPTIONS = {"block": (FLAT, SQUARE, LARGE)}


def fill_roots(
    gpu: Gpu,
    image: Image,
    roots: Any,
    workspace: Workspace,
    *,
    block: tuple[int, int] = (32, 6),
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
        How many threads along the last axis, and the last but one, are a block.
    """
    width, height, threads = block_of_cells(block, 1)
    start, propagate = gpu.load(FILE, _names(image.rule_name, image.rank, roots.dtype))
    (last_change,) = workspace.take(gpu, LAST_CHANGE)
    by_block = image.blocks(gpu, width, height, threads)
    cells = image.grid, image.rule, np.int32(width), np.int32(height), image.values
    launch(start, by_block, *cells, roots, last_change)

    def sweep(number: int) -> None:
        launch(propagate, by_block, *cells, roots, last_change, number)

    sweep_until_settled(sweep, last_change)


@cache
def _names(rule: str, rank: int, index: np.dtype[Any]) -> tuple[str, ...]:
    types = f"{rule}, {rank}, {ctype(index)}"
    return f"start_labels<{types}>", f"propagate<{types}>"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_roots` can load."""
    for rule, rank in rule_kinds():
        for index in INDEX_TYPES:
            yield FILE, _names(rule, rank, index)
