"""Where components lie, how large they are and how they are shaped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._core import native
from conncomp.components._labels import Background, check_labels, where_labels_lie
from conncomp.kernels.cuda.components.tables import measure_labels
from conncomp.kernels.cuda.launcher import current_gpu


@dataclass(frozen=True)
class ComponentStatistics:
    """What `component_statistics` returns: a row for each of n components, in the order of labels.

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
        elements squared.
    """

    labels: NDArray[np.int64]
    sizes: NDArray[np.int64]
    bounding_boxes: NDArray[np.int64]
    centroids: NDArray[np.float64]
    moments: NDArray[np.float64]

    def slices(self, row: int) -> tuple[slice, ...]:
        """Return the bounding box of a row, to index an array with."""
        return tuple(slice(first, end) for first, end in self.bounding_boxes[row].tolist())


def component_statistics(
    labels: ArrayLike, *, background: Background = "auto"
) -> ComponentStatistics:
    """Measure the components: sizes, bounding boxes, centroids and second central moments.

    Parameters
    ----------
    labels : array_like of int
        One dimension or more, in main memory or on a GPU, as for `component_sizes`.
    background : {"auto", 0, -1, None}, optional
        The label that is no component, as for `component_sizes`.

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
        If `labels` is not of integers.
    ValueError
        If it has no dimension, or one and `background` is not given, or a label is negative or far
        larger than the number of elements.
    MemoryError
        If there is too little memory, on the GPU too.

    Examples
    --------
    >>> import conncomp
    >>> found = conncomp.component_statistics([[1, 1, 0], [0, 0, 2], [0, 0, 2]])
    >>> found.sizes
    array([2, 2])
    >>> found.centroids
    array([[0. , 0.5],
           [1.5, 2. ]])
    >>> found.bounding_boxes[1]
    array([[1, 3],
           [2, 3]])
    """
    return ComponentStatistics(*_measure(labels, background))


@where_labels_lie
def _measure(labels: ArrayLike, background: Background) -> tuple[Any, ...]:
    """Return the attributes of `ComponentStatistics`."""
    array, ground, rows = check_labels(labels, background)
    if array.ndim == 0:
        raise ValueError("labels is a scalar; it must have one dimension or more")
    if not isinstance(array, np.ndarray):
        gpu = current_gpu()
        found, counted, first, last, total, covariances = measure_labels(gpu, array, ground, rows)
        boxes = gpu.xp.stack([first, last + 1], axis=-1)
        return found, counted, boxes, total / counted[:, None], covariances
    ndim = array.ndim
    sizes = np.empty(rows, np.int64)
    low, high, sums = (np.empty((rows, ndim), np.int64) for _ in range(3))
    moments = np.empty((rows, ndim, ndim))
    columns = (sizes, low, high, sums, moments)
    native.measure_labels(
        array.reshape(-1), array.shape, ground, *(column.reshape(-1) for column in columns)
    )
    found = np.flatnonzero(sizes)
    boxes = np.stack([low, high + 1], axis=-1)[found]
    centroids = sums[found] / sizes[found, None]
    return found, sizes[found], boxes, centroids, moments[found]
