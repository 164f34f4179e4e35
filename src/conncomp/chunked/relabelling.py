"""The third stage: labels of one chunk as the whole array has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp._arrays import new_array
from conncomp._core import native
from conncomp.chunked.faces import Report
from conncomp.chunked.labelling import ChunkLabels, first_elements, root_indices
from conncomp.chunked.numbering import Indices, Numbers, replaced
from conncomp.chunked.rules import Rules
from conncomp.chunked.union import Table, look_up
from conncomp.kernels.cuda.launcher import current_gpu


def roots_of_chunk(
    rules: Rules, start: tuple[int, ...], labelled: ChunkLabels, report: Report, table: Table
) -> Any:
    """Return the root in its item of each component of a chunk, after a -1 for the background.

    Parameters
    ----------
    rules, start, labelled, report
        As of `report_chunk`, and what that returned.
    table : Table
        What the roots of the report have become.
    """
    places = first_elements(labelled)
    own = root_indices(rules.shape, start, labelled.labels.shape, places)
    xp = np if isinstance(own, np.ndarray) else current_gpu().xp
    roots = xp.concatenate([xp.full(1, -1, np.int64), own % rules.item_size])
    final = look_up(table, report.roots) % rules.item_size
    roots[xp.asarray(report.labels)] = xp.asarray(final)
    return roots


def numbers_of_chunk(
    report: Report, table: Table, counts: Indices, base: Indices, numbers: Numbers
) -> Indices:
    """Return the consecutive number of each component of a chunk, after a 0 for the background.

    Parameters
    ----------
    report, table, counts, base
        As of `published_numbers`.
    numbers : Numbers
        Of what the roots of the report have become.
    """
    gone = replaced(report, table)
    labels = report.labels[gone]
    own = np.ones(int(report.counts.sum()) + 1, bool)
    own[0] = False
    own[labels] = False
    result = np.zeros(len(own), np.int64)
    before = base - (np.cumsum(counts) - counts)
    result[own] = np.arange(1, int(counts.sum()) + 1) + np.repeat(before, counts)
    where = np.searchsorted(numbers.roots, look_up(table, report.roots[gone]))
    result[labels] = numbers.numbers[where]
    return result


def relabel_chunk(labels: Any, table: Any, dtype: np.dtype[Any], out: Any = None) -> Any:
    """Return the labels of a chunk after each is replaced by its entry of a table.

    Parameters
    ----------
    labels : array of int32 or int64
        As of `ChunkLabels`.
    table : array of int64
        Of NumPy, or where the labels lie.
    dtype : dtype
        Of integers, of the result.
    out : array, optional
        In main memory, of `dtype`, int32 or int64: where the result is to lie, such as `labels`.

    Raises
    ------
    ValueError
        If an entry of the table is too large for `dtype`.
    """
    largest = int(table.max())
    if largest > np.iinfo(dtype).max:
        raise ValueError(
            f"dtype is {dtype}, too small for labels up to {largest}; use "
            f"{np.min_scalar_type(largest)}"
        )
    filled = np.dtype(np.int32 if dtype.itemsize <= 4 and dtype != np.uint32 else np.int64)
    table = table.astype(filled, copy=False)
    if isinstance(labels, np.ndarray):
        if out is None:
            out = new_array(np, labels.shape, filled)
        native.replace_labels(labels.reshape(-1), -1, table, out.reshape(-1))
        return out.astype(dtype, copy=False)
    placed = current_gpu().xp.asarray(table).astype(dtype, copy=False)
    return placed[labels]
