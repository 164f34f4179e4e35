"""The tree of unions of all chunks, by whatever engine calls functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp.chunked import numbering
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.union import Table, Union, levels_of, tables_below, unite

# An engine: ``call(name, index, function, *arguments)`` calls a function now or later, and returns
# its result or what stands for that in other calls. No two calls have the same name and index.
Call = Callable[..., Any]


def call_now(name: str, index: Index, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function: the engine that does all at once."""
    return function(*arguments)


class Part(NamedTuple):
    """What an engine returned for several chunks, and the place of one of them in it."""

    of_all: Any
    place: int


class Tree:
    """The unions of the chunks of one block of items, from the chunks up to one for all.

    What stands for chunks, regions and unions is in dictionaries by their index in the tree.
    """

    def __init__(self, call: Call, layout: Layout, block: Index) -> None:
        self._call, self.block, self.layout = call, block, layout
        self.levels = levels_of(tuple(layout.counts[axis] for axis in layout.crossed))
        self._unions: list[dict[Index, Any]] = []
        self._tables: list[dict[Index, Any]] = []
        index = [*block, *(0 for _ in layout.counts[len(block) :])]
        self._chunks = dict[Index, Index]()  # the index of each chunk, by that in the tree
        for region in product(*map(range, self.levels[0].counts)):
            for axis, k in zip(layout.crossed, region, strict=True):
                index[axis] = k
            self._chunks[region] = tuple(index)

    def unite(self, linked: Mapping[Index, Any]) -> None:
        """Make all unions, up, and the tables of all regions, down."""
        below = self._by_region(linked)
        for height, level in enumerate(self.levels):
            unions = {}
            for group, members in self._groups(height):
                outer = tuple(level.outer(group, member) for member in members)
                given = outer, *(below[member] for member in members)
                unions[group] = self._call(f"unite-{height}", self.block + group, unite, *given)
            self._unions.append(unions)
            below = unions
        self._tables = self._down("tables", tables_below, self._unions)

    def exchange(self, published: Mapping[Index, Any]) -> dict[Index, Part]:
        """Return for each chunk its table, and the numbers of what its open roots have become."""
        regions = [self._by_region(published)]
        regions += self._up("gather", _gather, regions[0], len(self.levels) - 1)
        return self._parts(self._down("numbers", _exchange, self._tables, of_members=regions))

    def total(self, sizes: Mapping[Index, Any]) -> dict[Index, Part]:
        """Return the sizes of the open components of each chunk, given those of parts in chunks."""
        sums = self._up("sum", numbering.summed_sizes, self._by_region(sizes), len(self.levels))
        known = self._unions, self._tables, sums
        return self._parts(self._down("whole", numbering.exchange_sizes, *known))

    def _groups(self, height: int) -> Iterator[tuple[Index, list[Index]]]:
        level = self.levels[height]
        for group in product(*map(range, level.groups)):
            yield group, level.members(group)

    def _up(
        self, name: str, function: Callable[..., Any], below: dict[Index, Any], top: int
    ) -> list[dict[Index, Any]]:
        """Return what a function makes of each union and what there is below, by level."""
        made, block = [], self.block
        for height in range(top):
            of_level = {}
            for group, members in self._groups(height):
                given = self._unions[height][group], *(below[member] for member in members)
                of_level[group] = self._call(f"{name}-{height}", block + group, function, *given)
            below = of_level
            made.append(of_level)
        return made

    def _down(
        self,
        name: str,
        function: Callable[..., Any],
        *of_unions: list[dict[Index, Any]],
        of_members: list[dict[Index, Any]] | None = None,
    ) -> list[dict[Index, Any]]:
        """Return what a function makes of each union, by level; of the highest one first.

        It takes a list that it has made for the union above and a place in it, or None and 0; then
        what there is for the union, and for its members.
        """
        made: list[dict[Index, Any]] = [{} for _ in self.levels]
        for height in reversed(range(len(self.levels))):
            for group, members in self._groups(height):
                above = Part(None, 0)
                if height + 1 < len(self.levels):
                    level = self.levels[height + 1]
                    parent = tuple(k // size for k, size in zip(group, level.size, strict=True))
                    place = level.members(parent).index(group)
                    above = Part(made[height + 1][parent], place)
                known = [of_levels[height][group] for of_levels in of_unions]
                if of_members is not None:
                    known += [of_members[height][member] for member in members]
                made[height][group] = self._call(
                    f"{name}-{height}", self.block + group, function, *above, *known
                )
        return made

    def count_before(self, counts: Mapping[Index, Any]) -> tuple[dict[Index, Part], Any]:
        """Return how many roots are before segments of each chunk, and how many items have."""
        call, layout, block = self._call, self.layout, self.block
        chunks, crossed = self._chunks, layout.crossed
        lengths = self.levels[0].counts
        children: dict[Index, list[Any]] = {
            group: [counts[chunks[(*group, k)]] for k in range(lengths[-1])]
            for group in product(*map(range, lengths[:-1]))
        }
        levels = [children]
        for j in reversed(range(1, len(crossed))):
            folded = {}
            for group, of_axis in levels[0].items():
                # How many places chunks have along the axes before the one that is folded.
                shape = layout.chunk_shape(chunks[group + (0,) * (len(crossed) - j)])
                segments = prod(shape[: crossed[j - 1]])
                given = numbering.fold_counts, segments, *of_axis
                folded[group] = call(f"fold-{j}", block + group, *given)
            above: dict[Index, list[Any]] = {
                group: [folded[(*group, k)] for k in range(lengths[j - 1])]
                for group in product(*map(range, lengths[: j - 1]))
            }
            levels.insert(0, above)
        items = prod(layout.chunk_shape(chunks[(0,) * len(crossed)])[: layout.batch_axes])
        total = call("fold-0", block, numbering.fold_counts, items, *levels[0][()])
        bases: dict[Index, Part] = {(): Part(np.zeros((1, items), np.int64), 0)}
        for j, level in enumerate(levels):
            following: dict[Index, Part] = {}
            for group, of_axis in level.items():
                to_add = numbering.first_numbers, *bases[group], *of_axis
                first = call(f"first-{j}", block + group, *to_add)
                following |= {(*group, k): Part(first, k) for k in range(lengths[j])}
            bases = following
        return {chunks[region]: base for region, base in bases.items()}, total

    def parts(self) -> dict[Index, Part]:
        """Return for each chunk its table."""
        return self._parts(self._tables)

    def _parts(self, of_levels: list[dict[Index, Any]]) -> dict[Index, Part]:
        return {
            self._chunks[member]: Part(of_levels[0][group], place)
            for group, members in self._groups(0)
            for place, member in enumerate(members)
        }

    def _by_region(self, of_chunks: Mapping[Index, Any]) -> dict[Index, Any]:
        return {region: of_chunks[index] for region, index in self._chunks.items()}


def _gather(union: Union, *published: numbering.Numbers) -> numbering.Numbers:
    return numbering.gathered_numbers(published, union.open.roots)


def _exchange(
    above: list[Any] | None, place: int, tables: list[Table], *others: numbering.Numbers
) -> list[tuple[Table, numbering.Numbers]]:
    """Return, for each region, its table and the numbers of what is in that; tasks take both."""
    known = others if above is None else (*others, above[place][1])
    exchanged = numbering.exchange_numbers(numbering.gathered_numbers(known), tables)
    return list(zip(tables, exchanged, strict=True))
