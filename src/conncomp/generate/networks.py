"""Random graphs: uniform, in given components, and the models of real networks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_bool
from conncomp._core import native
from conncomp.generate._arguments import (
    array_library,
    check_int,
    check_real,
    check_seed,
    index_dtype,
)
from conncomp.generate._edges import Vertices, count_each, graph_of_edges, repeat
from conncomp.generate.random import MASK, Purpose, integers, rounds_of_philox, uniform
from conncomp.graph import Graph

# So many edges are drawn at a time where each takes many numbers.
PART = 1 << 24


def uniform_random(
    num_vertices: int, num_edges: int, *, seed: int = 0, device: str | None = None
) -> Graph:
    """Make a graph of edges between pairs of vertices that are drawn uniformly.

    No loops, few multiple edges.

    Parameters
    ----------
    num_vertices, num_edges : int
    seed, device
        As for `line`.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.uniform_random(1000, 4000)
    Graph(num_vertices=1000, num_arcs=8000)
    """
    n = check_int("num_vertices", num_vertices, 0)
    m = check_int("num_edges", num_edges, 0)
    if m and n < 2:
        raise ValueError(f"num_edges={m} must be 0 for num_vertices={n}")
    u, v = draw_pairs(n, m, seed, device)
    return graph_of_edges(n, u, v, device=device)


def random_neighbours(
    num_vertices: int, degree: int, *, seed: int = 0, device: str | None = None
) -> Graph:
    """Make a graph in which every vertex picks `degree` others uniformly.

    From two picks a vertex on, it is one component with high probability. No loops, few multiple
    edges.

    Parameters
    ----------
    num_vertices : int
        At least 2.
    degree : int
        How many edges each vertex adds; the mean degree is twice that.
    seed, device
        As for `line`.

    Examples
    --------
    >>> from conncomp import generate
    >>> int(np.diff(generate.random_neighbours(1000, 4).indptr).min())
    4
    """
    n = check_int("num_vertices", num_vertices, 2)
    d = check_int("degree", degree, 0)
    check_int("num_vertices * degree", n * d, 0)
    u = array_library(device).arange(n, dtype=index_dtype(n)).repeat(d)
    return graph_of_edges(n, u, _others(u, n, seed, device), device=device)


def draw_pairs(
    num_vertices: int, count: int, seed: int, device: str | None
) -> tuple[Vertices, Vertices]:
    """Draw pairs of two vertices each."""
    draw = partial(integers, seed=seed, dtype=index_dtype(num_vertices), device=device)
    u = draw(count, max(num_vertices, 1), purpose=Purpose.SOURCE)
    return u, _others(u, num_vertices, seed, device)


def _others(u: Vertices, num_vertices: int, seed: int, device: str | None) -> Vertices:
    """Draw a vertex other than u for each u."""
    draw = partial(integers, seed=seed, dtype=u.dtype, device=device)
    v = draw(len(u), max(num_vertices - 1, 1), purpose=Purpose.TARGET)
    v += v >= u
    return v


def disjoint(
    num_vertices: int,
    num_edges: int,
    num_components: int,
    *,
    connected: bool = False,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Make Hawick's Disjoint graphs: random graphs in sets that vertices are dealt to at random.

    There may be loops and multiple edges. `equal_components` makes sets of equal size and exact
    numbers.

    Parameters
    ----------
    num_vertices, num_edges : int
    num_components : int
        The number of sets. Each gets one vertex, and the others are dealt to sets drawn uniformly.
        An edge joins two vertices, drawn uniformly with replacement, of a set drawn uniformly.
    connected : bool, optional
        Whether the first ``num_vertices - num_components`` edges make every set connected, by a
        random recursive tree. Otherwise there are components beyond `num_components`, most of them
        isolated vertices, if edges are few.
    seed, device
        As for `line`.

    Examples
    --------
    >>> from conncomp import connected_components, generate
    >>> graph = generate.disjoint(10_000, 60_000, 100, connected=True)
    >>> connected_components(graph, return_labels=False)
    100
    """
    n, m, k = _check_components(num_vertices, num_edges, num_components, connected)
    xp, dtype = array_library(device), index_dtype(n)
    draw = partial(integers, seed=seed, dtype=dtype, device=device)
    dealt = draw(n - k, max(k, 1), purpose=Purpose.SIZE)
    size = (1 + count_each(xp, dealt, k)).astype(dtype)
    begin = xp.cumsum(size, dtype=dtype) - size
    tree = _trees(begin, size, seed, device) if connected else (xp.empty(0, dtype),) * 2
    extra = m - len(tree[0])
    chosen = draw(extra, max(k, 1), purpose=Purpose.OTHER)
    purposes = Purpose.SOURCE, Purpose.TARGET
    ends = [begin[chosen] + draw(extra, size[chosen], purpose=purpose) for purpose in purposes]
    u, v = (xp.concatenate(pair) for pair in zip(tree, ends, strict=True))
    return graph_of_edges(n, u, v, shuffle=True, seed=seed, device=device)


