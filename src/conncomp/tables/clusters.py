"""Keys of ids and the forests of their numbers, in main memory and on a GPU."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import move_to_gpu, new_array
from conncomp._core import native
from conncomp.gpu import Workspace
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.tables import pair_clusters
from conncomp.tables.values.text import Keys

# An array of NumPy or, on a GPU, of CuPy.
Numbers = Any


class Clusters(Protocol):
    """Distinct keys by their numbers, 0, 1, ... as they first come, and their clusters."""

    on_gpu: bool

    @property
    def size(self) -> int:
        """How many distinct keys there are."""

    def add_ids(self, keys: Keys) -> Numbers:
        """Return the number of each key; those that have none get one."""

    def add_pairs(self, left: Keys, right: Keys, weights: Any, wanted: bool) -> Any:
        """Unite the keys of pairs; return the numbers of both ends if they are wanted."""

    def roots(self, level: int) -> Numbers:
        """Return the first number of each one's cluster at a threshold, the lowest being 0."""

    def unite_roots(self, level: int, roots: NDArray[np.int32]) -> None:
        """Unite each number with the one that `roots` has for it."""

    def numbered(self, roots: Numbers) -> tuple[Numbers, Numbers]:
        """Return the number of each root's cluster, and how many members that has."""

    def all_keys(self) -> Keys:
        """Return all keys by their numbers."""

    def keep_ids_only(self) -> None:
        """Give back what is needed to add more."""


class ClustersInMemory:
    """Clusters of the core, of keys of some words, or of bytes if these are 0."""

    on_gpu = False

    def __init__(self, words: int, thresholds: list[float]) -> None:
        classes = native.ByteClusters, native.WordClusters, native.WordPairClusters
        self._words = words
        self._clusters: Any = classes[words](thresholds)

    @property
    def size(self) -> int:
        """How many distinct keys there are."""
        return int(self._clusters.size)

    def add_ids(self, keys: Keys) -> NDArray[np.int32]:
        """Return the number of each key; those that have none get one."""
        numbers: NDArray[np.int32] = new_array(np, (self._rows(keys),), np.int32)
        self._clusters.add_ids(*keys, numbers)
        return numbers

    def add_pairs(self, left: Keys, right: Keys, weights: Any, wanted: bool) -> Any:
        """Unite the keys of pairs; return the numbers of both ends if they are wanted."""
        u, v = (np.empty(self._rows(left), np.int32) if wanted else None for _ in range(2))
        self._clusters.add_pairs(*left, *right, weights, u, v)
        return u, v

    def roots(self, level: int) -> NDArray[np.int32]:
        """Return the first number of each one's cluster at a threshold, the lowest being 0."""
        labels: NDArray[np.int32] = new_array(np, (self.size,), np.int32)
        self._clusters.label(level, False, labels)
        return labels

    def unite_roots(self, level: int, roots: NDArray[np.int32]) -> None:
        """Unite each number with the one that `roots` has for it."""
        self._clusters.unite_roots(level, roots)

    def numbered(self, roots: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the number of each root's cluster, and how many members that has."""
        numbers, sizes = (new_array(np, roots.shape, np.int32) for _ in range(2))
        np.copyto(numbers, roots)
        native.number_clusters(numbers, sizes)
        return numbers, sizes

    def all_keys(self) -> Keys:
        """Return all keys by their numbers."""
        if self._words:
            words = new_array(np, (self.size, self._words), np.uint64)
            self._clusters.copy_ids(words)
            return (words,)
        ends, data = np.empty(self.size + 1, np.int64), np.empty(self._clusters.bytes, np.uint8)
        self._clusters.copy_ids(ends, data)
        return ends, data

    def keep_ids_only(self) -> None:
        """Give back what is needed to add more."""
        self._clusters.keep_ids_only()

    def _rows(self, keys: Keys) -> int:
        return len(keys[0]) - (self._words == 0)


class ClustersOnGpu:
    """Clusters of keys of one word on the current GPU, to which keys in main memory are moved."""

    on_gpu = True

    def __init__(self, thresholds: list[float]) -> None:
        self._gpu = current_gpu()
        self._clusters = pair_clusters.GpuClusters(self._gpu, thresholds)
        self._workspace = Workspace()

    @property
    def size(self) -> int:
        """How many distinct keys there are."""
        return self._clusters.size

    def add_ids(self, keys: Keys) -> Numbers:
        """Return the number of each key; those that have none get one."""
        return self._clusters.add_ids(self._gpu, self._placed(keys[0]))

    def add_pairs(self, left: Keys, right: Keys, weights: Any, wanted: bool) -> Any:
        """Unite the keys of pairs."""
        assert not wanted
        placed = None if weights is None else self._placed(weights)
        self._clusters.add_pairs(self._gpu, self._placed(left[0]), self._placed(right[0]), placed)
        return None, None

    def roots(self, level: int) -> Numbers:
        """Return the first number of each one's cluster at a threshold, the lowest being 0."""
        return self._clusters.roots(self._gpu, level)

    def unite_roots(self, level: int, roots: NDArray[np.int32]) -> None:
        """Unite each number with the one that `roots` has for it."""
        self._clusters.unite_roots(self._gpu, level, self._placed(roots))

    def numbered(self, roots: Numbers) -> tuple[Numbers, Numbers]:
        """Return the number of each root's cluster, and how many members that has."""
        return pair_clusters.number_clusters(self._gpu, roots, self._workspace)

    def all_keys(self) -> Keys:
        """Return all keys by their numbers."""
        return (self._clusters.ids.reshape(-1, 1),)

    def keep_ids_only(self) -> None:
        """Give back what is needed to add more."""
        self._clusters.forget_table()

    def _placed(self, values: Any) -> Any:
        flat = values.reshape(-1)
        return move_to_gpu(self._gpu.xp, flat) if isinstance(flat, np.ndarray) else flat


def new_clusters(words: int, thresholds: list[float], on_gpu: bool) -> Clusters:
    """Return clusters of no key yet, of keys of some words, or of bytes if these are 0."""
    return ClustersOnGpu(thresholds) if on_gpu else ClustersInMemory(words, thresholds)
