"""Keeping some components, and renumbering them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_bool, as_count, as_integer, named_elsewhere, shown
from conncomp._array_storage import contiguous, new_array
from conncomp._core import native
from conncomp.components._labels import (
    Background,
    Items,
    Labels,
    as_mask,
    check_items,
    check_mask,
    where_labels_lie,
)
from conncomp.components.columns.measuring import classes_of, measure_components
from conncomp.components.sizes import count_rows
from conncomp.grid.labelling import label
from conncomp.kernels.cuda.components.tables import replace_labels
from conncomp.kernels.cuda.launcher import current_gpu


@named_elsewhere(n="k= is what it is called here")
@where_labels_lie
def largest_components(
    labels: ArrayLike,
    k: int = 1,
    *,
    by: ArrayLike | None = None,
    connectivity: float | None = None,
    background: Background = "auto",
    batch_axes: int = 0,
) -> Labels:
    """Keep the `k` largest components, of each item, and each class, its own.

    Parameters
    ----------
    labels : array_like of int or bool
        As for `component_sizes`; or a mask, whose components are found first.
    k : int, optional
        How many to keep, 1 by default; of equally large ones those with the smallest label.
    by : array_like of bool or int, optional
        The class of each element, of the shape of `labels` and where these lie; a component has
        one. `k` components of each class are kept.
    connectivity : int, optional
        Connects elements of a mask, as for `label`; it is an error with labels.
    background, batch_axes
        As for `component_sizes`; the background of a mask is False.

    Returns
    -------
    ndarray of int32 or int64, or of bool
        The labels as they were, but `background` (-1 if that is None) outside the components kept;
        a mask if `labels` is one. Where `labels` lies, and of its library.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As for `component_sizes`, but that `labels` may be of bool; and if `k` is no integer or
        negative; if `by` is not of integers, does not lie where `labels` does, or is of another
        shape, or a component is of several classes; or if `connectivity` does not fit.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.largest_components([[1, 1, 0, 2, 0, 3, 3]], 2)
    array([[1, 1, 0, 0, 0, 3, 3]])
    >>> conncomp.largest_components([True, False, True, True])
    array([False, False,  True,  True])
    >>> organs = [[7, 7, 0, 7, 0, 4, 4]]
    >>> conncomp.largest_components([[1, 1, 0, 2, 0, 3, 3]], 1, by=organs)
    array([[1, 1, 0, 0, 0, 3, 3]])
    """
    most = as_count("k", k, "components")
    items, of_mask = _items_of_labels_or_mask(labels, connectivity, background, batch_axes)
    kept = items.xp.zeros(items.all_rows, bool)
    ranked, rank = _rank_by_size(items)
    if by is not None:
        ranked, rank = _rank_in_classes(items, ranked, by)
    assign_rows(kept, ranked[rank < min(most, items.rows)], True)
    return _keep(items, kept, of_mask)


@named_elsewhere(threshold="min_size= is the smallest that is kept")
@where_labels_lie
def remove_small_components(
    labels: ArrayLike,
    min_size: int | None = None,
    *,
    max_size: int | None = None,
    invert: bool = False,
    connectivity: float | None = None,
    background: Background = "auto",
    batch_axes: int = 0,
) -> Labels:
    """Keep the components of at least `min_size` elements, and of `max_size` at most.

    Parameters
    ----------
    labels, connectivity, background, batch_axes
        As for `largest_components`.
    min_size : int, optional
        The size of the smallest component to keep. scikit-image's ``max_size`` is one less.
    max_size : int, optional
        The size of the largest component to keep. One of both has to be given.
    invert : bool, optional
        Whether to keep the other components instead.

    Returns
    -------
    ndarray of int32 or int64, or of bool
        As from `largest_components`.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As for `largest_components`; and if neither size is given, or one is no integer.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.remove_small_components([[1, 1, 0, 2, 0, 3, 3]], 2)
    array([[1, 1, 0, 0, 0, 3, 3]])
    >>> conncomp.remove_small_components([True, True, False, True], max_size=1)
    array([False, False, False,  True])
    """
    least, most, inverted = check_sizes(min_size, max_size, invert)
    items, of_mask = _items_of_labels_or_mask(labels, connectivity, background, batch_axes)
    sizes = count_rows(items)
    highest = items.length + 1  # which any dtype holds
    kept = sizes >= max(0, min(least, highest))
    if most is not None:
        kept &= sizes <= max(-1, min(most, highest))
    return _keep(items, ~kept if inverted else kept, of_mask)


def _items_of_labels_or_mask(
    labels: Any, connectivity: float | None, background: Background, batch_axes: int
) -> tuple[Items, bool]:
    mask = as_mask(labels)
    if mask is None:
        items = check_items(labels, background, batch_axes)
        check_connectivity_is_for_masks(connectivity)
        return items, False
    check_mask(mask, background)
    components = label(mask, connectivity=connectivity, batch_axes=batch_axes)
    return check_items(components, 0, batch_axes), True


def check_sizes(
    min_size: int | None, max_size: int | None, invert: bool
) -> tuple[int, int | None, bool]:
    """Return the sizes to keep, from and to, and whether others are kept instead."""
    if min_size is None and max_size is None:
        raise ValueError("neither min_size nor max_size is given; give one of them, or both")
    least = 0 if min_size is None else as_integer("min_size", min_size)
    most = None if max_size is None else as_integer("max_size", max_size)
    return least, most, as_bool("invert", invert)


def check_connectivity_is_for_masks(connectivity: float | None) -> None:
    """Raise if a connectivity is given with labels, which are components already."""
    if connectivity is not None:
        told = f"connectivity={shown(connectivity)} is for masks, but labels is of integers"
        raise ValueError(f"{told}, which are components already; leave it out")


@where_labels_lie
def sort_by_size(
    labels: ArrayLike, *, background: Background = "auto", batch_axes: int = 0
) -> Labels:
    """Renumber the components of each item, the largest first.

    Parameters
    ----------
    labels, background, batch_axes
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
    items = check_items(labels, background, batch_axes)
    ranked, rank = _rank_by_size(items)
    table = items.xp.zeros(items.all_rows, items.labels.dtype)
    rank += int(items.background == 0)
    assign_rows(table, ranked, rank)
    return replace_rows(items, table)


