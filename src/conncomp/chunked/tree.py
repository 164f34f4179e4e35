"""The tree of unions of all chunks, by whatever engine calls functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.numbering import (
    Numbers,
    exchange_numbers,
    exchange_sizes,
    first_numbers,
    fold_counts,
    gathered_numbers,
    summed_sizes,
)
from conncomp.chunked.union import Linked, Table, Union, levels_of, tables_below, unite

# An engine: ``call(name, index, function, *arguments)`` calls a function now and returns what that
# does, or later and returns what stands for that among arguments of other calls. No two calls have
# the same name and index.
Call = Callable[..., Any]


def call_now(name: str, index: Index, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function: the engine that does all at once."""
    return function(*arguments)


class Part(NamedTuple):
    """What an engine returned for several chunks, and the place of one of them in it."""

    of_all: Any
    place: int


class Tree:
    """The unions of the chunks of one block of items, from the chunks up to one for all."""

    def __init__(self, layout: Layout, block: Index) -> None:
        self.block, self.layout = block, layout
        self.levels = levels_of(tuple(layout.counts[axis] for axis in layout.crossed))
        self.unions: list[dict[Index, Any]] = []
        self.tables: list[dict[Index, Any]] = []

    def chunk(self, region: Index) -> Index:
        """Return the index of a chunk, given that along the axes with several chunks."""
        if len(region) == len(self.layout.counts):
            return region
        index = [0] * len(self.layout.counts)
        index[: len(self.block)] = self.block
        for axis, k in zip(self.layout.crossed, region, strict=True):
            index[axis] = k
        return tuple(index)

    def groups(self, height: int) -> Iterator[tuple[Index, list[Index]]]:
        """Yield each union of a level, and the regions that it joins."""
        level = self.levels[height]
        for group in product(*map(range, level.groups)):
            yield group, level.members(group)

    def unite(self, call: Call, linked: Mapping[Index, Any]) -> None:
        """Make all unions, up, and the tables of all regions, down."""
        below = self._by_region(linked)
        top = len(self.levels) - 1
        for height, level in enumerate(self.levels):
            self.unions.append({})
            for group, members in self.groups(height):
                outer = tuple(level.outer(group, member) for member in members)
                given = outer, *(below[member] for member in members)
                union = call(f"unite-{height}", self.block + group, unite, *given)
                self.unions[height][group] = union
            if height < top:
                below = {
                    group: call(f"region-{height}", self.block + group, _region, union)
                    for group, union in self.unions[height].items()
                }
        self.tables = [{} for _ in self.levels]
        for height in reversed(range(len(self.levels))):
            for group, union in self.unions[height].items():
                above = self._above(self.tables, height, group) if height < top else ()
                self.tables[height][group] = call(
                    f"tables-{height}", self.block + group, tables_below, union, *above
                )

    def exchange(self, call: Call, published: Mapping[Index, Any]) -> dict[Index, Part]:
        """Return for each chunk its table, and the numbers of what its open roots have become."""
        regions = [self._by_region(published)]
        for height in range(len(self.levels) - 1):
            gathered = {}
            for group, members in self.groups(height):
                given = self.unions[height][group], *(regions[height][k] for k in members)
                gathered[group] = call(f"gather-{height}", self.block + group, _gather, *given)
            regions.append(gathered)
        numbers: list[dict[Index, Any]] = [{} for _ in self.levels]
        for height in reversed(range(len(self.levels))):
            for group, members in self.groups(height):
                numbers[height][group] = call(
                    f"numbers-{height}",
                    self.block + group,
                    _exchange if height else _exchange_with_tables,
                    self.tables[height][group],
                    *self._above(numbers, height, group),
                    *(regions[height][k] for k in members),
                )
        return self._parts(numbers)

    def total(self, call: Call, sizes: Mapping[Index, Any]) -> dict[Index, Part]:
        """Return the sizes of the open components of each chunk, given those of parts in chunks."""
        below = self._by_region(sizes)
        sums: list[dict[Index, Any]] = []
        for height, unions in enumerate(self.unions):
            summed = {}
            for group, members in self.groups(height):
                given = unions[group], *(below[member] for member in members)
                summed[group] = call(f"sum-{height}", self.block + group, summed_sizes, *given)
            below = summed
            sums.append(below)
        totals: list[dict[Index, Any]] = [{} for _ in self.levels]
        for height in reversed(range(len(self.levels))):
            for group, union in self.unions[height].items():
                totals[height][group] = call(
                    f"whole-{height}",
                    self.block + group,
                    exchange_sizes,
                    union,
                    self.tables[height][group],
                    *self._above(totals, height, group),
                    sums[height][group],
                )
        return self._parts(totals)

    def count_before(
        self, call: Call, counts: Mapping[Index, Any]
    ) -> tuple[dict[Index, Part], Any]:
        """Return for each chunk how many roots are before its segments, and how many items have.

        `counts` has what `stages.count` returned for each chunk.
        """
        layout, block, crossed = self.layout, self.block, self.layout.crossed
        lengths = self.levels[0].counts
        children: dict[Index, list[Any]] = {
            group: [counts[self.chunk((*group, k))] for k in range(lengths[-1])]
            for group in product(*map(range, lengths[:-1]))
        }
        levels = [children]
        for j in reversed(range(1, len(crossed))):
            folded = {}
            for group, of_axis in levels[0].items():
                # How many places chunks have along the axes before the one that is folded.
                shape = layout.chunk_shape(self.chunk(group + (0,) * (len(crossed) - j)))
                segments = prod(shape[: crossed[j - 1]])
                folded[group] = call(f"fold-{j}", block + group, fold_counts, segments, *of_axis)
            above: dict[Index, list[Any]] = {
                group: [folded[(*group, k)] for k in range(lengths[j - 1])]
                for group in product(*map(range, lengths[: j - 1]))
            }
            levels.insert(0, above)
        items = prod(layout.chunk_shape(self.chunk((0,) * len(crossed)))[: layout.batch_axes])
        total = call("fold-0", block, fold_counts, items, *levels[0][()])
        bases: dict[Index, Part] = {(): Part(np.zeros((1, items), np.int64), 0)}
        for j, level in enumerate(levels):
            following: dict[Index, Part] = {}
            for group, of_axis in level.items():
                first = call(f"first-{j}", block + group, first_numbers, *bases[group], *of_axis)
                following |= {(*group, k): Part(first, k) for k in range(lengths[j])}
            bases = following
        return {self.chunk(region): base for region, base in bases.items()}, total

    def _above(self, of_levels: list[dict[Index, Any]], height: int, group: Index) -> Part:
        """Return what a union is told by the one above; None where there is none."""
        if height + 1 == len(self.levels):
            return Part(None, 0)
        level = self.levels[height + 1]
        parent = tuple(k // size for k, size in zip(group, level.size, strict=True))
        return Part(of_levels[height + 1][parent], level.members(parent).index(group))

    def parts(self) -> dict[Index, Part]:
        """Return for each chunk its table."""
        return self._parts(self.tables)

    def _parts(self, of_levels: list[dict[Index, Any]]) -> dict[Index, Part]:
        return {
            self.chunk(member): Part(of_levels[0][group], place)
            for group, members in self.groups(0)
            for place, member in enumerate(members)
        }

    def _by_region(self, of_chunks: Mapping[Index, Any]) -> dict[Index, Any]:
        """Return what there is for each chunk of the block, by its index in the tree."""
        regions = product(*map(range, self.levels[0].counts))
        return {region: of_chunks[self.chunk(region)] for region in regions}


def _region(union: Union) -> Linked:
    return Linked(union.open, union.pairs)


def _gather(union: Union, *published: Numbers) -> Numbers:
    return gathered_numbers(published, union.open.roots)


def _exchange(
    tables: list[Table], above: list[Numbers] | None, place: int, *published: Numbers
) -> list[Numbers]:
    known = published if above is None else (*published, above[place])
    return exchange_numbers(gathered_numbers(known), tables)


def _exchange_with_tables(tables: list[Table], *others: Any) -> list[tuple[Table, Numbers]]:
    """Do what `_exchange` does, for chunks, of which tasks take both."""
    return list(zip(tables, _exchange(tables, *others), strict=True))
