"""Consecutive numbers of roots in C order of the whole array, from counts in segments of chunks.

The number of a root is how many roots there are before it. Elements of a chunk that follow each
other in the whole array are a segment; a chunk counts its roots in each. For an array with axes y
and x that are cut, those before a root are

    in all chunks of earlier y
    in the chunks of the same y: in earlier rows of these, and in the row of chunks of earlier x
    in the segment

so counts are summed along one axis with several chunks after the other, the last one first
(`fold_counts`), and sums come back (`first_numbers`). A table has the segments of the chunks along
one axis, at most.

A chunk then knows the numbers of the roots in it. Those of components on faces are published, and
go to the chunks that have another part of the component through the tree of unions
(`exchange_numbers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked.faces import Report
from conncomp.chunked.union import Table, look_up

Indices = NDArray[np.int64]


class Numbers(NamedTuple):
    """The numbers of some roots, which ascend."""

    roots: Indices
    numbers: Indices


def count_final_roots(report: Report, table: Table) -> Indices:
    """Return how many roots of the whole array each segment of a chunk has."""
    counts = report.counts.copy()
    np.subtract.at(counts, report.segments[replaced(report, table)], 1)
    return counts


def replaced(report: Report, table: Table) -> NDArray[np.bool_]:
    """Return which components of a report have a root in another chunk."""
    gone: NDArray[np.bool_] = look_up(table, report.roots) != report.roots
    return gone


def fold_counts(children: Sequence[Indices], segments: int) -> Indices:
    """Add counts of chunks along one axis, for those along the axis with several chunks before it.

    Each child has a count for each place along the axes before this one; sums of so many as a
    segment of the axis before has are returned.
    """
    total = np.sum(np.stack(children), axis=0)
    folded: Indices = total.reshape(segments, -1).sum(axis=1)
    return folded


def first_numbers(base: Indices, children: Sequence[Indices]) -> list[Indices]:
    """Return how many roots are before each place of chunks along one axis.

    `base` has how many are before the segments that `fold_counts` returned a sum for.
    """
    total = np.sum(np.stack(children), axis=0).reshape(len(base), -1)
    before = (base[:, None] + np.cumsum(total, axis=1) - total).reshape(-1)
    bases = []
    for counts in children:
        bases.append(before)
        before = before + counts
    return bases


def published_numbers(report: Report, table: Table, counts: Indices, base: Indices) -> Numbers:
    """Return the numbers, from 1, of the roots of the whole array that a report has.

    `counts` are of `count_final_roots`; `base` has how many roots are before each segment.
    """
    gone = replaced(report, table)
    own, others = ~gone, report.labels[gone]
    rank = report.labels[own] - 1 - np.searchsorted(others, report.labels[own])
    segments = report.segments[own]
    numbers = base[segments] + rank - (np.cumsum(counts) - counts)[segments] + 1
    return Numbers(report.roots[own], numbers)


def gathered_numbers(published: Sequence[Numbers], wanted: Indices | None = None) -> Numbers:
    """Return the numbers of several regions as one, of `wanted` roots only if these are given."""
    roots = np.concatenate([each.roots for each in published])
    numbers = np.concatenate([each.numbers for each in published])
    if wanted is not None:
        kept = np.isin(roots, wanted)
        roots, numbers = roots[kept], numbers[kept]
    order = np.argsort(roots)
    return Numbers(roots[order], numbers[order])


def exchange_numbers(known: Numbers, tables: Sequence[Table]) -> list[Numbers]:
    """Return, for each region of a union, the numbers of what its open roots become at last."""
    numbers = []
    for table in tables:
        wanted = np.unique(table.replaced)
        where = np.searchsorted(known.roots, wanted)
        numbers.append(Numbers(wanted, known.numbers[where]))
    return numbers
