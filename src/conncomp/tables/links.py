"""The strongest links of clusters: a maximum spanning forest of pairs that come in batches."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native

# Links beyond those of the forest that are kept before a new forest is made.
FEWEST_LINKS, LINKS_A_NODE = 1 << 20, 2

SIGN = 1 << 63
ORDER = (SIGN, SIGN - 1, SIGN)  # masks of WeightOrder for float64


class StrongestLinks:
    """A maximum spanning forest of links of at least some weight."""

    def __init__(self, lowest: float = -np.inf) -> None:
        self._lowest = lowest
        self._batches: list[tuple[NDArray[Any], ...]] = []
        self._count = 0

    def add(self, u: Any, v: Any, weights: Any, nodes: int) -> None:
        """Add links between nodes, of which there are so many."""
        kept = (weights >= self._lowest) & (u != v)
        self._batches.append((u[kept], v[kept], weights[kept]))
        self._count += len(self._batches[-1][0])
        if self._count > FEWEST_LINKS + (LINKS_A_NODE + 1) * nodes:
            self._batches = [self.forest(nodes)]
            self._count = len(self._batches[0][0])

    def forest(self, nodes: int) -> tuple[NDArray[Any], ...]:
        """Return both ends and the weights of the links of the forest."""
        if not self._batches:
            return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
        u, v, weights = (np.concatenate(parts) for parts in zip(*self._batches, strict=True))
        bits = (-weights).view(np.uint64)
        chosen = native.minimum_forest_of_arcs(u, v, nodes, bits, ORDER, secrets.randbits(64))
        return u[chosen], v[chosen], weights[chosen]

    def divide(self, nodes: int, most: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the first node of each one's cluster, and by first nodes where it was divided."""
        u, v, weights = self.forest(nodes)
        order = np.argsort(-weights, kind="stable")
        roots, divided = np.empty(nodes, np.int32), np.full(nodes, np.nan)
        native.divide_clusters(u[order], v[order], weights[order], most, roots, divided)
        return roots, divided
