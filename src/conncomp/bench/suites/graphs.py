"""Suites of graphs.

References
----------
.. [H] K. A. Hawick, A. Leist, D. P. Playne, "Parallel graph component labelling with GPUs and
   CUDA", Parallel Computing 36, 2010.
.. [J] J. Jaiganesh, M. Burtscher, "A high-performance connected components implementation for
   GPUs", HPDC 2018.
.. [W] Leyuan Wang, "An implementation of connected component algorithm on GPU", project report,
   2013.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from conncomp import generate
from conncomp.bench.inputs import (
    ARC_BYTES,
    GPU_ARC_BYTES,
    GPU_MADE_ARC_BYTES,
    GPU_VERTEX_BYTES,
    MOST_OBJECTS,
    OBJECT_BYTES,
    VERTEX_BYTES,
    Input,
)
from conncomp.generate import directed
from conncomp.generate._arguments import array_library, index_dtype
from conncomp.generate._edges import graph_of_edges, graph_of_parts, repeat
from conncomp.generate.random import Purpose, permutation
from conncomp.graph import Graph

Make = Callable[..., Graph]

# Generators number the oldest vertices, which are the largest hubs, first; a crawl begins anywhere.
BEGIN_OF_CRAWL = 1 / 3

# For the corners of a mesh's faces, of which there are several a cell.
MESH_VERTEX_BYTES = 500

# As published data are named; each may also end in .gz.
SUFFIXES = (".egr", ".gr", ".mtx", ".graph", ".txt")


def _input(
    name: str,
    description: str,
    vertices: int,
    arcs: int,
    make: Make,
    stand_in: bool = False,
    vertex_bytes: int = VERTEX_BYTES,
    gpu_arc_bytes: int = GPU_MADE_ARC_BYTES,
) -> Input:
    num_bytes = arcs * ARC_BYTES + min(arcs, MOST_OBJECTS) * OBJECT_BYTES + vertices * vertex_bytes
    gpu_bytes = arcs * gpu_arc_bytes + vertices * GPU_VERTEX_BYTES
    return Input(name, description, num_bytes, make, stand_in, gpu_bytes=gpu_bytes)


def hawick(size: str, data: Path | None = None) -> list[Input]:
    """List the graphs of [H]_, Table 3; names hold the published numbers, in millions."""
    part = {"tiny": 5000, "small": 500, "medium": 10, "full": 1}[size]
    # Lines are small as published: nearly so at medium size already.
    return scaled_hawick(10**6 // part, 10**6 // math.isqrt(part))


def scaled_hawick(million: int, million_of_line: int) -> list[Input]:
    """List the graphs of [H]_ with so many vertices, or edges, for each published million."""

    def disjoint(name: str, n: int, m: int, k: int) -> Input:
        text = f"{n:,} vertices in {k:,} sets, {m:,} edges inside them"
        return _input(name, text, n, 2 * m, partial(generate.disjoint, n, m, k))

    inputs = [disjoint(f"disjoint1-{n}m", n * million, 50 * million, 100) for n in (2, 4, 8, 16)]
    inputs += [disjoint(f"disjoint2-{m}m", million, m * million, 100) for m in (10, 30, 60)]
    for power in range(7):
        sets = round(million ** (power / 6))
        inputs.append(disjoint(f"disjoint3-1e{power}", 5 * million, 60 * million, sets))
    for tenths in (2, 10):
        n = max(tenths * million_of_line // 10, 2)
        text = f"a line of {n:,} vertices"
        inputs.append(_input(f"line-{tenths / 10:g}m", text, n, 2 * n, partial(generate.line, n)))
    for millions in (1, 3, 5):
        n = millions * million
        make = partial(generate.barabasi_albert, n, 5)
        text = f"Barabási-Albert, {n:,} vertices with 5 edges each"
        inputs.append(_input(f"scale-free-{millions}m", text, n, 10 * n, make))
    for p, millions in product((0.01, 0.1, 1.0), (2, 8, 14)):
        n = millions * million
        make = partial(generate.watts_strogatz, n, 10, p)
        text = f"Watts-Strogatz, {n:,} vertices of degree 10, p = {p:g}"
        inputs.append(_input(f"watts-strogatz-{p:g}-{millions}m", text, n, 10 * n, make))
    return inputs


class Published(NamedTuple):
    """A row of [J]_, Table 2, and how to make a graph like it of about so many vertices."""

    name: str
    kind: str
    vertices: int
    arcs: int
    make: Make
    stand_in: bool = True
    vertex_bytes: int = VERTEX_BYTES


def _square(vertices: float) -> tuple[int, int]:
    side = max(round(math.sqrt(vertices)), 2)
    return side, side


def _grid(n: int, device: str | None = None) -> Graph:
    return generate.grid(_square(n), device=device)


def _rmat(seed: int, n: int, device: str | None = None) -> Graph:
    scale = round(math.log2(n))
    return generate.rmat(scale, 8, a=0.45, b=0.15, c=0.15, simple=True, seed=seed, device=device)


def _kronecker(n: int, device: str | None = None) -> Graph:
    return generate.rmat(round(math.log2(n)), 48, simple=True, shuffle=True, device=device)


def _web(links: int, copying: float, window: int | None = None) -> Make:
    return partial(generate.web_like, links_per_vertex=links, copying=copying, window=window)


def _cliques(most: int, exponent: float) -> Make:
    return partial(generate.overlapping_cliques, max_size=most, exponent=exponent)


def _roads(keep: float, segments: int, n: int, device: str | None = None) -> Graph:
    # For each junction there are 2 keep roads, of (segments - 1) / 2 inner vertices on average.
    junctions = _square(n / (1 + keep * (segments - 1)))
    return generate.road_like(junctions, keep, segments=segments, connected=True, device=device)


_citations = partial(generate.barabasi_albert, edges_per_vertex=4, shuffle=True)
_delaunay = partial(generate.delaunay, order="strip")  # by Qhull, which takes memory
_random = partial(generate.random_neighbours, degree=4)


# Those from generators are made as published. The others are stand-ins of the same kind, mean
# degree and local order, with as many components, and numbered so that vertex 0 is as any other:
# at random, as products, interfaces of networks and members are, or in the order of patents and
# addresses. What their generators leave to choose is set by the largest degree.
ECL = (
    Published("2d-2e20.sym", "grid", 1_048_576, 4_190_208, _grid, False),
    Published("amazon0601", "co-purchases", 403_394, 4_886_816, _web(6, 0.35, 10_000)),
    Published("as-skitter", "Internet topology", 1_696_415, 22_190_596, _web(7, 0.6)),
    Published("citationCiteseer", "publication citations", 268_495, 2_313_294, _citations),
    Published("cit-Patents", "patent citations", 3_774_768, 33_037_894, _web(4, 0.3, 100_000)),
    Published("coPapersDBLP", "co-authors", 540_486, 30_491_458, _cliques(150, 1.5)),
    Published("delaunay_n24", "triangulation", 16_777_216, 100_663_202, _delaunay, False, 600),
    Published("europa_osm", "road map", 50_912_018, 108_109_320, partial(_roads, 0.55, 5)),
    Published("in-2004", "web links", 1_382_908, 27_182_946, _web(10, 0.65, 1000)),
    Published("internet", "Internet topology", 124_651, 387_240, _cliques(3, 0.7)),
    Published("kron_g500-logn21", "Kronecker", 2_097_152, 182_081_864, _kronecker, False),
    Published("r4-2e23.sym", "random", 8_388_608, 67_108_846, _random, False),
    Published("rmat16.sym", "RMAT", 65_536, 967_866, partial(_rmat, 16), False),
    Published("rmat22.sym", "RMAT", 4_194_304, 65_660_814, partial(_rmat, 22), False),
    Published("soc-LiveJournal1", "journal community", 4_847_571, 85_702_474, _web(9, 0.5)),
    Published("uk-2002", "web links", 18_520_486, 523_574_516, _web(14, 0.65, 1000)),
    Published("USA-road-d.NY", "road map", 264_346, 730_100, partial(_roads, 0.7, 1)),
    Published("USA-road-d.USA", "road map", 23_947_347, 57_708_624, partial(_roads, 0.6, 1)),
)


class Arrangement(NamedTuple):
    """The order of vertices, how many components there are, and the size of small ones."""

    order: Literal["random", "crawl"]
    components: int
    members: int


NUMBERED = {
    "amazon0601": Arrangement("random", 7, 2),
    "as-skitter": Arrangement("random", 756, 2),
    "cit-Patents": Arrangement("crawl", 3627, 2),
    "in-2004": Arrangement("crawl", 134, 1),
    "soc-LiveJournal1": Arrangement("random", 1876, 1),
    "uk-2002": Arrangement("crawl", 38359, 1),
}


def ecl(size: str, data: Path | None = None) -> list[Input]:
    """List the graphs of [J]_, Table 2; published ones are read from files in `data`, at any size.

    Those of size small have some 200,000 arcs, of medium, 5 million, or what was published.
    """
    largest = {"tiny": 3000, "small": 200_000, "medium": 5_000_000, "full": math.inf}[size]
    files = [(row, find_published(data, row.name)) for row in ECL]
    return [
        graph_of_file(row, path) if path else published_graph(row, min(1, largest / row.arcs))
        for row, path in files
    ]


def graph_of_file(row: Published, path: Path) -> Input:
    """Return a published graph, which is read from a file."""
    text = f"{row.kind}, from {path.name}"
    reads = partial(_read, path)
    return _input(row.name, text, row.vertices, row.arcs, reads, gpu_arc_bytes=GPU_ARC_BYTES)


def published_graph(row: Published, share: float = 1) -> Input:
    """Return a graph like a published one, with a share of its vertices."""
    n, m = round(row.vertices * share), round(row.arcs * share)
    text = f"{row.kind}, some {n:,} vertices and {m:,} arcs"
    order = NUMBERED.get(row.name)
    make = partial(_make_numbered, row, order, n) if order else partial(row.make, n)
    return _input(row.name, text, n, m, make, row.stand_in, row.vertex_bytes)


def _make_numbered(
    row: Published, arrangement: Arrangement, n: int, device: str | None = None
) -> Graph:
    """Return a graph of n vertices like the connected ones of `row`, in another order.

    "random" names vertices at random; "crawl" keeps the order, but begins elsewhere than at the
    largest hubs. Beside the large component, pairs or single vertices are as frequent as published.
    """
    members, share = arrangement.members, min(n / row.vertices, 1)
    small = min(round((arrangement.components - 1) * share), n // (2 * members))
    graph = row.make(n - small * members, device=device)
    xp, large = array_library(device), graph.num_vertices
    n = large + small * members
    names = _names(xp, arrangement, large, small, device)
    src = repeat(xp, xp.arange(large, dtype=index_dtype(n)), xp.diff(xp.asarray(graph.indptr)))
    arcs = names[src], names[xp.asarray(graph.indices)]
    del graph, src
    if members == 2:
        first = xp.arange(large, n, 2)
        ends = names[first], names[first + 1]
        arcs = xp.concatenate([arcs[0], *ends]), xp.concatenate([arcs[1], *ends[::-1]])
    return graph_of_parts(n, arcs=arcs, device=device)


def _names(xp: Any, arrangement: Arrangement, large: int, small: int, device: str | None) -> Any:
    n = large + small * arrangement.members
    if arrangement.order == "random":
        return permutation(n, purpose=Purpose.SHUFFLE, device=device)
    # Small components come at even distances: each is met once by a crawl, and then left.
    begins = xp.arange(small, dtype=np.int64) * n // max(small, 1)
    taken = (begins[:, None] + xp.arange(arrangement.members)).ravel()
    free = xp.ones(n, np.bool_)
    free[taken] = False
    turned = xp.roll(xp.flatnonzero(free), -int(large * BEGIN_OF_CRAWL))
    return xp.concatenate([turned, taken]).astype(index_dtype(n))


def find_published(data: Path | None, name: str) -> Path | None:
    """Return the file of a published graph in a folder, if any."""
    if data is None:
        return None
    candidates = (data / (name + suffix + zipped) for suffix in SUFFIXES for zipped in ("", ".gz"))
    return next((path for path in candidates if path.is_file()), None)


def _read(path: Path, device: str | None = None) -> Graph:
    """Read a graph on the CPU; make it symmetric, without loops and multiple arcs, as [J]_ did."""
    has_gaps = ".txt" in path.suffixes  # between the ids of an edge list
    read = Graph.read(path, compact_ids=True, integers=True)[0] if has_gaps else Graph.read(path)
    vertices = np.arange(read.num_vertices, dtype=read.indices.dtype)
    sources = np.repeat(vertices, np.diff(read.indptr))
    return graph_of_edges(read.num_vertices, sources, read.indices, simple=True)


def wang(size: str, data: Path | None = None) -> list[Input]:
    """List the graphs of [W]_: as many edges as vertices, by number of vertices and components.

    And two of its data of charities, which were not published, as small as they are.
    """
    part = {"tiny": 500, "small": 50, "medium": 3, "full": 1}[size]
    return charities() + wang_graphs(10**6 // part, 5000 // part)


def charities() -> list[Input]:
    """List stand-ins for the data of charities of [W]_, of which only these numbers are known."""

    def charity(name: str, n: int, m: int) -> Input:
        text = f"{n:,} vertices, {m:,} edges between pairs drawn at random"
        return _input(name, text, n, 2 * m, partial(generate.uniform_random, n, m), stand_in=True)

    return [charity("charity-2k", 1953, 1999), charity("charity-4k", 3831, 3999)]


def wang_graphs(million: int, components: int) -> list[Input]:
    """List the graphs of `wang` that [W]_ made, with so many vertices, from 10 on, for a million.

    `components` are those of the graphs that differ in their number of vertices.
    """

    def graph(name: str, n: int, k: int) -> Input:
        text = f"{n:,} vertices, as many edges, {k:,} components"
        make = partial(generate.equal_components, n, n, k, shuffle=True)
        return _input(name, text, n, 2 * n, make)

    counts = [round((million / 10) ** (power / 5)) for power in range(6)]
    return [
        *(graph(f"vertices-{n}m", n * million, components) for n in (1, 3, 5, 7, 9)),
        *(graph(f"components-1e{power}", million, count) for power, count in enumerate(counts)),
    ]


def hard(size: str, data: Path | None = None) -> list[Input]:
    """List graphs that are each the worst for some algorithm."""
    n = {"tiny": 1024, "small": 1 << 16, "medium": 1 << 20, "full": 1 << 24}[size]
    sets = partial(generate.equal_components, n, 3 * n, min(n // 4, 10**6), shuffle=True)
    square, critical = _square(n), partial(generate.uniform_random, n, n // 2)
    line, grid = partial(generate.line, n), partial(generate.grid, square)
    ring = partial(generate.watts_strogatz, n, 4, 0.01)
    rows: tuple[tuple[str, str, int, Make], ...] = (
        ("line", "the longest chain of parents", 2, line),
        ("line-shuffled", "the largest diameter, without locality", 2, partial(line, shuffle=True)),
        ("star-first", "one hub, vertex 0", 2, partial(generate.star, n)),
        ("star-last", "one hub, the last vertex", 2, partial(generate.star, n, -1)),
        ("grid", "no edges to spare, local order", 4, grid),
        ("grid-shuffled", "no edges to spare, without locality", 4, partial(grid, shuffle=True)),
        ("roads", "degrees near 2, many components", 3, partial(generate.road_like, square)),
        ("random-critical", "where a giant component is about to form", 1, critical),
        ("kronecker-ordered", "hubs first", 64, partial(generate.rmat, n.bit_length() - 3, 32)),
        ("small-world", "a ring with a few far edges", 4, ring),
        ("sets", "a million, or a quarter of the vertices, components of equal size", 6, sets),
    )
    some = f"; some {n:,} vertices"
    return [_input(name, text + some, n, degree * n, make) for name, text, degree, make in rows]


def scc(size: str, data: Path | None = None) -> list[Input]:
    """List digraphs for strong components: networks, meshes, the worst for searches."""
    n = {"tiny": 1024, "small": 1 << 16, "medium": 1 << 20, "full": 1 << 24}[size]
    scale, random, chain = n.bit_length() - 1, directed.random_arcs, directed.chain_of_cycles
    degrees = {"below": 0.9, "threshold": 1, "above": 1.5, "dense": 8}
    rows: list[tuple[str, str, float, Make]] = [
        (f"random-{name}", f"arcs drawn uniformly, {d} a vertex", d, partial(random, n, d))
        for name, d in degrees.items()
    ]
    hubs = partial(directed.rmat, scale - 3, 16, a=0.45, b=0.15, c=0.15)
    rows += [
        ("rmat", "hubs both ways, one giant", 2, hubs),
        ("kronecker", "as Graph500's", 2, partial(directed.rmat, scale - 3, shuffle=True)),
        ("web", "a bow tie, in the order of a crawl", 8, partial(directed.bow_tie, n)),
        ("web-shuffled", "the same in any order", 8, partial(directed.bow_tie, n, shuffle=True)),
    ]
    # Tetrahedra are six elements a cell.
    for elements, degree, of_cell in (("hexahedra", 3, 8), ("tetrahedra", 2, 48)):
        cells = max(round((n / of_cell) ** (1 / 3)), 3)
        for form in ("torus", "klein-bottle", "twisted-beam"):
            shape = 4 * cells, 2 * cells, cells
            sweep = partial(generate.mesh_sweep, shape, form, elements=elements)
            rows.append((f"{form}-{elements}", "the sweep of a mesh", degree, sweep))
    rows += [
        ("cycle", "the longest search", 1, partial(directed.cycle, n)),
        ("cycle-shuffled", "without locality", 1, partial(directed.cycle, n, shuffle=True)),
        ("path", "every vertex alone, with a loop", 2, partial(chain, n, 1)),
        ("pairs", "two-cycles in a row", 1.5, partial(chain, n // 2, 2)),
        ("cycles", "of 64, in a row", 1, partial(chain, n // 64, 64)),
        ("alone", "no arcs", 0, partial(random, n, 0)),
    ]
    return [
        _input(
            *(name, f"{text}; some {n:,} vertices", n, round(degree * n), make),
            vertex_bytes=MESH_VERTEX_BYTES if "hedra" in name else VERTEX_BYTES,
        )
        for name, text, degree, make in rows
    ]
