"""Consecutive numbers of roots in C order of the whole array, from counts in segments of chunks.

The number of a root is how many roots there are before it. Elements of a chunk that follow each
other in the whole array are a segment; a chunk counts its roots in each. For an array with axes y
and x that are cut, those before a root are

    in all chunks of earlier y
    in the chunks of the same y: in earlier rows of these, and in the row of chunks of earlier x
    in the segment

so counts are summed along one cut axis after the other, the last one first (`fold_counts`), and
sums come back (`first_numbers`). A table has the segments of the chunks along one axis, at most.

A chunk then knows the numbers of the roots in it. Those of components on faces are published, and
go through the tree of unions to the chunks with other parts (`exchange_numbers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked.labelling import Report
from conncomp.chunked.union import RootTable, Union, look_up

Indices = NDArray[np.int64]


class ByRoot(NamedTuple):
    """The numbers of some roots, which ascend."""

    roots: Indices
    numbers: Indices


class FinalRoots(NamedTuple):
    """The components of a report in the whole array."""

    roots: Indices
    gone: NDArray[np.bool_]  # whether the root is in another chunk
    counts: Indices  # of roots of the whole array in each segment of the chunk


def final_roots(report: Report, table: RootTable) -> FinalRoots:
    """Return what the components of a report have become, by the table of the chunk."""
    roots, counts = look_up(table, report.roots), report.counts.copy()
    gone = roots != report.roots
    np.subtract.at(counts, report.segments[gone], 1)
    return FinalRoots(roots, gone, counts)


def fold_counts(segments: int, *children: Indices) -> Indices:
    """Add counts of chunks along one axis, by place, to segments of the axis cut before it."""
    return np.asarray(np.sum(children, axis=0).reshape(segments, -1).sum(axis=1))


def first_numbers(base: Indices, *children: Indices) -> list[Indices]:
    """Return the roots before each place of chunks along one axis, by those before its sums."""
    total = np.sum(children, axis=0).reshape(len(base), -1)
    before = (base[:, None] + np.cumsum(total, axis=1) - total).reshape(-1)
    return [before + counts for counts in accumulate(children[:-1], initial=0 * before)]


def publish(report: Report, final: FinalRoots, base: Indices) -> ByRoot:
    """Return the numbers, from 1, of a report's own roots; a base has those before segments."""
    own, counts = ~final.gone, final.counts
    rank = report.labels[own] - np.searchsorted(report.labels[final.gone], report.labels[own])
    before = base - (np.cumsum(counts) - counts)
    return ByRoot(report.roots[own], before[report.segments[own]] + rank)


def numbers_of_chunk(report: Report, final: FinalRoots, base: Indices, numbers: ByRoot) -> Indices:
    """Return the number of each component of a chunk, after a 0; `numbers` are of others' roots."""
    counts, labels = final.counts, report.labels[final.gone]
    own = np.ones(int(report.counts.sum()) + 1, bool)
    own[0] = False
    own[labels] = False
    result = np.zeros(len(own), np.int64)
    before = base - (np.cumsum(counts) - counts)
    result[own] = np.arange(1, int(counts.sum()) + 1) + np.repeat(before, counts)
    result[labels] = look_up_numbers(numbers, final.roots[final.gone])
    return result


def gathered_numbers(published: Iterable[ByRoot | None], wanted: Indices | None = None) -> ByRoot:
    """Return the numbers of several regions as one, of `wanted` roots only if these are given."""
    parts = [each for each in published if each is not None]
    roots, numbers = map(np.concatenate, zip(*parts, strict=True))
    if wanted is not None:
        kept = np.isin(roots, wanted)
        roots, numbers = roots[kept], numbers[kept]
    order = np.argsort(roots)
    return ByRoot(roots[order], numbers[order])


def exchange_numbers(known: ByRoot, tables: Sequence[RootTable]) -> list[ByRoot]:
    """Return, for each region of a union, the numbers of what its open roots become at last."""
    wanted = [np.unique(table.replaced) for table in tables]
    return [ByRoot(roots, look_up_numbers(known, roots)) for roots in wanted]


def summed_sizes(union: Union, *regions: ByRoot) -> ByRoot:
    """Return the sizes of what open components of several regions have become in their union."""
    roots, sizes = [], []
    for table, region in zip(union.tables, regions, strict=True):
        is_open = np.isin(region.roots, table.roots)
        roots.append(look_up(table, region.roots[is_open]))
        sizes.append(region.numbers[is_open])
    return ByRoot(*summed_by_key(np.concatenate(roots), np.concatenate(sizes)))


def summed_by_key(keys: NDArray[Any], values: Indices, axis: int | None = None) -> Any:
    """Return the distinct keys, ascending, and the sum of the values of each."""
    distinct, place = np.unique(keys, axis=axis, return_inverse=True)
    sums = np.zeros((len(distinct), *values.shape[1:]), np.int64)
    np.add.at(sums, place.reshape(-1), values)
    return distinct, sums


def look_up_numbers(known: ByRoot, roots: Indices) -> Indices:
    """Return the sizes, or numbers, of some roots, all of which are there."""
    return known.numbers[np.searchsorted(known.roots, roots)]


def exchange_sizes(
    above: ByRoot | None, union: Union, tables: list[RootTable], sums: ByRoot
) -> list[ByRoot]:
    """Return as `exchange_numbers` does the sizes of components, by `summed_sizes` of a union."""
    whole = ~np.isin(sums.roots, union.open.roots)  # what touches no outer side of the union
    own = ByRoot(sums.roots[whole], sums.numbers[whole])
    return exchange_numbers(gathered_numbers((own, above)), tables)
