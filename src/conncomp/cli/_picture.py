"""Pictures of labels and of their sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp.io import atomic_path
from conncomp.io.files import printable
from conncomp.io.images import check_format

# Longer sides are thinned out, and a row without a second axis is drawn as a strip.
LONGEST_SIDE, STRIP = 2000, 32


def check_picture(path: Path, shape: tuple[int, ...]) -> None:
    """Raise unless a picture of labels of `shape` can be written."""
    if 0 in shape:
        raise ValueError(f"{path}: there is nothing to draw in an array of shape {shape}")
    check_format(path, (1, 1))


def paint_labels(path: Path, labels: NDArray[Any]) -> dict[str, Any]:
    """Write a picture of labels; return which part of them it shows.

    Of more than two axes, the middle along the first ones; of long sides, every n-th element.
    """
    middle = [length // 2 for length in labels.shape[:-2]]
    plane = labels[tuple(middle)]
    step = max(1, -(-max(plane.shape) // LONGEST_SIDE))
    plane = plane[(slice(None, None, step),) * plane.ndim]
    if plane.ndim == 1:
        plane = np.broadcast_to(plane, (STRIP, len(plane)))
    numbers, renumbered = np.unique(plane, return_inverse=True)
    renumbered = renumbered.reshape(plane.shape) + (0 not in numbers)
    conncomp.write_image(path, conncomp.colour_components(renumbered))
    return {"path": path, "slice": middle, "step": step}


def need_matplotlib() -> None:
    """Raise if there is no matplotlib."""
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError:
        raise click.ClickException(
            "this command needs matplotlib; pip install 'conncomp[cli]'"
        ) from None


def plot_sizes(path: Path, sizes: NDArray[np.int64], title: str) -> None:
    """Draw how many components there are of each size, both axes logarithmic.

    Parameters
    ----------
    path : pathlib.Path
    sizes : ndarray of int64
        Of the components; none is 0.
    title : str
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    distinct, counts = np.unique(sizes, return_counts=True)
    axes.loglog(distinct, counts, "o", markersize=5, alpha=0.7)
    # Up to a power of ten, so that a single point has a scale too.
    axes.set_xlim(0.8, 10 ** len(str(distinct.max(initial=1))))
    axes.set_ylim(0.8, 10 ** len(str(counts.max(initial=1))))
    axes.set_xlabel("size of a component (vertices)")
    axes.set_ylabel("number of components")
    axes.set_title(printable(title), parse_math=False)
    axes.grid(which="major", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        figure.savefig(file, format="png", dpi=150)
