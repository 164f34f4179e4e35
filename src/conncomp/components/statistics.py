"""Where components lie, how large they are and how they are shaped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_bool
from conncomp._core import native
from conncomp.components._labels import Background, Items, check_items, where_labels_lie
from conncomp.kernels.cuda.components.tables import measure_labels
from conncomp.kernels.cuda.launcher import current_gpu


@dataclass(frozen=True)
class ComponentStatistics:
    """What `component_statistics` returns: a row for each of n components, in the order of labels.

    With batch axes, in the order of items first; ndim is the number of an item's axes.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
    sizes : ndarray of int64, shape (n,)
        Numbers of elements.
    bounding_boxes : ndarray of int64, shape (n, ndim, 2)
        The first coordinate along each axis, and the one after the last.
    centroids : ndarray of float64, shape (n, ndim)
        Means of the coordinates, in elements.
    moments : ndarray of float64, shape (n, ndim, ndim)
        Second central moments over the size, that is the covariances of the coordinates, in
        elements squared. Shape (0, ndim, ndim) if they were not asked for.
    batch : ndarray of int64, shape (n, batch_axes)
        The item that the component is of, as indices along the batch axes.
    """

    labels: NDArray[np.int64]
    sizes: NDArray[np.int64]
    bounding_boxes: NDArray[np.int64]
    centroids: NDArray[np.float64]
    moments: NDArray[np.float64]
    batch: NDArray[np.int64]

    def slices(self, row: int) -> tuple[slice, ...]:
        """Return the bounding box of a row, to index an array, or the row's item, with."""
        return tuple(slice(first, end) for first, end in self.bounding_boxes[row].tolist())


def component_statistics(
    labels: ArrayLike,
    *,
    moments: bool = True,
    background: Background = "auto",
    batch_axes: int = 0,
) -> ComponentStatistics:
    """Measure the components: sizes, bounding boxes, centroids and second central moments.

    Parameters
    ----------
    labels : array_like of int
        One dimension or more, in main memory or on a GPU, as for `component_sizes`.
    moments : bool, optional
        Whether to measure second moments, which takes longer on the CPU.
    background : {"auto", 0, -1, None}, optional
        The label that is no component, as for `component_sizes`.
    batch_axes : int, optional
        How many axes ahead are those of a batch, as for `component_sizes`. Coordinates are those
        within an item.

    Returns
    -------
    ComponentStatistics
        A row for each label that occurs, in arrays of the library of `labels`, where that lies.
        Sums are made in integers, so they are exact, and the same for any number of threads and
        on a GPU. A component that wraps around a periodic axis is measured where its elements are
        stored.

    Raises
    ------
    TypeError
        If `labels` is not of integers, `moments` not a bool or `batch_axes` not an integer.
    ValueError
        If it has no dimension, or one and `background` is not given, or a label is negative or far
        larger than the number of elements, or `batch_axes` leaves no axis to the items.
    MemoryError
        If there is too little memory, on the GPU too.

    Examples
    --------
    >>> import conncomp
    >>> statistics = conncomp.component_statistics([[1, 1, 0], [0, 0, 2], [0, 0, 2]])
    >>> statistics.sizes
    array([2, 2])
    >>> statistics.centroids
    array([[0. , 0.5],
           [1.5, 2. ]])
    >>> statistics.bounding_boxes[1]
    array([[1, 3],
           [2, 3]])

    The rows of a matrix as arrays of their own:

    >>> items = [[1, 1, 0], [0, 1, 2]]
    >>> statistics = conncomp.component_statistics(items, background=0, batch_axes=1)
    >>> statistics.batch[:, 0], statistics.labels
    (array([0, 1, 1]), array([1, 1, 2]))
    """
    wanted = as_bool("moments", moments)
    return ComponentStatistics(*_measure(labels, wanted, background, batch_axes))


@where_labels_lie
def _measure(
    labels: ArrayLike, moments: bool, background: Background, batch_axes: int
) -> tuple[Any, ...]:
    """Return the attributes of `ComponentStatistics`."""
    items = check_items(labels, background, batch_axes)
    if not items.shape:
        raise ValueError("labels is a scalar; it must have one dimension or more")
    measure = _measure_on_cpu if isinstance(items.labels, np.ndarray) else _measure_on_gpu
    rows, sizes, boxes, centroids, covariances = measure(items, moments)
    batch, own_labels = _items_of_rows(items, rows)
    return own_labels, sizes, boxes, centroids, covariances, batch


def _measure_on_cpu(items: Items, moments: bool) -> tuple[Any, ...]:
    """Return the row of each component and what was measured of it."""
    ndim = len(items.shape)
    measured = native.measure_labels(
        items.labels.reshape(-1), items.shape, items.background, items.all_rows, moments
    )
    count = measured.components
    rows, sizes = np.empty(count, np.int64), np.empty(count, np.int64)
    boxes, centroids = np.empty((count, ndim, 2), np.int64), np.empty((count, ndim))
    covariances = np.empty((count if moments else 0, ndim, ndim))
    columns = rows, sizes, boxes, centroids, covariances
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


def _items_of_rows(items: Items, rows: Any) -> tuple[Any, Any]:
    """Return the item of each row, as indices along the batch axes, and the label in the item."""
    batch = items.xp.empty((len(rows), len(items.batch)), np.int64)
    if not items.batch:
        return batch, rows
    number = rows // max(items.rows, 1)
    labels = rows - number * items.rows
    for axis in reversed(range(len(items.batch))):
        batch[:, axis] = number % items.batch[axis]
        number = number // items.batch[axis]
    return batch, labels
