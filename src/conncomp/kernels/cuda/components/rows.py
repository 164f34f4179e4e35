"""What kernels are told of labels and of their array: the structs of ``rows.cuh``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, first_entry
from conncomp.kernels.cuda.structs import POINTER, Struct

FILE = "cuda/components/rows.cuh"
LABELS = {
    kind: Struct(
        f"LabelRows<{ctype(kind)}>", entries=POINTER, count=COUNT, rows=COUNT, background=kind
    )
    for kind in INDEX_TYPES
}
EXTENT = Struct("Extent", lengths=POINTER, ndim=COUNT)


def label_rows(gpu: Gpu, labels: Any, background: int, rows: int) -> np.void:
    """Return ``LabelRows``.

    Parameters
    ----------
    gpu : Gpu
    labels : contiguous array of int32 or int64
        To be kept as long as kernels use the struct.
    background : int
        Another negative number than labels, if there is none.
    rows : int
        Labels from here on have no row.
    """
    described = {"count": labels.size, "rows": rows, "background": background}
    return LABELS[labels.dtype].of(gpu, entries=labels, **described)


@lru_cache(maxsize=64)
def lengths_on(gpu: Gpu, *lengths: int) -> Any:
    """Return lengths as an array of int64 on the GPU, which nobody changes.

    It is there when this returns, for all streams; the next call with the same ones copies nothing.
    """
    array = gpu.xp.asarray(np.array(lengths, COUNT))
    if lengths:
        first_entry(array)
    return array


def extent_of(gpu: Gpu, lengths: Any) -> np.void:
    """Return ``Extent`` of an array of int64 on the GPU, to be kept as long as kernels use it."""
    return EXTENT.of(gpu, lengths=lengths, ndim=len(lengths))
