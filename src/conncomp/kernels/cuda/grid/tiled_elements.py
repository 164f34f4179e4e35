"""The default for small arrays on the GPU: drives ``tiled_elements.cuh``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from conncomp.kernels.cuda.core.numbering import MOST_CHUNKS, WORD, WORDS
from conncomp.kernels.cuda.grid.image import RANKS, RULE_NAMES, Geometry, Image
from conncomp.kernels.cuda.grid.tiling import as_rows, choose_tile, count_tiles, tiling
from conncomp.kernels.cuda.launcher import (
    COUNT,
    THREADS,
    DeviceArray,
    DType,
    Gpu,
    Kernel,
    Module,
    Templates,
    launch,
)
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/grid/tiled_elements.cuh"
_OF_ALL = (
    "label_elements<{rule}, conncomp::ElementTiles<{rank}, {items}>, {index}>",
    "join_elements<{rule}, conncomp::ElementTiles<{rank}, {items}>, {index}>",
    "settle_elements<{index}, {items}>",
)
_KINDS: Any = {"rule": RULE_NAMES, "rank": (1, *RANKS), "items": (False, True), "indices": "index"}
_ROOTS = Templates(FILE, *_OF_ALL, **_KINDS)
_NUMBERS = Templates(FILE, *_OF_ALL, "number_elements<{index}, {items}>", **_KINDS)
# The logarithms of a tile's elements along each axis, from the last one, by the number of axes.
LOGS = {1: (9, 0, 0), 2: (5, 4, 0), 3: (5, 2, 2)}
MOST = 4096  # elements a multiprocessor: with more, bricks are faster
# There is a tile for each so many multiprocessors at least: smaller tiles have more borders.
SHARE = 4
NUMBERING_BLOCKS = 4  # a multiprocessor: each counts the roots of all chunks


def takes(gpu: Gpu, image: Image, index: DType, consecutive: bool) -> bool:
    """Return True: all are left to it."""
    return True


def fill_labels(
    gpu: Gpu, image: Image, labels: DeviceArray, workspace: Workspace, consecutive: bool
) -> DeviceArray:
    """Fill `labels` as `tiled_bricks.fill_labels` does."""
    plan, (settle, *number) = _unite(gpu, image, labels, workspace, consecutive)
    components, *by_word = workspace.take(gpu, *plan.parts)
    roots, in_chunk = by_word if consecutive else (None, None)
    launch(settle, plan.by_chunk, *plan.sizes, labels, roots, in_chunk, components)
    for number_elements in number:
        launch(number_elements, plan.by_element, *plan.sizes, labels, roots, in_chunk)
    return components


def fill_parents(gpu: Gpu, image: Image, labels: DeviceArray, workspace: Workspace) -> None:
    """Fill `labels` with each element's parent, which leads to its root, or -1 for background."""
    _unite(gpu, image, labels, workspace, consecutive=False)


def _unite(
    gpu: Gpu, image: Image, labels: DeviceArray, workspace: Workspace, consecutive: bool
) -> tuple[_Plan, list[Kernel]]:
    """Unite all that is linked; return the plan, and the kernels that are next."""
    plan = plan_of(image.geometry, image.rule_name, labels.dtype, gpu.multiprocessors, consecutive)
    label, join, *others = gpu.load(*plan.module)
    components, *_ = workspace.take(gpu, *plan.parts)
    launch(label, plan.by_tile, plan.tiles, image.rule, image.values, labels, components)
    if plan.joins:
        launch(join, plan.by_tile, plan.tiles, image.rule, image.values, labels)
    return plan, others


class _Plan(NamedTuple):
    """The choices of `fill_labels` for all arrays of one kind."""

    module: Module
    tiles: Any  # ``Tiling<rank, 0, GivenLogs>``
    sizes: tuple[int, int, int]  # elements of the array, of an item, and of a chunk
    joins: bool  # whether elements of different tiles, or at the ends of an axis, are neighbours
    by_tile: tuple[int, int]
    by_chunk: tuple[int, int]
    by_element: tuple[int, int]
    parts: tuple[tuple[int, Any], ...]


@lru_cache(maxsize=1024)
def plan_of(
    geometry: Geometry, rule: str, index: DType, multiprocessors: int, consecutive: bool
) -> _Plan:
    """Return how `fill_labels` labels arrays of a kind."""
    geometry = as_rows(geometry)
    shape, items = geometry.shape, geometry.items
    logs = choose_tile(shape, 0, LOGS[min(len(shape), 3)], -(-multiprocessors // (items * SHARE)))
    tiles = count_tiles(shape, 0, logs)
    size = items * geometry.item_size
    words, blocks = -(-size // WORD), -(-size // THREADS)
    rounds = -(-blocks // MOST_CHUNKS)
    chunks = -(-blocks // rounds)
    by_word = ((words, WORDS), (chunks, COUNT)) if consecutive else ()
    return _Plan(
        (_NUMBERS if consecutive else _ROOTS).module(rule, len(shape), items > 1, index),
        tiling(geometry, logs),
        (size, geometry.item_size, rounds * THREADS),
        tiles > 1 or any(geometry.steps.periodic),
        (items * tiles, 1 << sum(logs)),
        (chunks, THREADS),
        (min(blocks, NUMBERING_BLOCKS * multiprocessors), THREADS),
        ((items, COUNT), *by_word),
    )
