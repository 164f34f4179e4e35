"""Large images of many small components: what ``tiled_bricks`` needs to drive ``row_tiles.cuh``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels import layout
from conncomp.kernels.cuda.core.numbering import WORD, WORDS
from conncomp.kernels.cuda.grid.image import VALUE_CTYPES, Geometry, Image, rule_of
from conncomp.kernels.cuda.launcher import DeviceArray, Gpu, Module, Templates, launch
from conncomp.kernels.cuda.workspace import Part, PlacedStruct
from conncomp.kernels.links import Links

FILE = "cuda/grid/row_tiles.cuh"
# Of a tile, in elements.
WIDTH, HEIGHT = 128, 64
# The threads of blocks that sample, label, join and follow, and how many blocks of tiles there are
# for a multiprocessor, as many as run at once.
SAMPLING, LABELLING, JOINING, FOLLOWING, BLOCKS = 1024, WIDTH, WIDTH + HEIGHT, 256, 14

SHAPE = layout(
    ("value_stride", ("i8", 2)), ("length", ("i4", 2)), ("tiles_of_row words_of_row", "i4")
)
COUNTS = np.dtype(np.int32)
WORDS_OF_CHOICE = 3  # whether an image is labelled by rows, and which tile is next
# With fewer elements, launches that may be in vain would take too much of the time.
LEAST = 1 << 27
# Bytes seldom have many values, and their first call shall not wait for more kernels; lanes do not
# exchange numbers of half precision.
LEFT_OUT = "u1", "f2"
KERNELS = Templates(
    FILE,
    "sample_rows label_row_tiles join_row_tiles",
    "follow_row_roots<>",
    rule=[rule_of(Links("equal", value)).name for value in VALUE_CTYPES if value not in LEFT_OUT],
    corners=(False, True),
)


class RowPlan(NamedTuple):
    """The arguments of these kernels for all images of one kind."""

    module: Module  # kernels that sample, label, join and follow
    shape: Any  # ``RowShape``
    words: int  # of 32 elements of a row
    tiles: int
    parts: dict[str, Part]
    choice: Part = (WORDS_OF_CHOICE, COUNTS)  # says whether the kernels label the image

    def before(self, gpu: Gpu, image: Image, labels: DeviceArray, placed: PlacedStruct) -> None:
        """Label an image of many components of several values, if it is one."""
        sample, label, join, follow = gpu.load(*self.module)
        blocks = min(self.tiles, gpu.multiprocessors * BLOCKS)
        rule, values, shape, tiles = image.rule, image.values, self.shape, self.tiles
        choice, components, words = placed["elsewhere"], placed["components"], self.words
        reaching, settled = placed["reaching"], placed["settled_of_rows"]
        by_tile, by_word = (blocks, LABELLING), gpu.grid(words, FOLLOWING)
        launch(sample, (1, SAMPLING), rule, values, shape, choice, components)
        launch(label, by_tile, rule, values, labels, shape, choice, reaching, settled, tiles)
        launch(join, (blocks, JOINING), values, labels, shape, choice, tiles)
        launch(follow, by_word, labels, shape, choice, reaching, settled, components, words, tiles)

    def after(self, gpu: Gpu, labels: DeviceArray, placed: PlacedStruct) -> None:
        """Do nothing: the labels are written."""


def plan_of(geometry: Geometry, links: Links, *_: Any) -> RowPlan | None:
    """Return how an image that may have sparse tiles is labelled by rows; None if it is not."""
    if links.value_type in LEFT_OUT or geometry.item_size < LEAST:
        return None
    height, width = geometry.shape
    if any(geometry.steps.periodic) or height == 1 or width < WORD:
        return None
    tiles_of_row, columns = -(-width // WIDTH), -(-width // WORD)
    tiles, words = tiles_of_row * -(-height // HEIGHT), height * columns
    return RowPlan(
        KERNELS.module(rule_of(links).name, geometry.connectivity == 2),
        np.array((geometry.value_strides[::-1], (width, height), tiles_of_row, columns), SHAPE)[()],
        words,
        tiles,
        {"reaching": (words, WORDS), "settled_of_rows": (tiles, COUNTS)},
    )
