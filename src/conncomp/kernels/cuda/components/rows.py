"""Labels, arrays and hash tables as kernels take them: ``rows.cuh`` and ``key_table.cuh``."""

from __future__ import annotations

import secrets
from functools import lru_cache
from typing import Any

import numpy as np

from conncomp._arguments import INDEX_TYPES
from conncomp.kernels.cuda.launcher import COUNT, DeviceArray, Gpu, ctype, first_entry
from conncomp.kernels.cuda.structs import Struct

FILE, FILE_OF_TABLES = "cuda/components/rows.cuh", "cuda/core/key_table.cuh"
# The factor of hashes: odd, drawn for each process, and signed, as kernels take it.
FACTOR = secrets.randbits(64) - (1 << 63) | 1
HASH = Struct("KeyHash", ("factor", COUNT))
TABLE = Struct("KeyTable<int64_t>", ("hash", HASH.dtype), ("bits", "i4"), ("empty", COUNT), "slots")
LABELS = {
    kind: Struct(
        f"LabelRows<{ctype(kind)}>", "entries", ("count rows", COUNT), ("background", kind)
    )
    for kind in INDEX_TYPES
}
EXTENT = Struct("Extent", "lengths", ("ndim", COUNT))


def label_rows(gpu: Gpu, labels: DeviceArray, background: int, rows: int) -> np.void:
    """Return ``LabelRows`` of a contiguous array, which the caller keeps.

    `background` is a label or, if there is none, a negative number that is no label. Labels from
    `rows` on have no row.
    """
    described = {"count": labels.size, "rows": rows, "background": background}
    return LABELS[labels.dtype].of(gpu, entries=labels, **described)


@lru_cache(maxsize=64)
def lengths_on(gpu: Gpu, *lengths: int) -> Any:
    """Return lengths as int64 on the GPU, ready for all streams; nobody changes the array."""
    array = gpu.xp.asarray(np.array(lengths, COUNT))
    if lengths:
        first_entry(array)
    return array


def extent_of(gpu: Gpu, lengths: Any) -> np.void:
    """Return ``Extent`` of an array of int64 on the GPU, which the caller keeps."""
    return EXTENT.of(gpu, lengths=lengths, ndim=len(lengths))
