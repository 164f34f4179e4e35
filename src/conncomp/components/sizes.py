"""Sizes of components, their histogram, their members, and which faces they join."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import INDEX_TYPES, INT32_MAX, check_dimensions
from conncomp._core import native
from conncomp.components._labels import Background, Items, Labels, check_items, where_labels_lie
from conncomp.grid.answers import at_both_faces
from conncomp.kernels.cuda.components.tables import count_labels, list_members
from conncomp.kernels.cuda.launcher import current_gpu

# Sizes below this are counted in a table; only N / SMALL components can be larger, and are sorted.
SMALL = 1 << 16


@where_labels_lie
def component_sizes(
    labels: ArrayLike, *, background: Background = "auto", batch_axes: int = 0
) -> NDArray[np.int64]:
    """Count the elements of each component.

    Parameters
    ----------
    labels : array_like of int
        Labels of an array or of a graph, of any shape, in main memory or on a GPU: arrays of NumPy,
        CuPy, PyTorch and others with DLPack or ``__cuda_array_interface__``. Masked labels and
        nulls are background.
    background : {"auto", 0, -1, None}, optional
        The label that is no component: 0 for `label`, -1 for its roots, None for
        `connected_components`, where 0 is a component. By default 0; of labels of one axis, which
        may be those of either, it has to be given.
    batch_axes : int, optional
        How many axes ahead are those of a batch: each array along the other axes, of which there is
        one at least, is an *item*, whose labels are numbers of its own.

    Returns
    -------
    ndarray of int64, shape ``(*batch, labels.max() + 1)``
        Indexed by label, for each item by the item first; 0 for the background and for numbers that
        do not occur. Where `labels` lies, and of its library.

    Raises
    ------
    TypeError
        If `labels` is not of integers, or `batch_axes` is not an integer.
    ValueError
        If a label is negative, or far larger than the number of elements, `background` has to be
        given and is not, or `batch_axes` leaves no axis to the items.
    MemoryError
        If there is too little memory, on the GPU too.

    Notes
    -----
    On a GPU functions on labels work on the stream that is current in the library of `labels`, and
    wait for it, as the largest label says how long the result is.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.component_sizes([[1, 1, 0], [0, 0, 2]])
    array([0, 2, 1])
    >>> conncomp.component_sizes([0, 0, 1], background=None)
    array([2, 1])
    >>> conncomp.component_sizes([[1, 1, 0], [1, 0, 2]], background=0, batch_axes=1)
    array([[0, 2, 0],
           [0, 1, 1]])
    """
    items = check_items(labels, background, batch_axes)
    return count_rows(items).reshape(*items.batch, items.rows)


def count_rows(items: Items) -> NDArray[np.int64]:
    """Count the elements of each label of each item."""
    return _count(items.labels, items.background, items.all_rows)


def _count(labels: Labels, background: int, rows: int) -> NDArray[np.int64]:
    if not isinstance(labels, np.ndarray):
        return cast("NDArray[np.int64]", count_labels(current_gpu(), labels, background, rows))
    sizes = np.empty(rows, np.int64)
    native.count_labels(labels.reshape(-1), background, sizes)
    return sizes


@where_labels_lie
def size_histogram(
    labels: ArrayLike, *, background: Background = "auto", batch_axes: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the components of each size.

    Parameters
    ----------
    labels, background, batch_axes
        As for `component_sizes`.

    Returns
    -------
    sizes : ndarray of int64
        The sizes that occur, in whichever item, ascending.
    counts : ndarray of int64, shape ``(*batch, len(sizes))``
        How many components have each size.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.size_histogram([[1, 1, 0, 3], [0, 0, 2, 0]])
    (array([1, 2]), array([2, 1]))
    """
    items = check_items(labels, background, batch_axes)
    by_row = count_rows(items)
    sizes, counts = _histogram(by_row)
    if items.batch:
        present = items.xp.flatnonzero(by_row)
        cell = present // max(items.rows, 1) * len(sizes) + _places(sizes, by_row[present])
        counts = _count(cell, -1, items.count * len(sizes)).reshape(*items.batch, len(sizes))
    return sizes, counts


