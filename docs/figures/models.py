"""Pictures of spin models: what an update does to the spins of a small lattice."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import conncomp
from conncomp.models import Potts
from figures.drawing import COLOURS, INK, agree, colours_of, draw_cells, panels

SIDE = 20
UP, DOWN = COLOURS[0], (1.0, 1.0, 1.0)


def _model() -> Potts:
    model = Potts((SIDE, SIDE), beta=0.86, seed=11)
    model.swendsen_wang(40)
    return model


def _spins(model: Potts) -> np.ndarray:
    return np.where(model.spins[..., None] == 1, UP, DOWN)


def swendsen_wang() -> Figure:
    """Draw spins, the bonds that an update makes active, its clusters, and the new spins."""
    model = _model()
    before, bonds, labels = model.spins.copy(), model.bonds(), model.labels()
    agree(labels, conncomp.label_bonds(bonds, periodic=True))
    figure, axes = panels(2, 2, 5.2)
    draw_cells(axes[0], _spins(model), lines=False)
    axes[0].set_title("spins")
    draw_cells(axes[1], _spins(model), lines=False)
    _draw_bonds(axes[1], bonds)
    axes[1].set_title("active bonds")
    sizes = np.bincount(labels.ravel())
    draw_cells(axes[2], colours_of(np.where(sizes[labels] > 1, labels, -1)), lines=False)
    axes[2].set_title(f"{labels.max()} clusters")
    model.swendsen_wang(1)
    after = model.spins
    assert all(len(np.unique((before ^ after)[labels == k])) == 1 for k in np.unique(labels))
    draw_cells(axes[3], _spins(model), lines=False)
    axes[3].set_title("new spins")
    for axis in axes:
        axis.add_patch(_frame())
    return figure


def single_clusters() -> Figure:
    """Draw what Wolff's update flips, and what that of few clusters does."""
    figure, axes = panels(2, 1, 9)
    for axis, name in zip(axes, ("wolff", "few_cluster"), strict=True):
        model = _model()
        before = model.spins.copy()
        if name == "wolff":
            model.wolff(1)
            title = "Wolff: the cluster of one chosen site"
        else:
            model.few_cluster(1, tile=5, p_flip=0.5)
            title = "few-cluster: a chosen site a tile, and a coin"
            lines = range(5, SIDE, 5)
            axis.vlines(lines, 0, SIDE, INK, lw=0.6, ls=":")
            axis.hlines(lines, 0, SIDE, INK, lw=0.6, ls=":")
        flipped = before != model.spins
        colours = np.where(before[..., None] == 1, UP, DOWN)
        colours[flipped] = COLOURS[1]
        draw_cells(axis, colours, lines=False)
        axis.add_patch(_frame())
        axis.set_title(f"{title}: {flipped.sum()} flip")
    return figure


def _draw_bonds(axes: Axes, bonds: np.ndarray) -> None:
    for axis, (dy, dx) in enumerate(((1, 0), (0, 1))):
        y, x = np.nonzero(bonds[axis])
        axes.plot(
            np.array([x, x + 0.85 * dx]) + 0.5, np.array([y, y + 0.85 * dy]) + 0.5, color=INK, lw=1
        )


def _frame() -> Rectangle:
    return Rectangle((0, 0), SIDE, SIDE, fill=False, edgecolor=INK, lw=0.8)


FIGURES = swendsen_wang, single_clusters
