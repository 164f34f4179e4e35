"""The Ising model on cells: drives ``cell_spins.cuh``, and ``cell_bricks.cuh`` for neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp._arguments import INDEX_TYPES
from conncomp.kernels.cells import CellLattice, Kind
from conncomp.kernels.cuda.grid import tiled_bricks
from conncomp.kernels.cuda.grid.image import Geometry
from conncomp.kernels.cuda.launcher import WARP, Gpu, Templates, launch
from conncomp.kernels.cuda.models import bricks
from conncomp.kernels.cuda.models.replicas import (
    THREADS,
    GpuSpins,
    Replicas,
    check_room,
    records_of,
)
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import BITS
from conncomp.kernels.links import Links, bonds_of_axes
from conncomp.kernels.neighbourhood import Neighbourhood, Step
from conncomp.kernels.updates import Drawn, Flips

FILE = "cuda/models/cell_spins.cuh"
TILE_ROWS = 64
_DRAW = Templates(FILE, "draw_cell_words")
_FLAGS = (False, True)
_LABEL = Templates(
    FILE, "label_cell_tiles", "sew_cell_tiles<{index}>", index=INDEX_TYPES, sizes=_FLAGS
)
_SIZES = Templates(FILE, "add_cell_sizes", "sum_cell_sizes", indices="index")
_FLIP = Templates(FILE, "flip_cells", index=INDEX_TYPES, one=_FLAGS)

OF_CELLS = bricks.tasks_of("cuda/models/cell_bricks.cuh", None, "SizeSums", flips=True)
MOST_AXES, MOST_STEPS = 3, 13

# ``KindsOfSteps`` of ``cell_bricks.cuh``.
_KINDS = np.dtype([("kind", "i4", MOST_STEPS)])


class GpuCellEngine(GpuSpins):
    """Lattices side by side, whose clusters bricks find, or else runs of words."""

    def __init__(self, gpu: Gpu, drawn: Drawn, cells: CellLattice) -> None:
        rows, kinds, count = cells.of_sites, len(cells.kinds), drawn.replicas
        super().__init__(Replicas(gpu, drawn, rows, axes=kinds))
        self._cells, self._index = cells, INDEX_TYPES[cells.sites >= 1 << 31]
        self._tiles = -(-rows.rows // TILE_ROWS) * rows.columns
        self._words_blocks = -(-rows.words // (THREADS // WARP))
        self._size_workspace = Workspace()
        self._bricks = _bricks_of(self.replicas, cells)
        words, sites = count * cells.words * BITS.itemsize, count * cells.sites
        if self._bricks is None:
            wanted = 2 * sites * self._index.itemsize + (1 + kinds) * words
        else:
            wanted = self._bricks.memory + kinds * words + max(0, kinds - cells.ndim) * sites // 8
        check_room(gpu, f"{count} lattices of shape={cells.shape}", wanted + 2 * words)

    def _draw(self, spins: Any, number: int, strengths: Any, bonds: Any, record: Any) -> None:
        arguments = self._cells.struct, spins, strengths, bonds, records_of(self.gpu, record)
        self.replicas.launch(_DRAW.one(self.gpu), number, *arguments, over="bonds")

    def update(self, words: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update."""
        one = flips.chosen is not None
        # Of three axes runs of words are level without sizes, and of small lattices faster.
        by_bricks = not one and (self._cells.ndim < 3 or flips.clusters)
        if self._bricks is None or not by_bricks:
            self._flip_runs(words, new, number, strengths, flips)
            return
        count, kinds = self.replicas.count, len(self._cells.kinds)
        (drawn,) = self._workspace.take(self.gpu, (count * kinds * self._cells.words, BITS))
        self._draw(words, number, strengths, drawn, flips.record)
        records = records_of(self.gpu, flips.record)
        self._bricks.flip(self._bricks.find(drawn, records, sizes=flips.clusters), number, new)
        new ^= words  # which had the coins of clusters

    def _flip_runs(self, words: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
        """Flip clusters, or that of one drawn site, and measure those before."""
        gpu, cells, count, index = self.gpu, self._cells, self.replicas.count, self._index
        run_words = count * (1 + len(cells.kinds)) * cells.words
        runs, parent = self._workspace.take(gpu, (run_words, BITS), (count * cells.sites, index))
        size = None
        if flips.clusters:
            (size,) = self._size_workspace.take(gpu, (count * cells.sites, index))
        records, replicas = records_of(gpu, flips.record), self.replicas
        label, sew = _LABEL.load(gpu, index, flips.clusters)
        by_tile, struct = (count * self._tiles, TILE_ROWS), replicas.struct(number, self._tiles)
        read = cells.struct, words, strengths
        launch(label, by_tile, struct, *read, runs, parent, size, records)
        by_word = min(-(-count * cells.words // THREADS), 1 << 30), THREADS
        launch(sew, by_word, cells.struct, runs, parent, count)
        if flips.clusters:
            add, total = _SIZES.load(gpu, index)
            replicas.launch(add, number, runs, parent, size, over=self._words_blocks)
            replicas.launch(total, number, runs, parent, size, records, over=self._words_blocks)
        flip = _FLIP.one(gpu, index, flips.chosen is not None)
        replicas.launch(flip, number, words, runs, parent, new, over=self._words_blocks)


def _bricks_of(replicas: Replicas, cells: CellLattice) -> bricks.BrickClusters | None:
    """Return clusters by bricks, if bonds are steps to neighbours, and tiles are filled well."""
    rows = cells.of_sites
    if not 2 <= rows.ndim <= MOST_AXES or 1 in rows.shape or rows.shape[-1] < bricks.LEAST_ROW:
        return None
    if any(abs(kind.shift) > 1 for kind in cells.kinds):
        return None
    described = _described(cells, replicas.count)
    if not tiled_bricks.can_label(*described):
        return None
    of_steps = np.full((1, MOST_STEPS), -1, np.int32)
    for number, kind in enumerate(cells.kinds):
        code = sum((move + 1) * 3**k for k, move in enumerate(reversed(_backward(kind))))
        of_steps[0, code] = number
    beside = (of_steps.view(_KINDS)[0, 0],)
    return bricks.BrickClusters(replicas, OF_CELLS, described=described, beside=beside)


def _backward(kind: Kind) -> Step:
    """Return the step from a site to the one before that a bond of a kind leads to."""
    return (*kind.step, kind.shift) if any(kind.step) else (*kind.step, -kind.shift)


def _described(cells: CellLattice, replicas: int) -> tuple[Geometry, Links]:
    """Return the geometry of sites, and links that are given one by one."""
    rows = cells.of_sites
    structure = np.zeros((3,) * rows.ndim, bool)
    for kind in cells.kinds:
        for sign in (1, -1):
            structure[tuple(sign * move + 1 for move in _backward(kind))] = True
    neighbourhood = Neighbourhood(None, structure.tobytes(), rows.periodic)
    return bricks.packed_geometry(rows, replicas, neighbourhood), bonds_of_axes(0)
