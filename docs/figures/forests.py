"""Pictures of spanning forests."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import conncomp
from figures.drawing import (
    GREY,
    INK,
    PALE,
    agree,
    colours_of,
    draw_cells,
    draw_vertices,
    panels,
    unite,
)

SIDE = 4


def spanning_forests() -> Figure:
    """Draw the forest of the least arc numbers, and that of the least weights."""
    vertices = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    edges = [
        *zip(vertices[:, :-1].ravel(), vertices[:, 1:].ravel(), strict=True),
        *zip(vertices[:-1].ravel(), vertices[1:].ravel(), strict=True),
    ]
    src, dst = np.array(edges).T
    weights = np.random.default_rng(4).permutation(len(edges)) + 1
    graph = conncomp.Graph.from_edges(src, dst, num_vertices=SIDE * SIDE)
    chosen = {
        "spanning_forest: numbers of arcs": (
            *(conncomp.spanning_forest(graph), np.arange(len(edges))),
        ),
        "minimum_spanning_forest: weights": (
            *(conncomp.minimum_spanning_forest(graph, weights), weights),
        ),
    }
    places = {int(v): (v % SIDE * 1.2, -(v // SIDE) * 1.2) for v in vertices.ravel()}
    figure, axes = panels(2, 1, 7.4)
    for axis, (title, (forest, keys)) in zip(axes, chosen.items(), strict=True):
        agree(forest, _kruskal(edges, keys))
        for k, edge in enumerate(edges):
            (x, y), (u, w) = places[int(edge[0])], places[int(edge[1])]
            kept = k in forest
            axis.plot([x, u], [y, w], color=INK if kept else PALE, lw=2 if kept else 1, zorder=1)
            axis.text(
                *((x + u) / 2, (y + w) / 2, str(keys[k])),
                **{"ha": "center", "va": "center", "color": INK if kept else GREY},
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            )
        draw_vertices(axis, places, colours_of(np.zeros(SIDE * SIDE, int)))
        axis.set_title(title)
    return figure


def _kruskal(edges: list[tuple[int, int]], keys: np.ndarray) -> list[int]:
    parent = list(range(SIDE * SIDE))
    order = np.argsort(keys).tolist()
    return sorted(k for k in order if unite(parent, *map(int, edges[k])))


def growing() -> Figure:
    """Draw a lattice that gets its edges in batches, and its components after each."""
    height, width = 12, 20
    vertices = np.arange(height * width).reshape(height, width)
    src = np.concatenate([vertices[:, :-1].ravel(), vertices[:-1].ravel()])
    dst = np.concatenate([vertices[:, 1:].ravel(), vertices[1:].ravel()])
    order = np.random.default_rng(2).permutation(len(src))
    components = conncomp.IncrementalComponents(height * width)
    figure, axes = panels(3, 1, 8.6)
    added = order[: len(src) * 3 // 5]
    for k, (axis, batch) in enumerate(zip(axes, np.array_split(added, 3), strict=True)):
        components.add_edges(src[batch], dst[batch])
        so_far = added[: (k + 1) * -(-len(added) // 3)]
        graph = conncomp.Graph.from_edges(src[so_far], dst[so_far], num_vertices=height * width)
        agree(components.labels(), conncomp.connected_components(graph, directed=False)[1])
        labels = components.labels().reshape(height, width)
        sizes = np.bincount(labels.ravel())
        draw_cells(axis, colours_of(np.where(sizes[labels] > 1, labels, -1)))
        axis.set_title(f"{len(batch)} more edges: {components.count} components")
    return figure


FIGURES = spanning_forests, growing
