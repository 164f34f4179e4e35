"""Counts of roots along one axis after the other, by whatever engine calls functions."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod
from typing import Any

import numpy as np

from conncomp.chunked.engine import Call, Part
from conncomp.chunked.layout import Index
from conncomp.chunked.numbering import Indices, first_numbers, fold_counts
from conncomp.chunked.tree import Tree


def count_before(
    call: Call, tree: Tree, counts: Mapping[Index, Any]
) -> tuple[dict[Index, Part], Any]:
    """Return for each chunk how many roots are before its segments, and how many items have.

    `counts` has what `stages.count` returned for each chunk of the block.
    """
    layout, block = tree.layout, tree.block
    crossed = layout.crossed
    lengths = [layout.counts[axis] for axis in crossed]
    # How many places chunks have along the axes before each of those with several chunks.
    children: dict[Index, list[Any]] = {
        group: [counts[tree.chunk((*group, k))] for k in range(lengths[-1])]
        for group in product(*map(range, lengths[:-1]))
    }
    levels = [children]
    for j in reversed(range(1, len(crossed))):
        folded = {
            group: call(
                f"fold-{j}", block + group, fold_counts_of, _segments(tree, group), *of_axis
            )
            for group, of_axis in levels[0].items()
        }
        levels.insert(
            0,
            {
                group: [folded[(*group, k)] for k in range(lengths[j - 1])]
                for group in product(*map(range, lengths[: j - 1]))
            },
        )
    items = prod(layout.chunk_shape(tree.chunk((0,) * len(crossed)))[: layout.batch_axes])
    total = call("fold-0", block, fold_counts_of, items, *levels[0][()])
    bases: dict[Index, Part] = {(): Part(np.zeros((1, items), np.int64), 0)}
    for j, level in enumerate(levels):
        following: dict[Index, Part] = {}
        for group, of_axis in level.items():
            first = call(f"first-{j}", block + group, _first, *bases[group], *of_axis)
            following |= {(*group, k): Part(first, k) for k in range(lengths[j])}
        bases = following
    return {tree.chunk(region): base for region, base in bases.items()}, total


def fold_counts_of(segments: int, *children: Indices) -> Indices:
    """Call `fold_counts`."""
    return fold_counts(children, segments)


def _segments(tree: Tree, group: Index) -> int:
    """Return how many places chunks of a group have along the axes before the last one of it."""
    crossed = tree.layout.crossed
    chunk = tree.chunk(group + (0,) * (len(crossed) - len(group)))
    return prod(tree.layout.chunk_shape(chunk)[: crossed[len(group) - 1]])


def _first(base: Any, place: int, *children: Indices) -> list[Indices]:
    return first_numbers(base[place], children)
