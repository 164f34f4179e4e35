"""Labels arrays on the CPU by the papers' serial algorithms: drives ``kernels/cpu/papers``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.grid.array import Array
from conncomp.grid.runs import fill_with
from conncomp.kernels.cuda.launcher import seconds_left

# As the kernels number them.
LOCAL = ("self-labelling", "bfs", "union-find")
MERGE = ("sewing", "relaxation")
TILES = (4, 8, 16, 32, 64)
TILE_OPTIONS = {"local": LOCAL, "merge": MERGE, "tile": (None, *TILES)}
MOST_TILED_AXES = 3
DEFAULT_TILE, DEFAULT_TILE_OF_VOLUMES = 16, 8


def _filling_with(kernel: Callable[..., None]) -> Callable[..., NDArray[np.int64]]:
    """Return a `fill` as of an `Algorithm`, which a `time_limit` ends."""

    def fill(
        gpu: None,
        array: Array,
        labels: NDArray[Any],
        workspace: None,
        consecutive: bool,
        counted: bool,
    ) -> NDArray[np.int64]:
        return fill_with(kernel, array, labels, consecutive, seconds_left())

    return fill


fill_by_raster_scans = _filling_with(native.label_by_raster_scans)
fill_by_equivalence = _filling_with(native.label_by_equivalence)


def fill_by_tiles(
    gpu: None,
    array: Array,
    labels: NDArray[Any],
    workspace: None,
    consecutive: bool,
    counted: bool,
    *,
    local: str = LOCAL[0],
    merge: str = MERGE[0],
    tile: int | None = None,
) -> NDArray[np.int64]:
    """Do what `runs.fill_labels` does, by tiles; a side is 16 by default, 8 for three axes."""
    volume = _longer_axes(array) == MOST_TILED_AXES
    side = tile or (DEFAULT_TILE_OF_VOLUMES if volume else DEFAULT_TILE)
    way = LOCAL.index(local), MERGE.index(merge), side
    return fill_with(native.label_by_tiles, array, labels, consecutive, seconds_left(), *way)


def check_tiles(array: Array, **options: Any) -> None:
    """Raise ValueError unless tiles label an array."""
    if _longer_axes(array) > MOST_TILED_AXES:
        raise ValueError(
            "algorithm='tiles' labels arrays of up to three axes that are longer than 1; image "
            f"has shape {array.shape}; use algorithm='auto'"
        )


def _longer_axes(array: Array) -> int:
    """Return how many axes of an item are longer than 1."""
    return sum(length > 1 for length in array.shape[array.batch_axes :])
