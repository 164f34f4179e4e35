"""The default for images of bytes on the GPU that are not large: drives ``tiled_quads.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.core.numbering import THREADS, WORD, WORDS
from conncomp.kernels.cuda.grid.image import Geometry, Image
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, WARP, Gpu, ctype, launch
from conncomp.kernels.cuda.structs import POINTER, Struct
from conncomp.kernels.cuda.workspace import Part, Workspace
from conncomp.kernels.links import Links

FILE = "cuda/grid/tiled_quads.cuh"
MOST = 1 << 22  # elements: with more, bricks are faster
WIDTH = 2 * WARP  # of a tile
# The logarithms of the rows of quads of a tile: the first for which there is a tile for each
# multiprocessor. Smaller tiles have more borders.
ROWS = (4, 3)
REGION_THREADS = 1024
# The logarithms of the length of a region: the first for which there is room in shared memory.
REGIONS, RESERVED = (8, 7), 2048
# Items that fill less of their tiles than this are labelled by others.
LEAST_FILLED = 0.25
# Where there are so many tiles, a thread writes several quads: the rows of a tile that are written
# at once, as a logarithm.
MANY_TILES, ROWS_AT_ONCE = 1024, 2
QUAD, NODE = np.dtype(np.uint16), np.dtype(np.int32)

TABLE = Struct(
    "QuadTable",
    quad=POINTER,
    parent=POINTER,
    roots_of_word=POINTER,
    number_of_word=POINTER,
    roots_of_tile=POINTER,
    components=POINTER,
    item_stride=COUNT,
    row_stride=COUNT,
    stride=COUNT,
    height=NODE,
    width=NODE,
    columns=NODE,
    log_rows=NODE,
    log_region=NODE,
    tiles_of_row=NODE,
    tiles_of_item=NODE,
    regions_of_row=NODE,
    regions_of_item=NODE,
)


@lru_cache(maxsize=1024)
def takes(geometry: Geometry, links: Links) -> bool:
    """Whether `fill_labels` can label an array, and its items fill their tiles well enough."""
    shape = geometry.shape
    if (
        (links.rule, links.value_type) != ("equal", "u1")
        or (len(shape) != 2 or shape[0] == 1)
        or (geometry.connectivity is None or any(geometry.steps.periodic))
    ):
        return False
    tiles, _ = _parts(geometry, 2 << ROWS[-1], WIDTH)
    return geometry.item_size >= LEAST_FILLED * tiles * WIDTH * (2 << ROWS[-1])


def fill_labels(
    gpu: Gpu, image: Image, labels: Any, workspace: Workspace, consecutive: bool
) -> Any:
    """Fill `labels` with roots, or with consecutive labels, as `tiled_bricks.fill_labels` does."""
    about_gpu = gpu.multiprocessors, gpu.shared_memory
    plan = plan_of(image.geometry, labels.dtype, *about_gpu, consecutive)
    label, join, join_regions, write, *number = gpu.load(FILE, plan.names)
    memory = workspace.take_struct(gpu, TABLE, plan.table)
    values, table = image.values, memory.struct
    launch(label, plan.by_tile, image.rule, values, table, shared=plan.shared)
    if plan.joins:
        launch(join, plan.by_region, values, table, shared=plan.shared_of_region)
    if plan.joins_regions:
        launch(join_regions, plan.by_side, values, table)
    for number_rows in number:
        launch(number_rows, plan.by_band, table)
    launch(write, plan.by_part, labels, table)
    return memory["components"]


class _Plan(NamedTuple):
    """What depends on the kind of an array only, and is kept for the next one of that kind.

    Attributes
    ----------
    names : tuple of str
        Of kernels.
    by_tile, by_region, by_side, by_band, by_part : tuple of int
        Blocks, and their threads.
    shared, shared_of_region : int
        The bytes of shared memory of a tile, and of a region.
    joins, joins_regions : bool
        Whether an item has several tiles, and several regions.
    table : dict
        The fields of ``QuadTable``: parts of a workspace, null pointers, and numbers.
    """

    names: tuple[str, ...]
    by_tile: tuple[int, int]
    by_region: tuple[int, int]
    by_side: tuple[int, int]
    by_band: tuple[int, int]
    by_part: tuple[int, int]
    shared: int
    shared_of_region: int
    joins: bool
    joins_regions: bool
    table: dict[str, Part | int | None]


@lru_cache(maxsize=1024)
def plan_of(
    geometry: Geometry,
    index: np.dtype[Any],
    multiprocessors: int,
    shared_memory: int,
    consecutive: bool,
) -> _Plan:
    """Return how `fill_labels` labels arrays of a kind."""
    (height, width), items = geometry.shape, geometry.items
    rows = ROWS[-1]
    for rows in ROWS:
        if items * _parts(geometry, 2 << rows, WIDTH)[0] >= multiprocessors:
            break
    tiles_of_item, tiles_of_row = _parts(geometry, 2 << rows, WIDTH)
    log = next((log for log in REGIONS if _shared_of_region(log, rows) + RESERVED <= shared_memory), REGIONS[-1])
    regions_of_item, regions_of_row = _parts(geometry, 1 << log, 1 << log)
    tiles, columns = items * tiles_of_item, -(-width // WORD)
    words = items * height * columns
    by_word: dict[str, Part | None] = dict.fromkeys(
        ("roots_of_word", "number_of_word", "roots_of_tile")
    )
    if consecutive:
        by_word = {
            "roots_of_word": (words, WORDS),
            "number_of_word": (words, NODE),
            "roots_of_tile": (tiles, NODE),
        }
    rows_at_once = min(rows, ROWS_AT_ONCE) if tiles >= MANY_TILES else rows
    return _Plan(
        _names(geometry.connectivity == 2, index, consecutive),
        (tiles, WARP << rows),
        (items * regions_of_item, REGION_THREADS),
        (items * regions_of_item, 3 << log >> 1),
        (tiles // tiles_of_row, THREADS),
        (tiles, WARP << rows_at_once),
        (4 * WARP << rows) * NODE.itemsize,
        _shared_of_region(log, rows),
        tiles_of_item > 1,
        regions_of_item > 1,
        {
            "quad": (items * -(-height // 2) * -(-width // 2), QUAD),
            "parent": (words * WORD, NODE),
            **by_word,
            "components": (items, COUNT),
            "item_stride": geometry.item_stride,
            "row_stride": geometry.value_strides[0],
            "stride": geometry.value_strides[1],
            "height": height,
            "width": width,
            "columns": columns,
            "log_rows": rows,
            "log_region": log,
            "tiles_of_row": tiles_of_row,
            "tiles_of_item": tiles_of_item,
            "regions_of_row": regions_of_row,
            "regions_of_item": regions_of_item,
        },
    )


def _parts(geometry: Geometry, height: int, width: int) -> tuple[int, int]:
    """Return how many parts of a size an item has, and a row of them."""
    of_row = -(-geometry.shape[1] // width)
    return -(-geometry.shape[0] // height) * of_row, of_row


def _shared_of_region(log: int, rows: int) -> int:
    """Return the bytes of shared memory of a region: of its elements, and those at borders."""
    tiles = (1 << 2 * log) // (WIDTH * (2 << rows))
    return QUAD.itemsize * ((1 << 2 * log) + tiles * 2 * (WIDTH + (2 << rows)))


@cache
def _names(corners: bool, index: Any, consecutive: bool) -> tuple[str, ...]:
    by_contacts = ("label_quads", "join_tiles_of_quads", "join_regions")
    names = (f"{name}<{str(corners).lower()}>" for name in by_contacts)
    write = f"write_quads<{str(consecutive).lower()}, {ctype(index)}>"
    return (*names, write, *(("number_rows<>",) if consecutive else ()))


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_labels` can load."""
    for corners, index, consecutive in product((False, True), INDEX_TYPES, (False, True)):
        yield FILE, _names(corners, index, consecutive)
