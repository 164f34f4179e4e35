"""Faces of components on the GPU: drives ``surfaces.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conncomp.kernels.cuda.components.tables import places_of
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, launch

FILE = "cuda/components/surfaces.cuh"
THREADS = 256


def count_faces(
    gpu: Gpu,
    labels: Any,
    background: int,
    rows: int,
    shape: tuple[int, ...],
    components: Any,
    faces: Any,
) -> None:
    """Count the faces that components show to what is not of them.

    Parameters
    ----------
    gpu, labels, background, rows, shape
        As for `conncomp.kernels.cuda.components.tables.count_labels`; and of an item.
    components : array of int64
        The labels that occur, ascending; at least one.
    faces : contiguous array of int64, shape (len(components), len(shape))
        Filled with zeros.
    """
    (count,) = gpu.load(FILE, _names(labels.dtype))
    lengths = gpu.xp.asarray(np.array(shape, COUNT))
    empty, places = labels.dtype.type(background), places_of(gpu, components, rows)
    grid = gpu.blocks(labels.size, THREADS), THREADS
    launch(count, grid, labels.size, labels, empty, len(shape), lengths, rows, places, faces)


def _names(label: np.dtype[Any]) -> tuple[str, ...]:
    return (f"count_faces<{ctype(label)}>",)


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that the functions here can load."""
    for label in INDEX_TYPES:
        yield FILE, _names(label)
