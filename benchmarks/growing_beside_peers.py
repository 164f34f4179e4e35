"""Components that grow, beside peers: millions of edges, or of pairs asked about, a second.

Run with ``python benchmarks/growing_beside_peers.py``. Edges are uniform random ones. Peers that
take an edge at a time get fewer of them; the rates of ours are for the same edges.
"""

import statistics
import time

import networkx
import numpy as np
from scipy.cluster.hierarchy import DisjointSet

from conncomp import Graph, IncrementalComponents, connected_components, set_num_threads

ROUNDS = 5


class Scipy:
    def __init__(self, n):
        self._sets = DisjointSet(range(n))

    def add_edges(self, src, dst):
        for u, v in zip(src.tolist(), dst.tolist(), strict=True):
            self._sets.merge(u, v)

    def connected(self, u, v):
        return [self._sets.connected(*pair) for pair in zip(u.tolist(), v.tolist(), strict=True)]


class Networkx:
    def __init__(self, n):
        self._sets = networkx.utils.UnionFind(range(n))

    def add_edges(self, src, dst):
        for u, v in zip(src.tolist(), dst.tolist(), strict=True):
            self._sets.union(u, v)

    def connected(self, u, v):
        pairs = zip(u.tolist(), v.tolist(), strict=True)
        return [self._sets[a] == self._sets[b] for a, b in pairs]


def rates(make, n, batches):
    """Return millions a second of edges, and of pairs afterwards: medians of rounds."""
    added, asked = [], []
    for _ in range(ROUNDS):
        components = make(n)
        start = time.perf_counter()
        for src, dst in batches:
            components.add_edges(src, dst)
        middle = time.perf_counter()
        components.connected(*batches[0][::-1])
        end = time.perf_counter()
        edges = sum(len(src) for src, _ in batches)
        added.append(edges / (middle - start) / 1e6)
        asked.append(len(batches[0][0]) / (end - middle) / 1e6)
    return statistics.median(added), statistics.median(asked)


def all_again(n, batches):
    """Return millions of edges a second where all that there are are labelled after each batch."""
    start = time.perf_counter()
    for k in range(1, len(batches) + 1):
        every = (np.concatenate(ends) for ends in zip(*batches[:k], strict=True))
        connected_components(Graph.from_edges(*every, n))
    return sum(len(src) for src, _ in batches) / (time.perf_counter() - start) / 1e6


def main():
    generator = np.random.default_rng(0)
    for n, size, count, peers in (
        (100_000, 20_000, 10, (Scipy, Networkx)),
        (1_000_000, 200_000, 10, ()),
        (10_000_000, 2_000_000, 10, ()),
        (10_000_000, 1_000, 1_000, ()),
    ):
        for dtype in (np.int32, np.int64):
            batches = list(generator.integers(0, n, (count, 2, size), dtype))
            print(f"{n:,} vertices, {count} batches of {size:,} edges, {np.dtype(dtype)}")
            for threads in (1, 2):
                set_num_threads(threads)
                for make in (IncrementalComponents, *(peers if threads == 1 else ())):
                    edges, pairs = rates(make, n, batches)
                    print(f"  {make.__name__}, {threads}: {edges:.2f} edges, {pairs:.2f} pairs")
                if count <= 10:
                    print(f"  all edges again, {threads}: {all_again(n, batches):.2f} edges")


if __name__ == "__main__":
    main()
