"""Pictures of labels, of their sizes, and of what simulations measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp._optional import optional
from conncomp._terminal import printable
from conncomp.files.access import atomic_path
from conncomp.files.images import Image, check_format

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Longer sides are thinned out, and a row without a second axis is drawn as a strip.
LONGEST_SIDE, STRIP = 2000, 32
# More curves than these, of replicas, cannot be told apart.
MOST_LINES, MOST_COLUMNS = 8, 3
CURVE_POINTS, KNOWN_COLOUR = 300, "0.3"

Lengths = Sequence[float]
# A name, and values at temperatures.
Curve = tuple[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]]


class Known(NamedTuple):
    """Exact results that a plot shows beside what was measured."""

    curves: Mapping[str, Curve]  # by the name of the observable
    transition: tuple[str, float] | None  # the name of a temperature, and its value
    points: Mapping[str, tuple[float, float]] = MappingProxyType({})  # temperature and value


NOTHING = Known({}, None)


def check_picture(path: Path, shape: tuple[int, ...]) -> None:
    if 0 in shape:
        raise ValueError(f"{path}: there is nothing to draw in an array of shape {shape}")
    check_format(path, (1, 1))


class Plane(NamedTuple):
    """The part of an array that a picture shows."""

    pixels: Image  # of two axes, a view
    middle: list[int]  # where it lies along the axes before these
    step: int  # of long sides, it has every so many elements


def middle_plane(array: Image, longest: int) -> Plane:
    """Return the middle of an array along its first axes, thinned; a row becomes a strip."""
    middle = [length // 2 for length in array.shape[:-2]]
    plane = array[tuple(middle)]
    step = max(1, -(-max(plane.shape) // longest))
    plane = plane[(slice(None, None, step),) * plane.ndim]
    if plane.ndim == 1:
        plane = plane[None, :][[0] * STRIP]
    return Plane(plane, middle, step)


def paint_labels(path: Path, labels: Image, spacing: Lengths | None = None) -> dict[str, Any]:
    """Write a picture of labels in proportion; return which part it shows."""
    plane, middle, step = middle_plane(labels, LONGEST_SIDE)
    if spacing is not None and labels.ndim > 1 and len(spacing) > 1:
        plane = _stretched(plane, spacing[-2] / spacing[-1])
    numbers, renumbered = np.unique(plane, return_inverse=True)
    renumbered = renumbered.reshape(plane.shape) + (0 not in numbers)
    conncomp.write_image(path, conncomp.colour_components(renumbered))
    return {"path": path, "slice": middle, "step": step}


def _stretched(plane: Image, ratio: float) -> Any:
    """Return a plane whose elements are `ratio` times as high as wide, in square pixels."""
    height, width = plane.shape
    lengths = [height * max(ratio, 1.0), width * max(1 / ratio, 1.0)]
    shrink = min(1.0, LONGEST_SIDE / max(lengths))
    rows, columns = (
        np.arange(pixels := max(1, round(long * shrink))) * length // pixels
        for length, long in zip(plane.shape, lengths, strict=True)
    )
    return plane[rows[:, None], columns]


def plot_sizes(path: Path, sizes: NDArray[np.int64], title: str) -> None:
    figure = _figure(7, 4.5)
    axes = figure.add_subplot()
    distinct, counts = np.unique(sizes, return_counts=True)
    axes.loglog(distinct, counts, "o", markersize=5, alpha=0.7)
    # Up to a power of ten, so that a single point has a scale too.
    axes.set_xlim(0.8, 10 ** len(str(distinct.max(initial=1))))
    axes.set_ylim(0.8, 10 ** len(str(counts.max(initial=1))))
    axes.set(xlabel="size of a component (vertices)", ylabel="number of components")
    axes.set_title(printable(title), parse_math=False)
    _save(path, figure)


def plot_scan(
    path: Path,
    temperatures: Sequence[float],
    observables: Mapping[str, Sequence[tuple[float, float]]],
    title: str,
    known: Known = NOTHING,
) -> None:
    """Draw observables, of a value and an error per temperature, in two columns."""
    rows = -(-len(observables) // 2)
    figure = _figure(9, 2.6 * rows, title)
    panels = figure.subplots(rows, 2, sharex=True, squeeze=False).flat
    for (name, estimates), axes in zip(observables.items(), panels, strict=False):
        curves = {"": [(t, *one) for t, one in zip(temperatures, estimates, strict=True)]}
        _draw_panel(axes, name, curves, known)
        if not axes.get_subplotspec().is_last_row():
            axes.set_xlabel("")
    _save(path, figure)


def plot_curves_of_sizes(
    path: Path, curves: Mapping[str, Mapping[str, Any]], title: str, known: Known = NOTHING
) -> None:
    """Draw observables side by side, with a curve of (temperature, value, error) per size."""
    columns = min(len(curves), MOST_COLUMNS)
    rows = -(-len(curves) // columns)
    figure = _figure(4.5 * columns, 4 * rows, title)
    panels = figure.subplots(rows, columns, squeeze=False).flat
    for (name, of_sizes), axes in zip(curves.items(), panels, strict=False):
        _draw_panel(axes, name, of_sizes, known)
        axes.legend()
    for axes in list(panels):  # what is left of the last row
        axes.remove()
    _save(path, figure)


def _draw_panel(axes: Axes, name: str, curves: Mapping[str, Any], known: Known) -> None:
    for label, points in curves.items():
        temperatures, values, errors = np.array(points).T
        axes.errorbar(
            temperatures, values, errors, fmt="o-", markersize=3, linewidth=0.8, label=label or None
        )
    axes.set_title(name, fontsize="medium")
    axes.set_xlabel("temperature")
    _draw_known(axes, name, [point[0] for points in curves.values() for point in points], known)


def plot_series(
    path: Path,
    updates: NDArray[np.int64],
    series: Mapping[str, NDArray[Any]],
    title: str,
    levels: Mapping[str, tuple[str, float]] | None = None,
) -> None:
    """Draw series of (rows, replicas) one below the other, with a named line at each level."""
    figure = _figure(9, 2.6 * len(series), title)
    step = -(-len(updates) // LONGEST_SIDE)
    panels = figure.subplots(len(series), sharex=True, squeeze=False).flat
    for axes, (name, values) in zip(panels, series.items(), strict=True):
        axes.plot(updates[::step], values[::step, :MOST_LINES], linewidth=0.6)
        axes.set_ylabel(name)
        if levels is not None and name in levels:
            called, level = levels[name]
            axes.axhline(level, color=KNOWN_COLOUR, linewidth=1, label=called)
            axes.legend()
    axes.set_xlabel("update")
    _save(path, figure)


def _draw_known(axes: Axes, name: str, temperatures: Sequence[float], known: Known) -> None:
    finite = [temperature for temperature in temperatures if np.isfinite(temperature)]
    lowest, highest = min(finite, default=0.0), max(finite, default=0.0)
    if known.transition is not None and lowest <= known.transition[1] <= highest:
        called, at = known.transition
        axes.axvline(at, color=KNOWN_COLOUR, linewidth=0.8, linestyle=":", label=called)
    if name in known.curves and lowest < highest:
        called, values = known.curves[name]
        between = np.linspace(lowest, highest, CURVE_POINTS)
        axes.plot(between, values(between), color=KNOWN_COLOUR, linewidth=1, label=called)
    if name in known.points and lowest <= known.points[name][0] <= highest:
        axes.plot(*known.points[name], "*", color=KNOWN_COLOUR, markersize=10, label="exact")
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize="small")


def _figure(width: float, height: float, title: str = "") -> Figure:
    make = optional("matplotlib.figure").Figure
    figure: Figure = make(figsize=(width, height), layout="constrained")
    if title:
        figure.suptitle(printable(title), parse_math=False)
    return figure


def _save(path: Path, figure: Figure) -> None:
    for axes in figure.axes:
        axes.grid(which="major", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        figure.savefig(file, format="png", dpi=150)
