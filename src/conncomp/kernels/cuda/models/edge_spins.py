"""Updates of the Ising model on any edges: drives ``edge_spins.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import Gpu, launch
from conncomp.kernels.cuda.models.replicas import CLUSTERS, RECORDS, Over, Replicas
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.edges import EdgeBonds
from conncomp.kernels.lattice import BITS

FILE = "cuda/models/edge_spins.cuh"
KERNELS = "draw_edges", "draw_ghosts", "begin_edges", "choose_edge_cluster", "flip_edges"
INDEX = np.dtype(np.int32)

# ``DrawnEdges`` of ``edge_spins.cuh``.
_BONDS = ("count", "i8"), ("u", "u8"), ("v", "u8"), ("coupling", "u8"), ("field", "u8")
_DRAWN = np.dtype([("bonds", list(_BONDS)), ("temperatures", "u8"), ("logarithm", "u8")])


class EdgeKernels:
    """Replicas of one graph side by side, and the kernels that flip their clusters.

    Parameters
    ----------
    gpu : Gpu
    edges : EdgeBonds
    logarithm : array of uint32
        The table that numbers are compared by.
    seed, first, count : int
        Of the random numbers; the number of the first replica, and how many there are.
    """

    def __init__(
        self, gpu: Gpu, edges: EdgeBonds, logarithm: Any, seed: int, first: int, count: int
    ) -> None:
        self._gpu, self._edges, self._count = gpu, edges, count
        self._replicas = Replicas(gpu, edges.of_sites, seed, first, count)
        # They are read by their addresses.
        self._held = [None if x is None else gpu.xp.asarray(x) for x in (*edges.arrays, logarithm)]
        self._drawn = np.zeros((), _DRAWN)
        self._drawn["bonds"] = (edges.bonds, *map(self._address, self._held[:-1]))
        self._drawn["logarithm"] = self._address(self._held[-1])
        self._workspace = Workspace()
        self._kernels = dict(zip(KERNELS, gpu.load(FILE, _NAMES), strict=True))

    @staticmethod
    def memory(edges: EdgeBonds, count: int) -> int:
        """Return how many bytes bonds, fields and an update of so many replicas take."""
        held = sum(int(array.nbytes) for array in edges.arrays if array is not None)
        return held + count * (2 * edges.sites * INDEX.itemsize + edges.of_sites.words * 8)

    def count(self, words: Any, record: Any) -> None:
        """Count what the spins tell."""
        records = self._records(record)
        self._launch("begin_edges", "sites", 0, words, None, None, np.bool_(0), records)
        self._draw(words, 0, None, None, None, None, records)

    def bonds(self, words: Any, step: int, temperatures: Any, active: Any) -> None:
        """Write which bonds an update makes active, a byte each."""
        nothing = self._records(None)
        self._set(temperatures)
        self._launch("draw_edges", "sites", step, self._drawn[()], words, None, active, nothing)

    def update(
        self,
        words: Any,
        new: Any,
        step: int,
        temperatures: Any,
        one: bool,
        record: Any,
        sizes: bool,
    ) -> None:
        """Flip clusters, or that of one drawn vertex, and measure those before."""
        edges, count = self._edges, self._count
        parent, stays, *size = self._workspace.take(
            self._gpu,
            (count * edges.sites, INDEX),
            (count * edges.of_sites.words, BITS),
            *([(count * edges.sites, INDEX)] if sizes else []),
        )
        records = self._records(record)
        self._launch("begin_edges", "sites", step, words, parent, stays, np.bool_(one), records)
        self._draw(words, step, temperatures, parent, stays if one else None, stays, records)
        of_size = size[0] if sizes else None
        self._launch("flip_edges", "sites", step, words, parent, stays, of_size, new)
        if sizes:
            measure, total = self._gpu.load(CLUSTERS, _OF_SIZES)
            grid, replicas = self._replicas.grid_over("sites"), self._replicas
            launch(measure, grid, replicas.struct(step, "sites"), parent, of_size)
            launch(total, grid, replicas.struct(step, "sites"), of_size, records)

    def _draw(
        self,
        words: Any,
        step: int,
        temperatures: Any,
        parent: Any,
        chosen: Any,
        stays: Any,
        records: Any,
    ) -> None:
        """Draw bonds, and those to the ghost; between both, with `chosen`, a cluster."""
        self._set(temperatures)
        drawn = self._drawn[()]
        self._launch("draw_edges", "sites", step, drawn, words, parent, None, records)
        if chosen is not None:
            self._launch("choose_edge_cluster", "words", step, parent, chosen)
        if self._edges.fields is not None:
            self._launch("draw_ghosts", "sites", step, drawn, words, parent, stays, records)

    def _launch(self, name: str, over: Over, step: int, *arguments: Any) -> None:
        replicas = self._replicas
        kernel, grid = self._kernels[name], replicas.grid_over(over)
        launch(kernel, grid, replicas.struct(step, over), *arguments)

    def _set(self, temperatures: Any) -> None:
        self._drawn["temperatures"] = self._address(temperatures)

    def _address(self, array: Any) -> int:
        return 0 if array is None else int(self._gpu.address(array))

    def _records(self, record: Any) -> Any:
        length = 0 if record is None else record.shape[-1]
        return np.array((self._address(record), length), RECORDS)[()]


_NAMES = tuple(f"{name}<>" for name in KERNELS)
_OF_SIZES = "measure_clusters<int32_t>", "sum_clusters<int32_t>"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `EdgeKernels` can load."""
    yield FILE, _NAMES
    yield CLUSTERS, _OF_SIZES
