"""The default for batches of small images of bytes on the GPU: drives ``item_runs.cuh``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from conncomp._arguments import INT32_MAX
from conncomp.kernels.cuda.grid import tiled_quads
from conncomp.kernels.cuda.grid.image import Geometry, Image
from conncomp.kernels.cuda.grid.run_tiles import words_of
from conncomp.kernels.cuda.launcher import COUNT, DeviceArray, DType, Gpu, Templates, launch
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.links import Links

# Of a block, by whether an item has more words than some; and the words that an item may have: runs
# of more elements are not numbered by 16 bits.
THREADS = 256, 1024
KERNELS = Templates("cuda/grid/item_runs.cuh", "label_items", threads=THREADS, indices="index")
FEW_WORDS, LEAST_WORDS, MOST_WORDS = 512, 32, 2048
WORD_BYTES, RESERVED = 24, 2048
MOST_PARTS = 4  # blocks of an item
# For each multiprocessor: with fewer, quads are faster for noise, where they fit.
LEAST_ITEMS = 1.75
NODE = np.dtype(np.int32)

TABLE = Struct(
    "ItemTable",
    "components",
    *tiled_quads.OF_ITEM,
    ("inverse_of_row", "u4"),
    ("corners parts most_runs", NODE),
)


def takes(gpu: Gpu, image: Image, index: DType, consecutive: bool) -> bool:
    """Whether a block an item suits an array best."""
    per = gpu.multiprocessors
    return (
        consecutive
        and (image.items >= LEAST_ITEMS * per or image.size > tiled_quads.MOST * per)
        and can_label(image.geometry, image.links, gpu.shared_memory)
    )


@lru_cache(maxsize=1024)
def can_label(geometry: Geometry, links: Links, shared_memory: int) -> bool:
    """Whether `fill_labels` can label an array, and its items are small and not too small."""
    shape = geometry.shape
    return (
        (links.rule, links.value_type) == ("equal", "u1")
        and len(shape) == 2
        and (geometry.connectivity in (1, 2) and not any(geometry.steps.periodic))
        and max(map(abs, geometry.value_strides)) <= INT32_MAX
        and LEAST_WORDS <= words_of(shape) <= MOST_WORDS
        and _shared_bytes(shape) + RESERVED <= shared_memory
    )


def fill_labels(
    gpu: Gpu, image: Image, labels: DeviceArray, workspace: Workspace, consecutive: bool
) -> DeviceArray:
    """Fill `labels` with consecutive labels, as `tiled_bricks.fill_labels` does."""
    assert consecutive
    table, threads = _plan_of(image.geometry, gpu.multiprocessors)
    kernel = KERNELS.one(gpu, threads, labels.dtype)
    placed = workspace.take_struct(gpu, TABLE, table)
    grid = image.items * table["parts"], threads
    shared = _shared_bytes(image.shape)
    launch(kernel, grid, image.rule, image.values, labels, placed.struct, shared=shared)
    return placed["components"]


@lru_cache(maxsize=1024)
def _plan_of(geometry: Geometry, multiprocessors: int) -> tuple[dict[str, Any], int]:
    """Return the fields of ``ItemTable``, and the threads of a block."""
    words, fields = words_of(geometry.shape), tiled_quads.item_fields(geometry)
    table: dict[str, Any] = {
        "components": (geometry.items, COUNT),
        **fields,
        "inverse_of_row": tiled_quads.inverse_of(fields["columns"]),
        "corners": geometry.connectivity == 2,
        "parts": max(1, min(multiprocessors // geometry.items, MOST_PARTS)),
        "most_runs": _run_bytes(geometry.shape) // NODE.itemsize,
    }
    return table, THREADS[words > FEW_WORDS]


def _run_bytes(shape: tuple[int, ...]) -> int:
    """Return what the numbers of runs take: by 32 bits of foreground of one value, or by 16."""
    height, width = shape
    return height * -(-width // 2) * NODE.itemsize


def _shared_bytes(shape: tuple[int, ...]) -> int:
    return WORD_BYTES * words_of(shape) + _run_bytes(shape)