def equal_components(
    num_vertices: int,
    num_edges: int,
    num_components: int,
    *,
    shuffle: bool = False,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Make a graph of given numbers of vertices, edges and components.

    No loops, few multiple edges.

    Parameters
    ----------
    num_vertices, num_edges, num_components : int
        The components have equal sizes, up to one vertex; each is a random recursive tree and
        random edges besides. `num_edges` is at least ``num_vertices - num_components``.
    shuffle, seed, device
        As for `line`. In order, the members of a component are consecutive.

    Examples
    --------
    >>> from conncomp import connected_components, generate
    >>> graph = generate.equal_components(10_000, 30_000, 500)
    >>> graph.num_arcs, connected_components(graph, return_labels=False)
    (60000, 500)
    """
    n, m, k = _check_components(num_vertices, num_edges, num_components, connected=True)
    xp, dtype = array_library(device), index_dtype(n)
    size = xp.full(k, n // max(k, 1), dtype)
    size[: n % max(k, 1)] += 1
    begin = xp.cumsum(size, dtype=dtype) - size
    tree = _trees(begin, size, seed, device)
    extra = m - len(tree[0])
    joinable = int(size[size > 1].sum())  # those come first
    if extra and not joinable:
        raise ValueError(f"num_edges={m} must be 0 where all components are single vertices")
    draw = partial(integers, seed=seed, dtype=dtype, device=device)
    u = draw(extra, max(joinable, 1), purpose=Purpose.SOURCE)
    home = repeat(xp, xp.arange(k, dtype=dtype), size)[u]
    v = draw(extra, size[home] - 1, purpose=Purpose.TARGET)
    v += begin[home]
    v += v >= u
    u, v = (xp.concatenate(pair) for pair in zip(tree, (u, v), strict=True))
    return graph_of_edges(n, u, v, shuffle=shuffle, seed=seed, device=device)


def _check_components(
    num_vertices: int, num_edges: int, num_components: int, connected: bool
) -> tuple[int, int, int]:
    n = check_int("num_vertices", num_vertices, 0)
    k = check_int("num_components", num_components, min(n, 1), n)
    m = check_int("num_edges", num_edges, n - k if as_bool("connected", connected) else 0)
    if m and not n:
        raise ValueError(f"num_edges={m} must be 0 for num_vertices=0")
    return n, m, k


def _trees(
    begin: NDArray[Any], size: NDArray[Any], seed: int, device: str | None
) -> tuple[Vertices, Vertices]:
    """Return the edges of random recursive trees that connect consecutive vertices."""
    xp = array_library(device)
    vertex = xp.arange(int(size.sum()), dtype=size.dtype)
    home = repeat(xp, begin, size)
    later = vertex != home
    vertex, home = vertex[later], home[later]
    draw = partial(integers, seed=seed, dtype=vertex.dtype, device=device)
    return home + draw(len(vertex), vertex - home, purpose=Purpose.TREE), vertex


def barabasi_albert(
    num_vertices: int,
    edges_per_vertex: int,
    *,
    shuffle: bool = False,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Make a scale-free network by preferential attachment.

    It is one component, of ``(num_vertices - edges_per_vertex) * edges_per_vertex`` edges: no
    loops, few multiple edges.

    Parameters
    ----------
    num_vertices : int
        More than `edges_per_vertex`.
    edges_per_vertex : int
        How many edges each new vertex brings; the mean degree is twice that.
    shuffle, seed, device
        As for `line`. In order, hubs come first.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.barabasi_albert(1000, 5)
    Graph(num_vertices=1000, num_arcs=9950)
    """
    d = check_int("edges_per_vertex", edges_per_vertex, 1)
    n = check_int("num_vertices", num_vertices, d + 1)
    check_int("num_vertices * edges_per_vertex", n * d, 0)
    # Edge e joins u[e] and v[e], which are the ends 2 e and 2 e + 1. Edges of the star come first.
    xp = array_library(device)
    edge = xp.arange((n - d) * d, dtype=index_dtype(2 * (n - d) * d))
    u = edge // d + d
    u[:d] = 0
    born = d * (edge[d:] // d)  # edges before those of the new vertex
    draw = partial(integers, seed=seed, dtype=edge.dtype, device=device)
    end = draw(len(born), 2 * born, purpose=Purpose.TARGET)
    v = xp.empty_like(edge)
    v[:d] = edge[:d] + 1
    v[d:] = xp.where(end % 2 == 0, u[end >> 1], ~(end >> 1))
    _resolve(xp, v)
    return graph_of_edges(n, u, v, shuffle=shuffle, seed=seed, device=device)


def _resolve(xp: Any, entries: NDArray[Any]) -> None:
    """Replace every entry ~i, which stands for a copy of entry i, by what it stands for."""
    open_ = xp.flatnonzero(entries < 0)
    while len(open_):
        entries[open_] = entries[~entries[open_]]
        open_ = open_[entries[open_] < 0]


def watts_strogatz(
    num_vertices: int,
    degree: int,
    probability: float,
    *,
    shuffle: bool = False,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Make a small-world network: a ring of near neighbours, with some edges rewired.

    It has ``num_vertices * degree / 2`` edges. No loops, few multiple edges.

    Parameters
    ----------
    num_vertices : int
        More than `degree`.
    degree : int
        Even: every vertex is connected to ``degree / 2`` neighbours on either side.
    probability : float
        That an edge (u, v) is rewired: v is replaced by a vertex other than u, drawn uniformly.
    shuffle, seed, device
        As for `line`.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.watts_strogatz(1000, 10, 0.1)
    Graph(num_vertices=1000, num_arcs=10000)
    """
    k = check_int("degree", degree, 0)
    if k % 2:
        raise ValueError(f"degree={k} must be even")
    n = check_int("num_vertices", num_vertices, k + 1)
    check_int("num_vertices * degree", n * k, 0)
    p = check_real("probability", probability, 0, 1)
    xp = array_library(device)
    vertex = xp.arange(n, dtype=index_dtype(n + k))
    u = vertex.repeat(k // 2)
    v = (vertex[:, None] + xp.arange(1, k // 2 + 1, dtype=u.dtype)).reshape(-1)
    v -= n * (v >= n).astype(v.dtype)
    rewired = uniform(len(u), seed=seed, purpose=Purpose.KEEP, device=device) < p
    v = xp.where(rewired, _others(u, n, seed, device), v)
    return graph_of_edges(n, u, v, shuffle=shuffle, seed=seed, device=device)


def rmat(
    scale: int,
    edges_per_vertex: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    simple: bool = False,
    shuffle: bool = False,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Make a recursive-matrix (R-MAT, stochastic Kronecker) graph.

    Parameters
    ----------
    scale : int
        For ``2**scale`` vertices; 0 to 31.
    edges_per_vertex : int, optional
        For ``2**scale * edges_per_vertex`` edges.
    a, b, c : float, optional
        The probabilities of the upper left, upper right and lower left quadrant of the adjacency
        matrix; by default those of Graph500.
    simple : bool, optional
        Whether to leave out loops and all but one of multiple edges.
    shuffle, seed, device
        As for `line`. In order, vertices with few bits set have the largest degrees.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.rmat(10, 8, a=0.45, b=0.15, c=0.15)
    Graph(num_vertices=1024, num_arcs=16384)
    """
    u, v = draw_rmat(scale, edges_per_vertex, (a, b, c), seed, device)
    n = 1 << scale
    return graph_of_edges(n, u, v, simple=simple, shuffle=shuffle, seed=seed, device=device)


def draw_rmat(
    scale: int,
    edges_per_vertex: int,
    quadrants: tuple[float, float, float],
    seed: int,
    device: str | None,
) -> tuple[Vertices, Vertices]:
    """Return the ends of the edges that `rmat` draws; `quadrants` are its `a`, `b` and `c`."""
    n = 1 << check_int("scale", scale, 0, 31)
    degree = check_int("edges_per_vertex", edges_per_vertex, 0)
    m = check_int("num_vertices * edges_per_vertex", n * degree, 0)
    check_seed(seed)
    shares = [check_real(name, share, 0, 1) for name, share in zip("abc", quadrants, strict=True)]
    if sum(shares) > 1 + 1e-9:
        raise ValueError(f"a + b + c = {sum(shares)} must be at most 1")
    thresholds = [min(round(total * 2**32), 2**32) for total in np.cumsum(shares).tolist()]
    xp = array_library(device)
    u = xp.empty(m, index_dtype(n))
    v = xp.empty_like(u)
    if device == "cuda":
        _array_rmat(xp, seed, scale, thresholds, u, v)
    else:
        native.rmat_edges(seed, Purpose.TARGET, scale, thresholds, u, v)
    return u, v


def _array_rmat(xp: Any, seed: int, scale: int, below: list[int], u: Vertices, v: Vertices) -> None:
    """Draw edges by arithmetic on arrays: the same as ``kernels/cpu/generate/fill.h``."""
    for start in range(0, len(u), PART):
        edge = xp.arange(start, min(start + PART, len(u)), dtype=np.uint64)
        row = column = xp.zeros(len(edge), u.dtype)
        for level in range(scale):
            if level % 4 == 0:
                counter = edge & MASK, edge >> 32, level // 4, int(Purpose.TARGET)
                words = rounds_of_philox(seed, counter)
            bits = words[level % 4]
            lower = bits >= below[1]
            right = xp.where(lower, bits >= below[2], bits >= below[0])
            row, column = 2 * row + lower, 2 * column + right
        u[start : start + PART], v[start : start + PART] = row, column


def web_like(
    num_vertices: int,
    links_per_vertex: int,
    copying: float = 0.5,
    *,
    window: int | None = None,
    shuffle: bool = False,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Make a network like the web by the copying model: a new page copies links of an older one.

    It is one component, without loops, but with multiple edges.

    Parameters
    ----------
    num_vertices, links_per_vertex : int
        Each page but the first has `links_per_vertex` links to pages before it.
    copying : float, optional
        The probability that the j-th link of a page is that of its prototype; otherwise it leads to
        a page drawn uniformly from those before it.
    window : int, optional
        Half of the prototypes are drawn from so many pages just before, and not from all. A small
        window gives near pages similar links, as crawls in the order of addresses have.
    shuffle, seed, device
        As for `line`.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.web_like(1000, 7, window=50)
    Graph(num_vertices=1000, num_arcs=13986)
    """
    n = check_int("num_vertices", num_vertices, 1)
    d = check_int("links_per_vertex", links_per_vertex, 1)
    check_int("num_vertices * links_per_vertex", n * d, 0)
    share = check_real("copying", copying, 0, 1)
    reach = n if window is None else min(check_int("window", window, 1), n)
    xp = array_library(device)
    draw = partial(integers, seed=seed, device=device)
    near = uniform(n - 1, purpose=Purpose.KEEP, seed=seed, device=device) < 0.5
    page = xp.arange(1, n, dtype=index_dtype(n * d))
    # The first page has no links, so it is no prototype, and the second has none to copy.
    reachable = xp.maximum(page - 1, 1)
    reachable = xp.where(near, xp.minimum(reachable, reach), reachable)
    prototype = page - 1 - draw(n - 1, reachable, purpose=Purpose.PROTOTYPE)
    u = page.repeat(d)
    v = draw(len(u), u, purpose=Purpose.TARGET, dtype=u.dtype)
    copied = uniform(len(u), purpose=Purpose.COPY, seed=seed, device=device) < share
    copied[:d] = False
    link = xp.flatnonzero(copied)
    v[link] = ~((prototype[link // d] - 1) * d + link % d)
    _resolve(xp, v)
    return graph_of_edges(n, u, v, shuffle=shuffle, seed=seed, device=device)


def overlapping_cliques(
    num_vertices: int,
    max_size: int = 50,
    *,
    exponent: float = 2.5,
    shared: int = 1,
    shuffle: bool = False,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Make a network of cliques, as co-authors of papers form them (coPapersDBLP is one).

    No loops, few multiple edges.

    Parameters
    ----------
    num_vertices : int
    max_size : int, optional
        The vertices are cut into groups of 1 to `max_size`; at least 1.
    exponent : float, optional
        The probability of a size falls off with its power.
    shared : int, optional
        Every group, together with so many earlier vertices drawn uniformly, forms a clique. Of 0,
        each group is a component.
    shuffle, seed, device
        As for `line`. In order, a group is consecutive.

    Examples
    --------
    >>> from conncomp import connected_components, generate
    >>> graph = generate.overlapping_cliques(1000, shared=2)
    >>> connected_components(graph, return_labels=False)
    1
    """
    n = check_int("num_vertices", num_vertices, 1)
    top = check_int("max_size", max_size, 1)
    guests = check_int("shared", shared, 0)
    weights = np.arange(1, top + 1) ** -check_real("exponent", exponent, 0)
    xp = array_library(device)
    bounds = xp.asarray(np.cumsum(weights) / weights.sum())  # not summed in the GPU's order
    drawn = uniform(n, seed=seed, purpose=Purpose.SIZE, device=device)
    size = 1 + xp.minimum(xp.searchsorted(bounds, drawn, side="right"), top - 1)
    end = xp.cumsum(size)
    groups = int((end < n).sum()) + 1  # as many as it takes; the last one is cut
    size = size[:groups]
    size[-1] -= end[groups - 1] - n
    begin = xp.cumsum(size) - size
    # The first group has no earlier vertices; its guests are its own first vertex.
    older = xp.maximum(begin, 1).repeat(guests)
    guest = integers(len(older), older, seed=seed, purpose=Purpose.TARGET, device=device)
    guest = guest.reshape(groups, guests)
    edges = []
    for own in xp.unique(size).tolist():
        of = xp.flatnonzero(size == own)
        members = xp.concatenate([begin[of][:, None] + xp.arange(own), guest[of]], axis=1)
        ends = map(xp.asarray, np.triu_indices(own + guests, 1))
        edges.append([members[:, end].ravel() for end in ends])
    src, dst = map(xp.concatenate, zip(*edges, strict=True))
    distinct = src != dst
    src, dst = (end[distinct].astype(index_dtype(n)) for end in (src, dst))
    return graph_of_edges(n, src, dst, shuffle=shuffle, seed=seed, device=device)
