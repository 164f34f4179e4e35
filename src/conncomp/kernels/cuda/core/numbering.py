"""From roots to consecutive labels on the GPU: drives ``numbering.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from conncomp.gpu import Workspace
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, launch

FILE = "cuda/core/numbering.cuh"
THREADS, TILE = 256, 4096


def count_roots(gpu: Gpu, labels: Any, workspace: Workspace) -> Any:
    """Return the number of roots in `labels`, which are not changed, as `number_roots` does."""
    in_tile, sum_tiles, *_ = gpu.load(FILE, _names(labels.dtype))
    tiles = -(-len(labels) // TILE)
    before, components = workspace.take(gpu, (tiles, COUNT), (1, COUNT))
    by_tile = gpu.blocks(tiles * THREADS, THREADS), THREADS
    launch(in_tile, by_tile, len(labels), labels, before)
    launch(sum_tiles, (1, THREADS), tiles, before, components)
    return components


def number_roots(gpu: Gpu, labels: Any, first: int, workspace: Workspace) -> Any:
    """Replace the roots in `labels` by consecutive numbers from `first`, and -1 by 0.

    Parameters
    ----------
    gpu : Gpu
    labels : array of int32 or int64, one-dimensional
        The root of each index, or -1 for background.
    first : int
        The number of the first component: 0, or 1 where there is background.
    workspace : Workspace

    Returns
    -------
    array of int64, shape (1,)
        The number of components, in `workspace`.
    """
    components = count_roots(gpu, labels, workspace)
    *_, number, fetch, complement = gpu.load(FILE, _names(labels.dtype))
    count = len(labels)
    tiles = -(-count // TILE)
    before, _ = workspace.take(gpu, (tiles, COUNT), (1, COUNT))
    by_tile = gpu.blocks(tiles * THREADS, THREADS), THREADS
    by_index = gpu.blocks(count, THREADS), THREADS
    launch(number, by_tile, count, labels.dtype.type(first), before, labels)
    launch(fetch, by_index, count, labels)
    launch(complement, by_index, count, labels)
    return components


@cache
def _names(index: np.dtype[Any]) -> tuple[str, ...]:
    return (
        f"count_roots<{ctype(index)}>",
        "sum_tiles",
        f"number_roots<{ctype(index)}>",
        f"fetch_numbers<{ctype(index)}>",
        f"complement_roots<{ctype(index)}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `number_roots` can load."""
    for index in INDEX_TYPES:
        yield FILE, _names(index)
