"""What the figures share: cells of an array, vertices with their parents, colours, and files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch

WIDTH = 4.6  # inches, so that letters of 8 points can be read on a phone
INK, GREY, PALE, RED = "#222222", "#8a8a8a", "#e4e4e4", "#c1272d"
# Okabe and Ito's, made paler, so that black letters can be read on them.
BASES = "#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#0072b2", "#d55e00", "#999999"
COLOURS = tuple(tuple(0.45 + 0.55 * part for part in to_rgb(base)) for base in BASES)

Edge = tuple[int, int]


def style() -> AbstractContextManager[None]:
    """Set the style of all figures for a while."""
    return mpl.rc_context(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "conncomp",
            "font.family": "sans-serif",
            "font.size": 8,
            "axes.titlesize": 8.5,
            "axes.titlelocation": "left",
            "text.color": INK,
            "figure.facecolor": "white",
        }
    )


def save(figure: Figure, path: Path) -> None:
    """Write a figure, the same file each time."""
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None}, dpi=160)


def panels(down: int, across: int, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure of panels without axes, row by row."""
    figure = Figure(figsize=(WIDTH, height))
    title = 0.26  # inches
    figure.subplots_adjust(
        left=0.02,
        right=0.98,
        bottom=0.05 / height,
        top=1 - title / height,
        hspace=title / ((height - title * down) / down),
        wspace=0.04,
    )
    grid = figure.subplots(down, across, squeeze=False, gridspec_kw=options)
    for axes in grid.ravel():
        axes.set_axis_off()
    return figure, list(grid.ravel())


def colours_of(labels: np.ndarray, background: int = -1) -> np.ndarray:
    """Return a colour for each label, in the order in which they first appear; white for none."""
    order = {label: k for k, label in enumerate(dict.fromkeys(labels.ravel().tolist()))}
    order.pop(background, None)
    ranks = {label: k for k, label in enumerate(order)}
    flat = [
        (1.0, 1.0, 1.0) if label == background else COLOURS[ranks[label] % len(COLOURS)]
        for label in labels.ravel().tolist()
    ]
    return np.array(flat).reshape(*labels.shape, 3)


def draw_cells(
    axes: Axes, colours: np.ndarray, texts: Any = None, size: float = 7, lines: bool = True
) -> None:
    """Draw an array of colours as cells, with a text in each."""
    height, width = colours.shape[:2]
    axes.imshow(colours, interpolation="nearest", extent=(0, width, height, 0))
    if lines:
        axes.vlines(range(width + 1), 0, height, PALE, lw=0.5)
        axes.hlines(range(height + 1), 0, width, PALE, lw=0.5)
    if texts is not None:
        for (y, x), text in np.ndenumerate(np.asarray(texts, object)):
            axes.text(x + 0.5, y + 0.52, str(text), ha="center", va="center", fontsize=size)
    axes.set_xlim(-0.1, width + 0.1)
    axes.set_ylim(height + 0.1, -0.1)
    axes.set_aspect("equal")


def draw_forest(
    axes: Axes,
    parent: Sequence[int],
    edges: Iterable[Edge] = (),
    marked: Iterable[Edge] = (),
    colours: Any = None,
) -> None:
    """Draw vertices in a row, their parents as arrows above it and edges below it.

    Edges that are `marked` are pale.
    """
    marked = set(marked)
    count = len(parent)
    if colours is None:
        colours = colours_of(np.array(roots_of(parent)))
    for a, b in edges:
        _draw_arc(axes, a, b, -1, GREY if (a, b) not in marked else PALE, "-")
    for v, p in enumerate(parent):
        if p != v:
            _draw_arc(axes, v, p, 1, INK, "-|>")
    for v in range(count):
        axes.add_patch(Circle((v, 0), 0.32, facecolor=colours[v], edgecolor=INK, lw=0.8, zorder=3))
        axes.text(v, -0.02, str(v), ha="center", va="center", zorder=4)
    spans = [abs(v - p) for v, p in enumerate(parent)]
    below = [abs(a - b) for a, b in edges]
    axes.set_xlim(-0.5, count - 0.5)
    axes.set_ylim(-0.45 - 0.3 * max(below, default=0), 0.45 + 0.3 * max(spans, default=0))
    axes.set_aspect("equal")


def _draw_arc(axes: Axes, a: int, b: int, side: int, colour: Any, arrow: str) -> None:
    """Draw an arc from one vertex of the row to another, above the row or below."""
    start, end = (a, 0.32 * side), (b, 0.32 * side)
    bend = side * (0.55 if b < a else -0.55)
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            connectionstyle=f"arc3,rad={bend}",
            arrowstyle=arrow,
            mutation_scale=7,
            color=colour,
            lw=1,
            shrinkA=0,
            shrinkB=0,
        )
    )


def draw_arcs(
    axes: Axes, places: dict[int, tuple[float, float]], arcs: Iterable[Edge], **options: Any
) -> None:
    """Draw arcs between vertices at places, as arrows."""
    for a, b in arcs:
        axes.add_patch(
            FancyArrowPatch(
                places[a],
                places[b],
                **{
                    "connectionstyle": "arc3,rad=0.12",
                    "arrowstyle": "-|>",
                    "mutation_scale": 8,
                    "color": INK,
                    "lw": 1,
                    "shrinkA": 8,
                    "shrinkB": 8,
                    **options,
                },
            )
        )


def draw_vertices(
    axes: Axes, places: dict[int, tuple[float, float]], colours: Any, texts: Any = None
) -> None:
    """Draw vertices at places, as circles with a text."""
    for v, place in places.items():
        axes.add_patch(Circle(place, 0.2, facecolor=colours[v], edgecolor=INK, lw=0.8, zorder=3))
        text = str(v) if texts is None else texts[v]
        axes.text(*place, text, ha="center", va="center", zorder=4)
    x, y = np.array(list(places.values())).T
    axes.set_xlim(x.min() - 0.5, x.max() + 0.5)
    axes.set_ylim(y.min() - 0.5, y.max() + 0.5)
    axes.set_aspect("equal")


def find(parent: list[int], v: int) -> int:
    """Return the root of v; every entry of the path skips the next, as in core/union_find.h."""
    while parent[v] != v:
        above = parent[v]
        if parent[above] != above:
            parent[v] = parent[above]
        v = above
    return v


def unite(parent: list[int], a: int, b: int) -> bool:
    """Put the larger of two roots under the smaller one; return whether there were two."""
    a, b = find(parent, a), find(parent, b)
    parent[max(a, b)] = min(a, b)
    return a != b


def roots_of(parent: Sequence[int]) -> list[int]:
    """Return the root of each entry of a forest."""
    roots = list(parent)
    for v in range(len(roots)):
        while roots[roots[v]] != roots[v]:
            roots[v] = roots[roots[v]]
    return roots


def agree(drawn: Any, roots: Any) -> None:
    """End the build if a picture does not show what conncomp finds."""
    np.testing.assert_array_equal(drawn, roots)
