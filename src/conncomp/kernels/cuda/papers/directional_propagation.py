"""Directional propagation, Kernel C, on the GPU: drives ``directional_propagation.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, SMALL_BATCH, sweep_until_settled
from conncomp.kernels.cuda.grid.image import Image, rule_kinds
from conncomp.kernels.cuda.launcher import INDEX_TYPES, Gpu, ctype, launch
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/directional_propagation.cuh"
THREADS, START_BLOCK = 64, (32, 8)


def fill_roots(gpu: Gpu, image: Image, roots: Any, workspace: Workspace) -> None:
    """Fill `roots` with the smallest index of each element's component, -1 for background.

    It waits for the GPU, so it cannot be captured in a CUDA graph.

    Parameters
    ----------
    gpu : Gpu
    image : Image
    roots : array, shape (image.size,)
    workspace : Workspace
    """
    start, along = gpu.load(FILE, _names(image.rule_name, image.rank, roots.dtype))
    (last_change,) = workspace.take(gpu, LAST_CHANGE)
    width, height = START_BLOCK
    by_block = image.blocks(gpu, width, height, width * height)
    described = image.grid, image.rule
    shape = np.int32(width), np.int32(height)
    launch(start, by_block, *described, *shape, image.values, roots, last_change)

    def sweep(number: int) -> None:
        for axis, length in enumerate(image.shape):
            by_row = gpu.blocks(image.size // length, THREADS), THREADS
            for direction in (1, -1) if length > 1 else ():
                way = np.int32(axis), np.int32(direction)
                launch(along, by_row, *described, *way, image.values, roots, last_change, number)

    sweep_until_settled(sweep, last_change, SMALL_BATCH)


@cache
def _names(rule: str, rank: int, index: np.dtype[Any]) -> tuple[str, ...]:
    types = f"{rule}, {rank}, {ctype(index)}"
    return f"start_labels<{types}>", f"propagate_along<{types}>"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_roots` can load."""
    for rule, rank in rule_kinds():
        for index in INDEX_TYPES:
            yield FILE, _names(rule, rank, index)
