"""Directed graphs, whose strong components are hard to find each in a way of its own."""

from __future__ import annotations

from functools import partial

import numpy as np

from conncomp.generate._arguments import MOST, array_library, check_int, check_real, index_dtype
from conncomp.generate._edges import graph_of_edges
from conncomp.generate.networks import draw_pairs, draw_rmat
from conncomp.generate.random import Purpose, integers, uniform
from conncomp.graph import Graph

__all__ = ["bow_tie", "chain_of_cycles", "cycle", "random_arcs", "rmat"]

# The parts of the web as they were counted; what is left is tendrils.
CORE, INTO, OUT_OF = 0.28, 0.21, 0.21
SITE = 16  # pages of one site, which link to each other both ways


def random_arcs(
    num_vertices: int, mean_degree: float, *, seed: int = 0, device: str | None = None
) -> Graph:
    """Make a graph of arcs between pairs of vertices that are drawn uniformly.

    No loops, few multiple arcs.

    Parameters
    ----------
    num_vertices : int
    mean_degree : float
        How many arcs a vertex has on average: there are ``num_vertices * mean_degree`` arcs.
    seed, device
        As for `line`.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.directed.random_arcs(1000, 1.5)
    Graph(num_vertices=1000, num_arcs=1500)
    """
    n = check_int("num_vertices", num_vertices, 0)
    arcs = n * check_real("mean_degree", mean_degree, 0)
    m = round(check_real("num_vertices * mean_degree", arcs, 0, MOST))
    if m and n < 2:
        raise ValueError(f"mean_degree={mean_degree} must be 0 for num_vertices={n}")
    src, dst = draw_pairs(n, m, seed, device)
    return graph_of_edges(n, src, dst, directed=True, device=device)


