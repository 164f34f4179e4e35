"""The default for arrays on the GPU: drives ``tiled_bricks.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp.gpu import Workspace
from conncomp.kernels.cuda.grid.image import VALUE_CTYPES, Geometry, Image, value_kinds
from conncomp.kernels.cuda.grid.tiling import as_rows, choose_tile, count_tiles, tiling
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, launch

FILE = "cuda/grid/tiled_bricks.cuh"
WORD, WORD_THREADS, JOIN_THREADS, BRICK = 32, 256, 128, 64
MOST_CHUNKS = 4096  # of words, whose roots are counted together; each adds up the counts before
# The logarithms of the bricks of a tile along each axis, from the last one, by the axes of a brick.
LOGS = {1: (7, 0, 0), 2: (4, 3, 0), 3: (4, 2, 2)}
FIXED = (2, 3)  # the ranks for which they are compiled into kernels, where they are these
BITS, WORDS, NODE, MIXED = (np.dtype(name) for name in ("u8", "u4", "u2", "u1"))


def fill_labels(
    gpu: Gpu, image: Image, labels: Any, workspace: Workspace, consecutive: bool
) -> Any:
    """Fill `labels` with roots, or with consecutive labels.

    Parameters
    ----------
    gpu : Gpu
    image : Image
    labels : array
        C-contiguous, of `image.size` elements.
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
        labels.dtype,
        gpu.multiprocessors,
        consecutive,
    )
    label, join = gpu.load(FILE, plan.names)
    write, *number = gpu.load(FILE, plan.last_names)
    fore, inner, mixed, value, components, *rest = workspace.take(gpu, *plan.parts)
    reaching, roots, numbers, in_chunk = rest if consecutive else (None, None, None, None)
    tiles, values = plan.tiles, image.values
    masks = fore, inner, reaching, mixed, value
    launch(
        label,
        plan.by_tile,
        tiles,
        values,
        *image.ground,
        labels,
        *masks,
        components,
        shared=plan.shared,
    )
    count = plan.by_tile[0], plan.at_border
    launch(join, plan.by_border, tiles, *count, values, labels, fore, mixed, value)
    if consecutive:
        settle, gather, assign = number
        settling = gpu.blocks(plan.bricks, WORD_THREADS), WORD_THREADS
        launch(settle, settling, tiles, plan.bricks, inner, reaching, labels, components)
        by_chunk = min(plan.chunks, gpu.resident_threads), WORD_THREADS
        words, columns = plan.words
        launch(gather, by_chunk, tiles, words, columns, plan.chunk, reaching, roots, in_chunk)
        launch(assign, by_chunk, words, plan.chunk, roots, in_chunk, numbers)
    launch(
        write,
        plan.by_tile,
        tiles,
        values,
        labels,
        fore,
        inner,
        mixed,
        plan.words[1],
        roots,
        numbers,
        components,
    )
    return components


class _Plan(NamedTuple):
    """What depends on the kind of an array only, and is kept for the next one of that kind.

    Attributes
    ----------
    names, last_names : tuple of str
        Of kernels: those that any labels need, and those that differ.
    tiles : numpy.void
        ``BrickTiles<rank, ...>``.
    bricks : int
        How many there are in all tiles.
    words : tuple of int
        The number of words of the array, and of a row.
    chunk, chunks : int
        The words whose roots are counted together, and the number of those chunks.
    by_tile, by_border : tuple of int
        Blocks, and their threads: for all bricks, and for those at borders to other tiles.
    at_border : int
        The bricks of a tile at borders to others.
    shared : int
        The bytes of shared memory of a tile.
    parts : tuple
        Of the workspace.
    """

    names: tuple[str, ...]
    last_names: tuple[str, ...]
    tiles: Any
    bricks: int
    words: tuple[int, int]
    chunk: int
    chunks: int
    by_tile: tuple[int, int]
    by_border: tuple[int, int]
    at_border: int
    shared: int
    parts: tuple[tuple[int, Any], ...]


