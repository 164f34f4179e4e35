"""What is measured of components on either device: places and sizes, values, classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp._arrays import new_array
from conncomp._core import native
from conncomp.components._labels import Items
from conncomp.components.columns.intensities import Image, check_image
from conncomp.kernels.cuda.components.intensities import measure_intensities
from conncomp.kernels.cuda.components.tables import measure_labels
from conncomp.kernels.cuda.launcher import current_gpu


def measure_components(items: Items, moments: bool) -> tuple[Any, ...]:
    """Return the row of each component, and sizes, boxes, centroids and moments, if wanted."""
    return (_measure_on_cpu if items.xp is np else _measure_on_gpu)(items, moments)


def classes_of(items: Items, known: tuple[Any, ...], classes: Any, name: str = "classes") -> Any:
    """Return the class of each component.

    Parameters
    ----------
    items : Items
    known : tuple of array
        Rows, sizes and boxes, of `measure_components`.
    classes : array
        The class of each element.
    name : str, optional
        The argument's, for errors.

    Raises
    ------
    TypeError
        If classes are not of integers, or lie elsewhere than the labels.
    ValueError
        If they are of another shape, or a component has elements of several.
    """
    image = check_image(classes, items, name)
    columns, _ = _sums_of_image(items, known, image)
    lowest, highest = columns[2:4]
    mixed = items.xp.flatnonzero(lowest != highest)
    if len(mixed):
        row = int(known[0][mixed[0]])
        raise ValueError(
            f"{name} has {int(lowest[mixed[0]])} and {int(highest[mixed[0]])} within the component "
            f"of label {row % max(items.rows, 1)}; label the classes themselves, as "
            f"conncomp.label({name}), whose components are of one each"
        )
    return lowest.astype(image.dtype, copy=False)


def _measure_on_cpu(items: Items, moments: bool) -> tuple[Any, ...]:
    """Return the row of each component and what was measured of it."""
    ndim = len(items.shape)
    measured = native.measure_labels(
        items.labels.reshape(-1), items.shape, items.background, items.all_rows, moments
    )
    count = measured.components
    columns = (
        new_array(np, (count,), np.int64),
        new_array(np, (count,), np.int64),
        new_array(np, (count, ndim, 2), np.int64),
        new_array(np, (count, ndim), np.float64),
        new_array(np, (count if moments else 0, ndim, ndim), np.float64),
    )
    measured.write(*(column.reshape(-1) for column in columns))
    return columns


def _measure_on_gpu(items: Items, moments: bool) -> tuple[Any, ...]:
    """As `_measure_on_cpu`."""
    gpu = current_gpu()
    rows, sizes, low, high, sums, covariances = measure_labels(
        gpu, items.labels, items.background, items.all_rows, items.shape
    )
    boxes = gpu.xp.stack([low, high + 1], axis=-1)
    return rows, sizes, boxes, sums / sizes[:, None], covariances[: None if moments else 0]


def measure_image(items: Items, known: tuple[Any, ...], image: Image | None) -> list[Any]:
    """Return sums, means, minima, maxima and weighted centroids; empty ones of no image."""
    columns, fit = _sums_of_image(items, known, image)
    if image is None:
        return columns
    if not fit:
        raise OverflowError(
            f"the sum of image, of {image.dtype}, over a component does not fit into "
            f"{image.sums}; pass image.astype(float)"
        )
    sums, means, minima, maxima, centroids = columns
    return [
        sums.astype(image.given_sums, copy=False),
        means,
        minima.astype(image.dtype, copy=False),
        maxima.astype(image.dtype, copy=False),
        centroids,
    ]


def _sums_of_image(
    items: Items, known: tuple[Any, ...], image: Image | None
) -> tuple[list[Any], bool]:
    """Return the columns of `measure_image`, of the types of kernels, and whether sums fit."""
    xp, ndim = items.xp, len(items.shape)
    count = 0 if image is None else len(known[0])
    sums_type, value_type = (np.float64,) * 2 if image is None else (image.sums, image.values.dtype)
    columns = [
        new_array(xp, (count,), sums_type),
        new_array(xp, (count,), np.float64),
        new_array(xp, (count,), value_type),
        new_array(xp, (count,), value_type),
        new_array(xp, (count, ndim), np.float64),
    ]
    if image is None or not count:
        return columns, True
    measure = _measure_image_on_cpu if xp is np else _measure_image_on_gpu
    return columns, measure(items, known, image, columns)


def _measure_image_on_cpu(
    items: Items, known: tuple[Any, ...], image: Image, columns: list[Any]
) -> bool:
    """Fill the columns; return whether the sums fit."""
    described = items.labels.reshape(-1), items.shape, items.background
    flat = (column.reshape(-1) for column in (*known, *columns))
    fit: bool = native.measure_intensities(*described, image.values.reshape(-1), image.bits, *flat)
    return fit


def _measure_image_on_gpu(
    items: Items, known: tuple[Any, ...], image: Image, columns: list[Any]
) -> bool:
    """As `_measure_image_on_cpu`."""
    described = items.labels, items.background, items.all_rows, items.shape
    return measure_intensities(
        current_gpu(), *described, image.values, image.bits, *known, *columns
    )
