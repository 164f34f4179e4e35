"""The third stage: labels of one chunk as the whole array has them.

Each way of the first stage has its own end:

    runs      relabel_runs: new at once, or `Placed`, which `write_together` writes with others
    labels    relabel_chunk: in the array of the labels, in `out`, or on the GPU
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import check_holds
from conncomp._array_storage import new_array
from conncomp._core import native
from conncomp.chunked.labelling import (
    ChunkLabels,
    ChunkRuns,
    Report,
    chunk_runs,
    label_chunk,
    root_indices,
)
from conncomp.chunked.layout import Index
from conncomp.chunked.numbering import ByRoot, FinalRoots, Indices, numbers_of_chunk
from conncomp.chunked.rules import Rules
from conncomp.chunked.union import RootTable, look_up
from conncomp.grid.runs import LARGEST, KeptRuns, Placed
from conncomp.kernels.cuda.launcher import DType, current_gpu

Labels = NDArray[Any]  # or values, of NumPy or CuPy
PIECE = 1 << 16  # elements that are replaced at once in a cache, and then copied to their place


def relabel(
    rules: Rules, start: Index, values: Any, report: Report, *final: Any, out: Labels | None = None
) -> Labels | Placed:
    """Do the third stage of a chunk, in a new array or in `out`; `numbers_of_labels` takes `final`.

    Runs that the report kept are not written to `out` yet, but later with those beside them.
    """
    runs = report.runs or chunk_runs(rules, values)
    labelled: Any = label_chunk(rules, values) if runs is None else runs
    dtype = rules.label_type
    of_labels = numbers_of_labels(rules, start, labelled, report, *final)
    if runs is not None:
        # Runs that are in memory anyway, and go to one array, are all written together.
        return relabel_runs(runs, of_labels, dtype, out, late=report.runs is not None)
    labels = labelled.labels
    if out is None and isinstance(labels, np.ndarray) and labels.dtype == dtype:
        out = labels  # as memory that is touched for the first time takes longer than all else
    return relabel_chunk(labels, of_labels, dtype, out)


def numbers_of_labels(
    rules: Rules,
    start: Index,
    labelled: ChunkLabels | ChunkRuns,
    report: Report,
    final: FinalRoots | RootTable,  # a table where roots are not counted
    before: Indices | None,
    numbers: ByRoot | None,
) -> Labels:
    """Return what each label of a chunk becomes, from 0 on: a number, or the root in its item.

    `before` counts the roots before each segment of the chunk; `numbers` are of others' roots.
    """
    if isinstance(final, FinalRoots) and before is not None and numbers is not None:
        return numbers_of_chunk(report, final, before, numbers)
    own = root_indices(rules.shape, start, labelled.shape, labelled.first())
    xp = np if isinstance(own, np.ndarray) else current_gpu().xp
    roots: Labels = xp.concatenate([xp.full(1, -1, np.int64), own % rules.item_size])
    of_report = look_up(final, report.roots) if isinstance(final, RootTable) else final.roots
    roots[xp.asarray(report.labels)] = xp.asarray(of_report % rules.item_size)
    return roots


def relabel_chunk(labels: Labels, table: Labels, dtype: DType, out: Labels | None = None) -> Labels:
    """Replace each label of a chunk by its entry of a table; ValueError if that exceeds `dtype`.

    The result may lie in `out`, the labels or a part of an array of `dtype` in main memory.
    """
    check_holds(dtype, int(table.max()))
    filled = np.dtype(np.int32 if dtype.itemsize <= 4 and dtype != np.uint32 else np.int64)
    table = table.astype(filled, copy=False)
    if not isinstance(labels, np.ndarray):
        on_gpu: Labels = current_gpu().xp.asarray(table).astype(dtype, copy=False)[labels]
        return on_gpu
    if out is None:
        out = new_array(np, labels.shape, filled)
    if out.dtype == filled and out.flags.c_contiguous:
        native.replace_labels(labels.reshape(-1), -1, table, out.reshape(-1))
        return out.astype(dtype, copy=False)
    length = max(1, PIECE // prod(labels.shape[1:]))
    replaced = np.empty((min(length, len(labels)), *labels.shape[1:]), table.dtype)
    for first in range(0, len(labels), length):
        piece = labels[first : first + length]
        of_piece = replaced[: len(piece)]
        native.replace_labels(piece.reshape(-1), -1, table, of_piece.reshape(-1))
        out[first : first + length] = of_piece
    return out


def relabel_runs(
    runs: KeptRuns, table: Indices, dtype: DType, out: Labels | None = None, late: bool = False
) -> Labels | Placed:
    """Relabel runs; if late, leave `out` to `write_together` where it can."""
    largest = int(table.max())
    check_holds(dtype, largest)
    if largest > LARGEST:
        return relabel_chunk(runs.write(np.arange(len(table), dtype=np.int32)), table, dtype, out)
    if late and out is not None and dtype == np.int32:
        return Placed(runs, table.astype(np.int32), out)
    place = out if out is not None and out.dtype == np.int32 else None
    written = runs.write(table.astype(np.int32), place)
    if out is None or out is written:
        return written.astype(dtype, copy=False)
    out[...] = written
    return out
