"""The default for arrays on the GPU: drives ``tiled_runs.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import prod
from typing import Any

import numpy as np

from conncomp.kernels.grid.image import GRIDS, VALUE_CTYPES, Image, value_kinds
from conncomp.kernels.launcher import COUNT, INDEX_TYPES, Gpu, Workspace, ctype, launch

FILE = "grid/tiled_runs.cuh"
LOG_WARP, WARP, WORD, WORD_THREADS, WORDS_OF_TILE = 5, 32, 32, 256, 4096
PITCH = 34
# The logarithms of the words and rows of a tile, in two dimensions and more.
LOGS_2D, LOGS_3D = (2, 6, 0), (1, 4, 4)
BITS, NODE = np.dtype(np.uint32), np.dtype(np.uint16)
_TILES = {
    rank: np.dtype([("grid", grid), ("logs", "i4", 3), ("padding", "i4")])
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
    logs = _tiling(gpu, image)
    tiles = np.array((image.grid, logs, 0), _TILES[image.rank])[()]
    count, words_of_tile = _count_tiles(image, *logs), 1 << sum(logs)
    length = image.shape[-1]
    columns = -(-length // WORD)
    words = image.size // length * columns
    chunks = -(-words // WORDS_OF_TILE)
    bits = count * words_of_tile, BITS
    value = np.dtype(f"V{image.values.dtype.itemsize}")
    *masks, values, tile_roots, before, components = workspace.take(
        gpu,
        bits,
        bits,
        (count, np.dtype(np.uint8)),
        (count, value),
        (words, BITS),
        (chunks, COUNT),
        (1, COUNT),
    )
    by_tile = count, words_of_tile // (4 if image.rank > 2 else 2)
    by_chunk = min(chunks, gpu.resident_threads), WORD_THREADS
    launch(
        tile_runs,
        by_tile,
        tiles,
        image.values,
        *image.ground,
        labels,
        *masks,
        values,
        tile_roots,
        components,
        shared=words_of_tile * (2 * BITS.itemsize + PITCH * NODE.itemsize),
    )
    launch(join, (count, _join_threads(image, *logs)), tiles, image.values, labels, *masks, values)
    by_word = words, columns, length, tile_roots
    launch(settle, by_chunk, *by_word, labels, before, components)
    if consecutive:
        launch(total, (1, WORD_THREADS), chunks, before, components)
        launch(number, by_chunk, *by_word, before, labels)
        launch(spread, (gpu.blocks(words, WORD_THREADS), WORD_THREADS), *by_word, labels)
    launch(write[consecutive], by_tile, tiles, labels, *masks)
    return components


def _tiling(gpu: Gpu, image: Image) -> tuple[int, int, int]:
    """Return the logarithms of a tile's words along the last axis, and of its rows along two more.

    Tiles have as many bundles as a block may have threads, but no more than the array is long, and
    fewer if multiprocessors would have no work.
    """
    *_, depth, height, width = (1, *image.shape)
    wanted = LOGS_3D if image.rank > 2 else LOGS_2D
    lengths = -(-width // WORD), max(height, 2), max(depth, 2)
    logs = [
        min(log, (length - 1).bit_length()) for log, length in zip(wanted, lengths, strict=True)
    ]
    least = (0, 1, 1) if image.rank > 2 else (0, 1, 0)
    smallest = LOG_WARP + (2 if image.rank > 2 else 1)
    # A warp needs a bundle for every lane.
    logs[1] += max(0, smallest - sum(logs))
    while sum(logs) > smallest and _count_tiles(image, *logs) < 2 * gpu.multiprocessors:
        axis = max((k for k in range(3) if logs[k] > least[k]), key=lambda k: (logs[k], k))
        logs[axis] -= 1
    return logs[0], logs[1], logs[2]


def _join_threads(image: Image, log_x: int, log_y: int, log_z: int) -> int:
    bundles = 1 << log_x + log_y + log_z - (2 if image.rank > 2 else 1)
    if image.rank > 2:
        return bundles
    border = (bundles >> log_x) + (1 << log_x)
    return min(bundles, -(-border // WARP) * WARP)


def _count_tiles(image: Image, log_x: int, log_y: int, log_z: int) -> int:
    *planes, depth, height, width = (1, *image.shape)
    tiles = -(-width // (WORD << log_x)), -(-height >> log_y), -(-depth >> log_z)
    return prod((*planes, *tiles))


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
