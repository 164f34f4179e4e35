"""Calls of `component_statistics` on a GPU whose launches are made again.

The first call of a kind, that is of labels of one shape and dtype on one stream, decides as
`kernels/cuda/components/measures.py` has it, and later ones make its launches again: the host waits
once, to learn how many rows there are.
"""

from __future__ import annotations

from collections.abc import Hashable
from threading import RLock
from typing import Any

from conncomp.components._labels import check_background
from conncomp.kernels.cuda.components.measures import RepeatedMeasures
from conncomp.kernels.cuda.launcher import INDEX_TYPES, are_watched, current_gpu

# So many labels are measured by kept launches, as the memory that these use is kept too.
MOST_ELEMENTS = 1 << 23
# For one row of each so many labels there is room at first, and for so many rows at least.
LABELS_OF_ROW, LEAST_ROWS = 16, 1 << 15
# When there are more kinds, the memory of all is given back.
MOST_KINDS = 8

_kept: dict[Hashable, RepeatedMeasures] = {}
_turn = RLock()  # memory is one call's at a time


def measure_again(
    labels: Any, background: Any, batch_axes: Any, moments: bool
) -> tuple[Any, ...] | None:
    """Return the columns of `component_statistics` of labels of CuPy.

    Labels, sizes, bounding boxes, centroids, moments and items; None where the general way has to
    be gone: of large or empty arrays, and where something is to be refused.
    """
    if (
        type(batch_axes) is not int
        or not 0 <= batch_axes < labels.ndim
        or labels.dtype not in INDEX_TYPES
        or not 0 < labels.size <= MOST_ELEMENTS
        or not labels.flags.c_contiguous
        or are_watched()
    ):
        return None
    gpu = current_gpu()
    stream = gpu.current_stream()
    if gpu.is_capturing(stream):
        return None
    axes = labels.shape[:batch_axes], labels.shape[batch_axes:]
    empty, lowest = check_background(background, *axes)
    kind = axes, labels.dtype, labels.device.id, stream, empty, lowest, moments
    with _turn:
        repeated = _kept.get(kind)
        if repeated is not None:
            return repeated(labels)
        if len(_kept) >= MOST_KINDS:
            _kept.clear()
        capacity = max(LEAST_ROWS, labels.size // LABELS_OF_ROW)
        repeated = RepeatedMeasures(gpu, labels, empty, lowest, axes, moments, capacity)
        _kept[kind] = repeated
        return repeated()
