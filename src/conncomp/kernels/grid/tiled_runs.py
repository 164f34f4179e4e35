"""The default for arrays on the GPU: drives ``tiled_runs.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import prod
from typing import Any

import numpy as np

from conncomp.kernels.grid.image import GRIDS, VALUE_CTYPES, Image, value_kinds
from conncomp.kernels.launcher import COUNT, INDEX_TYPES, WARP, Gpu, Workspace, ctype, launch

FILE = "grid/tiled_runs.cuh"
LOG_MAX_ROWS, LOG_WARP, LOG_DEPTH = 8, 5, 4  # of the rows of a tile; of those along the axis before
WORD_THREADS, WORDS_OF_TILE = 256, 4096
PITCH = 33
RUNS, WORD = np.dtype(np.uint64), np.dtype(np.uint32)
_TILES = {
    rank: np.dtype([("grid", grid), ("log_y", "i4"), ("log_z", "i4")])
    for rank, grid in GRIDS.items()
}


def fill_labels(
    gpu: Gpu, image: Image, labels: Any, workspace: Workspace, consecutive: bool
) -> Any:
    """Fill `labels` with roots, or with consecutive labels.

    Parameters
    ----------
    gpu : Gpu
    image : Image
    labels : array, shape (image.size,)
    workspace : Workspace
    consecutive : bool
        Whether to number components from 1, background 0, or to give each element the smallest
        index of its component, background -1.

    Returns
    -------
    array of int64, shape (1,)
        The number of components, in `workspace`.
    """
    names = _names(image.value_type, image.rank, labels.dtype)
    tile_runs, join, settle, total, number, spread, *write = gpu.load(FILE, names)
    log_y, log_z = _tiling(gpu, image)
    tiles = np.array((image.grid, log_y, log_z), _TILES[image.rank])[()]
    rows, length = 1 << log_y + log_z, image.shape[-1]
    columns = -(-length // WARP)
    count = columns * _tiles_of_rows(image, log_y, log_z)
    words = image.size // length * columns
    chunks = -(-words // WORDS_OF_TILE)
    runs, tile_roots, before, components = workspace.take(
        gpu, (count * rows, RUNS), (words, WORD), (chunks, COUNT), (1, COUNT)
    )
    by_tile, by_chunk = (count, rows), (min(chunks, gpu.resident_threads), WORD_THREADS)
    found = runs, tile_roots
    launch(
        tile_runs,
        by_tile,
        tiles,
        image.values,
        *image.ground,
        labels,
        *found,
        shared=4 * PITCH * rows,
    )
    launch(join, by_tile, tiles, image.values, labels, runs)
    by_word = words, columns, length, tile_roots
    launch(settle, by_chunk, *by_word, labels, before)
    launch(total, (1, WORD_THREADS), chunks, before, components)
    if consecutive:
        launch(number, by_chunk, *by_word, before, labels)
        launch(spread, (gpu.blocks(words, WORD_THREADS), WORD_THREADS), *by_word, labels)
    launch(write[consecutive], by_tile, tiles, labels, runs)
    return components


def _tiling(gpu: Gpu, image: Image) -> tuple[int, int]:
    """Return the logarithms of a tile's rows along the last axis but one, and the one before."""
    *_, depth, height, _ = (1, *image.shape)
    log_z = min(LOG_DEPTH, (depth - 1).bit_length()) if image.rank > 2 else 0
    log_y = max(LOG_WARP - log_z, min(LOG_MAX_ROWS - log_z, (height - 1).bit_length()))
    columns = -(-image.shape[-1] // WARP)
    while log_y + log_z > LOG_WARP and (
        columns * _tiles_of_rows(image, log_y, log_z) < 4 * gpu.multiprocessors
    ):
        log_y -= 1
    return log_y, log_z


def _tiles_of_rows(image: Image, log_y: int, log_z: int) -> int:
    *planes, depth, height, _ = (1, *image.shape)
    rows: int = prod(planes) * -(-depth >> log_z) * -(-height >> log_y)
    return rows


@cache
def _names(value_type: str, rank: int, index: np.dtype[Any]) -> tuple[str, ...]:
    value, label = VALUE_CTYPES[value_type], ctype(index)
    return (
        f"tile_runs<{value}, {rank}, {label}>",
        f"join_tiles<{value}, {rank}, {label}>",
        f"settle_roots<{label}>",
        "sum_tiles",
        f"number_components<{label}>",
        f"spread_numbers<{label}>",
        f"write_labels<false, {rank}, {label}>",
        f"write_labels<true, {rank}, {label}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_labels` can load."""
    for value_type, rank in value_kinds():
        for index in INDEX_TYPES:
            yield FILE, _names(value_type, rank, index)