def _histogram(by_row: Any) -> Any:
    """Return the sizes that occur, ascending, and how often each does; 0 is none."""
    if not isinstance(by_row, np.ndarray):
        return current_gpu().xp.unique(by_row[by_row > 0], return_counts=True)
    rows = int(by_row.max(initial=0)) + 1
    counts = _count(by_row, 0, min(rows, SMALL))  # which takes what has no row for background
    small = np.flatnonzero(counts)
    if rows <= SMALL:
        return small, counts[small]
    large, large_counts = np.unique(by_row[by_row >= SMALL], return_counts=True)
    return np.concatenate([small, large]), np.concatenate([counts[small], large_counts])


def _places(ascending: Any, sizes: Any) -> Any:
    if not isinstance(sizes, np.ndarray):
        return current_gpu().xp.searchsorted(ascending, sizes)
    if not len(sizes) or ascending[-1] >= SMALL:
        return np.searchsorted(ascending, sizes)
    table = np.zeros(SMALL, np.int64)  # several times as fast
    table[ascending] = np.arange(len(ascending))
    return table[sizes]


@where_labels_lie
def component_members(
    labels: ArrayLike, *, background: Background = "auto", batch_axes: int = 0
) -> tuple[NDArray[np.int64], Labels]:
    """List the elements of each component.

    Parameters
    ----------
    labels, background, batch_axes
        As for `component_sizes`.

    Returns
    -------
    indptr : ndarray of int64, shape ``(*batch, labels.max() + 2)``
    indices : ndarray of int32 or int64
        ``indices[indptr[k]:indptr[k + 1]]`` are the flat C-order indices of label k, ascending; of
        an item those from ``indptr[item][k]`` on, counted within the item.

    Examples
    --------
    >>> import conncomp
    >>> indptr, indices = conncomp.component_members([[1, 1, 0], [0, 2, 1]])
    >>> indices[indptr[1]:indptr[2]]
    array([0, 1, 5], dtype=int32)
    """
    items = check_items(labels, background, batch_axes)
    flat, empty, length = items.labels.reshape(-1), items.background, items.length
    is_wide = length > INT32_MAX
    if items.xp is np:
        begins, indices = native.members(flat, length, empty, items.all_rows, is_wide)
    else:
        members = flat, empty, count_rows(items), length, INDEX_TYPES[is_wide]
        begins, indices = list_members(current_gpu(), *members)
    return _by_item(begins, items), indices


def _by_item(begins: NDArray[np.int64], items: Items) -> Any:
    """Add, for each item, where its last label ends."""
    if not items.batch:
        return begins
    xp, rows = items.xp, items.rows
    ends = begins[rows * xp.arange(1, items.count + 1)]
    by_item = xp.concatenate([begins[:-1].reshape(items.count, rows), ends[:, None]], axis=1)
    return by_item.reshape(*items.batch, rows + 1)


@where_labels_lie
def component_spans(
    labels: ArrayLike, *, background: Background = "auto", batch_axes: int = 0
) -> NDArray[np.bool_]:
    """Tell along which axes each component reaches from one face of the array to the opposite one.

    Parameters
    ----------
    labels, background, batch_axes
        As for `component_sizes`.

    Returns
    -------
    ndarray of bool, shape ``(*batch, labels.max() + 1, ndim)``
        Indexed by label, for each item by the item first, then by axis of an item. False for the
        background and for numbers that do not occur. Where `labels` lies, and of its library.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As for `component_sizes`; and if `labels` is a scalar.

    See Also
    --------
    percolates : The same of an image, for any component.
    component_wrapping : Which components close on themselves across periodic axes.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.component_spans([[1, 0, 2], [1, 0, 0], [1, 0, 3]])
    array([[False, False],
           [ True, False],
           [False, False],
           [False, False]])
    """
    items = check_items(labels, background, batch_axes)
    ndim = len(items.shape)
    check_dimensions(ndim)
    spans: Any = items.xp.zeros((items.all_rows, ndim), bool)
    if items.xp is np:
        native.find_spans(*items.flat, items.all_rows, spans.reshape(-1))
    elif items.length:
        array = items.labels.reshape(-1, *items.shape)
        for axis in range(ndim):
            rows, empty = items.all_rows, items.background
            spans[:, axis] = at_both_faces(items.xp, array, axis + 1, rows, empty)
    return cast("NDArray[np.bool_]", spans.reshape(*items.batch, items.rows, ndim))
