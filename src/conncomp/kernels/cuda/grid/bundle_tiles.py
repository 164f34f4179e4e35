"""Large volumes of bytes along corners: what ``tiled_bricks`` needs for ``bundle_tiles.cuh``."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.core.numbering import WORDS, ByWord, chunks_of
from conncomp.kernels.cuda.grid import run_tiles
from conncomp.kernels.cuda.grid.image import Geometry, Image
from conncomp.kernels.cuda.launcher import (
    THREADS,
    DeviceArray,
    DType,
    Gpu,
    Module,
    Templates,
    launch,
)
from conncomp.kernels.cuda.workspace import Part, PlacedStruct
from conncomp.kernels.links import Links

FILE = "cuda/grid/bundle_tiles.cuh"
_ROOTS, _NUMBERS = (
    Templates(FILE, "sample_bundles<>", label, "join_bundle_tiles<>", *write)
    for label, *write in (
        ("label_bundle_tiles<false>", "write_bundle_labels<false>"),
        ("label_bundle_tiles<true>", "write_bundle_labels<true>", "settle_run_roots<true>"),
    )
)
# With fewer elements, launches that may be in vain would take too much of the time.
LEAST = 1 << 24
# The threads of blocks that sample, label and join, and write.
SAMPLING, LABELLING, WRITING = 1024, run_tiles.WORDS_OF_TILE // 4, 256
KEPT = np.dtype((np.void, 6928))  # ``KeptBundles``
AXES = run_tiles.AXES
# Whether a volume is labelled by bundles, the value of its foreground, and which tiles of bricks
# are next to be labelled, joined and written; and by how many blocks a multiprocessor.
WORDS_OF_CHOICE, BLOCKS, JOINING = 5, 3, 8


class BundlePlan(NamedTuple):
    """The arguments of these kernels for all volumes of one kind."""

    module: Module  # kernels that sample, label, join, write, and, for consecutive labels, settle
    shape: Any  # ``RunShape``
    tiles: int
    chunked: tuple[int, int]  # as of `tiled_bricks.Plan`
    parts: dict[str, Part]
    # Says whether the kernels label the volume.
    choice: Part = (WORDS_OF_CHOICE, np.dtype(np.int32))

    def before(self, gpu: Gpu, image: Image, labels: DeviceArray, placed: PlacedStruct) -> None:
        """Find the components of a volume if its foreground has one value."""
        sample, label, join, _, *settle = gpu.load(*self.module)
        rule, values, shape, by_tile = image.rule, image.values, self.shape, (self.tiles, LABELLING)
        choice, kept, components = placed["elsewhere"], placed["kept"], placed["components"]
        roots, _, counts = ByWord.of(placed) if settle else ByWord()
        entries = placed["entries_of_word"] if settle else None
        launch(sample, (1, SAMPLING), rule, values, shape, choice, components)
        launch(label, by_tile, rule, values, labels, shape, choice, kept, roots, entries)
        launch(join, by_tile, labels, shape, choice, kept)
        for each in settle:
            chunk, by_chunk = self.chunked[0], (min(self.chunked[1], gpu.resident_threads), THREADS)
            launch(each, by_chunk, labels, shape, choice, roots, entries, chunk, counts, components)

    def after(self, gpu: Gpu, labels: DeviceArray, placed: PlacedStruct) -> None:
        """Write the labels of a volume if its foreground has one value."""
        _, _, _, write, *settle = gpu.load(*self.module)
        roots, numbers, _ = ByWord.of(placed) if settle else ByWord()
        choice, kept, components = placed["elsewhere"], placed["kept"], placed["components"]
        by_tile, shape = (self.tiles, WRITING), self.shape
        launch(write, by_tile, labels, shape, choice, kept, roots, numbers, components)


def plan_of(geometry: Geometry, links: Links, index: DType, consecutive: bool) -> BundlePlan | None:
    """Return how a volume is labelled by bundles, if it has one value; None if it is not."""
    if geometry.item_size < LEAST or not run_tiles.takes_kind(geometry, links, index, AXES):
        return None
    tiles, words = prod(run_tiles.tiles_along(geometry.shape)), run_tiles.words_of(geometry.shape)
    parts: dict[str, Part] = {"kept": (tiles, KEPT)}
    if consecutive:
        parts["entries_of_word"] = words, WORDS
    module = (_NUMBERS if consecutive else _ROOTS).module()
    return BundlePlan(module, run_tiles.shape_of(geometry), tiles, chunks_of(words), parts)
