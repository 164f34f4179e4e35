"""The elements of each label on the GPU: drives ``members.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from conncomp.kernels.launcher import COUNT, INDEX_TYPES, Gpu, ctype, launch

FILE = "components/members.cuh"
THREADS = 256
# Whole arrays would take 16 bytes an element to sort; a part and what it takes fit into the caches.
BITS = 22
PART = 1 << BITS


def list_members(
    gpu: Gpu, labels: Any, background: int, sizes: Any, index: np.dtype[Any], part: int = PART
) -> tuple[Any, Any]:
    """Return where the elements of each label begin, and the elements, ascending for each label.

    It waits for the GPU, to learn how many elements are not background.

    Parameters
    ----------
    gpu : Gpu
    labels : array of int32 or int64, one-dimensional
    background : {0, -1}
    sizes : array of int64
        What `count_labels` returns.
    index : {int32, int64}
        The dtype of the elements.
    part : int, optional
        How many labels are sorted at once.
    """
    xp = gpu.xp
    begin_labels, place_members, end_labels = gpu.load(FILE, _names(index))
    indptr = xp.zeros(len(sizes) + 1, COUNT)
    xp.cumsum(sizes, out=indptr[1:])
    indices = xp.empty(int(indptr[-1]), index)
    if not len(indices):
        return indptr, indices
    after = indptr[:-1].copy()
    for begin in range(0, len(labels), part):
        keys = labels[begin : begin + part].astype(COUNT)
        if background == 0:
            keys[keys == 0] = -1
        keys <<= BITS
        keys += xp.arange(len(keys))
        keys.sort()
        grid = gpu.blocks(len(keys), THREADS), THREADS
        launch(begin_labels, grid, len(keys), keys, after)
        launch(place_members, grid, len(keys), begin, keys, after, indices)
        launch(end_labels, grid, len(keys), keys, after)
    return indptr, indices


@cache
def _names(index: np.dtype[Any]) -> tuple[str, ...]:
    return "begin_labels", f"place_members<{ctype(index)}>", "end_labels"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `list_members` can load."""
    for index in INDEX_TYPES:
        yield FILE, _names(index)
