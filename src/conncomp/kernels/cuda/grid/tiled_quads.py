"""The default for images of bytes on the GPU that are not large: drives ``tiled_quads.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.core.numbering import THREADS, WORD, WORDS
from conncomp.kernels.cuda.grid.image import Geometry, Image
from conncomp.kernels.cuda.grid.tiling import count_tiles, tiling
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, WARP, Gpu, ctype, launch
from conncomp.kernels.cuda.structs import POINTER, Struct
from conncomp.kernels.cuda.workspace import Part, Workspace
from conncomp.kernels.links import Links

FILE = "cuda/grid/tiled_quads.cuh"
MOST = 1 << 23  # elements: with more, bricks are faster
# The logarithms of the rows of quads of a tile: the first for which there is a tile for each
# multiprocessor. Smaller tiles have more borders.
ROWS = (5, 4, 3, 2)
# Items that fill less of their tiles than this are labelled by others.
LEAST_FILLED = 0.25
BORDER_THREADS = 96  # a tile
# Of an item of so many words of roots, each block of tiles numbers them for itself.
FEW_WORDS = 2048
WRITE_ROWS = 2  # the logarithm of the rows of quads of a tile that are written at once
QUAD, NODE = np.dtype(np.uint16), np.dtype(np.int32)

TABLE = Struct(
    "QuadTable",
    quad=POINTER,
    parent=POINTER,
    roots_of_word=POINTER,
    number_of_word=POINTER,
    roots_of_tile=POINTER,
    components=POINTER,
    columns=COUNT,
)


@lru_cache(maxsize=1024)
def takes(geometry: Geometry, links: Links) -> bool:
    """Whether `fill_labels` can label an array, and its items fill their tiles well enough."""
    shape, steps = geometry.shape, geometry.steps
    if (
        (links.rule, links.value_type) != ("equal", "u1")
        or (len(shape) != 2 or shape[0] == 1)
        or (geometry.connectivity is None or any(steps.periodic))
        or geometry.items * geometry.item_size > MOST
    ):
        return False
    logs = _logs(ROWS[-1])
    return geometry.item_size >= LEAST_FILLED * count_tiles(shape, 1, logs) * (4 << sum(logs))


def fill_labels(
    gpu: Gpu, image: Image, labels: Any, workspace: Workspace, consecutive: bool
) -> Any:
    """Fill `labels` with roots, or with consecutive labels, as `tiled_bricks.fill_labels` does."""
    plan = plan_of(image.geometry, labels.dtype, gpu.multiprocessors, consecutive)
    label, join, write, *number = gpu.load(FILE, plan.names)
    memory = workspace.take_struct(gpu, TABLE, plan.table)
    tiles, table = plan.tiles, memory.struct
    launch(label, plan.by_tile, tiles, image.rule, image.values, table, shared=plan.shared)
    if plan.joins:
        launch(join, plan.by_border, tiles, image.values, table)
    for number_rows in number:
        launch(number_rows, plan.by_band, tiles, table)
    launch(write, plan.by_part, tiles, labels, table)
    return memory["components"]


class _Plan(NamedTuple):
    """What depends on the kind of an array only, and is kept for the next one of that kind.

    Attributes
    ----------
    names : tuple of str
        Of kernels.
    tiles : numpy.void
        ``QuadTiles``.
    by_tile, by_border, by_band, by_part : tuple of int
        Blocks, and their threads.
    shared : int
        The bytes of shared memory of a tile.
    joins : bool
        Whether an item has several tiles.
    table : dict
        The fields of ``QuadTable``: parts of a workspace, null pointers, and a number.
    """

    names: tuple[str, ...]
    tiles: Any
    by_tile: tuple[int, int]
    by_border: tuple[int, int]
    by_band: tuple[int, int]
    by_part: tuple[int, int]
    shared: int
    joins: bool
    table: dict[str, Part | int | None]


@lru_cache(maxsize=1024)
def plan_of(
    geometry: Geometry, index: np.dtype[Any], multiprocessors: int, consecutive: bool
) -> _Plan:
    """Return how `fill_labels` labels arrays of a kind."""
    (height, width), items = geometry.shape, geometry.items
    rows = next(
        (log for log in ROWS if _count(geometry, log) >= multiprocessors),
        ROWS[-1],
    )
    tiles = _count(geometry, rows)
    columns = -(-width // WORD)
    words = items * height * columns
    few = height * columns <= FEW_WORDS
    kind = "kRoots" if not consecutive else "kNumbering" if few else "kNumbered"
    quads = items * -(-height // 2) * -(-width // 2)
    return _Plan(
        _names(geometry.connectivity == 2, items > 1, index, kind),
        tiling(geometry, _logs(rows)),
        (tiles, WARP << rows),
        (tiles, BORDER_THREADS),
        (items * -(-height // (2 << rows)), THREADS),
        (tiles, WARP << min(rows, WRITE_ROWS)),
        (4 * WARP << rows) * NODE.itemsize,
        tiles > items,
        {
            "quad": (quads, QUAD),
            "parent": (words * WORD, NODE),
            "roots_of_word": (words, WORDS) if consecutive else None,
            "number_of_word": (words, NODE) if consecutive else None,
            "roots_of_tile": (tiles, NODE) if consecutive else None,
            "components": (items, COUNT),
            "columns": columns,
        },
    )


def _logs(rows: int) -> tuple[int, int, int]:
    """Return the logarithms of a tile's quads along each axis, from the last one."""
    return WARP.bit_length() - 1, rows, 0


def _count(geometry: Geometry, rows: int) -> int:
    return geometry.items * count_tiles(geometry.shape, 1, _logs(rows))


def _names(corners: bool, items: bool, index: Any, kind: str) -> tuple[str, ...]:
    of_items = str(items).lower()
    kinds = f"{str(corners).lower()}, {of_items}"
    write = f"write_quads<conncomp::QuadLabels::{kind}, {ctype(index)}, {of_items}>"
    number = (f"number_rows<{of_items}>",) if kind == "kNumbered" else ()
    return f"label_quads<{kinds}>", f"join_quads<{kinds}>", write, *number


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_labels` can load."""
    for corners, items, index, kind in product(
        (False, True), (False, True), INDEX_TYPES, ("kRoots", "kNumbered", "kNumbering")
    ):
        yield FILE, _names(corners, items, index, kind)
