"""The tree of unions of all chunks, by whatever engine calls functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from conncomp.chunked.engine import Call, Part
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.numbering import Numbers, exchange_numbers, gathered_numbers
from conncomp.chunked.sums import exchange_sizes, summed_sizes
from conncomp.chunked.union import Indices, Open, Table, Union, levels_of, tables_below, unite


class Linked(NamedTuple):
    """What a union has to know of a region."""

    open: Open
    pairs: Indices


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

    def parent(self, height: int, region: Index) -> tuple[Index, int]:
        """Return the union of a level that joins a region, and its place there."""
        level = self.levels[height]
        group = tuple(k // size for k, size in zip(region, level.size, strict=True))
        return group, level.members(group).index(region)

    def unite(self, call: Call, linked: Mapping[Index, Any]) -> None:
        """Make all unions, up, and the tables of all regions, down."""
        below = {
            region: linked[self.chunk(region)] for region in product(*map(range, self._lengths(0)))
        }
        top = len(self.levels) - 1
        for height, level in enumerate(self.levels):
            self.unions.append({})
            for group, members in self.groups(height):
                outer = tuple(level.outer(group, member) for member in members)
                self.unions[height][group] = call(
                    f"unite-{height}",
                    self.block + group,
                    _unite,
                    outer,
                    *(below[member] for member in members),
                )
            if height < top:
                below = {
                    group: call(f"region-{height}", self.block + group, _region, union)
                    for group, union in self.unions[height].items()
                }
        self.tables = [{} for _ in self.levels]
        for height in reversed(range(len(self.levels))):
            for group, union in self.unions[height].items():
                above: tuple[Any, ...] = ()
                if height < top:
                    parent, place = self.parent(height + 1, group)
                    above = self.tables[height + 1][parent], place
                self.tables[height][group] = call(
                    f"tables-{height}", self.block + group, _tables, union, *above
                )

    def exchange(self, call: Call, published: Mapping[Index, Any]) -> dict[Index, Part]:
        """Return for each chunk its table, and the numbers of what its open roots have become."""
        regions = [
            {
                region: published[self.chunk(region)]
                for region in product(*map(range, self._lengths(0)))
            }
        ]
        top = len(self.levels) - 1
        for height in range(top):
            regions.append(
                {
                    group: call(
                        f"gather-{height}",
                        self.block + group,
                        _gather,
                        self.unions[height][group],
                        *(regions[height][k] for k in members),
                    )
                    for group, members in self.groups(height)
                }
            )
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
        below = {
            region: sizes[self.chunk(region)] for region in product(*map(range, self._lengths(0)))
        }
        sums: list[dict[Index, Any]] = []
        for height, unions in enumerate(self.unions):
            below = {
                group: call(
                    f"sum-{height}",
                    self.block + group,
                    summed_sizes,
                    unions[group],
                    *(below[member] for member in members),
                )
                for group, members in self.groups(height)
            }
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

    def _above(self, of_levels: list[dict[Index, Any]], height: int, group: Index) -> Part:
        """Return what a union is told by the one above; None where there is none."""
        if height + 1 == len(self.levels):
            return Part(None, 0)
        parent, place = self.parent(height + 1, group)
        return Part(of_levels[height + 1][parent], place)

    def parts(self) -> dict[Index, Part]:
        """Return for each chunk its table."""
        return self._parts(self.tables)

    def _parts(self, of_levels: list[dict[Index, Any]]) -> dict[Index, Part]:
        return {
            self.chunk(member): Part(of_levels[0][group], place)
            for group, members in self.groups(0)
            for place, member in enumerate(members)
        }

    def _lengths(self, height: int) -> Index:
        return self.levels[height].counts


def _unite(outer: tuple[int, ...], *regions: Linked) -> Union:
    return unite([region.open for region in regions], [region.pairs for region in regions], outer)


def _region(union: Union) -> Linked:
    return Linked(union.open, union.pairs)


def _tables(union: Union, above: list[Table] | None = None, place: int = 0) -> list[Table]:
    return union.tables if above is None else tables_below(union, above[place])


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
