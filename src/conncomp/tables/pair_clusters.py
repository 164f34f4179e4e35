"""Clusters of ids that grow by tables of pairs, at several thresholds, on either device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._array_storage import new_array
from conncomp._core import native
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.tables.pair_clusters import GpuClusters
from conncomp.tables.values import Keys


class ClustersInMemory:
    """Ids whose keys are `words`, or bytes if that is 0, and their clusters."""

    on_gpu = False

    def __init__(self, words: int, thresholds: list[float]) -> None:
        self.words = words
        # By the keys: bytes, one word, two words.
        classes = native.ByteClusters, native.WordClusters, native.WordPairClusters
        self._native: Any = classes[words](thresholds)

    @property
    def size(self) -> int:
        """The number of distinct ids."""
        return int(self._native.size)

    def add_ids(self, keys: Keys) -> NDArray[np.int32]:
        """Return the numbers of ids; new ones get numbers."""
        numbers: NDArray[np.int32] = new_array(np, (self._rows(keys),), np.int32)
        self._native.add_ids(*keys, numbers)
        return numbers

    def add_pairs(self, left: Keys, right: Keys, weights: Any) -> None:
        """Unite the keys of pairs; weights may be None."""
        self._native.add_pairs(*left, *right, weights, None, None)

    def add_numbered_pairs(self, left: Keys, right: Keys, weights: Any) -> tuple[Any, Any]:
        """Unite the keys of pairs; return the numbers of both ends."""
        u, v = np.empty(self._rows(left), np.int32), np.empty(self._rows(right), np.int32)
        self._native.add_pairs(*left, *right, weights, u, v)
        return u, v

    def roots(self, level: int) -> NDArray[np.int32]:
        """Return the first id of each one's cluster at a threshold, the lowest being 0."""
        labels: NDArray[np.int32] = new_array(np, (self.size,), np.int32)
        self._native.label(level, False, labels)
        return labels

    def unite_roots(self, level: int, roots: NDArray[np.int32]) -> None:
        """Unite each id with the one whose number is its entry of `roots`."""
        self._native.unite_roots(level, roots)

    def numbered(self, roots: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the numbers of clusters, in the order of their roots, and their sizes."""
        numbers, sizes = (new_array(np, roots.shape, np.int32) for _ in range(2))
        np.copyto(numbers, roots)
        native.number_clusters(numbers, sizes)
        return numbers, sizes

    def all_keys(self) -> Keys:
        """Return the keys of the distinct ids by their numbers."""
        if self.words:
            words = new_array(np, (self.size, self.words), np.uint64)
            self._native.copy_ids(words)
            return (words,)
        ends, data = np.empty(self.size + 1, np.int64), np.empty(self._native.bytes, np.uint8)
        self._native.copy_ids(ends, data)
        return ends, data

    def keep_ids_only(self) -> None:
        """Give back all memory but that of the ids."""
        self._native.keep_ids_only()

    def _rows(self, keys: Keys) -> int:
        return len(keys[0]) - (self.words == 0)


Clusters = ClustersInMemory | GpuClusters


def new_clusters(words: int, thresholds: list[float], on_gpu: bool) -> Clusters:
    """Return empty clusters, for keys as above; without thresholds they only number ids."""
    return GpuClusters(current_gpu(), thresholds) if on_gpu else ClustersInMemory(words, thresholds)
