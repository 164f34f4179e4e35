"""Small graphs that hurt: hubs, lines, seams, sizes that are multiples of nothing."""

from functools import cache

import numpy as np

from conncomp import Graph
from reference import components_by_search


def line(n, order=None):
    order = np.arange(n) if order is None else order
    return order[:-1], order[1:], n


def star(n, hub):
    others = np.delete(np.arange(n), hub)
    return np.full(n - 1, hub), others, n


def grid(height, width):
    index = np.arange(height * width).reshape(height, width)
    src = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
    dst = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
    return src, dst, height * width


def cliques(count, size, linked):
    pairs = np.array(np.triu_indices(size, 1))
    src, dst = (np.concatenate([ends + i * size for i in range(count)]) for ends in pairs)
    if linked:
        first = np.arange(count - 1) * size
        src, dst = np.append(src, first + size - 1), np.append(dst, first + size)
    return src, dst, count * size


def random(n, arcs, seed):
    generator = np.random.default_rng(seed)
    return generator.integers(0, n, arcs), generator.integers(0, n, arcs), n


def brooms(hubs, bristles, seed):
    """Every hub is joined to all bristles; vertices are shuffled."""
    n = hubs + bristles
    order = np.random.default_rng(seed).permutation(n)
    src, dst = np.meshgrid(order[:hubs], order[hubs:])
    return src.ravel(), dst.ravel(), n


def mostly_far(n, degree, seed):
    """Odd vertices are joined to others far away, and then some of them to an even one close by."""
    generator = np.random.default_rng(seed)
    odd = np.arange(1, n, 2)
    src, dst = np.repeat(odd, degree), generator.choice(odd, degree * len(odd))
    return np.append(src, odd[::20]), np.append(dst, odd[::20] - 1), n


def shuffled(graphs, seed):
    """Graphs beside each other, with their vertices mixed."""
    ends, n = np.zeros((2, 0), np.int64), 0
    for src, dst, count in graphs:
        ends, n = np.append(ends, np.stack([src, dst]) + n, 1), n + count
    return *np.random.default_rng(seed).permutation(n)[ends], n


NOTHING = np.zeros(0, np.int64)

# name: sources and targets of arcs, each edge once, and the number of vertices
HARD_GRAPHS = {
    "none": (NOTHING, NOTHING, 0),
    "one": (NOTHING, NOTHING, 1),
    "isolated": (NOTHING, NOTHING, 77),
    "loop": (np.array([0, 2, 2]), np.array([0, 2, 2]), 3),
    "two": (np.array([1]), np.array([0]), 2),
    "multiple": (np.array([3, 3, 1, 3]), np.array([1, 1, 3, 1]), 5),
    "line": line(521),
    "line backwards": line(521, np.arange(521)[::-1]),
    "line shuffled": line(521, np.random.default_rng(1).permutation(521)),
    "star": star(1031, 0),
    "star, hub last": star(1031, 1030),
    "star, hub amid": star(1031, 517),
    "grid": grid(17, 43),
    "cliques": cliques(7, 19, linked=False),
    "clique chain": cliques(9, 13, linked=True),
    "brooms": brooms(2, 400, seed=3),
    "middle degrees": random(157, 157 * 12, seed=4),
    "sparse": random(997, 499, seed=5),
    "critical": random(997, 997, seed=6),
    "mostly far": mostly_far(1198, 9, seed=9),
    "all sorts": shuffled([brooms(2, 400, 3), cliques(3, 19, True), line(12), line(1)], seed=10),
    "two halves": (*(np.append(ends, ends + 333) for ends in random(333, 900, 7)[:2]), 666),
}

FORMS = ["arcs", "rows", "both ends"]


def make(name, form, vertex=np.int32, pointer=np.int32):
    """Return a graph as a list of arcs, as rows that list them once, or from both ends."""
    return from_arcs(*HARD_GRAPHS[name], form, vertex, pointer)


def from_arcs(src, dst, n, form, vertex=np.int32, pointer=np.int32):
    src, dst = src.astype(vertex), dst.astype(vertex)
    if form == "arcs":
        return Graph._of_checked(n, arcs=(src, dst))
    if form == "both ends":
        src, dst = np.append(src, dst), np.append(dst, src)
    order = np.argsort(src, kind="stable")
    indptr = np.searchsorted(src[order], np.arange(n + 1)).astype(pointer)
    return Graph._of_checked(n, csr=(indptr, dst[order]), symmetric=form == "both ends")


@cache
def roots_of(name):
    src, dst, n = HARD_GRAPHS[name]
    return components_by_search(n, np.stack([src, dst], 1))
