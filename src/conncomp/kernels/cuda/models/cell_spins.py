"""Updates of the Ising model on lattices of any unit cell: drives ``cell_spins.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conncomp.kernels.cells import CELL_LATTICE, CellLattice
from conncomp.kernels.cuda.launcher import INDEX_TYPES, WARP, Gpu, Module, ctype, launch
from conncomp.kernels.cuda.models.replicas import THREADS, records_of
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import BITS

FILE = "cuda/models/cell_spins.cuh"
TILE_ROWS = 64

# ``CellReplicas`` of ``cell_spins.cuh``.
_STRUCT = np.dtype(
    [
        ("cells", CELL_LATTICE),
        *(("tiles", "i8"), ("words_blocks", "i8"), ("first", "i8")),
        *(("seed", "u8"), ("step", "u4")),
    ],
    align=True,
)


class CellKernels:
    """Lattices of one kind side by side, and the kernels that flip their clusters."""

    def __init__(self, gpu: Gpu, cells: CellLattice, seed: int, first: int, count: int) -> None:
        self._gpu, self._cells, self._count = gpu, cells, count
        rows = cells.of_sites
        self._tiles = -(-rows.rows // TILE_ROWS) * rows.columns
        self._words_blocks = -(-rows.words // (THREADS // WARP))
        self._struct = np.zeros((), _STRUCT)
        self._struct["cells"] = cells.struct
        self._struct["tiles"], self._struct["words_blocks"] = self._tiles, self._words_blocks
        self._struct["first"], self._struct["seed"] = first, seed
        self._index = INDEX_TYPES[cells.sites >= 1 << 31]
        self._workspace, self._size_workspace = Workspace(), Workspace()

    def memory(self) -> int:
        """Return how many bytes an update takes."""
        kinds = 1 + len(self._cells.kinds)
        sites = 2 * self._cells.sites * self._index.itemsize
        return self._count * (sites + kinds * self._cells.words * BITS.itemsize)

    def draw(self, words: Any, step: int, probabilities: Any, bonds: Any, record: Any) -> None:
        """Draw the bonds of an update, or None of them, and count what the spins tell."""
        arguments = words, probabilities, bonds, self.records(record)
        self._launch("draw_cell_bonds<>", self._by_words, step, *arguments)

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
        cells, count, index = self._cells, self._count, self._index
        starts, leaving, parent = self._workspace.take(
            self._gpu,
            (count * cells.words, BITS),
            (count * len(cells.kinds) * cells.words, BITS),
            (count * cells.sites, index),
        )
        size = None
        if sizes:
            (size,) = self._size_workspace.take(self._gpu, (count * cells.sites, index))
        records = self.records(record)
        tiles = count * self._tiles, TILE_ROWS
        drawn = words, probabilities, starts, leaving, parent, size, records
        self._launch(self._typed("label_cell_tiles", sizes), tiles, step, *drawn)
        by_word = min(-(-count * cells.words // THREADS), 1 << 30), THREADS
        self._launch(self._typed("sew_cell_tiles"), by_word, step, starts, leaving, parent, count)
        if sizes:
            forest = starts, parent, size
            self._launch(self._typed("add_cell_sizes"), self._by_words, step, *forest)
            self._launch(self._typed("sum_cell_sizes"), self._by_words, step, *forest, records)
        flip = self._typed("flip_cells", one)
        self._launch(flip, self._by_words, step, words, starts, parent, new)

    @property
    def _by_words(self) -> tuple[int, int]:
        return self._count * self._words_blocks, THREADS

    def _typed(self, name: str, *flags: bool) -> str:
        return f"{name}<{', '.join([ctype(self._index), *(str(flag).lower() for flag in flags)])}>"

    def _launch(self, name: str, grid: tuple[int, int], step: int, *arguments: Any) -> None:
        (kernel,) = self._gpu.load(FILE, (name,))
        self._struct["step"] = step
        launch(kernel, grid, self._struct[()], *arguments)

    def records(self, record: Any) -> Any:
        """Return ``Records`` of a record, or of None."""
        return records_of(self._gpu, record)


def specialisations() -> Iterator[Module]:
    """Yield every module that `CellKernels` can load."""
    yield FILE, ("draw_cell_bonds<>",)
    for index in map(ctype, INDEX_TYPES):
        for name in ("sew_cell_tiles", "add_cell_sizes", "sum_cell_sizes"):
            yield FILE, (f"{name}<{index}>",)
        for flag in ("true", "false"):
            yield FILE, (f"label_cell_tiles<{index}, {flag}>",)
            yield FILE, (f"flip_cells<{index}, {flag}>",)
