"""Moments of components up to the third power on the GPU: drives ``moments.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.components.intensities import VALUE_TYPES, value_type
from conncomp.kernels.cuda.components.rows import extent_of, label_rows, lengths_on
from conncomp.kernels.cuda.components.runs import ComponentRuns, grid_of_turns
from conncomp.kernels.cuda.components.tables import places_of
from conncomp.kernels.cuda.launcher import COUNT, Gpu, launch

FILE = "cuda/components/moments.cuh"
THREADS = 256
POWERS, MOST_AXES = 4, 4


class LabelledComponents(NamedTuple):
    """Labels as kernels of columns take them, and which components they are of.

    Attributes
    ----------
    labels : contiguous array of int32 or int64
    background : int
        Another negative number than labels, if there is none.
    rows : int
        Labels are below it.
    shape : tuple of int
        Of an item.
    runs : ComponentRuns
        Of the labels that occur. If there is none, nothing is launched.
    """

    labels: Any
    background: int
    rows: int
    shape: tuple[int, ...]
    runs: ComponentRuns

    def described(self, gpu: Gpu) -> tuple[Any, Any]:
        """Return the labels as kernels take them, and the place of each component."""
        labels = label_rows(gpu, self.labels, self.background, self.rows)
        return labels, places_of(gpu, self.runs.components, self.rows)


def element_moments(gpu: Gpu, given: LabelledComponents, boxes: Any) -> tuple[Any, Any]:
    """Return moments about the first coordinates of boxes, and about centroids.

    Parameters
    ----------
    gpu : Gpu
    given : LabelledComponents
        Of up to four axes.
    boxes : array of int64, shape (n, ndim, 2)

    Returns
    -------
    raw, central : array of float64, shape (n, 4, ..., 4)
    """
    xp, ndim, rows = gpu.xp, len(given.shape), len(given.runs.components)
    (add,) = gpu.load(FILE, NAMES)
    (centre,) = gpu.load(FILE, _names_of_axes(ndim))
    count = POWERS**ndim
    all_boxes = xp.zeros((rows, MOST_AXES, 2), COUNT)
    all_boxes[:, MOST_AXES - ndim :] = boxes
    table = xp.zeros((rows, count, 2), COUNT)
    raw, central = (xp.empty((rows, *(POWERS,) * ndim)) for _ in range(2))
    if not rows:
        return raw, central
    lengths = _lengths(gpu, given.shape)
    grid = grid_of_turns(gpu, given.runs.total, count // POWERS)
    launch(add, grid, given.runs.record, extent_of(gpu, lengths), all_boxes, count, table)
    launch(centre, (gpu.blocks(rows, THREADS), THREADS), rows, table, raw, central)
    return raw, central


def weighted_moments(gpu: Gpu, given: LabelledComponents, values: Any, origins: Any) -> Any:
    """Return moments weighted by values, about an origin for each component.

    Sums are of float64, and their last digits may differ from one call to the next.

    Parameters
    ----------
    gpu, given
        As for `element_moments`.
    values : contiguous array of one of `VALUE_TYPES`
        Of as many elements as labels.
    origins : array of float64, shape (n, ndim)

    Returns
    -------
    array of float64, shape (n, 4, ..., 4)
    """
    xp, ndim, rows = gpu.xp, len(given.shape), len(given.runs.components)
    add, _ = gpu.load(FILE, _names_of_values(values.dtype))
    all_origins = xp.zeros((rows, MOST_AXES))
    all_origins[:, MOST_AXES - ndim :] = origins
    table = xp.zeros((rows, *(POWERS,) * ndim))
    if not rows:
        return table
    lengths, count = _lengths(gpu, given.shape), POWERS**ndim
    grid = grid_of_turns(gpu, given.runs.total, count // POWERS)
    extent = extent_of(gpu, lengths)
    launch(add, grid, given.runs.record, extent, values, all_origins, count, table)
    return table


def squared_deviations(gpu: Gpu, given: LabelledComponents, values: Any, means: Any) -> Any:
    """Return the sums of the squares of values less the mean of each component.

    As for `weighted_moments`, with an array of float64 of means.
    """
    _, add = gpu.load(FILE, _names_of_values(values.dtype))
    sums = gpu.xp.zeros(len(given.runs.components))
    if not len(sums):
        return sums
    grid = grid_of_turns(gpu, given.runs.total, 1)
    launch(add, grid, given.runs.record, values, means, sums)
    return sums


def _lengths(gpu: Gpu, shape: tuple[int, ...]) -> Any:
    """Return the lengths of four axes, those ahead of an item's 1."""
    return lengths_on(gpu, *(1,) * (MOST_AXES - len(shape)), *shape)


NAMES = ("add_moments<>",)


@cache
def _names_of_values(value: np.dtype[Any]) -> tuple[str, ...]:
    return f"add_weighted_moments<{value_type(value)}>", f"add_squares<{value_type(value)}>"


@cache
def _names_of_axes(axes: int) -> tuple[str, ...]:
    return (f"centre_moments_of_rows<{axes}>",)


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that the functions here can load."""
    yield FILE, NAMES
    for value in VALUE_TYPES:
        yield FILE, _names_of_values(value)
    for axes in range(1, MOST_AXES + 1):
        yield FILE, _names_of_axes(axes)
