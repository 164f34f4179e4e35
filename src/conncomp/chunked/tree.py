"""The tree of unions of all chunks, by whatever engine calls functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count, product
from math import prod
from typing import Any, NamedTuple, Protocol

import numpy as np

from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.numbering import (
    ByRoot,
    exchange_numbers,
    exchange_sizes,
    first_numbers,
    fold_counts,
    gathered_numbers,
    summed_sizes,
)
from conncomp.chunked.union import RootTable, Union, levels_of, tables_below, unite

Function = Callable[..., Any]
Deferred = Any  # a result of a call of an engine, or what stands for it in later calls
OfChunks = Mapping[Index, Deferred]  # of each chunk, by its index
OfLevel = dict[Index, Deferred]  # of each region or union of a level, by its index in the tree
OfLevels = list[OfLevel]  # the lowest first


class Call(Protocol):
    """An engine, which calls functions now or later. No two calls have the same name and index."""

    def __call__(self, name: str, index: Index, function: Function, /, *arguments: Any) -> Deferred:
        """Return the result of a function, or what stands for it in later calls."""


def call_now(name: str, index: Index, function: Function, *arguments: Any) -> Any:
    """Call a function: the engine that does all at once."""
    return function(*map(entry_of, arguments))


def merged(call: Call, name: str, block: Index, parts: list[Any], join: Function, size: int) -> Any:
    """Return several parts merged to one by an engine, in a tree."""
    for height in count():
        groups = enumerate(parts[k : k + size] for k in range(0, len(parts), size))
        parts = [call(f"{name}-{height}", (*block, k), join, *group) for k, group in groups]
        if len(parts) == 1:
            return parts[0]


class Entry(NamedTuple):
    """Stands for an entry of a result, or of another entry; engines resolve it for calls."""

    of_all: Deferred
    place: int


def entry_of(argument: Any) -> Any:
    """Return what an argument stands for, given results themselves."""
    return entry_of(argument.of_all)[argument.place] if type(argument) is Entry else argument


class Tree:
    """The unions of the chunks of one block of items, by their index in the tree."""

    def __init__(self, call: Call, layout: Layout, block: Index) -> None:
        self._call, self.block, self.layout = call, block, layout
        self.levels = levels_of(tuple(layout.counts[axis] for axis in layout.crossed))
        indices = product(*((k,) for k in block), *map(range, layout.counts[len(block) :]))
        self._chunks = {tuple(index[axis] for axis in layout.crossed): index for index in indices}

    def unite(self, linked: OfChunks) -> dict[Index, Entry]:
        """Make all unions, up, and the tables of all regions, down; return those of chunks."""
        outer: OfLevels = []
        for height, level in enumerate(self.levels):
            groups = self._groups(height)
            outer.append({k: tuple(level.outer(k, j) for j in members) for k, members in groups})
        self._unions = self._up("unite", unite, outer, self._by_region(linked))
        self._tables, parts = self._down("tables", tables_below, self._unions)
        return parts

    def exchange(self, published: OfChunks) -> dict[Index, Entry]:
        """Return for each chunk the numbers of what its open roots have become."""
        regions = [self._by_region(published)]
        regions += self._up("gather", _gather, self._unions[:-1], regions[0])
        return self._down("numbers", _exchange, self._tables, of_members=regions)[1]

    def total(self, sizes: OfChunks) -> dict[Index, Entry]:
        """Return the sizes of the open components of each chunk, given those of parts in chunks."""
        sums = self._up("sum", summed_sizes, self._unions, self._by_region(sizes))
        return self._down("whole", exchange_sizes, self._unions, self._tables, sums)[1]

    def _groups(self, height: int) -> Iterator[tuple[Index, list[Index]]]:
        level = self.levels[height]
        for group in product(*map(range, level.groups)):
            yield group, level.members(group)

    def _up(self, name: str, function: Function, unions: OfLevels, below: OfLevel) -> OfLevels:
        """Return, by level, a function's results for each union and the results of its members."""
        made = []
        for height, known in enumerate(unions):
            call = partial(self._call, f"{name}-{height}")
            below = {
                group: call(self.block + group, function, known[group], *map(below.get, members))
                for group, members in self._groups(height)
            }
            made.append(below)
        return made

    def _down(
        self, name: str, function: Function, *unions: OfLevels, of_members: OfLevels | None = None
    ) -> tuple[OfLevels, dict[Index, Entry]]:
        """Return, by level, a function's results for each union, and the entry that a chunk has.

        From the highest level down, the function takes the entry of the union in the result above,
        or None; then what there is for the union, and for its members.
        """
        made: OfLevels = [{} for _ in self.levels]
        above: dict[Index, Entry] = {}
        for height in reversed(range(len(self.levels))):
            call, below = partial(self._call, f"{name}-{height}"), dict[Index, Entry]()
            for group, members in self._groups(height):
                arguments = [of_levels[height][group] for of_levels in unions]
                if of_members is not None:
                    arguments += [of_members[height][member] for member in members]
                result = call(self.block + group, function, above.get(group), *arguments)
                made[height][group] = result
                below |= {member: Entry(result, place) for place, member in enumerate(members)}
            above = below
        return made, {self._chunks[region]: part for region, part in above.items()}

    def count_before(self, counts: OfChunks) -> tuple[dict[Index, Entry], Deferred]:
        """Return how many roots are before segments of each chunk, and how many items have."""
        call, layout, block = self._call, self.layout, self.block
        chunks, crossed = self._chunks, layout.crossed
        lengths = self.levels[0].counts

        def lines(of_regions: OfLevel, j: int) -> dict[Index, list[Deferred]]:
            """Return lines of regions along the axis ``crossed[j]``, by the places before it."""
            groups = product(*map(range, lengths[:j]))
            return {group: [of_regions[*group, k] for k in range(lengths[j])] for group in groups}

        levels = [lines(self._by_region(counts), len(crossed) - 1)]
        for j in reversed(range(1, len(crossed))):
            folded = {}
            for group, of_axis in levels[0].items():
                # How many places chunks have along the axes before the one that is folded.
                shape = layout.chunk_shape(chunks[group + (0,) * (len(crossed) - j)])
                segments = prod(shape[: crossed[j - 1]])
                folded[group] = call(f"fold-{j}", block + group, fold_counts, segments, *of_axis)
            levels.insert(0, lines(folded, j - 1))
        items = prod(layout.chunk_shape(chunks[(0,) * len(crossed)])[: layout.batch_axes])
        total = call("fold-0", block, fold_counts, items, *levels[0][()])
        bases: OfLevel = {(): np.zeros(items, np.int64)}
        for j, level in enumerate(levels):
            following: OfLevel = {}
            for group, of_axis in level.items():
                first = call(f"first-{j}", block + group, first_numbers, bases[group], *of_axis)
                following |= {(*group, k): Entry(first, k) for k in range(lengths[j])}
            bases = following
        return {chunks[region]: base for region, base in bases.items()}, total

    def _by_region(self, of_chunks: OfChunks) -> OfLevel:
        return {region: of_chunks[index] for region, index in self._chunks.items()}


def _gather(union: Union, *published: ByRoot) -> ByRoot:
    return gathered_numbers(published, union.open.roots)


def _exchange(above: ByRoot | None, tables: list[RootTable], *others: ByRoot) -> list[ByRoot]:
    return exchange_numbers(gathered_numbers((*others, above)), tables)
