"""Swendsen-Wang updates of large lattices by tiles of rows: drives ``spin_tiles.cuh``."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from conncomp.kernels import layout
from conncomp.kernels.cuda.launcher import WARP, Module, Templates, launch
from conncomp.kernels.cuda.models.clusters import ClusterFinder
from conncomp.kernels.cuda.models.replicas import Replicas
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import BITS, MOST_AXES, WORD, Lattice
from conncomp.kernels.updates import Flips

# The logarithms of the sites of a tile along each axis, and the warps of its block.
LOGS = {2: (7, 6), 3: (4, 4, 5), 4: (3, 3, 2, 5)}
WARPS = 4
KERNELS = Templates(
    "cuda/models/spin_tiles.cuh", "toss_coins<>", "label_rows join_rows flip_rows", axes=tuple(LOGS)
)
# Lattices that fill less of their tiles than this are not taken.
LEAST_FILLED = 0.75
PLACE, MARKS, INDEX = np.dtype("u2"), np.dtype("u4"), np.dtype("i4")

# ``BoxRows`` of ``row_labels.cuh``.
BOX_ROWS = layout(("extent", ("i4", MOST_AXES - 1)), ("rows width columns halves", "i4"))
# Bytes of a place; how many there may be.
PLACE_BYTES, MOST_PLACES = 2, 1 << 15

# ``SpinTiles``.
_TILES = np.dtype([("count", "i4", MOST_AXES), ("log", "i4", MOST_AXES), ("box", BOX_ROWS)])


def box_rows(shape: tuple[int, ...], halves: int) -> Any:
    """Return ``BoxRows`` of a box of this shape, whose rows have `halves` words of bonds."""
    extent, width = (*(1,) * (MOST_AXES - len(shape)), *shape[:-1]), shape[-1]
    return np.array((extent, prod(shape[:-1]), width, -(-width // WARP), halves), BOX_ROWS)[()]


def word_bytes(axes: int) -> int:
    """Return the bytes of a word and its places, on lattices of so many axes."""
    return PLACE_BYTES * WARP + (8 if axes < 3 else 16)


def list_bytes(axes: int) -> int:
    """Return the bytes of a warp's list, on lattices of so many axes."""
    return max(2, axes) * WARP * 4


def places(shape: tuple[int, ...]) -> int:
    """Return how many places a box has: lanes of all words of 32 sites."""
    return prod(shape[:-1]) * -(-shape[-1] // WARP) * WARP


def _count(lattice: Lattice) -> tuple[int, ...]:
    """Return how many tiles there are along each axis."""
    logs = LOGS[lattice.ndim]
    return tuple(-(-n // (1 << log)) for n, log in zip(lattice.shape, logs, strict=True))


def takes(lattice: Lattice, replicas: int) -> bool:
    """Whether `TileFinder` takes lattices, and these fill their tiles well enough.

    Sites of tiles have numbers of 32 bits, also those that are beyond the lattice.
    """
    if lattice.ndim not in LOGS:
        return False
    of_tiles = prod(_count(lattice)) << sum(LOGS[lattice.ndim])
    return of_tiles * replicas < 1 << 31 and lattice.sites >= LEAST_FILLED * of_tiles


class TileFinder(ClusterFinder):
    """Flips all clusters, as parts of tiles, of lattices that `takes` takes."""

    def __init__(self, replicas: Replicas, workspace: Workspace) -> None:
        lattice, logs = replicas.lattice, LOGS[replicas.lattice.ndim]
        before = MOST_AXES - lattice.ndim
        along = (*(1,) * before, *_count(lattice)), (*(0,) * before, *logs)
        box = box_rows(tuple(1 << log for log in logs), -(1 << logs[-1]) // -WARP)
        self._tiles, self._words = np.array((*along, box), _TILES)[()], (1 << sum(logs)) // WARP
        self._blocks = prod(_count(lattice)) * replicas.count
        of_places = self._blocks * self._words * WARP * (PLACE_BYTES * 8 + 2) // 8
        super().__init__(replicas, replicas.sites * INDEX.itemsize + of_places, workspace)

    def takes(self, flips: Flips) -> bool:
        """Whether all clusters flip, and none is measured."""
        measures = flips.clusters or self._winds(flips)
        return flips.chosen is None and flips.watch is None and not measures

    def modules(self, flips: Flips) -> Sequence[Module]:
        """Return the module that `flip` loads."""
        return [KERNELS.module(self._replicas.lattice.ndim)]

    def flip(self, bonds: Any, spins: Any, new: Any, number: int, flips: Flips) -> None:
        """Give each cluster a new state, those of update `number`, in the spins `new`."""
        gpu, replicas, lattice = self._replicas.gpu, self._replicas, self._replicas.lattice
        words, sites = self._blocks * self._words, replicas.sites
        coin_words = -(-lattice.sites // WORD) * replicas.count if lattice.states == 2 else 0
        parts = (words * WARP, PLACE), (words, MARKS), (sites, INDEX), (coin_words, BITS)
        label, marks, forest, coins = self._workspace.take(gpu, *parts)
        toss, mark, join, flip = KERNELS.load(gpu, lattice.ndim)
        grid, lists = (self._blocks, WARPS * WARP), WARPS * list_bytes(lattice.ndim)
        of_words = word_bytes(lattice.ndim) + MARKS.itemsize * (lattice.ndim + 2)
        struct, tiles, shared = replicas.struct(number), self._tiles, lists + self._words * of_words
        launch(mark, grid, struct, tiles, bonds, label, marks, forest, shared=shared)
        launch(join, grid, struct, tiles, bonds, label, forest)
        if lattice.states == 2:
            launch(toss, replicas.grid, struct, coins)
        tossed = coins if lattice.states == 2 else None
        shared = lists + self._words * MARKS.itemsize * (lattice.planes + 1)
        launch(flip, grid, struct, tiles, tossed, label, marks, forest, new, shared=shared)
