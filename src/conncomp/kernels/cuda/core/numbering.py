"""From roots to labels on the GPU: drives ``numbering.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.root_bits import MOST_WORDS_IN_BLOCK
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, launch
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/core/numbering.cuh"
# Of what makes and numbers words of roots, here and in the defaults for arrays.
THREADS, WORD = 256, 32
WORDS = np.dtype(np.uint32)
# Chunks of words whose roots the defaults count together; each adds up the counts of those before.
MOST_CHUNKS = 4096
LABELS_AT_ONCE = 4
# Kernels that come last: numbers of one item, of several, or their counts alone.
_ONE, _SEVERAL = "number_labels<{}, false>", "number_labels<{}, true>"
_COUNTS = "count_roots<{}>"
# Chunks are whole rounds of a block's words, and no more than run at once: each adds up the counts
# of those before it.
ROUND = THREADS // WORD * LABELS_AT_ONCE


def number_roots(gpu: Gpu, labels: Any, first: int, workspace: Workspace, items: int = 1) -> Any:
    """Replace the roots in `labels` by consecutive numbers from `first`, and -1 by 0.

    Parameters
    ----------
    gpu : Gpu
    labels : array of int32 or int64, one-dimensional
        The root of each index, or -1 for background. A root is an index in this array, which may
        hold several items.
    first : int
        The number of the first component: 0, or 1 where there is background.
    workspace : Workspace
    items : int, optional
        How many items of one size there are; numbers begin anew for each.

    Returns
    -------
    array of int64, shape (items,)
        The number of components of each item, in `workspace`.
    """
    count, last = len(labels), _last(items)
    if _are_few(count, items):
        return _number_few(gpu, labels, first, workspace)
    roots, numbers, components = _find_root_bits(gpu, labels, workspace, items, last)
    if count:
        *_, number = gpu.load(FILE, _names(labels.dtype, last))
        grid = gpu.blocks(-(-count // LABELS_AT_ONCE), THREADS), THREADS
        start = labels.dtype.type(first)
        launch(number, grid, count, items, start, labels, roots, numbers, components)
    return components


def modules_of(labels: Any, items: int = 1) -> list[tuple[str, tuple[str, ...]]]:
    """Return the (file, names) that `number_roots` loads."""
    if _are_few(len(labels), items):
        return [(FILE, _names_of_few(labels.dtype))]
    return [(FILE, _names(labels.dtype, _last(items)))] if len(labels) else []


def _last(items: int) -> str:
    """Return the kernel that numbers the labels of so many items."""
    return _ONE if items == 1 else _SEVERAL


def _are_few(count: int, items: int) -> bool:
    """Whether each block numbers all words of roots itself."""
    return 0 < count <= MOST_WORDS_IN_BLOCK * WORD and items == 1


def _number_few(gpu: Gpu, labels: Any, first: int, workspace: Workspace) -> Any:
    """Do what `number_roots` does for one item, whose words of roots each block numbers itself."""
    count = len(labels)
    words = -(-count // WORD)
    roots, in_chunk, components = workspace.take(
        gpu, (words, WORDS), (-(-words // ROUND), COUNT), (1, COUNT)
    )
    mark, number = gpu.load(FILE, _names_of_few(labels.dtype))
    launch(mark, (len(in_chunk), THREADS), count, words, ROUND, labels, roots, in_chunk)
    grid = gpu.blocks(-(-count // LABELS_AT_ONCE), THREADS), THREADS
    launch(number, grid, count, labels.dtype.type(first), labels, roots, components)
    return components


def count_roots(gpu: Gpu, labels: Any, workspace: Workspace, items: int = 1) -> Any:
    """Return the number of components of each item, as `number_roots` does; `labels` stay."""
    last = _COUNTS
    roots, numbers, components = _find_root_bits(gpu, labels, workspace, items, last)
    if len(labels):
        *_, count = gpu.load(FILE, _names(labels.dtype, last))
        launch(
            count,
            (gpu.blocks(items, THREADS), THREADS),
            len(labels),
            items,
            roots,
            numbers,
            components,
        )
    return components


def place_roots_within_items(gpu: Gpu, labels: Any, items: int) -> None:
    """Replace the roots in `labels`, indices in all items, by indices within their item.

    Parameters
    ----------
    gpu, labels, items
        As for `number_roots`.
    """
    if items > 1 and len(labels):
        (within,) = gpu.load(FILE, _names_within(labels.dtype))
        grid = gpu.blocks(len(labels), THREADS), THREADS
        launch(within, grid, len(labels), items, labels)


def _find_root_bits(
    gpu: Gpu, labels: Any, workspace: Workspace, items: int, last: str
) -> tuple[Any, Any, Any]:
    """Return bits of roots, the label of the first root of each word, and memory for counts.

    `last` is the kernel that comes then, which is compiled with those that are launched here.
    """
    count = len(labels)
    words = -(-count // WORD)
    most_chunks = gpu.resident_threads // THREADS
    chunk = max(1, -(-words // (most_chunks * ROUND))) * ROUND
    chunks = -(-words // chunk)
    roots, in_chunk, numbers, components = workspace.take(
        gpu, (words, WORDS), (chunks, COUNT), (words, labels.dtype), (items, COUNT)
    )
    if count:
        mark, number_words, _ = gpu.load(FILE, _names(labels.dtype, last))
        grid = chunks, THREADS
        launch(mark, grid, count, words, chunk, labels, roots, in_chunk)
        launch(number_words, grid, words, chunk, roots, in_chunk, numbers)
    else:
        components.fill(0)
    return roots, numbers, components


@cache
def _names(index: np.dtype[Any], last: str) -> tuple[str, ...]:
    kinds = "mark_roots<{}>", "number_words<{}>", last
    return tuple(kind.format(ctype(index)) for kind in kinds)


@cache
def _names_of_few(index: np.dtype[Any]) -> tuple[str, ...]:
    return f"mark_roots<{ctype(index)}>", f"number_few_labels<{ctype(index)}>"


@cache
def _names_within(index: np.dtype[Any]) -> tuple[str, ...]:
    return (f"roots_within_items<{ctype(index)}>",)


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that the functions here can load."""
    for index in INDEX_TYPES:
        for last in (_ONE, _SEVERAL, _COUNTS):
            yield FILE, _names(index, last)
        yield FILE, _names_of_few(index)
        yield FILE, _names_within(index)
