"""Pictures of arrays: runs, bundles, strips, bricks, windings; and of union–find."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import conncomp
from conncomp import generate
from figures.drawing import (
    INK,
    RED,
    agree,
    colours_of,
    draw_cells,
    draw_forest,
    find,
    panels,
    roots_of,
    unite,
)

EXAMPLE = Path(conncomp.__file__).parent / "kernels" / "cuda" / "grid" / "worked_example.md"

RUNS = """
. # # . . # # # . . . # . .
. # . . . # . # . # # # . #
. # # # # # . # . . . . . #
. . . . . . . . . # # . # #
"""


def _read(drawing: str) -> np.ndarray:
    return np.array([line.split() for line in drawing.strip().splitlines()]) == "#"


def union_find() -> Figure:
    """Draw a path of parents, and what two searches from its end make of it."""
    parent = [max(v - 1, 0) for v in range(8)]
    figure, (before, once, twice) = panels(3, 1, 3.7)
    draw_forest(before, parent)
    before.set_title("a path of parents, from 7 to the root 0")
    agree(find(parent, 7), 0)
    draw_forest(once, parent)
    once.set_title("after find(7): every entry of the path skips the next")
    find(parent, 7)
    draw_forest(twice, parent)
    twice.set_title("after find(7) once more")
    return figure


def runs() -> Figure:
    """Draw the runs of an image, their contacts, the forest of them, and labels."""
    image = _read(RUNS)
    starts = image & ~np.pad(image, ((0, 0), (1, 0)))[:, :-1]
    number = np.where(image, np.cumsum(starts).reshape(image.shape) - 1, -1)
    overlap = image[1:] & image[:-1]
    contacts = np.argwhere(overlap & ~np.pad(overlap, ((0, 0), (1, 0)))[:, :-1])
    parent = list(range(int(starts.sum())))
    for y, x in contacts:
        unite(parent, int(number[y, x]), int(number[y + 1, x]))
    roots = np.array([*roots_of(parent), -1])
    labels, num = conncomp.label(image, connectivity=1, return_num=True)
    agree(np.unique(roots[number][image], return_inverse=True)[1] + 1, labels[image])

    figure, (top, middle, bottom) = panels(3, 1, 4.4, height_ratios=(4, 4.6, 4))
    draw_cells(top, colours_of(number), np.where(starts, number, ""))
    top.plot(contacts[:, 1] + 0.5, contacts[:, 0] + 1, "o", ms=4, color=INK)
    top.set_title(f"{len(parent)} runs, numbered, and {len(contacts)} contacts (dots)")
    draw_forest(middle, parent)
    middle.set_title("the forest of the runs, after their unions")
    draw_cells(bottom, colours_of(labels, 0), np.where(image, labels, ""))
    bottom.set_title(f"{num} components: the label of its root for each run")
    return figure


def bundles() -> Figure:
    """Draw two rows and their bundle."""
    rows = _read("# # . . # . . . # # .\n. # . # . . # . . . .")
    joined = rows.any(0)
    starts = joined & ~np.pad(joined, (1, 0))[:-1]
    number = np.where(joined, np.cumsum(starts), 0)
    labels, num = conncomp.label(rows, return_num=True)
    agree(len(set(zip(np.where(rows, number, 0).flat, labels.flat, strict=True))), num + 1)
    figure, (above, below) = panels(2, 1, 1.7, height_ratios=(2, 1))
    draw_cells(above, colours_of(np.where(rows, number, -1)))
    above.set_title(f"two rows, {num} components")
    draw_cells(below, colours_of(np.where(joined, number, -1))[None])
    below.set_title(f"their bundle, the OR of both: {number.max()} runs, each connected")
    return figure


def strips() -> Figure:
    """Draw an image whose strips are labelled each on its own, and then joined."""
    image = generate.blobs((48, 72), sigma=2.5, seed=3)
    parts = [conncomp.label(part, numbering="roots") for part in np.split(image, 4)]
    apart = np.concatenate(
        [np.where(part < 0, -1, part + k * part.size) for k, part in enumerate(parts)]
    )
    whole = conncomp.label(image, numbering="roots")
    figure, (above, below) = panels(2, 1, 6.3)
    for axes, roots, what in (
        (above, apart, "four parts, each on its own"),
        (below, whole, "after the unions across the three seams"),
    ):
        draw_cells(axes, colours_of(roots), lines=False)
        axes.hlines((12, 24, 36), 0, 72, INK, lw=1)
        axes.set_title(f"{what}: {len(np.unique(roots)) - 1} components")
    return figure


def _stages() -> dict[str, np.ndarray]:
    """Return the drawings of the worked example, which a test holds against the kernels."""
    blocks = re.findall(r"```text (\w+)\n(.*?)```", EXAMPLE.read_text(), re.DOTALL)
    return {
        name: np.array(
            [line.replace("|", " ").split() for line in text.splitlines() if line.strip(" =")]
        )
        for name, text in blocks
        if name != "bits"
    }


def bricks() -> Figure:
    """Draw the worked example: components of bricks, entries, labels."""
    stages = _stages()
    image = stages["image"] == "#"
    roots = np.where(image, stages["labels"], "-1")
    roots[roots == "."] = "-1"
    agree(roots.astype(int), conncomp.label(image, numbering="roots"))
    brick = np.add.outer(np.arange(16) // 8 * 2, np.arange(16) // 8)
    letters = stages["components"]
    inside = np.where(
        image, brick * 100 + np.array([[ord(c.lower()) for c in row] for row in letters]), -1
    )
    figure, axes = panels(3, 1, 13.2)
    draw_cells(axes[0], colours_of(inside), np.where(letters == ".", "", letters))
    axes[0].set_title("components of each brick of 8 x 8; capitals are first elements")
    for at, stage, what in (
        (1, "entries", "after label_tiles: entries, and * for what is settled"),
        (2, "labels", "labels: the root of each component"),
    ):
        texts = np.where(stages[stage] == ".", "", stages[stage])
        draw_cells(axes[at], colours_of(roots.astype(int)), texts, size=6)
        axes[at].set_title(what)
    for axis in axes:
        axis.vlines(8, 0, 16, INK, lw=1)
        axis.hlines(8, 0, 16, RED, lw=2)
    return figure


def windings() -> Figure:
    """Draw components of the open array, the links over its ends, and how often they wind."""
    helix = _read("# # . . .\n. # # . .\n. . # # .\n# . . # #")
    labels = conncomp.label(helix, connectivity=1)
    wraps = conncomp.component_wrapping(helix, connectivity=1)
    agree(wraps.vectors[0, 0], [1, 1])
    figure, (axes,) = panels(1, 1, 3.4)
    draw_cells(axes, colours_of(labels, 0), np.where(helix, labels, ""))
    for y in range(4):
        if helix[y, 0] and helix[y, -1]:
            axes.annotate("", (5.9, y + 0.5), (5, y + 0.5), arrowprops={"arrowstyle": "-|>"})
            axes.annotate("", (0, y + 0.5), (-0.9, y + 0.5), arrowprops={"arrowstyle": "-|>"})
            axes.text(6, y + 0.55, "(0, 1)", va="center")
    for x in range(5):
        if helix[0, x] and helix[-1, x]:
            axes.annotate("", (x + 0.5, 4.9), (x + 0.5, 4), arrowprops={"arrowstyle": "-|>"})
            axes.annotate("", (x + 0.5, 0), (x + 0.5, -0.9), arrowprops={"arrowstyle": "-|>"})
            axes.text(x + 0.5, 5.25, "(1, 0)", ha="center")
    axes.set_xlim(-1.6, 7.6)
    axes.set_ylim(5.5, -1)
    axes.set_title("two open components; seam links with their windings: one helix, (1, 1)")
    return figure


FIGURES = union_find, runs, bundles, strips, bricks, windings
