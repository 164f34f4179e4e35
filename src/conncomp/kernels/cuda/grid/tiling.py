"""Tiles of arrays, and their parts, as in ``tiling.cuh``."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from conncomp.kernels import layout
from conncomp.kernels.cuda.grid.image import GRIDS, Geometry, grid_of
from conncomp.kernels.neighbourhood import Shape, Steps

WARP_LOG = 5

_TILINGS = {rank: layout(("grid", grid), ("logs", ("i4", 3))) for rank, grid in GRIDS.items()}


@lru_cache(maxsize=1024)
def as_rows(geometry: Geometry) -> Geometry:
    """Return a geometry as one of a single axis if its items are one row each."""
    if len(geometry.shape) != 2 or geometry.shape[0] > 1:
        return geometry
    steps = geometry.steps
    along_row = tuple(step[1:] for step in steps.backward)  # none leaves the row
    return geometry._replace(
        shape=geometry.shape[1:],
        value_strides=geometry.value_strides[1:],
        steps=Steps(along_row, steps.periodic[1:], steps.connectivity),
    )


def tiling(geometry: Geometry, logs: tuple[int, ...]) -> Any:
    """Return ``Tiling<rank, ...>``, given the logarithms of a tile's parts along each axis."""
    return np.array((grid_of(geometry), logs), _TILINGS[len(geometry.shape)])[()]


def choose_tile(shape: Shape, part_log: int, usual: tuple[int, ...], least: int) -> tuple[int, ...]:
    """Return the logarithms of a tile's parts along the last axis, and along two more.

    Tiles have as many parts, each ``1 << part_log`` long, as the `usual` ones of a large array, but
    no more than the array has; fewer for the `least` number of tiles.
    """
    axes = min(len(shape), 3)
    # The logarithms of the numbers of parts along each axis.
    fit = [(-(-shape[-1 - a] // (1 << part_log)) - 1).bit_length() for a in range(axes)]
    logs = [min(log, most) for log, most in zip(usual, fit, strict=False)]
    # Thin arrays get tiles that are longer than others.
    for a in range(axes):
        logs[a] += min(sum(usual) - sum(logs), fit[a] - logs[a])
    # A warp needs a part for every lane.
    logs[0] += max(0, WARP_LOG - sum(logs))
    logs += [0] * (3 - axes)
    while sum(logs) > WARP_LOG and count_tiles(shape, part_log, logs) < least:
        logs[max(range(axes), key=lambda a: (logs[a], -a))] -= 1
    return tuple(logs)


def count_tiles(shape: Shape, part_log: int, logs: tuple[int, ...] | list[int]) -> int:
    """Return how many tiles an array is cut into."""
    axes = min(len(shape), 3)
    along = [
        -(-length // (1 << part_log + log))
        for length, log in zip(reversed(shape), logs, strict=False)
    ]
    return prod((*shape[:-axes], *along))
