"""Tables of labels on the GPU: drives ``tables.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.components.rows import extent_of, label_rows
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, WARP, Gpu, ctype, launch

FILE = "cuda/components/tables.cuh"
THREADS, ROWS = 256, 4


def span_of(count: int) -> int:
    """Return how many labels a warp of `measure_labels` takes at once, as ``table_span``."""
    return 256 if count >> 23 == 0 else 1024


class Measures(NamedTuple):
    """What `measure_labels` returns: arrays on the GPU, with a row for each label that occurs."""

    labels: Any
    sizes: Any
    low: Any
    high: Any
    sums: Any
    moments: Any


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


def measure_labels(
    gpu: Gpu, labels: Any, background: int, rows: int, shape: tuple[int, ...]
) -> Measures:
    """Measure the components of labels below `rows`, as `component_statistics` needs it.

    Parameters
    ----------
    gpu, labels, background, rows
        As for `count_labels`.
    shape : tuple of int
        Of an item, within which coordinates are counted: one length or more.
    """
    xp, ndim = gpu.xp, len(shape)
    _, measure, central, _ = gpu.load(FILE, _names(labels.dtype))
    sizes = count_labels(gpu, labels, background, rows)
    present = xp.flatnonzero(sizes)
    ends = xp.cumsum(sizes > 0, dtype=COUNT) if len(present) else None
    sizes = sizes[present]
    cells = 3 * ndim + ndim * (ndim + 1) // 2
    words = cells + ndim * (ndim + 1) // 2
    table = xp.zeros((len(present), words), COUNT)
    low, high, sums = (table[:, k * ndim : (k + 1) * ndim] for k in range(3))
    low[...] = np.iinfo(COUNT).max
    moments = xp.empty((len(present), ndim, ndim))
    if len(present):
        lengths = xp.asarray(np.array(shape, COUNT))
        labelled = label_rows(gpu, labels, background, rows), extent_of(gpu, lengths)
        grid = gpu.blocks(-(-labels.size // span_of(labels.size)) * WARP, THREADS), THREADS
        for first in range(0, cells, WARP):
            launch(measure, grid, *labelled, ends, first, words, table)
        grid = gpu.blocks(moments.size, THREADS), THREADS
        launch(central, grid, len(present), ndim, sizes, words, table, moments)
    return Measures(present, sizes, low, high, sums, moments)


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
    return (
        f"count_labels<{ctype(label)}>",
        f"measure_labels<{ctype(label)}>",
        "central_moments<>",
        f"replace_labels<{ctype(label)}>",
    )


@cache
def _names_of_items(label: np.dtype[Any], combined: np.dtype[Any]) -> tuple[str, ...]:
    return (f"combine_labels<{ctype(label)}, {ctype(combined)}>",)


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that the functions here can load."""
    for label in INDEX_TYPES:
        yield FILE, _names(label)
        for combined in INDEX_TYPES:
            yield FILE, _names_of_items(label, combined)
