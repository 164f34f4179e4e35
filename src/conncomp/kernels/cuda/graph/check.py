"""Checks compressed sparse rows on the GPU: drives ``check.cuh``."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.launcher import INDEX_TYPES, Gpu, ctype, launch

FILE = "cuda/graph/check.cuh"
THREADS, SPAN = 256, 4096


class GraphCheck(NamedTuple):
    """What is known of compressed sparse rows.

    Attributes
    ----------
    wrong : bool
        Whether they are no graph: `indptr` does not begin with 0, decreases, or does not end with
        the number of arcs, or an index is no vertex.
    symmetric : bool
        Whether every arc is listed from both ends, equally often.
    """

    wrong: bool
    symmetric: bool


def check_rows(gpu: Gpu, indptr: Any, indices: Any) -> GraphCheck:
    """Check that `indptr` and `indices`, on the GPU, are a graph; waits for the result."""
    pointers, arcs = gpu.load(FILE, _names(indptr.dtype, indices.dtype))
    check = gpu.xp.array([0, -1, 0, 0], np.int64)
    vertices = len(indptr) - 1
    launch(
        pointers, (gpu.blocks(vertices, THREADS), THREADS), vertices, len(indices), indptr, check
    )
    grid = gpu.blocks(-(-len(indices) // SPAN) * THREADS, THREADS), THREADS
    key = np.uint64(secrets.randbits(64))
    launch(arcs, grid, vertices, len(indices), indptr, indices, key, check)
    smallest, largest, wrong, imbalance = check.tolist()
    return GraphCheck(bool(wrong or smallest < 0 or largest >= vertices), imbalance == 0)


@cache
def _names(pointer: np.dtype[Any], vertex: np.dtype[Any]) -> tuple[str, ...]:
    return (
        f"check_pointers<{ctype(pointer)}>",
        f"check_indices<{ctype(pointer)}, {ctype(vertex)}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `check_rows` can load."""
    for pointer, vertex in product(INDEX_TYPES, repeat=2):
        yield FILE, _names(pointer, vertex)
