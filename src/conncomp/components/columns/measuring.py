"""Measure components on either device: places, sizes, values, classes, faces."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from conncomp._array_storage import new_array, placed
from conncomp._arrays import on_gpu
from conncomp._core import native
from conncomp._cuda_arrays import CuPyArrays, cuda_library_of
from conncomp.components._labels import (
    Background,
    Items,
    check_background,
    check_items,
    items_of_rows,
)
from conncomp.components.columns.intensities import Intensities, check_image
from conncomp.kernels.cuda.components import measures
from conncomp.kernels.cuda.components.configurations import count_faces
from conncomp.kernels.cuda.components.intensities import are_small, measure_intensities
from conncomp.kernels.cuda.components.runs import ComponentRuns, find_runs
from conncomp.kernels.cuda.components.shapes import REAL, Shapes, are_few, measure_shapes, words_of
from conncomp.kernels.cuda.launcher import COUNT, Gpu, current_gpu


class LabelMeaning(NamedTuple):
    """The arguments of `component_statistics` about labels, and the largest label, if known."""

    background: Background
    batch_axes: int
    largest: int | None = None


class Values(NamedTuple):
    """The columns of an image's values, as `ComponentStatistics` has them."""

    sums: Any
    means: Any
    minima: Any
    maxima: Any
    weighted_centroids: Any


class Components(NamedTuple):
    """The components of items, in rows of all numbers of all items, and their shapes.

    On a GPU also their runs, and perhaps a table of values, or what `measure_image` returns.
    """

    rows: Any
    shapes: Shapes
    runs: Any = None
    table: tuple[Any, int] | None = None
    values: tuple[Values, Any] | None = None


def measure_components(
    items: Items, moments: bool, runs: ComponentRuns | None = None, image: Intensities | None = None
) -> Components:
    """Return the components and their shapes, with moments, if wanted.

    On a GPU by their runs, which may be given; with sums of an image whose values are small.
    """
    if items.xp is np:
        return _measure_on_cpu(items, moments)
    gpu, shape = current_gpu(), items.shape
    if runs is None:
        array = items.labels, items.background, items.all_rows, shape[-1]
        runs = find_runs(gpu, *array, items.count)
    sums, filled = None, None
    if runs.sums is not None:
        shapes, columns, reals = runs.sums.write(runs, items.labels.dtype, moments)
        rows, sums = shapes.labels, (Values(*columns), reals) if columns else None
    else:
        values = None
        if image is not None and are_few(shape) and are_small(image.values.dtype, shape):
            values = image.values
        shapes, table = measure_shapes(gpu, runs, shape, moments, items.batch, values)
        rows = runs.components if items.batch else shapes.labels
        filled = None if values is None else (table, words_of(len(shape)))
    return Components(rows, shapes, runs, filled, sums)


def classes_of(items: Items, components: Components, classes: Any, name: str = "classes") -> Any:
    """Return the class of each component; raise ValueError if it has elements of several."""
    image = check_image(classes, items, name)
    values, *_ = _sums_of(items, components, image)
    lowest, highest = values.minima, values.maxima
    mixed = items.xp.flatnonzero(lowest != highest)
    if len(mixed):
        row = int(components.rows[mixed[0]])
        both = f"{int(lowest[mixed[0]])} and {int(highest[mixed[0]])}"
        told = f"{name} has {both} within the component of label {row % max(items.rows, 1)}"
        remedy = f"label the classes themselves, as conncomp.label({name})"
        raise ValueError(f"{told}; {remedy}, whose components are of one each")
    return lowest.astype(image.dtype, copy=False)


def _measure_on_cpu(items: Items, moments: bool) -> Components:
    ndim = len(items.shape)
    measured = native.measure_labels(*items.flat, items.all_rows, moments)
    count = measured.components
    matrices = count if moments and not measured.are_points else 0
    rows, sizes, boxes = (new_array(np, (count, *more), np.int64) for more in ((), (), (ndim, 2)))
    centroids = new_array(np, (count, ndim), np.float64)
    covariances = new_array(np, (matrices, ndim, ndim), np.float64)
    measured.write(*(column.reshape(-1) for column in (rows, sizes, boxes, centroids, covariances)))
    if moments and measured.are_points:  # zeros, which new memory holds: nobody writes it
        covariances = np.zeros((count, ndim, ndim))
    batch, labels = items_of_rows(items, rows)
    return Components(rows, Shapes(labels, sizes, boxes, batch, centroids, covariances))


def measure_batch_again(
    labels: Any, meaning: LabelMeaning, moments: bool
) -> tuple[Shapes, OptionalColumns] | None:
    """Return the shapes and other columns of a batch of CuPy's of a known kind, or None."""
    gpu = current_gpu() if isinstance(cuda_library_of(labels), CuPyArrays) else None
    if gpu is None or labels.data.device_id != gpu.device:
        return None
    allowed = partial(check_background, meaning.background)
    with measures.turn:
        shapes = measures.measure_batch(gpu, labels, meaning.batch_axes, allowed, moments)
    ndim = labels.ndim - meaning.batch_axes
    return None if shapes is None else (shapes, empty_columns(gpu, ndim))


