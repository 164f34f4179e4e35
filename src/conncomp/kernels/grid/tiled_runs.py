"""The default for arrays on the GPU: drives ``tiled_runs.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.grid.image import (
    GRIDS,
    VALUE_CTYPES,
    Geometry,
    Image,
    grid_of,
    value_kinds,
)
from conncomp.kernels.launcher import COUNT, INDEX_TYPES, Gpu, Workspace, ctype, launch

FILE = "grid/tiled_runs.cuh"
LOG_WARP, WARP, WORD, WORD_THREADS = 5, 32, 32, 256
MOST_CHUNKS = 4096  # of words, whose roots are counted together; a block scans the counts
PITCH = 34
# The logarithms of the words and rows of a tile, in two dimensions and more.
LOGS_2D, LOGS_3D = (2, 6, 0), (1, 4, 4)
ROWS_OF_BUNDLE = 2, 4  # in two dimensions and more
BITS, NODE, MIXED = np.dtype(np.uint32), np.dtype(np.uint16), np.dtype(np.uint8)
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
    plan = _plan(
        image.geometry,
        image.value_type,
        image.values.dtype.itemsize,
        labels.dtype,
        gpu.multiprocessors,
    )
    tile_runs, join, settle, total, number, spread, *write = gpu.load(FILE, plan.names)
    *masks, values, tile_roots, moved, before, components = workspace.take(gpu, *plan.parts)
    tiles, by_tile = plan.tiles, plan.by_tile
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
        shared=plan.shared,
    )
    launch(join, plan.by_border, tiles, image.values, labels, *masks, values)
    by_chunk = min(plan.chunks, gpu.resident_threads), WORD_THREADS
    words = *plan.words, plan.chunk, tile_roots
    launch(settle, by_chunk, *words, moved if consecutive else None, labels, before, components)
    if consecutive:
        launch(total, (1, WORD_THREADS), plan.chunks, before, components)
        launch(number, by_chunk, *words, before, labels)
        blocks = gpu.blocks(plan.words[0], WORD_THREADS)
        launch(spread, (blocks, WORD_THREADS), *plan.words, moved, labels)
    launch(write[consecutive], by_tile, tiles, labels, *masks)
    return components


class _Plan(NamedTuple):
    """What depends on the kind of an array only, and is kept for the next one of that kind.

    Attributes
    ----------
    names : tuple of str
        Of kernels.
    tiles : numpy.void
        ``Tiles<rank>``.
    words : tuple of int
        The number of words of the array, and the words and elements of a row.
    chunk, chunks : int
        The words whose roots are counted together, and the number of those chunks.
    by_tile, by_border : tuple of int
        Blocks, and their threads: for all bundles, and for those at borders to other tiles.
    shared : int
        The bytes of shared memory of a tile.
    parts : tuple
        Of the workspace.
    """

    names: tuple[str, ...]
    tiles: Any
    words: tuple[int, int, int]
    chunk: int
    chunks: int
    by_tile: tuple[int, int]
    by_border: tuple[int, int]
    shared: int
    parts: tuple[tuple[int, Any], ...]


@lru_cache(maxsize=1024)
def _plan(
    geometry: Geometry, value_type: str, itemsize: int, index: np.dtype[Any], multiprocessors: int
) -> _Plan:
    shape = geometry.shape
    rank, length = len(shape), shape[-1]
    logs = _tiling(shape, 2 * multiprocessors)
    tiles, of_tile = _count_tiles(shape, *logs), 1 << sum(logs)
    columns = -(-length // WORD)
    words = prod(shape[:-1]) * columns
    chunk = WORD_THREADS * -(-words // (WORD_THREADS * MOST_CHUNKS))
    chunks = -(-words // chunk)
    bundles = of_tile // ROWS_OF_BUNDLE[rank > 2]
    border = (bundles >> logs[0]) + (1 << logs[0]) if rank == 2 else bundles
    bits = tiles * of_tile, BITS
    value, by_word = (tiles, np.dtype(f"V{itemsize}")), (words, BITS)
    return _Plan(
        _names(value_type, rank, index),
        np.array((grid_of(geometry), logs, 0), _TILES[rank])[()],
        (words, columns, length),
        chunk,
        chunks,
        (tiles, bundles),
        (tiles, min(bundles, -(-border // WARP) * WARP)),
        of_tile * (2 * BITS.itemsize + PITCH * NODE.itemsize),
        (bits, bits, (tiles, MIXED), value, by_word, by_word, (chunks, COUNT), (1, COUNT)),
    )


def _tiling(shape: tuple[int, ...], least: int) -> tuple[int, int, int]:
    """Return the logarithms of a tile's words along the last axis, and of its rows along two more.

    Tiles have as many bundles as a block may have threads, but no more than the array is long, and
    fewer if there would not be the `least` number of tiles.
    """
    *_, depth, height, width = (1, *shape)
    deep = len(shape) > 2
    lengths = -(-width // WORD), max(height, 2), max(depth, 2)
    fit = [(length - 1).bit_length() for length in lengths]
    logs = [min(log, most) for log, most in zip(LOGS_3D if deep else LOGS_2D, fit, strict=True)]
    # A warp needs a bundle for every lane: flat arrays get wider tiles.
    smallest = LOG_WARP + (2 if deep else 1)
    logs[0] += max(0, min(smallest - sum(logs), fit[0] - logs[0]))
    logs[1] += max(0, smallest - sum(logs))
    lowest = 0, 1, int(deep)
    while sum(logs) > smallest and _count_tiles(shape, *logs) < least:
        axis = max((k for k in range(3) if logs[k] > lowest[k]), key=lambda k: (logs[k], k))
        logs[axis] -= 1
    return logs[0], logs[1], logs[2]


def _count_tiles(shape: tuple[int, ...], log_x: int, log_y: int, log_z: int) -> int:
    *planes, depth, height, width = (1, *shape)
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