def assign_rows(table: Labels, rows: NDArray[np.int64], values: Any) -> None:
    """Write values, or one of them, into rows of a table."""
    if isinstance(table, np.ndarray):
        table[rows] = values
    else:  # CuPy's assignment counts rows in 32 bits
        table.put(rows, values, mode="wrap")


def _rank_by_size(items: Items) -> tuple[NDArray[np.int64], Labels]:
    """Return the rows of components, each item's largest first, and their ranks in it."""
    ranked = _largest_first(count_rows(items), items.count)
    rank = items.xp.arange(len(ranked), dtype=items.labels.dtype)
    if items.count > 1:
        item = ranked // max(items.rows, 1)
        rank -= items.xp.searchsorted(item, items.xp.arange(items.count))[item]
    return ranked, rank


def _rank_in_classes(items: Items, ranked: NDArray[np.int64], by: Any) -> tuple[Any, Any]:
    """Return the rows, ranked by size, and their ranks in the item's class."""
    xp, components = items.xp, measure_components(items, moments=False)
    classes = classes_of(items, components, by, "by")
    if not len(ranked):
        return ranked, ranked
    classes = classes[xp.searchsorted(components.rows, ranked)]
    order = xp.argsort(classes, kind="stable")
    order = order[xp.argsort(ranked[order] // max(items.rows, 1), kind="stable")]
    ranked, classes = ranked[order], classes[order]
    item = ranked // max(items.rows, 1)
    begins = xp.ones(len(ranked), bool)
    begins[1:] = (classes[1:] != classes[:-1]) | (item[1:] != item[:-1])
    first = xp.flatnonzero(begins)[xp.cumsum(begins, dtype=np.int64) - 1]
    return ranked, xp.arange(len(ranked)) - first


def _largest_first(sizes: NDArray[np.int64], items: int) -> Any:
    """Return the rows that are not 0, item by item, in each the largest first."""
    if not isinstance(sizes, np.ndarray):
        xp = current_gpu().xp
        present = xp.flatnonzero(sizes)  # few of many rows, if labels are roots
        ranked = present[xp.argsort(-sizes[present], kind="stable")]
        if items > 1:
            ranked = ranked[xp.argsort(ranked // max(len(sizes) // items, 1), kind="stable")]
        return ranked
    order = np.empty_like(sizes)
    native.sort_by_size(sizes, items, order)
    return order[: np.count_nonzero(sizes)] if items == 1 else order[sizes[order] > 0]


def _keep(items: Items, kept: NDArray[np.bool_], of_mask: bool) -> Labels:
    """Return the labels that are kept, and background elsewhere; or a mask of them."""
    xp, dtype = items.xp, items.labels.dtype
    numbers = xp.arange(items.rows, dtype=dtype)
    if items.batch:
        numbers = xp.tile(numbers, items.count)
    labels = replace_rows(items, xp.where(kept, numbers, dtype.type(items.background)))
    return labels != 0 if of_mask else labels


def replace_rows(items: Items, table: Labels) -> Labels:
    """Return labels in which each but the background is replaced by its row of `table`."""
    labels, empty = items.labels, items.background
    if not isinstance(labels, np.ndarray):
        placed = replace_labels(current_gpu(), labels, empty, table)
        return cast(Labels, placed.astype(items.dtype, copy=False))
    out = new_array(np, labels.shape, labels.dtype)
    native.replace_labels(labels.reshape(-1), empty, table, out.reshape(-1))
    return contiguous(out, items.dtype)
