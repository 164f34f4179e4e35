"""Large volumes of bytes that touch at faces, on the GPU: drives ``run_tiles.cuh``."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels import layout
from conncomp.kernels.cuda.core.numbering import WORD, WORDS, ByWord, chunks_of
from conncomp.kernels.cuda.grid import tiled_elements
from conncomp.kernels.cuda.grid.image import Geometry, Image
from conncomp.kernels.cuda.launcher import (
    COUNT,
    THREADS,
    DeviceArray,
    DType,
    Gpu,
    Templates,
    launch,
)
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Fields, Part, Workspace
from conncomp.kernels.links import Links

FILE = "cuda/grid/run_tiles.cuh"
_ROOTS = Templates(FILE, "label_run_tiles<false>", "join_run_tiles<>", "write_run_labels<false>")
_NUMBERS = Templates(
    FILE,
    *("label_run_tiles<true>", "join_run_tiles<>", "write_run_labels<true>"),
    *("settle_run_roots<false>", "number_words<int32_t>"),
)
INDEX = np.dtype(np.int32)
AXES = 3
# Of a tile, in elements, from the last axis; its words, and the threads of blocks.
SIDES = 64, 16, 16
ELEMENTS = prod(SIDES)
WORDS_OF_TILE = LABELLING = ELEMENTS // WORD
JOINING = 128
LEAST_FILLED = 0.6  # how much of its tiles a volume fills at least
NODE, BITS = np.dtype(np.uint16), WORDS
# ``RunTileMemory``: words, what begins before them, contacts, two numbers, and parents.
SHARED = 4 * (5 * WORDS_OF_TILE + 4) + 2 * ELEMENTS

TABLE = Struct(
    "TileRuns",
    "foreground starts before node runs value settled roots_of_word entries_of_word "
    "number_of_word components",
)
SHAPE = layout(("value_stride", ("i8", AXES)), ("length tiles", ("i4", AXES)), ("columns", "i4"))


def takes(gpu: Gpu, image: Image, index: DType, consecutive: bool) -> bool:
    """Whether runs suit an array best."""
    large = image.size > tiled_elements.MOST * gpu.multiprocessors
    return large and can_label(image.geometry, image.links, index)


@lru_cache(maxsize=1024)
def can_label(geometry: Geometry, links: Links, index: DType) -> bool:
    """Whether `fill_labels` can label an array, and it fills its tiles well enough."""
    if not takes_kind(geometry, links, index, 1):
        return False
    return geometry.item_size >= LEAST_FILLED * (ELEMENTS * prod(tiles_along(geometry.shape)))


def takes_kind(geometry: Geometry, links: Links, index: DType, connectivity: int) -> bool:
    """Whether an array is a volume of bytes, by itself, with ends, and so connected."""
    return (
        (links.rule, links.value_type) == ("equal", "u1")
        and index == INDEX
        and len(geometry.shape) == AXES
        and geometry.items == 1
        and geometry.connectivity == connectivity
        and not any(geometry.steps.periodic)
    )


def shape_of(geometry: Geometry) -> Any:
    """Return ``RunShape``."""
    strides, lengths = geometry.value_strides[::-1], geometry.shape[::-1]
    columns = -(-geometry.shape[-1] // WORD)
    return np.array((strides, lengths, tiles_along(geometry.shape), columns), SHAPE)[()]


def tiles_along(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return how many tiles an array is cut into along each axis, from the last one."""
    return tuple(-(-length // side) for length, side in zip(reversed(shape), SIDES, strict=True))


def fill_labels(
    gpu: Gpu, image: Image, labels: DeviceArray, workspace: Workspace, consecutive: bool
) -> DeviceArray:
    """Fill `labels` as `tiled_bricks.fill_labels` does."""
    plan = _plan_of(image.geometry, consecutive)
    label, join, write, *number = (_NUMBERS if consecutive else _ROOTS).load(gpu)
    placed = workspace.take_struct(gpu, TABLE, plan.table, plan.beside)
    values, shape, table = image.values, plan.shape, placed.struct
    launch(label, (plan.tiles, LABELLING), image.rule, values, labels, shape, table, shared=SHARED)
    launch(join, (plan.tiles, JOINING), values, labels, shape, table)
    if consecutive:
        settle, assign = number
        by_chunk, chunk = (plan.chunks, THREADS), plan.chunk
        roots, numbers, counts = ByWord.of(placed)
        entries, components = placed["entries_of_word"], placed["components"]
        launch(settle, by_chunk, labels, shape, None, roots, entries, chunk, counts, components)
        launch(assign, by_chunk, plan.words, chunk, roots, counts, numbers)
    launch(write, (plan.tiles, LABELLING), labels, shape, table)
    return placed["components"]


class _Plan(NamedTuple):
    """The choices of `fill_labels` for all arrays of one kind."""

    shape: Any  # ``RunShape``
    tiles: int
    words: int  # of 32 elements of a row
    chunk: int  # how many words' roots are counted together
    chunks: int
    table: Fields  # of ``TileRuns``
    beside: dict[str, Part]  # for numbering


@lru_cache(maxsize=1024)
def _plan_of(geometry: Geometry, consecutive: bool) -> _Plan:
    tiles, words = prod(tiles_along(geometry.shape)), words_of(geometry.shape)
    chunk, chunks = chunks_of(words)
    of_tile, of_array = tiles * WORDS_OF_TILE, words if consecutive else 0
    parts: dict[str, Part] = {
        "foreground": (of_tile, BITS),
        "starts": (of_tile, BITS),
        "before": (of_tile, NODE),
        "node": (tiles * ELEMENTS, NODE),
        **dict.fromkeys(("runs", "value", "settled"), (tiles, INDEX)),
        **dict.fromkeys(("roots_of_word", "entries_of_word"), (of_array, BITS)),
        "number_of_word": (of_array, INDEX),
        "components": (1, COUNT),
    }
    table = {name: part if part[0] else None for name, part in parts.items()}
    beside: dict[str, Part] = {"in_chunk": (chunks, COUNT)} if consecutive else {}
    return _Plan(shape_of(geometry), tiles, words, chunk, chunks, table, beside)


def words_of(shape: tuple[int, ...]) -> int:
    """Return how many words of 32 elements the rows of an array have."""
    return prod(shape[:-1]) * -(-shape[-1] // WORD)
