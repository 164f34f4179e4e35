"""Pictures of graphs: blocks in shared memory, a sample, and the rest outside the giant."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import conncomp
from figures.drawing import (
    INK,
    PALE,
    Edge,
    agree,
    colours_of,
    draw_arcs,
    draw_vertices,
    panels,
    roots_of,
    unite,
)

BLOCKS, WIDE = 4, 8
EDGES: list[Edge] = [
    *((v, v + 1) for v in (0, 1, 2, 4, 5, 8, 9, 11, 12, 13, 16, 17, 20, 21, 22, 25, 26, 28, 30)),
    *((3, 10), (6, 13), (2, 12), (9, 18), (14, 21), (11, 17), (19, 20), (24, 27), (23, 31)),
    *((5, 14), (12, 22), (1, 16), (4, 3), (7, 15), (29, 22)),
]


def blocked_sampling() -> Figure:
    """Draw what the blocks unite, what the sample adds, and which arcs are left to look at."""
    count = BLOCKS * WIDE
    parent = list(range(count))
    places = {v: (v % WIDE * 0.95, -(v // WIDE) * 1.15) for v in range(count)}
    neighbours = {v: sorted({a + b - v for a, b in EDGES if v in (a, b)}) for v in range(count)}
    inside = [edge for edge in EDGES if edge[0] // WIDE == edge[1] // WIDE]
    figure, axes = panels(3, 1, 9.2)

    for edge in inside:
        unite(parent, *edge)
    _draw(axes[0], places, parent, inside, [])
    axes[0].set_title("a block for each row of vertices: arcs inside it")

    # Each vertex with a smaller neighbour elsewhere is united with its last neighbour.
    opened = [
        v for v in range(count) if any(w < v and w // WIDE != v // WIDE for w in neighbours[v])
    ]
    sampled = [(v, neighbours[v][-1]) for v in opened]
    for edge in sampled:
        unite(parent, *edge)
    _draw(axes[1], places, parent, sampled, inside)
    axes[1].set_title("the sample: an arc of each vertex that has some left")

    roots = np.array(roots_of(parent))
    giant = np.bincount(roots).argmax()
    visited = [edge for edge in EDGES if any(roots[v] != giant for v in edge)]
    for edge in visited:
        unite(parent, *edge)
    src, dst = np.array(EDGES).T
    graph = conncomp.Graph.from_edges(src, dst, num_vertices=count)
    _, roots = conncomp.connected_components(graph, directed=False, numbering="roots")
    agree(roots_of(parent), roots)
    _draw(axes[2], places, parent, visited, [e for e in EDGES if e not in visited])
    axes[2].set_title("the rest: only arcs of vertices outside the giant")
    return figure


def _draw(axes, places, parent, used, skipped) -> None:
    for v in range(0, len(parent), WIDE):
        x, y = places[v]
        axes.plot([x - 0.35, x + (WIDE - 1) * 0.95 + 0.35], [y - 0.42] * 2, color=PALE, lw=1)
    arc = {"arrowstyle": "-", "shrinkA": 5, "shrinkB": 5}
    draw_arcs(axes, places, skipped, color=PALE, **arc)
    draw_arcs(axes, places, used, color=INK, **arc)
    draw_vertices(axes, places, colours_of(np.array(roots_of(parent))))


FIGURES = (blocked_sampling,)
