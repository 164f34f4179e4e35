"""Figs. 6 to 9 of Hawick, Leist and Playne 2010: how Kernels A to D go, step by step, on a mesh.

Each step is as the paper has it: all threads of a kernel read what was there before its call, and
write then. On a GPU some of them see what others have just written, so that fewer calls may do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import conncomp
from figures.drawing import INK, RED, agree, colours_of, draw_cells, panels

# Of two states, both of which are labelled.
MESH = (
    np.array(
        [
            line.split()
            for line in (
                "# # # . . .",
                ". . # . # .",
                "# . # # # .",
                "# . . . . .",
                "# # # # # .",
                ". . . . # #",
            )
        ]
    )
    == "#"
)
BLOCK = 3  # cells along each side of a block of Kernel B

Labels = np.ndarray


def final(mesh: np.ndarray) -> Labels:
    """Return the right labels: the smallest index of each component."""
    return conncomp.label(mesh.astype("u1"), -1, connectivity=1, numbering="roots")


def first(mesh: np.ndarray) -> Labels:
    """Return what labels begin as: indices."""
    return np.arange(mesh.size).reshape(mesh.shape)


def lowest(mesh: np.ndarray, labels: Labels) -> Labels:
    """Return the lowest label of each cell and its neighbours of the same state."""
    low = labels.copy()
    for axis in (0, 1):
        for one, other in ((slice(1, None), slice(-1)), (slice(-1), slice(1, None))):
            here, there = ((slice(None),) * axis + (part,) for part in (one, other))
            lower = np.where(mesh[here] == mesh[there], labels[there], labels[here])
            low[here] = np.minimum(low[here], lower)
    return low


def kernel_a(mesh: np.ndarray) -> Iterator[Labels]:
    """Yield the labels after each call of Kernel A that changes any."""
    labels = first(mesh)
    while not np.array_equal(labels, lower := lowest(mesh, labels)):
        yield (labels := lower)


def kernel_b(mesh: np.ndarray, block: int = BLOCK) -> Iterator[Labels]:
    """Yield the labels after each call of Kernel B that changes any.

    A block takes the labels around it once, and then lowers its own until nothing changes there.
    """
    labels = first(mesh)
    while True:
        lower = lowest(mesh, labels)
        for y in range(0, mesh.shape[0], block):
            for x in range(0, mesh.shape[1], block):
                part = slice(y, y + block), slice(x, x + block)
                while not np.array_equal(lower[part], low := lowest(mesh[part], lower[part])):
                    lower[part] = low
        if np.array_equal(lower, labels):
            return
        yield (labels := lower)


def kernel_c(mesh: np.ndarray) -> Iterator[Labels]:
    """Yield the labels after each pass of Kernel C: right, left, down, up, until none changes any.

    A thread goes along a row or a column, and takes the lowest label of its state with it.
    """
    labels = first(mesh)
    while True:
        before = labels
        for axis, backward in ((1, False), (1, True), (0, False), (0, True)):
            labels = _pass(mesh, labels, axis, backward)
            yield labels
        if np.array_equal(labels, before):
            return


def _pass(mesh: np.ndarray, labels: Labels, axis: int, backward: bool) -> Labels:
    turned = labels.copy()
    rows, states = np.moveaxis(turned, axis, 0), np.moveaxis(mesh, axis, 0)
    if backward:
        rows, states = rows[::-1], states[::-1]
    for k in range(1, len(rows)):
        same = states[k] == states[k - 1]
        rows[k][same] = np.minimum(rows[k], rows[k - 1])[same]
    return turned


def kernel_d(mesh: np.ndarray) -> Iterator[tuple[Labels, Labels, Labels]]:
    """Yield for each iteration of Kernel D the list after scan and analysis, and the labels.

    The list has for each label the lowest one that it is known to be equivalent to.
    """
    labels, references = first(mesh), np.arange(mesh.size)
    while True:
        low = lowest(mesh, labels)
        lower = low < labels
        np.minimum.at(references, labels[lower], low[lower])
        scanned = references.copy()
        if not lower.any():
            return
        for label in np.flatnonzero(labels.ravel() == np.arange(mesh.size)):
            while references[label] != references[references[label]]:
                references[label] = references[references[label]]
        labels = references[labels]
        yield scanned.reshape(mesh.shape), references.reshape(mesh.shape).copy(), labels


def _draw(axes: Axes, labels: Labels, title: str, mesh: np.ndarray = MESH) -> None:
    """Draw labels as numbers; cells that have not got their last one are crossed out."""
    right = final(mesh)
    draw_cells(axes, colours_of(mesh.astype(int)), labels, 6)
    for y, x in np.argwhere(labels != right):
        axes.plot([x + 0.1, x + 0.9], [y + 0.9, y + 0.1], color=RED, lw=0.6)
    axes.set_title(title)


def _calls(calls: list[Labels], across: int, shown: int) -> Figure:
    """Draw the labels before the first call, after some, and after the last one."""
    agree(calls[-1], final(MESH))
    numbers = [*range(min(shown, len(calls))), len(calls) - 1]
    figure, axes = panels(-(-(len(set(numbers)) + 1) // across), across, 3.4)
    _draw(axes[0], first(MESH), "at the start")
    for axis, number in zip(axes[1:], dict.fromkeys(numbers), strict=False):
        _draw(axis, calls[number], f"after call {number + 1} of {len(calls)}")
    return figure


def neighbour_propagation_steps() -> Figure:
    """Draw Fig. 6: Kernel A."""
    return _calls([*kernel_a(MESH)], 3, 4)


def local_propagation_steps() -> Figure:
    """Draw Fig. 7: Kernel B, with the borders of blocks."""
    figure = _calls([*kernel_b(MESH)], 3, 4)
    for axes in figure.axes:
        if axes.images:
            axes.vlines(BLOCK, 0, len(MESH), INK, lw=1.5)
            axes.hlines(BLOCK, 0, MESH.shape[1], INK, lw=1.5)
    return figure


def directional_propagation_steps() -> Figure:
    """Draw Fig. 8: the passes of the first iteration of Kernel C."""
    passes = [*kernel_c(MESH)]
    agree(passes[-1], final(MESH))
    figure, axes = panels(2, 3, 3.4)
    ways = "right", "left", "down", "up"
    _draw(axes[0], first(MESH), "at the start")
    for axis, way, labels in zip(axes[1:], ways, passes, strict=False):
        _draw(axis, labels, f"after the pass {way}")
    return figure


def label_equivalence_steps() -> Figure:
    """Draw Fig. 9: an iteration of Kernel D, with the list of references of all labels."""
    iterations = [*kernel_d(MESH)]
    agree(iterations[-1][2], final(MESH))
    scanned, analysed, labels = iterations[0]
    figure, axes = panels(2, 2, 4.6)
    _draw(axes[0], first(MESH), "labels, and the list, at the start")
    for axis, references, phase in ((axes[1], scanned, "scan"), (axes[2], analysed, "analysis")):
        draw_cells(axis, colours_of(MESH.astype(int)), references, 6)
        axis.set_title(f"the list after the {phase}")
    _draw(axes[3], labels, f"labels after iteration 1 of {len(iterations)}")
    return figure


FIGURES: tuple[Callable[[], Figure], ...] = (
    neighbour_propagation_steps,
    local_propagation_steps,
    directional_propagation_steps,
    label_equivalence_steps,
)
