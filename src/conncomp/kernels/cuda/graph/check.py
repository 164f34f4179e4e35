"""Checks compressed sparse rows on the GPU: drives ``check.cuh``."""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.launcher import INDEX_TYPES, THREADS, Gpu, Templates, launch

KERNELS = Templates(
    "cuda/graph/check.cuh",
    "check_pointers<{pointer}>",
    "check_indices<{pointer}, {vertex}>",
    pointer=INDEX_TYPES,
    vertex=INDEX_TYPES,
)
specialisations = KERNELS.modules
SPAN = 4096


class GraphCheck(NamedTuple):
    """Whether compressed sparse rows are no graph, and whether each arc is listed from both ends.

    They are `wrong` if `indptr` does not begin with 0, decreases, or does not end with the number
    of arcs, or an index is no vertex; `symmetric` if every arc has its reverse, equally often.
    """

    wrong: bool
    symmetric: bool


def check_rows(gpu: Gpu, indptr: Any, indices: Any) -> GraphCheck:
    """Check that `indptr` and `indices`, on the GPU, are a graph; waits for the result."""
    pointers, arcs = KERNELS.load(gpu, indptr.dtype, indices.dtype)
    check = gpu.xp.array([0, -1, 0, 0], np.int64)
    vertices = len(indptr) - 1
    launch(pointers, gpu.grid(vertices), vertices, len(indices), indptr, check)
    grid = gpu.grid(len(indices), each=SPAN // THREADS)
    key = np.uint64(secrets.randbits(64))
    launch(arcs, grid, vertices, len(indices), indptr, indices, key, check)
    smallest, largest, wrong, imbalance = check.tolist()
    return GraphCheck(bool(wrong or smallest < 0 or largest >= vertices), imbalance == 0)
