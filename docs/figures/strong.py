"""Pictures of strong components: one search, signatures, searches both ways."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import conncomp
from figures.drawing import (
    GREY,
    INK,
    RED,
    Edge,
    agree,
    colours_of,
    draw_arcs,
    draw_vertices,
    panels,
)

ARCS: list[Edge] = [
    *((0, 2), (2, 5), (5, 0), (2, 1), (1, 4), (4, 7), (7, 1), (5, 6), (6, 3), (3, 6), (4, 3)),
]
PLACES = {
    **{0: (0.0, 0.0), 2: (1.2, 0.9), 5: (1.2, -0.9), 1: (2.8, 0.9), 4: (4.4, 0.9)},
    **{7: (3.6, 2.0), 6: (2.8, -0.9), 3: (4.4, -0.9)},
}
COUNT = len(PLACES)


def _roots() -> np.ndarray:
    src, dst = np.array(ARCS).T
    graph = conncomp.Graph.from_edges(src, dst, num_vertices=COUNT)
    options = {"connection": "strong", "numbering": "roots"}
    return conncomp.connected_components(graph, **options)[1]


def tarjan() -> Figure:
    """Draw the depth-first search: ranks, lowest ranks, components."""
    targets = {v: sorted(b for a, b in ARCS if a == v) for v in range(COUNT)}
    rank: dict[int, int] = {}
    lowest: dict[int, int] = {}
    roots: dict[int, int] = {}
    waiting: list[int] = []
    tree: list[Edge] = []

    def visit(v: int) -> None:
        rank[v] = lowest[v] = len(rank)
        waiting.append(v)
        for w in targets[v]:
            if w not in rank:
                tree.append((v, w))
                visit(w)
            if w not in roots:
                lowest[v] = min(lowest[v], lowest[w])
        if lowest[v] == rank[v]:
            component = waiting[waiting.index(v) :]
            del waiting[waiting.index(v) :]
            roots.update((w, min(component)) for w in component)

    for v in range(COUNT):
        if v not in rank:
            visit(v)
    settled = np.array([roots[v] for v in range(COUNT)])
    agree(settled, _roots())
    figure, (axes,) = panels(1, 1, 3.6)
    draw_arcs(axes, PLACES, [arc for arc in ARCS if arc not in tree], color=GREY, ls=":")
    draw_arcs(axes, PLACES, tree, lw=1.6)
    texts = [f"{v}" for v in range(COUNT)]
    draw_vertices(axes, PLACES, colours_of(settled), texts)
    for v, (x, y) in PLACES.items():
        axes.text(
            x, y + 0.27, f"{rank[v]} / {lowest[v]}", ha="center", va="bottom", color=RED
        ).set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    axes.set_ylim(-1.4, 2.7)
    axes.set_title("rank of entry / lowest rank that its arcs lead to; thick: the search's tree")
    return figure


def signatures() -> Figure:
    """Draw how signatures widen, sweep by sweep, and which arcs they cut."""
    up = [(v, v) for v in range(COUNT)]
    down = list(up)
    rows = [(up, down)]
    while True:
        above, below = list(rows[-1][0]), list(rows[-1][1])
        for a, b in ARCS:
            above[b] = (min(above[b][0], rows[-1][0][a][0]), max(above[b][1], rows[-1][0][a][1]))
            below[a] = (min(below[a][0], rows[-1][1][b][0]), max(below[a][1], rows[-1][1][b][1]))
        if (above, below) == rows[-1]:
            break
        rows.append((above, below))
    above, below = rows[-1]
    told = [v for v in range(COUNT) if above[v][0] == below[v][0]]
    roots = _roots()
    agree([above[v][0] for v in told], roots[told])
    cut = [(a, b) for a, b in ARCS if (above[a], below[a]) != (above[b], below[b])]
    assert all(roots[a] != roots[b] for a, b in cut)

    figure, (top, bottom) = panels(2, 1, 5.6, height_ratios=(3.4, 2.6))
    draw_arcs(top, PLACES, [arc for arc in ARCS if arc not in cut])
    draw_arcs(top, PLACES, cut, color=RED, ls="--")
    shown = np.array([roots[v] if v in told else -1 for v in range(COUNT)])
    draw_vertices(top, PLACES, colours_of(shown))
    top.set_title("final signatures: coloured vertices are told, dashed arcs are dropped")
    bottom.set_xlim(-1.3, COUNT - 0.4)
    bottom.set_ylim(len(rows) - 0.4, -1.2)
    bottom.set_title("smallest and largest ancestor, and below them the descendants")
    for v in range(COUNT):
        bottom.text(v, -0.6, f"{v}", ha="center", va="center", weight="bold")
    for sweep, (ancestors, descendants) in enumerate(rows):
        bottom.text(-1.25, sweep, f"sweep {sweep}" if sweep else "start", va="center", fontsize=7)
        for v in range(COUNT):
            bottom.text(
                *(v, sweep, "{}-{}\n{}-{}".format(*ancestors[v], *descendants[v])),
                **{"ha": "center", "va": "center", "fontsize": 7, "color": INK},
            )
    return figure


def forward_backward() -> Figure:
    """Draw what a search along arcs and one against them divide."""
    pivot = 1
    ahead = _reached(pivot, ARCS)
    behind = _reached(pivot, [(b, a) for a, b in ARCS])
    roots = _roots()
    agree(sorted(ahead & behind), np.flatnonzero(roots == roots[pivot]))
    classes = np.array([(v in ahead) + 2 * (v in behind) for v in range(COUNT)])
    figure, (axes,) = panels(1, 1, 3.8)
    between = [(a, b) for a, b in ARCS if classes[a] != classes[b]]
    draw_arcs(axes, PLACES, [arc for arc in ARCS if arc not in between])
    draw_arcs(axes, PLACES, between, color=RED, ls="--")
    draw_vertices(axes, PLACES, colours_of(classes))
    names = {3: "both: the component of 1", 1: "only ahead", 2: "only behind", 0: "neither"}
    order = list(dict.fromkeys(classes.tolist()))
    palette = colours_of(np.array(order))
    for kind, colour in zip(order, palette, strict=True):
        axes.plot([], [], "o", color=colour, mec=INK, label=names[kind])
    axes.legend(loc="upper left", frameon=False, handletextpad=0.2)
    axes.set_ylim(-1.4, 2.5)
    axes.set_title("searches from 1, along arcs and against them")
    return figure


def _reached(start: int, arcs: list[Edge]) -> set[int]:
    reached, frontier = {start}, [start]
    while frontier:
        v = frontier.pop()
        for a, b in arcs:
            if a == v and b not in reached:
                reached.add(b)
                frontier.append(b)
    return reached


FIGURES = tarjan, signatures, forward_backward