def rmat(
    scale: int,
    arcs_per_vertex: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    shuffle: bool = False,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Make a directed recursive-matrix (R-MAT, stochastic Kronecker) graph.

    There are loops and multiple arcs.

    Parameters
    ----------
    scale, arcs_per_vertex, a, b, c, shuffle, seed, device
        As for `conncomp.generate.rmat`, whose edges are the arcs, in the direction in which they
        are drawn.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.directed.rmat(10, 8)
    Graph(num_vertices=1024, num_arcs=8192)
    """
    check_int("arcs_per_vertex", arcs_per_vertex, 0)
    src, dst = draw_rmat(scale, arcs_per_vertex, (a, b, c), seed, device)
    n = 1 << scale
    return graph_of_edges(n, src, dst, directed=True, shuffle=shuffle, seed=seed, device=device)


def bow_tie(
    num_vertices: int,
    links_per_vertex: int = 8,
    *,
    shuffle: bool = False,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Make a graph like the web: a giant strong component, and pages before it and behind it.

    28 % of the pages are the core, a strong component. There are loops and multiple arcs.

    Parameters
    ----------
    num_vertices : int
    links_per_vertex : int, optional
        Arcs of each page.
    shuffle, seed, device
        As for `line`. In order, near pages link to each other.

    Examples
    --------
    >>> from conncomp import component_sizes, connected_components, generate
    >>> web = generate.directed.bow_tie(10_000)
    >>> labels = connected_components(web, connection="strong")[1]
    >>> int(component_sizes(labels, background=None).max())
    2800
    """
    n = check_int("num_vertices", num_vertices, 1)
    d = check_int("links_per_vertex", links_per_vertex, 1)
    check_int("num_vertices * links_per_vertex", n * d, 0)
    xp = array_library(device)
    into, core, out_of = (round(share * n) for share in (INTO, CORE, OUT_OF))
    hanging = (n - into - core - out_of) // 2
    # In the order of the arcs between them: tendrils into the last part come before it.
    sizes = (into, hanging, core, n - into - hanging - core - out_of, out_of)
    begins = [sum(sizes[:part]) for part in range(len(sizes) + 1)]
    leads_to = (2, 1, 4, 4, 4)  # the next part of each; into itself if there is none
    page = xp.arange(n, dtype=np.int64)
    first, length, next_first, next_length = (xp.zeros(n, np.int64) for _ in range(4))
    for part, following in enumerate(leads_to):
        members = slice(begins[part], begins[part + 1])
        target = following if sizes[following] else part
        first[members], length[members] = begins[part], sizes[part]
        next_first[members], next_length[members] = begins[target], sizes[target]
    src = page.repeat(d)
    draw = partial(integers, seed=seed, device=device)
    drawn = uniform(n * d, purpose=Purpose.SIZE, seed=seed, device=device)
    distance = (1 / (1 - drawn)).astype(np.int64)
    in_core = (src >= begins[2]) & (src < begins[3])
    place, size = src - first[src], length[src]
    backward = in_core & (draw(n * d, 2, purpose=Purpose.KEEP) == 0)
    moved = place + xp.where(backward, -distance, distance)
    site = place // SITE * SITE
    in_site = site + draw(n * d, xp.minimum(size - site, SITE), purpose=Purpose.COPY)
    # Beyond the end of a part, a link stays within its site; in the core it goes round.
    dst = first[src] + xp.where(in_core, moved % size, xp.where(moved < size, moved, in_site))
    kind = draw(n * d, 8, purpose=Purpose.PROTOTYPE)
    dst = xp.where(~in_core & (kind == 1), first[src] + in_site, dst)
    elsewhere = next_first[src] + draw(n * d, next_length[src], purpose=Purpose.TARGET)
    dst = xp.where((kind == 0) & (next_first[src] != first[src]), elsewhere, dst)
    # The first links: those of the core make a ring, and what leads into it hangs tendrils on.
    ring = page[begins[2] : begins[3]]
    if core:
        dst[ring * d] = begins[2] + (ring - begins[2] + 1) % core
    if into and hanging:
        tendrils = page[begins[1] : begins[2]]
        sources = draw(hanging, into, purpose=Purpose.SOURCE)
        src, dst = xp.concatenate([src, sources]), xp.concatenate([dst, tendrils])
    return graph_of_edges(n, src, dst, directed=True, shuffle=shuffle, seed=seed, device=device)


def cycle(
    num_vertices: int, *, shuffle: bool = False, seed: int = 0, device: str | None = None
) -> Graph:
    """Make a directed cycle, which is one strong component.

    Parameters
    ----------
    num_vertices : int
    shuffle, seed, device
        As for `line`.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.directed.cycle(1000)
    Graph(num_vertices=1000, num_arcs=1000)
    """
    n = check_int("num_vertices", num_vertices, 1)
    return chain_of_cycles(1, n, shuffle=shuffle, seed=seed, device=device)


def chain_of_cycles(
    num_cycles: int, length: int, *, shuffle: bool = False, seed: int = 0, device: str | None = None
) -> Graph:
    """Make directed cycles in a row, each a strong component with an arc to the next one.

    Of `length` 1 it is a path of loops, of 2 a chain of pairs.

    Parameters
    ----------
    num_cycles, length : int
        There are ``num_cycles * length`` vertices.
    shuffle, seed, device
        As for `line`.

    Examples
    --------
    >>> from conncomp import connected_components, generate
    >>> chain = generate.directed.chain_of_cycles(100, 10)
    >>> connected_components(chain, connection="strong", return_labels=False)
    100
    """
    k = check_int("length", length, 1)
    n = check_int("num_cycles * length", k * check_int("num_cycles", num_cycles, 0), 0)
    xp = array_library(device)
    vertex = xp.arange(n, dtype=index_dtype(n))
    place = vertex % k
    following = vertex - place + (place + 1) % k
    entry = vertex[::k]
    src, dst = xp.concatenate([vertex, entry[:-1]]), xp.concatenate([following, entry[1:]])
    return graph_of_edges(n, src, dst, directed=True, shuffle=shuffle, seed=seed, device=device)
