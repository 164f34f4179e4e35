"""Pictures of the papers' algorithms, on inputs of a few elements."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
from matplotlib.figure import Figure

import conncomp
from conncomp import generate
from figures.drawing import (
    INK,
    Edge,
    agree,
    colours_of,
    draw_cells,
    draw_forest,
    panels,
    roots_of,
    unite,
)

EDGES: list[Edge] = [(0, 5), (2, 5), (3, 5), (1, 6), (4, 6), (4, 7), (7, 8)]
COUNT = 9


def _roots(edges: list[Edge], count: int, **options: str) -> np.ndarray:
    src, dst = np.array(edges).T
    graph = conncomp.Graph.from_edges(src, dst, num_vertices=count)
    return conncomp.connected_components(graph, numbering="roots", **options)[1]


def ecl() -> Figure:
    """Draw the three phases of ECL-CC."""
    parent = list(range(COUNT))
    for v in range(COUNT):  # init=3: under the first smaller neighbour, if there is one
        smaller = [a + b - v for a, b in EDGES if v in (a, b) and a + b - v < v]
        parent[v] = smaller[0] if smaller else v
    figure, (start, hooked, finished) = panels(3, 1, 5.4)
    draw_forest(start, parent, EDGES)
    start.set_title("start: under a smaller neighbour (edges: below)")
    for edge in EDGES:
        unite(parent, *edge)
    draw_forest(hooked, parent, EDGES)
    hooked.set_title("hook: every edge unites the trees of its ends")
    parent = roots_of(parent)
    agree(parent, _roots(EDGES, COUNT, algorithm="ecl"))
    draw_forest(finished, parent)
    finished.set_title("finish: every vertex points to its root")
    return figure


def soman() -> Figure:
    """Draw the sweeps of hooking and jumping, and the edges that are marked."""
    edges = [(0, 3), (1, 3), (1, 4), (2, 4), (5, 6), (6, 7), (5, 8)]
    parent, marked = list(range(COUNT)), set[Edge]()
    figure, axes = panels(3, 1, 4.8)
    for sweep, axis in enumerate(axes):
        hooks = {}
        for a, b in edges:
            low, high = sorted((parent[a], parent[b]))
            if low == high:
                marked.add((a, b))
            elif sweep % 2:
                hooks[low] = high
            else:
                hooks[high] = low
        for root, other in hooks.items():
            parent[root] = other
        parent = roots_of(parent)
        draw_forest(axis, parent, edges, marked)
        way = "the smaller root under the larger" if sweep % 2 else "the larger under the smaller"
        axis.set_title(f"sweep {sweep}: {way}; {len(marked)} edges marked")
    roots = _roots(edges, COUNT)
    agree([min(v for v in range(COUNT) if parent[v] == root) for root in parent], roots)
    return figure


def lowering() -> Figure:
    """Draw the labels of vertices, sweep by sweep, for three kernels."""
    edges = [(0, 4), (4, 1), (1, 6), (6, 2), (2, 7), (3, 5), (5, 8)]
    roots = _roots(edges, COUNT, algorithm="recolouring")
    figure, axes = panels(3, 1, 6.4)
    ways = (
        ("edge-propagation: every edge, each sweep", _lower_edges(edges)),
        ("vertex-propagation: the frontier (outlined)", _lower_frontier(edges)),
        ("bfs: a search for each component", _search(edges)),
    )
    for axis, (title, steps) in zip(axes, ways, strict=True):
        rows = list(steps)
        labels = np.array([row for row, _ in rows])
        agree(labels[-1], roots)
        draw_cells(axis, colours_of(labels), np.where(labels < 0, "", labels))
        for y, (_, frontier) in enumerate(rows):
            for x in frontier:
                axis.plot(
                    np.array([0.06, 0.94, 0.94, 0.06, 0.06]) + x,
                    np.array([0.06, 0.06, 0.94, 0.94, 0.06]) + y,
                    color=INK,
                    lw=1.2,
                )
        axis.set_title(f"{title}: {len(rows) - 1} sweeps")
        axis.set_aspect("auto")
    return figure


Steps = Iterator[tuple[list[int], list[int]]]


def _lower_edges(edges: list[Edge]) -> Steps:
    labels, before = list(range(COUNT)), None
    while labels != before:
        yield labels, []
        before, labels = labels, list(labels)
        for a, b in edges:
            labels[a] = min(labels[a], before[b])
            labels[b] = min(labels[b], before[a])


def _lower_frontier(edges: list[Edge]) -> Steps:
    labels, frontier = list(range(COUNT)), list(range(COUNT))
    while frontier:
        yield labels, frontier
        before, labels = labels, list(labels)
        for a, b in edges:
            for v, w in ((a, b), (b, a)):
                if v in frontier:
                    labels[w] = min(labels[w], before[v])
                    labels[v] = min(labels[v], before[w])
        frontier = [v for v in range(COUNT) if labels[v] != before[v]]
    yield labels, []


def _search(edges: list[Edge]) -> Steps:
    labels = [-1] * COUNT
    for start in range(COUNT):
        if labels[start] >= 0:
            continue
        frontier = [start]
        labels = [start if v == start else labels[v] for v in range(COUNT)]
        while frontier:
            yield labels, frontier
            reached = {a + b - v for v in frontier for a, b in edges if v in (a, b)}
            frontier = sorted(v for v in reached if labels[v] < 0)
            labels = [start if v in frontier else labels[v] for v in range(COUNT)]
    yield labels, []


def sweeps() -> Figure:
    """Draw the labels of a spiral after some sweeps of kernels A to D, and of CPU I."""
    image = generate.patterns.spiral(14) == 1
    roots = conncomp.label(image, connectivity=1, numbering="roots")
    ways: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
        "A": _propagate,
        "B": _propagate_in_blocks,
        "C": _propagate_along,
        "D": _equivalence,
        "CPU I": _raster_scan,
    }
    figure, axes = panels(len(ways), 4, 6.9)
    for down, (kernel, sweep) in enumerate(ways.items()):
        labels = np.where(image, np.arange(image.size).reshape(image.shape), -1)
        stages = [labels]
        while True:
            following = sweep(labels, image)
            if (following == labels).all():
                break
            stages.append(labels := following)
        agree(labels, roots)
        last = len(stages) - 1
        for across, number in enumerate((0, min(1, last), min(3, last), last)):
            axis = axes[4 * down + across]
            shade = np.where(image, stages[number] / image.size, np.nan)
            axis.imshow(shade, cmap="viridis", vmin=0, vmax=1)
            axis.set_title(f"{kernel}: start" if across == 0 else f"sweep {number}")
    return figure


def _lowest(labels: np.ndarray, image: np.ndarray) -> np.ndarray:
    """Return the lowest label among each element and its four neighbours."""
    padded = np.pad(np.where(image, labels, image.size), 1, constant_values=image.size)
    around = [padded[1:-1, 1:-1]]
    around += [padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]]
    return np.where(image, np.minimum.reduce(around), -1)


def _propagate(labels: np.ndarray, image: np.ndarray) -> np.ndarray:
    return _lowest(labels, image)


def _propagate_in_blocks(labels: np.ndarray, image: np.ndarray, side: int = 7) -> np.ndarray:
    labels = _lowest(labels, image)
    for y in range(0, image.shape[0], side):
        for x in range(0, image.shape[1], side):
            block = np.s_[y : y + side, x : x + side]
            part = labels[block]
            while (part != (lower := _lowest_of_part(part, image[block], image.size))).any():
                part = lower
            labels[block] = part
    return labels


def _lowest_of_part(part: np.ndarray, image: np.ndarray, none: int) -> np.ndarray:
    padded = np.pad(np.where(image, part, none), 1, constant_values=none)
    around = [padded[1:-1, 1:-1], padded[:-2, 1:-1], padded[2:, 1:-1]]
    around += [padded[1:-1, :-2], padded[1:-1, 2:]]
    return np.where(image, np.minimum.reduce(around), -1)


def _propagate_along(labels: np.ndarray, image: np.ndarray) -> np.ndarray:
    labels = labels.copy()
    for turned in (labels, labels[::-1], labels.T, labels.T[::-1]):
        for before, row in itertools.pairwise(turned):
            both = (before >= 0) & (row >= 0)
            row[both] = np.minimum(before, row)[both]
    return labels


def _equivalence(labels: np.ndarray, image: np.ndarray) -> np.ndarray:
    lowest = _lowest(labels, image)
    refers = np.arange(image.size)
    np.minimum.at(refers, labels[image], lowest[image])
    while (refers != refers[refers]).any():
        refers = refers[refers]
    return np.where(image, refers[labels], -1)


def _raster_scan(labels: np.ndarray, image: np.ndarray) -> np.ndarray:
    """Return the labels after a scan forward and one backward."""
    labels = labels.copy()
    cells = np.argwhere(image).tolist()
    for order in (cells, cells[::-1]):
        for y, x in order:
            for v, u in ((y - 1, x), (y, x - 1), (y, x + 1), (y + 1, x)):
                if 0 <= v < image.shape[0] and 0 <= u < image.shape[1] and image[v, u]:
                    labels[y, x] = min(labels[y, x], labels[v, u])
    return labels


def tiles() -> Figure:
    """Draw a lattice with bonds: labels of tiles, seams by level, labels of all."""
    side, tile = 16, 4
    bonds = np.random.default_rng(6).random((2, side, side)) < 0.47
    whole = conncomp.label_bonds(bonds, numbering="roots")
    for local in ("bfs", "union-find", "self-labelling"):
        for merge in ("relaxation", "sewing"):
            options = {"algorithm": "tiles", "local": local, "merge": merge, "tile": tile}
            agree(conncomp.label_bonds(bonds, numbering="roots", **options), whole)
    within = np.empty((side, side), int)
    index = np.arange(side * side).reshape(side, side)
    for y in range(0, side, tile):
        for x in range(0, side, tile):
            block = np.s_[y : y + tile, x : x + tile]
            roots = conncomp.label_bonds(bonds[(slice(None), *block)], numbering="roots")
            within[block] = index[block].ravel()[roots]
    figure, (above, below) = panels(2, 1, 9.2)
    for axis, roots, title in (
        (above, within, "components of tiles, each on its own"),
        (below, whole, "seams sewn: thin within groups of two tiles a side, thick between"),
    ):
        sizes = np.bincount(roots.ravel())
        draw_cells(axis, colours_of(np.where(sizes[roots] > 1, roots, -1)), lines=False)
        _draw_bonds(axis, bonds, side)
        for line in range(0, side + 1, tile):
            colour = INK if line % (2 * tile) == 0 or axis is above else "#666666"
            width = 1.8 if line % (2 * tile) == 0 and axis is below else 0.9
            axis.hlines(line, 0, side, colour, lw=width)
            axis.vlines(line, 0, side, colour, lw=width)
        axis.set_title(f"{title}: {len(np.unique(roots))}")
    return figure


def _draw_bonds(axes, bonds: np.ndarray, side: int) -> None:
    for axis, (dy, dx) in enumerate(((1, 0), (0, 1))):
        inside = bonds[axis].copy()
        inside[(slice(side - 1, None), slice(None))[:: 1 if axis == 0 else -1]] = False
        y, x = np.nonzero(inside)
        axes.plot(np.array([x, x + dx]) + 0.5, np.array([y, y + dy]) + 0.5, color=INK, lw=1)


FIGURES = ecl, soman, lowering, sweeps, tiles
