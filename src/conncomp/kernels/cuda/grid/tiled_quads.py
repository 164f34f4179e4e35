"""The default for images of bytes on the GPU that are not large: drives ``tiled_quads.cuh``."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from conncomp._arguments import INT32_MAX
from conncomp.kernels.cuda.core.numbering import MOST_WORDS_IN_BLOCK, WORD, WORDS
from conncomp.kernels.cuda.grid.image import Geometry, Image
from conncomp.kernels.cuda.launcher import (
    COUNT,
    THREADS,
    WARP,
    DeviceArray,
    DType,
    Gpu,
    Module,
    Templates,
    launch,
)
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Fields, Part, Workspace
from conncomp.kernels.links import Links
from conncomp.kernels.neighbourhood import Shape

MOST = 20 << 10  # elements a multiprocessor: with more, bricks are faster
HEIGHT, WIDTH = 16, 2 * WARP  # of a tile
QUADS = HEIGHT * WIDTH // 4
# Of a tile, or so many times more if there are no more tiles than multiprocessors.
BORDER_THREADS, BORDER_PARTS = 48, 4
# Items that fill less of their tiles than this are labelled by others.
LEAST_FILLED = 0.25
# Rows of parents and quads are whole words: with more, all memory is 8 bytes an element.
MOST_PARENTS = 1.6
# Blocks number words where there are so many for each multiprocessor to number, at most.
MOST_NUMBERED = 2048
# The parts of ``QuadTable`` that a kind of labels needs.
PARTS = {
    "kRoots": (),
    "kNumbersOfBlock": ("roots_of_word",),
    "kNumbers": ("roots_of_word", "number_of_word", "roots_of_tile"),
}
# ``LabelKind`` of ``root_bits.cuh`` says what labels are, and whether blocks or a launch number.
_OF_ALL = (
    "cuda/grid/tiled_quads.cuh",
    *("label_quads<>", "join_quads<>", "write_quads<conncomp::LabelKind::{kind}, {index}>"),
)
_KERNELS = Templates(*_OF_ALL, kind=("kRoots", "kNumbersOfBlock"), indices="index")
_KERNELS_OF_ROWS = Templates(*_OF_ALL, "number_rows<>", kind=("kNumbers",), indices="index")
SHARED_PERCENT = 50  # of a multiprocessor's memory, for all kernels
# Where there are more tiles than this for each multiprocessor, a thread writes two quads.
FEW_TILES = 8
QUAD, NODE = np.dtype(np.uint16), np.dtype(np.int32)

# The fields that `item_fields` has.
OF_ITEM = ("item_stride", COUNT), ("row_stride stride height width columns", NODE)
TABLE = Struct(
    "QuadTable",
    "quad parent roots_of_word number_of_word roots_of_tile components",
    *OF_ITEM,
    ("tiles_of_row tiles_of_item", NODE),
    ("inverse_of_row", WORDS),
)


def takes(gpu: Gpu, image: Image, index: DType, consecutive: bool) -> bool:
    """Whether quads suit an array best."""
    small = image.size <= MOST * gpu.multiprocessors
    return small and can_label(image.geometry, image.links)


@lru_cache(maxsize=1024)
def can_label(geometry: Geometry, links: Links) -> bool:
    """Whether `fill_labels` can label an array, and its items fill their tiles well enough."""
    shape = geometry.shape
    return (
        (links.rule, links.value_type) == ("equal", "u1")
        and (len(shape) == 2 and shape[0] > 1)
        and (geometry.connectivity == 2 and not any(geometry.steps.periodic))
        and -(-shape[1] // WORD) * WORD <= MOST_PARENTS * shape[1]
        and max(map(abs, geometry.value_strides)) <= INT32_MAX
        and geometry.item_size >= LEAST_FILLED * prod(_tiles(shape)) * HEIGHT * WIDTH
    )


def fill_labels(
    gpu: Gpu, image: Image, labels: DeviceArray, workspace: Workspace, consecutive: bool
) -> DeviceArray:
    """Fill `labels` as `tiled_bricks.fill_labels` does."""
    plan = plan_of(image.geometry, labels.dtype, gpu.multiprocessors, consecutive)
    label, join, write, *number = gpu.load(*plan.module, SHARED_PERCENT)
    placed = workspace.take_struct(gpu, TABLE, plan.table)
    values, table = image.values, placed.struct
    launch(label, plan.by_tile, image.rule, values, table)
    if plan.joins:
        launch(join, plan.by_border, values, table)
    for number_rows in number:
        launch(number_rows, plan.by_band, table)
    launch(write, plan.by_part, labels, table)
    return placed["components"]


class _Plan(NamedTuple):
    """The choices of `fill_labels` for all arrays of one kind."""

    module: Module
    by_tile: tuple[int, int]
    by_border: tuple[int, int]
    by_band: tuple[int, int]
    by_part: tuple[int, int]
    joins: bool  # whether items have several tiles
    table: Fields  # of ``QuadTable``


@lru_cache(maxsize=1024)
def plan_of(geometry: Geometry, index: DType, multiprocessors: int, consecutive: bool) -> _Plan:
    """Return how `fill_labels` labels arrays of a kind."""
    (height, width), items = geometry.shape, geometry.items
    tiles_of_row, bands = _tiles(geometry.shape)
    tiles, columns = items * bands * tiles_of_row, -(-width // WORD)
    of_item = height * columns
    words = items * of_item
    of_words: dict[str, Part] = {
        "roots_of_word": (words, WORDS),
        "number_of_word": (words, NODE),
        "roots_of_tile": (tiles, NODE),
    }
    in_blocks = of_item <= MOST_WORDS_IN_BLOCK
    in_blocks &= tiles * of_item <= MOST_NUMBERED * multiprocessors
    kind = ("kNumbersOfBlock" if in_blocks else "kNumbers") if consecutive else "kRoots"
    kernels = _KERNELS_OF_ROWS if kind == "kNumbers" else _KERNELS
    one_quad = in_blocks or tiles <= FEW_TILES * multiprocessors
    return _Plan(
        kernels.module(kind, index),
        (tiles, QUADS),
        (tiles, BORDER_THREADS * (BORDER_PARTS if tiles <= multiprocessors else 1)),
        (items * bands, THREADS),
        (tiles, QUADS if one_quad else QUADS // 2),
        bands * tiles_of_row > 1,
        {
            "quad": (items * -(-height // 2) * columns * WORD // 2, QUAD),
            "parent": (words * WORD, NODE),
            **{name: part if name in PARTS[kind] else None for name, part in of_words.items()},
            "components": (items, COUNT),
            **item_fields(geometry),
            "tiles_of_row": tiles_of_row,
            "tiles_of_item": bands * tiles_of_row,
            "inverse_of_row": inverse_of(tiles_of_row),
        },
    )


def item_fields(geometry: Geometry) -> dict[str, int]:
    """Return the fields of items of two axes in a kernel's table."""
    (height, width), strides = geometry.shape, geometry.value_strides
    lengths = {"height": height, "width": width, "columns": -(-width // WORD)}
    strides_of = {"row_stride": strides[0], "stride": strides[1]}
    return {"item_stride": geometry.item_stride, **strides_of, **lengths}


def inverse_of(count: int) -> int:
    """Return 2^32 over a count, rounded up, by which kernels divide; 0 for one."""
    return -(-(1 << 32) // count) % (1 << 32)


def _tiles(shape: Shape) -> tuple[int, int]:
    """Return how many tiles an item has along the last axis, and along the other one."""
    return -(-shape[1] // WIDTH), -(-shape[0] // HEIGHT)
