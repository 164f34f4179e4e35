"""The Ising model on cells: drives ``cell_spins.cuh``, and ``cell_bricks.cuh`` for neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conncomp._arguments import INDEX_TYPES
from conncomp.kernels.cells import CellLattice, Kind
from conncomp.kernels.cuda.grid import tiled_bricks
from conncomp.kernels.cuda.grid.image import Geometry
from conncomp.kernels.cuda.launcher import WARP, Gpu, Module, Templates, every, launch
from conncomp.kernels.cuda.models import bricks
from conncomp.kernels.cuda.models.replicas import THREADS, Replicas, records_of
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import BITS
from conncomp.kernels.links import Links, bonds_of_axes
from conncomp.kernels.neighbourhood import Neighbourhood, Step

FILE = "cuda/models/cell_spins.cuh"
TILE_ROWS = 64
_DRAW = Templates(FILE, "draw_cell_words")
_FLAGS = (False, True)
_LABEL = Templates(
    FILE, "label_cell_tiles", "sew_cell_tiles<{index}>", index=INDEX_TYPES, sizes=_FLAGS
)
_SIZES = Templates(FILE, "add_cell_sizes", "sum_cell_sizes", indices="index")
_FLIP = Templates(FILE, "flip_cells", index=INDEX_TYPES, one=_FLAGS)
_modules = every(_DRAW, _LABEL, _SIZES, _FLIP)

OF_CELLS = bricks.Kernels("cuda/models/cell_bricks.cuh", None, "SizeSums", flips=True)
MOST_AXES, MOST_STEPS = 3, 13

# ``KindsOfSteps`` of ``cell_bricks.cuh``.
_KINDS = np.dtype([("kind", "i4", MOST_STEPS)])


class CellKernels:
    """Lattices of one kind side by side, and the kernels that flip their clusters."""

    def __init__(self, gpu: Gpu, cells: CellLattice, seed: int, first: int, count: int) -> None:
        self._gpu, self._cells, self._count = gpu, cells, count
        rows = cells.of_sites
        self._replicas = Replicas(gpu, rows, seed, first, count, axes=len(cells.kinds))
        self._tiles = -(-rows.rows // TILE_ROWS) * rows.columns
        self._words_blocks = -(-rows.words // (THREADS // WARP))
        self._index = INDEX_TYPES[cells.sites >= 1 << 31]
        self._workspace, self._size_workspace = Workspace(), Workspace()

    def memory(self) -> int:
        """Return how many bytes an update takes."""
        kinds = 1 + len(self._cells.kinds)
        sites = 2 * self._cells.sites * self._index.itemsize
        return self._count * (sites + kinds * self._cells.words * BITS.itemsize)

    def draw(self, words: Any, step: int, probabilities: Any, bonds: Any, record: Any) -> None:
        """Draw the bonds of an update, or None of them, and count what the spins tell."""
        arguments = self._cells.struct, words, probabilities, bonds, self.records(record)
        self._replicas.launch(_DRAW.one(self._gpu), step, *arguments, over="bonds")

    def update(
        self,
        words: Any,
        new: Any,
        step: int,
        probabilities: Any,
        one: bool,
        record: Any,
        sizes: bool,
    ) -> None:
        """Flip clusters, or that of one drawn site, and measure those before."""
        gpu, cells, count, index = self._gpu, self._cells, self._count, self._index
        run_words = count * (1 + len(cells.kinds)) * cells.words
        runs, parent = self._workspace.take(gpu, (run_words, BITS), (count * cells.sites, index))
        size = None
        if sizes:
            (size,) = self._size_workspace.take(gpu, (count * cells.sites, index))
        records, replicas = self.records(record), self._replicas
        drawn = words, probabilities, runs, parent, size, records
        label, sew = _LABEL.load(gpu, index, sizes)
        struct = replicas.struct_in_parts(step, self._tiles)
        launch(label, (count * self._tiles, TILE_ROWS), struct, cells.struct, *drawn)
        by_word = min(-(-count * cells.words // THREADS), 1 << 30), THREADS
        launch(sew, by_word, cells.struct, runs, parent, count)
        struct = replicas.struct_in_parts(step, self._words_blocks)
        by_warp = count * self._words_blocks, THREADS
        if sizes:
            add, total = _SIZES.load(gpu, index)
            launch(add, by_warp, struct, runs, parent, size)
            launch(total, by_warp, struct, runs, parent, size, records)
        launch(_FLIP.one(gpu, index, one), by_warp, struct, words, runs, parent, new)

    def records(self, record: Any) -> Any:
        """Return ``Records`` of a record, or of None."""
        return records_of(self._gpu, record)


def takes(cells: CellLattice, replicas: int) -> bool:
    """Whether bonds of all kinds are steps to neighbours, and lattices fill tiles well enough."""
    rows = cells.of_sites
    if not 2 <= rows.ndim <= MOST_AXES or 1 in rows.shape or rows.shape[-1] < bricks.LEAST_ROW:
        return False
    if any(abs(kind.shift) > 1 for kind in cells.kinds):
        return False
    return tiled_bricks.takes(*_described(cells, replicas))


class CellBricks:
    """Lattices of one kind, which `takes` takes, side by side, and what flips all clusters."""

    def __init__(self, gpu: Gpu, cells: CellLattice, seed: int, first: int, count: int) -> None:
        self._gpu, self._cells, self._count = gpu, cells, count
        kinds = len(cells.kinds)
        self._replicas = Replicas(gpu, cells.of_sites, seed, first, count, axes=kinds)
        index = INDEX_TYPES[cells.sites * count >= 1 << 31]
        of_steps = np.full((1, MOST_STEPS), -1, np.int32)
        for number, kind in enumerate(cells.kinds):
            of_steps[0, _code(_backward(kind))] = number
        self._clusters = bricks.BrickClusters(
            self._replicas,
            index,
            OF_CELLS,
            described=_described(cells, count),
            beside=(of_steps.view(_KINDS)[0, 0],),
        )
        self._workspace = Workspace()

    @staticmethod
    def memory(cells: CellLattice, count: int) -> int:
        """Return how many bytes an update takes, about."""
        sites = cells.sites * count
        index = INDEX_TYPES[sites >= 1 << 31]
        words = 8 * count * cells.words * len(cells.kinds)
        more = len(cells.kinds) - cells.ndim
        return bricks.memory(cells.of_sites, count, index) + words + max(0, more) * sites // 8

    def update(
        self, words: Any, new: Any, step: int, probabilities: Any, records: Any, sizes: bool
    ) -> None:
        """Flip clusters, and measure those before into ``Records``."""
        wanted = self._count * len(self._cells.kinds) * self._cells.words
        (drawn,) = self._workspace.take(self._gpu, (wanted, BITS))
        replicas, arguments = self._replicas, (words, probabilities, drawn, records)
        replicas.launch(_DRAW.one(self._gpu), step, self._cells.struct, *arguments, over="bonds")
        components = self._clusters.find(drawn, records if sizes else None)
        self._clusters.flip(components, step, new)
        new ^= words  # which had the coins of clusters


def _backward(kind: Kind) -> Step:
    """Return the step from a site to the one before that a bond of a kind leads to."""
    return (*kind.step, kind.shift) if any(kind.step) else (*kind.step, -kind.shift)


def _code(step: Step) -> int:
    return sum((move + 1) * 3**k for k, move in enumerate(reversed(step)))


def _described(cells: CellLattice, replicas: int) -> tuple[Geometry, Links]:
    """Return the geometry of sites, and links that are given one by one."""
    rows = cells.of_sites
    structure = np.zeros((3,) * rows.ndim, bool)
    for kind in cells.kinds:
        for sign in (1, -1):
            structure[tuple(sign * move + 1 for move in _backward(kind))] = True
    neighbourhood = Neighbourhood(None, structure.tobytes(), rows.periodic)
    return bricks.packed_geometry(rows, replicas, neighbourhood), bonds_of_axes(0)


def specialisations() -> Iterator[Module]:
    """Yield every module that `CellKernels` and `CellBricks` can load."""
    yield from _modules()
    yield from bricks.modules_of(OF_CELLS)
