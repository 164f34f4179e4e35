"""Updates of the Ising model on cells whose bonds lead to neighbours: ``cell_bricks.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conncomp.kernels.cells import CELL_LATTICE, CellLattice, Kind
from conncomp.kernels.cuda.grid import tiled_bricks
from conncomp.kernels.cuda.grid.image import Geometry, geometry_of
from conncomp.kernels.cuda.launcher import INDEX_TYPES, Gpu, Module, Templates, launch
from conncomp.kernels.cuda.models import bricks
from conncomp.kernels.cuda.models.replicas import Replicas
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import BITS
from conncomp.kernels.links import Links, joined_by_bonds
from conncomp.kernels.neighbourhood import Neighbourhood, Step

FILE = "cuda/models/cell_bricks.cuh"
OF_CELLS = bricks.Kernels(FILE, None, "SizeSums", flips=True)
MOST_AXES, MOST_STEPS = 3, 13

# ``KindsOfSteps`` of ``cell_bricks.cuh``.
_KINDS = np.dtype([("kind", "i4", MOST_STEPS)])
_WORDS = Templates(FILE, "draw_cell_words<>", "change_spins<>")


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
        self._replicas = Replicas(gpu, cells.of_sites, seed, first, count, planes=kinds)
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
        draw, change = _WORDS.load(self._gpu)
        replicas, cells = self._replicas, self._cells.struct
        arguments = cells, words, probabilities, drawn, records
        launch(draw, replicas.grid_over("bonds"), replicas.struct(step, "bonds"), *arguments)
        components = self._clusters.find(drawn, records if sizes else None)
        self._clusters.flip(components, step, new)
        launch(change, replicas.grid, replicas.struct(step), words, new)


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
    strides, stride = [], 1
    for length in reversed((replicas, *rows.shape)):
        strides.append(stride)
        stride *= length
    neighbourhood = Neighbourhood(None, structure.tobytes(), rows.periodic)
    shape = replicas, *rows.shape
    geometry = geometry_of(shape, tuple(reversed(strides)), 1, neighbourhood, 1)
    return geometry, joined_by_bonds(())


def specialisations() -> Iterator[Module]:
    """Yield every module that `CellBricks` can load."""
    assert CELL_LATTICE.itemsize < 4096  # what a kernel takes
    yield from _WORDS.modules()
    yield from bricks.modules_of(OF_CELLS)
