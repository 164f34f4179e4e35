"""Keeping some components, and renumbering them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_integer
from conncomp._core import native
from conncomp.components._labels import Background, Labels, check_labels, where_labels_lie
from conncomp.components.sizes import count_rows
from conncomp.kernels.cuda.components.tables import replace_labels
from conncomp.kernels.cuda.launcher import current_gpu


@where_labels_lie
def largest_components(labels: ArrayLike, k: int, *, background: Background = "auto") -> Labels:
    """Keep the `k` largest components.

    Parameters
    ----------
    labels : array_like of int
        Labels of an array or of a graph, of any shape, in main memory or on a GPU, as for
        `component_sizes`.
    k : int
        How many to keep; of equally large ones those with the smallest label.
    background : {"auto", 0, -1, None}, optional
        The label that is no component, as for `component_sizes`.

    Returns
    -------
    ndarray of int32 or int64
        The labels as they were, but `background` (-1 if that is None) outside the components kept.
        Where `labels` lies, and of its library.

    Raises
    ------
    TypeError
        If `k` is not an integer, or `labels` not of integers.
    ValueError
        If `k` is negative, or a label is, or `labels` has one axis and `background` is not given.
    MemoryError
        If there is too little memory, on the GPU too.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.largest_components([[1, 1, 0, 2, 0, 3, 3]], 2)
    array([[1, 1, 0, 0, 0, 3, 3]])
    """
    most = as_integer("k", k)
    if most < 0:
        raise ValueError(f"k={most} components; use 0 or more")
    array, ground, rows = check_labels(labels, background)
    kept = _library(array).zeros(rows, bool)
    _assign(kept, _largest_first(count_rows(array, ground, rows))[:most], True)
    return _keep(array, ground, kept)


@where_labels_lie
def remove_small_components(
    labels: ArrayLike, min_size: int, *, background: Background = "auto"
) -> Labels:
    """Keep the components of at least `min_size` elements.

    Parameters
    ----------
    labels, background
        As for `largest_components`.
    min_size : int
        The size of the smallest component to keep.

    Returns
    -------
    ndarray of int32 or int64
        As from `largest_components`.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.remove_small_components([[1, 1, 0, 2, 0, 3, 3]], 2)
    array([[1, 1, 0, 0, 0, 3, 3]])
    """
    least = as_integer("min_size", min_size)
    array, ground, rows = check_labels(labels, background)
    least = max(0, min(least, array.size + 1))  # which any dtype holds
    return _keep(array, ground, count_rows(array, ground, rows) >= least)


@where_labels_lie
def sort_by_size(labels: ArrayLike, *, background: Background = "auto") -> Labels:
    """Renumber the components, the largest first.

    Parameters
    ----------
    labels, background
        As for `largest_components`.

    Returns
    -------
    ndarray of int32 or int64
        Numbered from 1 if `background` is 0 and else from 0; of equally large components, the one
        with the smallest label comes first.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.sort_by_size([[1, 0, 2, 2, 0, 3, 3, 3]])
    array([[3, 0, 2, 2, 0, 1, 1, 1]])
    """
    array, ground, rows = check_labels(labels, background)
    order = _largest_first(count_rows(array, ground, rows))
    xp, first = _library(array), int(ground == 0)
    table = xp.zeros(rows, array.dtype)
    _assign(table, order, xp.arange(first, first + len(order), dtype=array.dtype))
    return _replace(array, ground, table)


def _library(array: Labels) -> Any:
    return np if isinstance(array, np.ndarray) else current_gpu().xp


def _assign(table: Labels, rows: NDArray[np.int64], values: Any) -> None:
    if isinstance(table, np.ndarray):
        table[rows] = values
    else:  # CuPy's assignment counts rows in 32 bits
        table.put(rows, values, mode="wrap")


def _largest_first(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the labels that occur, the largest component first."""
    if not isinstance(sizes, np.ndarray):
        xp = current_gpu().xp
        found = xp.flatnonzero(sizes)  # few of many rows, if labels are roots
        ranked: NDArray[np.int64] = found[xp.argsort(-sizes[found], kind="stable")]
        return ranked
    order = np.empty_like(sizes)
    native.sort_by_size(sizes, order)
    return order[: np.count_nonzero(sizes)]


def _keep(labels: Labels, ground: int, kept: NDArray[np.bool_]) -> Labels:
    xp = _library(labels)
    table = xp.where(kept, xp.arange(len(kept), dtype=labels.dtype), labels.dtype.type(ground))
    return _replace(labels, ground, table)


def _replace(labels: Labels, ground: int, table: Labels) -> Labels:
    if not isinstance(labels, np.ndarray):
        replaced: Labels = replace_labels(current_gpu(), labels, ground, table)
        return replaced
    out = np.empty_like(labels)
    native.replace_labels(labels.reshape(-1), ground, table, out.reshape(-1))
    return out
