"""Clusters of ids that grow by tables of pairs, at several thresholds, on the GPU.

Ids become numbers (`IdNumbers`), and pairs unite these in a forest for each threshold
(`GrowingForest`), the highest first. A lower one gets only pairs that reach just it, and those that
united something above, so most pairs meet one forest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conncomp.kernels.cuda.components.tables import count_labels
from conncomp.kernels.cuda.core.numbering import number_roots
from conncomp.kernels.cuda.graph.incremental import GrowingForest
from conncomp.kernels.cuda.launcher import Gpu
from conncomp.kernels.cuda.tables.interning import NUMBERS, IdNumbers
from conncomp.kernels.cuda.workspace import Workspace


class GpuClusters:
    """Ids of 64 bits, in one column of keys, and their clusters.

    Thresholds ascend: one without meaning if pairs have no weights, none if ids are only numbered.
    """

    on_gpu = True
    words = 1

    def __init__(self, gpu: Gpu, thresholds: list[float]) -> None:
        self._gpu, self._thresholds = gpu, thresholds
        self._numbers = IdNumbers(gpu)
        self._forests = [GrowingForest(gpu, 0, NUMBERS) for _ in thresholds]
        self._workspace = Workspace()
        self._torn = False  # whether pairs may be in some of the forests that they belong to only

    @property
    def size(self) -> int:
        """The number of distinct ids."""
        return self._numbers.size

    def all_keys(self) -> tuple[Any]:
        """Return the distinct ids by their numbers: an array of uint64."""
        return (self._numbers.ids.reshape(-1, 1),)

    def add_ids(self, keys: tuple[Any, ...]) -> Any:
        """Return the numbers of ids, int32; new ones get numbers."""
        ids = keys[0].reshape(-1)
        numbers = self._gpu.xp.empty(len(ids), NUMBERS)
        for rows in self._batches(len(ids)):
            numbers[rows] = self._numbers.number(self._gpu, ids[rows], None, self._workspace)
        return numbers

    def add_pairs(self, left: tuple[Any, ...], right: tuple[Any, ...], weights: Any) -> None:
        """Unite the ids of pairs: uint64, and perhaps weights of float64, of each row."""
        src, dst = left[0].reshape(-1), right[0].reshape(-1)
        for rows in self._batches(len(src)):
            ends = self._numbers.number(self._gpu, src[rows], dst[rows], self._workspace)
            self._unite(ends[0], ends[1], None if weights is None else weights[rows])

    def _batches(self, count: int) -> Iterator[slice]:
        end = 0
        while end < count:
            begin, end = end, end + self._numbers.batch_rows()
            yield slice(begin, end)

    def roots(self, level: int) -> Any:
        """Return the first id of each one's cluster at a threshold, the lowest being 0."""
        self._mend()
        return self._roots_at(level)

    def _roots_at(self, level: int) -> Any:
        roots = self._gpu.xp.empty(self.size, NUMBERS)
        self._forests[level].grow(self._gpu, self.size)
        self._forests[level].copy_roots(self._gpu, roots)
        return roots

    def unite_roots(self, level: int, roots: Any) -> None:
        """Unite each id with the one whose number is its entry of `roots`."""
        self._unite_at(level, self._gpu.xp.arange(len(roots), dtype=NUMBERS), roots)

    def numbered(self, roots: Any) -> tuple[Any, Any]:
        """Return the numbers of clusters, in the order of their roots, and their sizes."""
        numbers = roots.copy()
        with self._workspace as memory:
            number_roots(self._gpu, numbers, 0, memory)
        members = count_labels(self._gpu, roots, -1, len(roots))  # no root is -1
        return numbers, members.astype(NUMBERS)[roots]

    def keep_ids_only(self) -> None:
        """Give back the table that finds numbers; it is made anew when ids are added."""
        self._numbers.forget_table()

    def _unite(self, u: Any, v: Any, weights: Any) -> None:
        xp = self._gpu.xp
        self._mend()
        if weights is None:
            return self._unite_down([(u, v)])
        reached = xp.searchsorted(xp.asarray(self._thresholds), weights, side="right")
        places = (xp.flatnonzero(reached == k + 1) for k in range(len(self._forests)))
        return self._unite_down([(u[of_level], v[of_level]) for of_level in places])

    def _unite_down(self, pairs: list[tuple[Any, Any]]) -> None:
        """Unite pairs, given by the threshold that they reach, in all forests up to it."""
        xp = self._gpu.xp
        self._torn = True
        u = v = xp.empty(0, NUMBERS)
        for level in reversed(range(len(pairs))):
            u, v = (xp.concatenate(parts) for parts in zip((u, v), pairs[level], strict=True))
            united = self._unite_at(level, u, v)
            if level > 0:
                bits = xp.unpackbits(united.view(np.uint8), bitorder="little")
                places = xp.flatnonzero(bits[: len(u)])
                u, v = u[places], v[places]
        self._torn = False

    def _unite_at(self, level: int, u: Any, v: Any) -> Any:
        forest = self._forests[level]
        forest.grow(self._gpu, self.size)
        with self._workspace as memory:
            return forest.unite(self._gpu, u, v, memory)

    def _mend(self) -> None:
        """Unite in each forest what is connected in that of the next higher threshold."""
        if self._torn:
            for level in reversed(range(1, len(self._forests))):
                self.unite_roots(level - 1, self._roots_at(level))
            self._torn = False
