"""Sizes of components of regions, summed up the tree of unions."""

from __future__ import annotations

import numpy as np

from conncomp.chunked.numbering import Indices, Numbers, exchange_numbers, gathered_numbers
from conncomp.chunked.union import Table, Union, look_up


def summed_sizes(union: Union, *regions: Numbers) -> Numbers:
    """Return the sizes of what open components of several regions, of some sizes, have become."""
    roots, sizes = [], []
    for table, region in zip(union.tables, regions, strict=True):
        is_open = np.isin(region.roots, table.roots)
        roots.append(look_up(table, region.roots[is_open]))
        sizes.append(region.numbers[is_open])
    distinct, place = np.unique(np.concatenate(roots), return_inverse=True)
    total = np.zeros(len(distinct), np.int64)
    np.add.at(total, place.reshape(-1), np.concatenate(sizes))
    return Numbers(distinct, total)


def whole_sizes(union: Union, sums: Numbers) -> Numbers:
    """Return the sizes of what touches no outer side of a union: they are whole."""
    whole = ~np.isin(sums.roots, union.open.roots)
    return Numbers(sums.roots[whole], sums.numbers[whole])


def look_up_sizes(totals: Numbers, roots: Indices) -> Indices:
    """Return the sizes of some components, all of which are there."""
    return totals.numbers[np.searchsorted(totals.roots, roots)]


def exchange_sizes(
    union: Union, tables: list[Table], above: list[Numbers] | None, place: int, sums: Numbers
) -> list[Numbers]:
    """Return, for each region of a union, the sizes of what its open roots have become.

    Tables say what they have become at last; `above` is what this returned for the union above, if
    there is one, and `sums` what `summed_sizes` did for this one.
    """
    known = [whole_sizes(union, sums)]
    if above is not None:
        known.append(above[place])
    return exchange_numbers(gathered_numbers(known), tables)