@lru_cache(maxsize=1024)
def _plan(
    geometry: Geometry,
    value_type: str,
    index: np.dtype[Any],
    multiprocessors: int,
    consecutive: bool,
) -> _Plan:
    geometry = as_rows(geometry)
    shape = geometry.shape
    rank, axes = len(shape), min(len(shape), 3)
    brick_log = 6 // axes
    logs = choose_tile(shape, brick_log, LOGS[axes], 2 * multiprocessors)
    kind = _tiles(rank, logs if rank in FIXED and logs == LOGS[rank] else None)
    tiles, of_tile = count_tiles(shape, brick_log, logs), 1 << sum(logs)
    bricks = tiles * of_tile
    columns = -(-shape[-1] // WORD)
    words = prod(shape[:-1]) * columns
    chunk = WORD_THREADS * -(-words // (WORD_THREADS * MOST_CHUNKS))
    chunks = -(-words // chunk)
    border = _count_at_border(rank, logs)
    by_brick = bricks, BITS
    parts: tuple[tuple[int, Any], ...] = (
        by_brick,
        by_brick,
        (tiles, MIXED),
        (tiles, np.dtype(value_type)),
        (1, COUNT),
    )
    if consecutive:
        parts += by_brick, (words, WORDS), (words, index), (chunks, COUNT)
    return _Plan(
        _names(value_type, kind, index),
        _last_names(value_type, kind, index, consecutive),
        tiling(geometry, logs),
        bricks,
        (words, columns),
        chunk,
        chunks,
        (tiles, of_tile),
        (-(-tiles * border // JOIN_THREADS), JOIN_THREADS),
        border,
        of_tile * BRICK * NODE.itemsize,
        parts,
    )


def _count_at_border(rank: int, logs: tuple[int, ...]) -> int:
    """Return how many bricks of a tile `brick_to_join` numbers."""
    width, height, depth = (1 << log for log in logs)
    beside = 1 if width == 1 else 2
    if rank == 1:
        return 1
    if rank == 2:
        return width + (height - 1) * beside
    if rank == 3:
        of_plane = width if height == 1 else 2 * width + (height - 2) * beside
        return width * height + (depth - 1) * of_plane
    return width * height * depth


def _tiles(rank: int, logs: tuple[int, ...] | None) -> str:
    """Return the C++ name of tiles whose logarithms the compiler knows, or of any."""
    kind = "GivenLogs" if logs is None else f"FixedLogs<{', '.join(map(str, logs))}>"
    return f"conncomp::BrickTiles<{rank}, conncomp::{kind}>"


def _names(value_type: str, tiles: str, index: Any) -> tuple[str, ...]:
    kinds = f"{VALUE_CTYPES[value_type]}, {tiles}, {ctype(index)}"
    return f"label_tiles<{kinds}>", f"join_tiles<{kinds}>"


def _last_names(value_type: str, tiles: str, index: Any, consecutive: bool) -> tuple[str, ...]:
    kinds = f"{tiles}, {ctype(index)}"
    write = f"write_labels<{VALUE_CTYPES[value_type]}, {str(consecutive).lower()}, {kinds}>"
    if not consecutive:
        return (write,)
    number = f"number_words<{ctype(index)}>"
    return write, f"settle_roots<{kinds}>", f"gather_roots<{kinds}>", number


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_labels` can load."""
    kinds = [*value_kinds(), *((value_type, 1) for value_type in VALUE_CTYPES)]
    for (value_type, rank), index in product(kinds, INDEX_TYPES):
        for logs in (LOGS[rank], None) if rank in FIXED else (None,):
            tiles = _tiles(rank, logs)
            yield FILE, _names(value_type, tiles, index)
            for consecutive in (False, True):
                yield FILE, _last_names(value_type, tiles, index, consecutive)
