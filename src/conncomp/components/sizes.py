"""Sizes of components, their histogram, and their members."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import INT32_MAX
from conncomp._core import native
from conncomp.components._labels import Background, Labels, check_labels, where_labels_lie
from conncomp.kernels.cuda.components.members import list_members
from conncomp.kernels.cuda.components.tables import count_labels
from conncomp.kernels.cuda.launcher import INDEX_TYPES, current_gpu

# Sizes below this are counted in a table; only N / SMALL components can be larger, and are sorted.
SMALL = 1 << 16


@where_labels_lie
def component_sizes(labels: ArrayLike, *, background: Background = "auto") -> NDArray[np.int64]:
    """Count the elements of each component.

    Parameters
    ----------
    labels : array_like of int
        Labels of an array or of a graph, of any shape, in main memory or on a GPU: arrays of CuPy,
        PyTorch and others with DLPack or ``__cuda_array_interface__``. Masked ones are background.
    background : {"auto", 0, -1, None}, optional
        The label that is no component: 0 for `label`, -1 for its roots, None for
        `connected_components`, where 0 is a component. By default 0, but labels of one axis can be
        those of either, so that it has to be given.

    Returns
    -------
    ndarray of int64, shape (labels.max() + 1,)
        Indexed by label; 0 for the background and for numbers that do not occur. Where `labels`
        lies, and of its library.

    Raises
    ------
    TypeError
        If `labels` is not of integers.
    ValueError
        If a label is negative, or far larger than the number of elements, or `labels` has one axis
        and `background` is not given.
    MemoryError
        If there is too little memory, on the GPU too.

    Notes
    -----
    This and the other functions on labels work on a GPU on the stream that is current in the
    library of `labels`. They wait for it, as the largest label says how long the result is.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.component_sizes([[1, 1, 0], [0, 0, 2]])
    array([0, 2, 1])
    >>> conncomp.component_sizes([0, 0, 1], background=None)
    array([2, 1])
    """
    array, ground, rows = check_labels(labels, background)
    return count_rows(array, ground, rows)


def count_rows(labels: Labels, background: int, rows: int) -> NDArray[np.int64]:
    """Count the elements of each label below `rows`, once the labels are checked."""
    if not isinstance(labels, np.ndarray):
        counted: NDArray[np.int64] = count_labels(current_gpu(), labels, background, rows)
        return counted
    sizes = np.empty(rows, np.int64)
    native.count_labels(labels.reshape(-1), background, sizes)
    return sizes


@where_labels_lie
def size_histogram(
    labels: ArrayLike, *, background: Background = "auto"
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the components of each size.

    Parameters
    ----------
    labels, background
        As for `component_sizes`.

    Returns
    -------
    sizes : ndarray of int64
        The sizes that occur, ascending.
    counts : ndarray of int64
        How many components have each size.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.size_histogram([[1, 1, 0, 3], [0, 0, 2, 0]])
    (array([1, 2]), array([2, 1]))
    """
    array, ground, rows = check_labels(labels, background)
    found = count_rows(array, ground, rows)
    if not isinstance(found, np.ndarray):
        histogram: tuple[Any, Any] = current_gpu().xp.unique(found[found > 0], return_counts=True)
        return histogram
    counts = np.bincount(found[(found > 0) & (found < SMALL)], minlength=1)
    sizes = np.flatnonzero(counts)
    large, large_counts = np.unique(found[found >= SMALL], return_counts=True)
    return np.concatenate([sizes, large]), np.concatenate([counts[sizes], large_counts])


@where_labels_lie
def component_members(
    labels: ArrayLike, *, background: Background = "auto"
) -> tuple[NDArray[np.int64], Labels]:
    """List the elements of each component.

    Parameters
    ----------
    labels, background
        As for `component_sizes`.

    Returns
    -------
    indptr : ndarray of int64, shape (labels.max() + 2,)
    indices : ndarray of int32 or int64
        ``indices[indptr[k]:indptr[k + 1]]`` are the flat C-order indices of label k, ascending.

    Examples
    --------
    >>> import conncomp
    >>> indptr, indices = conncomp.component_members([[1, 1, 0], [0, 2, 1]])
    >>> indices[indptr[1]:indptr[2]]
    array([0, 1, 5], dtype=int32)
    """
    array, ground, rows = check_labels(labels, background)
    index = INDEX_TYPES[array.size > INT32_MAX]
    if not isinstance(array, np.ndarray):
        sizes = count_rows(array, ground, rows)
        return list_members(current_gpu(), array.reshape(-1), ground, sizes, index)
    indptr = np.empty(rows + 1, np.int64)
    all_members = background is None and not np.ma.is_masked(labels)
    total = array.size if all_members else int(np.count_nonzero(array != ground))
    indices = np.empty(total, index)
    native.members(array.reshape(-1), ground, indptr, indices)
    return indptr, indices
