"""The elements of each label on the GPU: drives ``members.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, launch

FILE = "cuda/components/members.cuh"
THREADS = 256
# Whole arrays would take 16 bytes an element to sort; a part and what it takes fit into the caches.
PART = 1 << 22


def list_members(
    gpu: Gpu,
    labels: Any,
    background: int,
    sizes: Any,
    length: int,
    index: np.dtype[Any],
    part: int = PART,
) -> tuple[Any, Any]:
    """Return where the elements of each label begin, and the elements, ascending for each label.

    It waits for the GPU, to learn how many elements are not background.

    Parameters
    ----------
    gpu : Gpu
    labels : array of int32 or int64, one-dimensional
    background : int
        As for `count_labels`.
    sizes : array of int64
        What `count_labels` returns.
    length : int
        Of an item, within which elements are counted.
    index : {int32, int64}
        The dtype of the elements.
    part : int, optional
        How many labels are sorted at once.
    """
    xp, empty = gpu.xp, labels.dtype.type(background)
    indptr = xp.zeros(len(sizes) + 1, COUNT)
    if not len(sizes):
        return indptr, xp.empty(0, index)
    indptr[1:] = xp.cumsum(sizes)
    next_place = indptr[:-1].copy()
    indices = xp.empty(int(indptr[-1]), index)
    memory = xp.empty(min(part, len(labels)), COUNT)
    pack, begin_labels, place, end_labels = gpu.load(FILE, _names(labels.dtype, index))
    for begin in range(0, len(labels), part):
        piece = labels[begin : begin + part]
        keys, grid = memory[: len(piece)], (gpu.blocks(len(piece), THREADS), THREADS)
        launch(pack, grid, len(piece), piece, empty, len(sizes), keys)
        keys.sort()
        launch(begin_labels, grid, len(piece), keys, next_place)
        launch(place, grid, len(piece), begin, length, keys, next_place, len(indices), indices)
        launch(end_labels, grid, len(piece), keys, next_place)
    return indptr, indices


@cache
def _names(label: np.dtype[Any], index: np.dtype[Any]) -> tuple[str, ...]:
    return (
        f"pack_labels<{ctype(label)}>",
        "begin_labels<>",
        f"place_members<{ctype(index)}>",
        "end_labels<>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `list_members` can load."""
    for label, index in product(INDEX_TYPES, repeat=2):
        yield FILE, _names(label, index)
