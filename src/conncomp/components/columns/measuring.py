"""What is measured of components on either device: places, sizes, values, classes, faces."""

from __future__ import annotations

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
from conncomp.kernels.cuda.components.shapes import REAL, are_few, measure_shapes, words_of
from conncomp.kernels.cuda.launcher import COUNT, Gpu, current_gpu


class Known(NamedTuple):
    """Which components there are: the row of each, its size and its box, and where it lies.

    On a GPU its runs, and perhaps a table of an image's values, or what `measure_image` gives.
    """

    rows: Any
    sizes: Any
    boxes: Any
    labels: Any
    batch: Any  # the items that labels are of
    centroids: Any
    covariances: Any
    runs: Any = None
    table: tuple[Any, int] | None = None
    values: tuple[list[Any], Any] | None = None


def measure_components(
    items: Items, moments: bool, runs: ComponentRuns | None = None, image: Intensities | None = None
) -> Known:
    """Return which components there are, and where they lie, with moments, if wanted.

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
        rows, sums = shapes.labels, (columns, reals) if columns else None
    else:
        values = None
        if image is not None and are_few(shape) and are_small(image.values.dtype, shape):
            values = image.values
        shapes, table = measure_shapes(gpu, runs, shape, moments, items.batch, values)
        rows = runs.components if items.batch else shapes.labels
        filled = None if values is None else (table, words_of(len(shape)))
    places = shapes.labels, shapes.batch, shapes.centroids, shapes.moments
    return Known(rows, shapes.sizes, shapes.boxes, *places, runs, filled, sums)


def classes_of(items: Items, known: Known, classes: Any, name: str = "classes") -> Any:
    """Return the class of each component; raise ValueError if it has elements of several."""
    image = check_image(classes, items, name)
    columns, *_ = _sums_of_image(items, known, image)
    lowest, highest = columns[2:4]
    mixed = items.xp.flatnonzero(lowest != highest)
    if len(mixed):
        row = int(known.rows[mixed[0]])
        raise ValueError(
            f"{name} has {int(lowest[mixed[0]])} and {int(highest[mixed[0]])} within the component "
            f"of label {row % max(items.rows, 1)}; label the classes themselves, as "
            f"conncomp.label({name}), whose components are of one each"
        )
    return lowest.astype(image.dtype, copy=False)


def _measure_on_cpu(items: Items, moments: bool) -> Known:
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
    return Known(rows, sizes, boxes, labels, batch, centroids, covariances)


def measure_batch_again(
    labels: Any, background: Background, batch_axes: Any, moments: bool
) -> tuple[Any, ...] | None:
    """Return attributes of `ComponentStatistics` of a batch of CuPy's of a known kind, or None."""
    gpu = current_gpu() if isinstance(cuda_library_of(labels), CuPyArrays) else None
    if gpu is None or labels.data.device_id != gpu.device:
        return None
    allowed = partial(check_background, background)
    with measures.turn:
        shapes = measures.measure_batch(gpu, labels, batch_axes, allowed, moments)
    if shapes is None:
        return None
    along = (labels.ndim - batch_axes,)
    kinds: Any = (((), REAL), (along, REAL), (along, COUNT), ((), COUNT))
    values, centroids, faces, classes = (_no_rows(gpu, *kind).view() for kind in kinds)
    columns = shapes.labels, shapes.sizes, shapes.boxes, shapes.centroids, shapes.moments
    return *columns, shapes.batch, *(values,) * 4, centroids, faces, classes


def no_rows(items: Items, *axes: int, dtype: Any = np.float64) -> Any:
    """Return a column of nothing: a view, which its owner may reshape, of one that is made once."""
    return _no_rows(None if items.xp is np else current_gpu(), axes, np.dtype(dtype)).view()


@cache
def _no_rows(gpu: Gpu | None, axes: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    return (np if gpu is None else gpu.xp).empty((0, *axes), dtype)


def measure_image(items: Items, known: Known, image: Intensities | None) -> tuple[list[Any], Any]:
    """Return sums, means, minima, maxima and weighted centroids; empty ones of no image.

    And standard deviations, minima and maxima as `Channel` has them, if they are known at once.
    """
    if image is None:
        return [*(no_rows(items),) * 4, no_rows(items, len(items.shape))], None
    columns, fit, reals = _sums_of_image(items, known, image)
    if not fit:
        raise OverflowError(
            f"the sum of image, of {image.dtype}, over a component does not fit into "
            f"{image.sums}; pass image.astype(float)"
        )
    sums, means, minima, maxima, centroids = columns
    sums = sums.astype(image.given_sums, copy=False)
    extremes = (column.astype(image.dtype, copy=False) for column in (minima, maxima))
    return [sums, means, *extremes, centroids], reals


def _sums_of_image(items: Items, known: Known, image: Intensities) -> tuple[list[Any], bool, Any]:
    """Return the columns of `measure_image`, of the types of kernels, and whether sums fit."""
    if known.values is not None:
        columns, reals = known.values
        return columns, True, reals
    xp, count, value_type = items.xp, len(known.rows), image.values.dtype
    types = image.sums, np.dtype(np.float64), value_type, value_type
    columns = [new_array(xp, (count,), dtype) for dtype in types]
    columns.append(new_array(xp, (count, len(items.shape)), np.float64))
    if not count:
        return columns, True, None
    if xp is np:
        flat = (column.reshape(-1) for column in (*known[:3], *columns))
        values = image.values.reshape(-1)
        return columns, native.measure_intensities(*items.flat, values, image.bits, *flat), None
    problem = items.shape, image.values, image.bits, known.sizes, known.boxes
    return columns, *measure_intensities(
        current_gpu(), known.runs, *problem, *columns, table=known.table
    )


def items_at_start(
    labels: Any, background: Background, batch_axes: int, largest: int | None, sums: Any
) -> tuple[Items, measures.RecordedRuns | None]:
    """Return items, without rows yet, and what has started to find runs or `sums` on a GPU."""
    started = None
    if on_gpu(labels):
        allowed = partial(check_background, background)
        started = measures.start_runs(current_gpu(), labels, batch_axes, allowed, sums)
    if started is None:
        return check_items(labels, background, batch_axes, largest=largest), None
    batch, shape = labels.shape[:batch_axes], labels.shape[batch_axes:]
    return Items(labels, -1, 0, batch, shape, labels.dtype), started


def items_and_runs(
    items: Items,
    started: measures.RecordedRuns,
    labels: Any,
    background: Background,
    batch_axes: int,
    presuming: bool = False,
) -> tuple[Items, ComponentRuns | None]:
    """Return items with their rows, `presuming` as many as in the last calls, and their runs."""
    finished = started.finish(labels, presuming)
    if finished is None:
        return check_items(labels, background, batch_axes), None
    array, empty, rows, runs = finished
    return Items(array, empty, rows, items.batch, items.shape, items.dtype), runs


def scale(xp: Any, lengths: tuple[float, ...], known: Known, brightness: Any) -> None:
    """Let centroids and covariances be in units of the spacing."""
    factors = placed(xp, np.array(lengths))
    for column in (known.centroids, *(columns[-1] for columns in brightness)):
        column *= factors
    known.covariances[...] *= placed(xp, np.outer(lengths, lengths))


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
