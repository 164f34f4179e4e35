"""From roots to labels on the GPU: drives ``numbering.cuh``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.launcher import (
    COUNT,
    THREADS,
    DeviceArray,
    Gpu,
    Module,
    Templates,
    launch,
)
from conncomp.kernels.cuda.workspace import PlacedStruct, Workspace

FILE = "cuda/core/numbering.cuh"
WORD = 32
WORDS = np.dtype(np.uint32)
# Chunks of words whose roots defaults count together; each adds up the counts before it.
MOST_CHUNKS = 4096
LABELS_AT_ONCE = 4
# An item may have so many words of roots for each block to number them for itself.
MOST_WORDS_IN_BLOCK = 2048
# What comes last is numbers of one item, of several, or their counts alone.
_ONE, _SEVERAL, _COUNTS = (
    Templates(FILE, "mark_roots", "number_words", last, indices="index")
    for last in ("number_labels<{index}, false>", "number_labels<{index}, true>", "count_roots")
)
_FEW = Templates(FILE, "mark_roots", "number_few_labels", indices="index")
_WITHIN = Templates(FILE, "roots_within_items", indices="index")
# Chunks are whole rounds of a block's words, and no more than run at once.
ROUND = THREADS // WORD * LABELS_AT_ONCE


class ByWord(NamedTuple):
    """What drivers number roots by: parts of a workspace, or their arrays."""

    roots_of_word: Any = None  # a bit for each of 32 indices
    number_of_word: Any = None  # of its first root
    in_chunk: Any = None  # how many roots a chunk of words has

    @classmethod
    def of(cls, placed: PlacedStruct) -> ByWord:
        """Return the arrays that were taken with a struct."""
        return cls(*map(placed.__getitem__, cls._fields))


def number_roots(gpu: Gpu, labels: Any, first: int, workspace: Workspace, items: int = 1) -> Any:
    """Replace the roots in `labels` by consecutive numbers from `first`, and -1 by 0.

    `labels` is one-dimensional and may hold `items` of one size: roots are indices in all of it,
    and numbers restart for each. Return the components of each item, int64 in `workspace`.
    """
    count, kernels = len(labels), _kernels_of(len(labels), items)
    if kernels is _FEW:
        return _number_few(gpu, labels, first, workspace)
    roots, numbers, components = _find_root_bits(gpu, labels, workspace, items, kernels)
    if count:
        *_, number = kernels.load(gpu, labels.dtype)
        grid = gpu.grid(count, each=LABELS_AT_ONCE)
        start = labels.dtype.type(first)
        launch(number, grid, count, items, start, labels, roots, numbers, components)
    return components


def chunks_of(words: int) -> tuple[int, int]:
    """Return how many words are counted together, and how many such chunks there are."""
    chunk = THREADS * -(-words // (THREADS * MOST_CHUNKS))
    return chunk, -(-words // chunk)


def modules_of(labels: DeviceArray, items: int) -> list[Module]:
    """Return the modules that `number_roots` loads."""
    return [_kernels_of(len(labels), items).module(labels.dtype)] if len(labels) else []


def _kernels_of(count: int, items: int) -> Templates:
    """Return what numbers labels: `_FEW` where each block numbers all words of roots itself."""
    if items > 1:
        return _SEVERAL
    return _FEW if 0 < count <= MOST_WORDS_IN_BLOCK * WORD else _ONE


def _number_few(gpu: Gpu, labels: DeviceArray, first: int, workspace: Workspace) -> DeviceArray:
    """Write numbers where each block numbers all words of roots."""
    count = len(labels)
    words = -(-count // WORD)
    parts = (words, WORDS), (-(-words // ROUND), COUNT), (1, COUNT)
    roots, in_chunk, components = workspace.take(gpu, *parts)
    mark, number = _FEW.load(gpu, labels.dtype)
    launch(mark, (len(in_chunk), THREADS), count, words, ROUND, labels, roots, in_chunk)
    grid = gpu.grid(count, each=LABELS_AT_ONCE)
    launch(number, grid, count, labels.dtype.type(first), labels, roots, components)
    return components


def count_roots(gpu: Gpu, labels: DeviceArray, workspace: Workspace, items: int = 1) -> DeviceArray:
    """Return the number of components of each item, as `number_roots`; `labels` stay."""
    roots, numbers, components = _find_root_bits(gpu, labels, workspace, items, _COUNTS)
    if len(labels):
        *_, count = _COUNTS.load(gpu, labels.dtype)
        launch(count, gpu.grid(items), len(labels), items, roots, numbers, components)
    return components


def place_roots_within_items(gpu: Gpu, labels: DeviceArray, items: int) -> None:
    """Replace the roots in `labels`, indices in all items, by indices within their item."""
    if items > 1 and len(labels):
        launch(_WITHIN.one(gpu, labels.dtype), gpu.grid(len(labels)), len(labels), items, labels)


def _find_root_bits(
    gpu: Gpu, labels: DeviceArray, workspace: Workspace, items: int, kernels: Templates
) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """Return bits of roots, the label of each word's first root, and memory for counts.

    `kernels` are compiled with the one launched after these.
    """
    count = len(labels)
    words = -(-count // WORD)
    chunk = max(1, -(-words // (gpu.resident_threads // THREADS * ROUND))) * ROUND
    chunks = -(-words // chunk)
    parts = (words, WORDS), (chunks, COUNT), (words, labels.dtype), (items, COUNT)
    roots, in_chunk, numbers, components = workspace.take(gpu, *parts)
    if count:
        mark, number_words, _ = kernels.load(gpu, labels.dtype)
        grid = chunks, THREADS
        launch(mark, grid, count, words, chunk, labels, roots, in_chunk)
        launch(number_words, grid, words, chunk, roots, in_chunk, numbers)
    else:
        components.fill(0)
    return roots, numbers, components
