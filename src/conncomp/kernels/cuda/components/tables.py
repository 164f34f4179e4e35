"""Tables of labels on the GPU: drives ``tables.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, launch

FILE = "cuda/components/tables.cuh"
THREADS, ROWS = 256, 4


def combine_labels(
    gpu: Gpu, labels: Any, length: int, background: int, rows: int, out: Any
) -> None:
    """Give the components of all items numbers of which no two items share one.

    Parameters
    ----------
    gpu, labels, background, rows
        As for `count_labels`.
    length : int
        How many labels an item has.
    out : contiguous array of int32 or int64
        Which becomes item * rows + label, or background; it may be `labels`.
    """
    if labels.size:
        (combine,) = gpu.load(FILE, _names_of_items(labels.dtype, out.dtype))
        grid = gpu.blocks(labels.size, THREADS), THREADS
        empty = labels.dtype.type(background)
        launch(combine, grid, labels.size, labels, length, empty, rows, out)


def count_labels(gpu: Gpu, labels: Any, background: int, rows: int) -> Any:
    """Return how many elements have each label below `rows`, but the background, as int64.

    Parameters
    ----------
    gpu : Gpu
    labels : contiguous array of int32 or int64
    background : int
        Another negative number than labels, if there is none.
    rows : int
    """
    count, *_ = gpu.load(FILE, _names(labels.dtype))
    sizes = gpu.xp.zeros(rows, COUNT)
    if rows:
        grid = gpu.blocks(-(-labels.size // ROWS), THREADS), THREADS
        launch(count, grid, labels.size, labels, labels.dtype.type(background), rows, sizes)
    return sizes


def places_of(gpu: Gpu, components: Any, rows: int) -> Any:
    """Return, for each label below `rows`, its place among those of components, from 1 on, or 0.

    Parameters
    ----------
    gpu, rows
        As for `count_labels`.
    components : array of int64
        Labels, ascending.
    """
    places = gpu.xp.zeros(rows, COUNT)
    places[components] = gpu.xp.arange(1, len(components) + 1, dtype=COUNT)
    return places


def replace_labels(gpu: Gpu, labels: Any, background: int, table: Any) -> Any:
    """Return labels of which each but the background is replaced by its row of `table`.

    What has no row, which the caller has checked, becomes background.

    Parameters
    ----------
    gpu, labels, background
        As for `count_labels`.
    table : array of the dtype of `labels`
    """
    *_, replace = gpu.load(FILE, _names(labels.dtype))
    out = gpu.xp.empty(labels.shape, labels.dtype)
    if labels.size:
        grid = gpu.blocks(labels.size, THREADS), THREADS
        empty = labels.dtype.type(background)
        launch(replace, grid, labels.size, labels, empty, len(table), table, out)
    return out


@cache
def _names(label: np.dtype[Any]) -> tuple[str, ...]:
    return f"count_labels<{ctype(label)}>", f"replace_labels<{ctype(label)}>"


@cache
def _names_of_items(label: np.dtype[Any], combined: np.dtype[Any]) -> tuple[str, ...]:
    return (f"combine_labels<{ctype(label)}, {ctype(combined)}>",)


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that the functions here can load."""
    for label in INDEX_TYPES:
        yield FILE, _names(label)
        for combined in INDEX_TYPES:
            yield FILE, _names_of_items(label, combined)
