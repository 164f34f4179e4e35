"""Moments of components up to the third power on the GPU: drives ``moments.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.components.intensities import VALUE_TYPES, value_type
from conncomp.kernels.cuda.components.rows import extent_of, label_rows, lengths_on
from conncomp.kernels.cuda.components.runs import ComponentRuns
from conncomp.kernels.cuda.components.tables import places_of
from conncomp.kernels.cuda.launcher import COUNT, Gpu, launch
from conncomp.kernels.cuda.structs import POINTER, Struct

FILE = "cuda/components/moments.cuh"
POWERS, MOST_AXES = 4, 4
BOXES = Struct("Boxes", entries=POINTER, ndim=COUNT)


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
    xp, ndim, runs, rows = gpu.xp, len(given.shape), given.runs, given.runs.count
    add_small, add = gpu.load(FILE, NAMES)
    centre, _ = gpu.load(FILE, _names_of_axes(ndim))
    raw, central = (xp.empty((rows, *(POWERS,) * ndim)) for _ in range(2))
    if not rows:
        return raw, central
    lengths, turns = _lengths(gpu, given.shape), POWERS ** (ndim - 1)

    def launches(has_wide: Any, table: Any, boxes: Any, raw: Any, central: Any) -> None:
        where = BOXES.of(gpu, entries=boxes, ndim=ndim)
        sums = runs.record, extent_of(gpu, lengths), where, table
        if ndim > 1:
            launch(add_small, runs.in_turns(turns // POWERS), *sums, has_wide)
            launch(add, runs.in_few_turns(turns), *sums, has_wide)
        else:
            launch(add, runs.in_turns(turns), *sums, None)
        launch(centre, runs.by_row, runs.state, where, table, raw, central)

    memory = xp.zeros(1 + rows * POWERS**ndim * 2, COUNT)
    runs.launch("moments", launches, memory[:1], memory[1:], boxes, raw, central, memory=lengths)
    return raw, central


def weighted_moments(
    gpu: Gpu, given: LabelledComponents, values: Any, boxes: Any, about: Any = None
) -> Any:
    """Return moments weighted by values, about the first coordinates of boxes.

    Sums are of float64, and their last digits may differ from one call to the next.

    Parameters
    ----------
    gpu, given, boxes
        As for `element_moments`.
    values : contiguous array of one of `VALUE_TYPES`
        Of as many elements as labels.
    about : array of float64, shape (n, 4, ..., 4), optional
        Such moments, about whose centroids to return them.

    Returns
    -------
    array of float64, shape (n, 4, ..., 4)
    """
    xp, ndim, runs, rows = gpu.xp, len(given.shape), given.runs, given.runs.count
    add, _ = gpu.load(FILE, _names_of_values(values.dtype, ndim))
    table = xp.zeros((rows, *(POWERS,) * ndim))
    if not rows:
        return table
    lengths, turns = _lengths(gpu, given.shape), POWERS ** max(ndim - 2, 0)

    def launches(values: Any, boxes: Any, table: Any, about: Any = None) -> None:
        where = BOXES.of(gpu, entries=boxes, ndim=ndim)
        described = runs.record, extent_of(gpu, lengths), values, where
        launch(add, runs.in_turns(turns), *described, about, table)

    arrays = (values, boxes, table) if about is None else (values, boxes, table, about)
    purpose = "weighted moments", values.dtype, about is None
    runs.launch(purpose, launches, *arrays, memory=lengths)
    return table


def normalized_moments(gpu: Gpu, given: LabelledComponents, central: Any) -> Any:
    """Return central moments over powers of the size, in elements; NaN those of order below 2."""
    runs, out = given.runs, gpu.xp.empty_like(central)
    _, normalize = gpu.load(FILE, _names_of_axes(len(given.shape)))

    def launches(central: Any, out: Any) -> None:
        launch(normalize, runs.by_row, runs.state, central, out)

    if central.size:
        runs.launch("normalized", launches, central, out)
    return out


def squared_deviations(gpu: Gpu, given: LabelledComponents, values: Any, means: Any) -> Any:
    """Return the sums of the squares of values less the mean of each component.

    As for `weighted_moments`, with an array of float64 of means.
    """
    runs = given.runs
    _, add = gpu.load(FILE, _names_of_values(values.dtype, len(given.shape)))
    sums = gpu.xp.zeros(runs.count)

    def launches(values: Any, means: Any, sums: Any) -> None:
        launch(add, runs.in_turns(1), runs.record, values, means, sums)

    if sums.size:
        runs.launch(("squares", values.dtype), launches, values, means, sums)
    return sums


def _lengths(gpu: Gpu, shape: tuple[int, ...]) -> Any:
    """Return the lengths of four axes, those ahead of an item's 1."""
    return lengths_on(gpu, *(1,) * (MOST_AXES - len(shape)), *shape)


NAMES = "add_small_moments<>", "add_moments<>"


@cache
def _names_of_values(value: np.dtype[Any], axes: int) -> tuple[str, ...]:
    rows = POWERS if axes > 1 else 1
    return f"add_weighted_moments<{value_type(value)}, {rows}>", f"add_squares<{value_type(value)}>"


@cache
def _names_of_axes(axes: int) -> tuple[str, ...]:
    return f"centre_moments_of_rows<{axes}>", f"normalize_moments<{axes}>"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that the functions here can load."""
    yield FILE, NAMES
    for value in VALUE_TYPES:
        for axes in (1, 2):
            yield FILE, _names_of_values(value, axes)
    for axes in range(1, MOST_AXES + 1):
        yield FILE, _names_of_axes(axes)