class OptionalColumns(NamedTuple):
    """The columns that have no rows unless they are asked for."""

    values: Values
    faces: Any
    classes: Any


def empty_columns(gpu: Gpu | None, ndim: int) -> OptionalColumns:
    """Return views, which owners may reshape, of columns that are made once."""
    value, centroids, faces, classes = (column.view() for column in _empty_columns(gpu, ndim))
    return OptionalColumns(Values(value, value, value, value, centroids), faces, classes)


@cache
def _empty_columns(gpu: Gpu | None, ndim: int) -> tuple[Any, ...]:
    kinds = ((0,), REAL), ((0, ndim), REAL), ((0, ndim), COUNT), ((0,), COUNT)
    return tuple((np if gpu is None else gpu.xp).empty(*kind) for kind in kinds)


def measure_image(items: Items, components: Components, image: Intensities) -> tuple[Values, Any]:
    """Return the columns of an image's values, and the `reals` of `Channel` if known at once."""
    values, fit, reals = _sums_of(items, components, image)
    if not fit:
        told = f"the sum of image, of {image.dtype}, over a component"
        raise OverflowError(f"{told} does not fit into {image.sums}; pass image.astype(float)")
    sums = values.sums.astype(image.given_sums, copy=False)
    extremes = {k: getattr(values, k).astype(image.dtype, copy=False) for k in ("minima", "maxima")}
    return values._replace(sums=sums, **extremes), reals


def _sums_of(items: Items, components: Components, image: Intensities) -> tuple[Values, bool, Any]:
    """Return the columns of `measure_image`, of the types of kernels, and whether sums fit."""
    if components.values is not None:
        values, reals = components.values
        return values, True, reals
    xp, count, value_type = items.xp, len(components.rows), image.values.dtype
    types = image.sums, np.dtype(np.float64), value_type, value_type
    columns = [new_array(xp, (count,), dtype) for dtype in types]
    columns.append(new_array(xp, (count, len(items.shape)), np.float64))
    made, sizes, boxes = Values(*columns), components.shapes.sizes, components.shapes.boxes
    if not count:
        return made, True, None
    if xp is np:
        flat = (column.reshape(-1) for column in (components.rows, sizes, boxes, *columns))
        given = image.values.reshape(-1)
        return made, native.measure_intensities(*items.flat, given, image.bits, *flat), None
    problem = components.runs, items.shape, image.values, image.bits, sizes, boxes, *columns
    return made, *measure_intensities(current_gpu(), *problem, table=components.table)


def items_at_start(
    labels: Any, meaning: LabelMeaning, sums: Any
) -> tuple[Items, measures.RecordedRuns | None]:
    """Return items, without rows yet, and what finds runs or `sums` on a GPU."""
    started, (background, batch_axes, largest) = None, meaning
    if on_gpu(labels):
        allowed = partial(check_background, background)
        started = measures.start_runs(current_gpu(), labels, batch_axes, allowed, sums)
    if started is None:
        return check_items(labels, background, batch_axes, largest=largest), None
    batch, shape = labels.shape[:batch_axes], labels.shape[batch_axes:]
    return Items(labels, -1, 0, batch, shape, labels.dtype), started


def items_and_runs(
    items: Items, started: Any, labels: Any, meaning: LabelMeaning, presuming: bool = False
) -> tuple[Items, ComponentRuns | None]:
    """Return items with their rows, `presuming` those of the last calls, and their runs."""
    finished = started.finish(labels, presuming)
    if finished is None:
        return check_items(labels, meaning.background, meaning.batch_axes), None
    numbered = finished.labels, finished.background, finished.rows
    return Items(*numbered, items.batch, items.shape, items.dtype), finished.runs


def scale(xp: Any, lengths: tuple[float, ...], shapes: Shapes, channels: Iterable[Values]) -> None:
    """Let centroids and covariances be in units of the spacing."""
    factors = placed(xp, np.array(lengths))
    for column in (shapes.centroids, *(values.weighted_centroids for values in channels)):
        column *= factors
    shapes.moments[...] *= placed(xp, np.outer(lengths, lengths))


def faces_of(items: Items, rows: Any) -> Any:
    """Return how many faces the components of rows have along each axis."""
    faces = items.xp.zeros((len(rows), len(items.shape)), np.int64)
    if not len(rows):
        return faces
    if items.xp is np:
        native.count_faces(*items.flat, rows, faces.reshape(-1))
    else:
        count_faces(current_gpu(), *items.described, rows, faces)
    return faces
