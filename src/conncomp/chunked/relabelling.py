"""The third stage: labels of one chunk as the whole array has them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import check_holds
from conncomp._arrays import new_array
from conncomp._core import native
from conncomp.chunked.faces import Report
from conncomp.chunked.labelling import ChunkLabels, ChunkRuns, root_indices
from conncomp.chunked.numbering import Indices, Numbers, replaced
from conncomp.chunked.rules import Rules
from conncomp.chunked.union import Table, look_up
from conncomp.grid.runs import LARGEST, Placed
from conncomp.kernels.cuda.launcher import current_gpu

PIECE = 1 << 16  # elements that are replaced at once, where they are copied to another place then


def roots_of_chunk(
    rules: Rules,
    start: tuple[int, ...],
    labelled: ChunkLabels | ChunkRuns,
    report: Report,
    table: Table,
) -> Any:
    """Return the root in its item of each component of a chunk, after a -1 for the background."""
    places = labelled.first()
    own = root_indices(rules.shape, start, labelled.shape, places)
    xp = np if isinstance(own, np.ndarray) else current_gpu().xp
    roots = xp.concatenate([xp.full(1, -1, np.int64), own % rules.item_size])
    final = look_up(table, report.roots) % rules.item_size
    roots[xp.asarray(report.labels)] = xp.asarray(final)
    return roots


def numbers_of_chunk(
    report: Report, table: Table, counts: Indices, base: Indices, numbers: Numbers
) -> Indices:
    """Return the consecutive number of each component of a chunk, after a 0 for the background.

    `numbers` are those of what the roots of the report have become.
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


def relabel_chunk(
    labels: Any, table: Any, dtype: np.dtype[Any], out: NDArray[Any] | None = None
) -> Any:
    """Return the labels of a chunk after each is replaced by its entry of a table.

    The result may lie in `out`, such as the labels or a part of a larger array, of `dtype` and in
    main memory. A ValueError says that an entry is too large for `dtype`.
    """
    _check_fits(table, dtype)
    filled = np.dtype(np.int32 if dtype.itemsize <= 4 and dtype != np.uint32 else np.int64)
    table = table.astype(filled, copy=False)
    if not isinstance(labels, np.ndarray):
        placed = current_gpu().xp.asarray(table).astype(dtype, copy=False)
        return placed[labels]
    if out is None:
        out = new_array(np, labels.shape, filled)
    elif out.dtype != filled or not out.flags.c_contiguous:
        _write_pieces(labels, table, out)
        return out
    native.replace_labels(labels.reshape(-1), -1, table, out.reshape(-1))
    return out.astype(dtype, copy=False)


def relabel_runs(
    labelled: ChunkRuns, table: Indices, dtype: np.dtype[Any], out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Do what `relabel_chunk` does, of runs."""
    runs = labelled.runs
    if _check_fits(table, dtype) > LARGEST:
        numbers = runs.write(np.arange(len(table), dtype=np.int32))
        relabelled: NDArray[Any] = relabel_chunk(numbers, table, dtype, out)
        return relabelled
    place = out if out is not None and out.dtype == np.int32 else None
    written = runs.write(table.astype(np.int32), place)
    if out is None or out is written:
        return written.astype(dtype, copy=False)
    out[...] = written
    return out


def place_runs(
    labelled: ChunkRuns, table: Indices, dtype: np.dtype[Any], out: NDArray[Any]
) -> NDArray[Any] | Placed:
    """Do what `relabel_runs` does, or leave it to `write_together` if that writes such labels."""
    if dtype != np.int32 or _check_fits(table, dtype) > LARGEST:
        return relabel_runs(labelled, table, dtype, out)
    return Placed(labelled.runs, table.astype(np.int32), out)


def _check_fits(table: Any, dtype: np.dtype[Any]) -> int:
    """Return the largest entry of a table, unless that is too large for a type."""
    largest = int(table.max())
    check_holds(dtype, largest)
    return largest


def _write_pieces(labels: NDArray[Any], table: NDArray[Any], out: NDArray[Any]) -> None:
    """Replace labels, so many at a time that they are copied to where they go from a cache."""
    length = max(1, PIECE // prod(labels.shape[1:]))
    replaced = np.empty((min(length, len(labels)), *labels.shape[1:]), table.dtype)
    for first in range(0, len(labels), length):
        piece = labels[first : first + length]
        of_piece = replaced[: len(piece)]
        native.replace_labels(piece.reshape(-1), -1, table, of_piece.reshape(-1))
        out[first : first + length] = of_piece
