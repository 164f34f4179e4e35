"""Consecutive numbers for any labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import INDEX_TYPES, INT32_MAX, as_batch_axes, as_bool
from conncomp._array_storage import extremes, few_on_host, new_array
from conncomp._core import native
from conncomp.components._labels import (
    Background,
    Labels,
    as_contiguous,
    as_integers,
    check_background,
    library_at,
    where_labels_lie,
)
from conncomp.components.selection import assign_rows
from conncomp.kernels.cuda.components.distinct import as_signed, distinct_labels, translate_labels
from conncomp.kernels.cuda.components.tables import count_labels, replace_labels
from conncomp.kernels.cuda.launcher import current_gpu

SAMPLE = 64  # labels


@overload
def relabel_consecutive(
    labels: ArrayLike,
    *,
    return_labels: Literal[False] = False,
    background: Background = "auto",
    batch_axes: int = 0,
) -> Labels: ...


@overload
def relabel_consecutive(
    labels: ArrayLike, *, return_labels: bool, background: Background = "auto", batch_axes: int = 0
) -> Labels | tuple[Labels, Labels]: ...


@where_labels_lie
def relabel_consecutive(
    labels: ArrayLike,
    *,
    return_labels: bool = False,
    background: Background = "auto",
    batch_axes: int = 0,
) -> Labels | tuple[Labels, Labels]:
    """Give labels consecutive numbers, in the order of their values.

    Parameters
    ----------
    labels : array_like of int
        Labels of any shape and any integers, even negative, in main memory or on a GPU.
    return_labels : bool, optional
        Whether to return the old labels, too.
    background, batch_axes
        As for `component_sizes`. The background stays what it is, and numbers begin again in each
        item.

    Returns
    -------
    numbers : ndarray of int32, or of int64 if there are 2**31 elements or more
        From 1 if `background` is 0, and otherwise from 0; the smallest label has the first. What is
        masked is background, or -1 if that is None. Where `labels` lies, and of its library.
    old : ndarray, shape ``(*batch, numbers.max() + 1)``
        If `return_labels`: the label that has become each number, in the dtype of `labels`; 0 for
        what no element has become.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As for `component_sizes`, but for labels, which may be any integers.

    Notes
    -----
    The numbers are those of ``skimage.segmentation.relabel_sequential``. ``fastremap.renumber``
    numbers labels in the order of their first elements.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.relabel_consecutive([[7, 7, 0], [2**60, 0, -5]])
    array([[2, 2, 0],
           [3, 0, 1]], dtype=int32)
    >>> conncomp.relabel_consecutive([[7, 7, 0, 4]], return_labels=True)
    (array([[2, 2, 0, 1]], dtype=int32), array([0, 4, 7]))
    """
    wanted = as_bool("return_labels", return_labels)
    given, hidden = as_integers(labels)
    axes = as_batch_axes(batch_axes, given.ndim, "labels")
    batch, shape = given.shape[:axes], given.shape[axes:]
    empty, lowest = check_background(background, batch, shape)
    flat = _in_words(given)
    if hidden is not None:
        flat = _without_hidden(flat, hidden, prod(batch))
    first = int(lowest == empty == 0)
    unnumbered = None if background is None else empty
    numbers, old = _renumber(flat, prod(batch), unnumbered, first, wanted)
    if hidden is not None:
        numbers[hidden.reshape(-1)] = empty
    result: Labels = numbers.reshape(given.shape)
    if not wanted:
        return result
    if hidden is not None:
        old[hidden.reshape(len(old), -1).all(axis=1), first:] = 0
        if hidden.all():
            old = old[:, :first]
    return result, library_at(flat).asarray(old.astype(given.dtype)).reshape(*batch, old.shape[1])


def _in_words(given: Any) -> Any:
    """Return labels along one contiguous axis, in 32 or 64 bits, as kernels take them."""
    dtype = given.dtype.newbyteorder("=") if given.dtype.itemsize >= 4 else np.dtype(np.int32)
    return as_contiguous(given, dtype).reshape(-1)


def _without_hidden(flat: Labels, hidden: NDArray[np.bool_], items: int) -> Labels:
    """Return a copy where what is hidden has a label that its item, or else any, shows."""
    shown, places = flat.reshape(items, -1), hidden.reshape(items, -1)
    labels = shown[np.arange(items), places.argmin(axis=1)]
    labels[places.all(axis=1)] = flat[hidden.argmin()]
    return np.where(places, labels[:, None], shown).reshape(-1)


def _renumber(
    flat: Any, items: int, empty: int | None, first: int, wanted: bool
) -> tuple[Any, Any]:
    """Return the number of each element, from `first` on, item by item, and the old labels."""
    xp, size = library_at(flat), len(flat)
    dtype = INDEX_TYPES[size > INT32_MAX]
    if size == 0:
        return xp.zeros(0, dtype), xp.zeros((items, first), flat.dtype)
    marks = _marks(flat)
    if marks is not None and items == 1 and not wanted:
        table = new_array(np, marks.shape, dtype)
        native.number_marked(marks, -1 if empty is None else empty, first, table)
        return _replaced(flat, table), None
    distinct, translate = _distinct(flat, dtype, marks)
    labels, item = few_on_host(distinct), 0
    if items > 1:
        # Places among the labels of all items are few enough to be numbered item by item.
        count = len(distinct)
        places = translate(xp.arange(count, dtype=dtype)).reshape(items, -1).astype(np.int64)
        places += count * xp.arange(items)[:, None]
        of_all = distinct
        places = places.reshape(-1)
        distinct, translate = _distinct(places, dtype, _marks(places))
        item = distinct // count
        labels = few_on_host(of_all[distinct - item * count])
        item = few_on_host(item)
    numbers = _number(labels, item, items, empty, first)
    old = _old_labels(labels, item, items, numbers, first) if wanted else None
    return translate(xp.asarray(numbers.astype(dtype))), old


def _number(labels: Any, item: Any, items: int, empty: int | None, first: int) -> Any:
    xp = library_at(labels)
    # A negative number is no unsigned one, which would have to hold it to be compared.
    present = empty == 0 or (empty == -1 and labels.dtype.kind == "i")
    is_label = labels != empty if present else xp.ones(len(labels), bool)
    ranks = xp.cumsum(is_label) - is_label
    if items > 1:
        ranks -= ranks[xp.searchsorted(item, xp.arange(items))][item]
    return xp.where(is_label, ranks + first, empty or 0)


def _old_labels(labels: Any, item: Any, items: int, numbers: Any, first: int) -> Any:
    xp = library_at(labels)
    # Ahead of each item is room for the background, which may be -1.
    length = 1 + max(int(numbers.max()) + 1, first)
    old = xp.zeros(items * length, labels.dtype)
    assign_rows(old, item * length + 1 + numbers, labels)
    return old.reshape(items, length)[:, 1:]


Translation = Callable[[Any], Any]  # gives elements the numbers of their labels


def _marks(flat: Any) -> Any:
    """Return which labels there are, up to the largest; None if too large, or on a GPU."""
    if not isinstance(flat, np.ndarray):
        return None
    marks = np.zeros(len(flat), np.uint8)
    last = native.mark_labels(flat, marks)
    return marks[: last + 1] if last >= 0 else None


def _distinct(flat: Any, dtype: Any, marks: Any) -> tuple[Any, Translation]:
    """Return the distinct labels, ascending, and what gives them numbers of a dtype, once."""
    if not isinstance(flat, np.ndarray):
        distinct = _distinct_on_gpu(flat)
        return distinct, partial(_translate_on_gpu, flat, distinct)
    if marks is not None:
        distinct = np.flatnonzero(marks.view(bool))
        return distinct.astype(flat.dtype), partial(_translate_by_table, flat, distinct)
    translated = new_array(np, flat.shape, dtype)
    numbered = native.number_labels(flat, translated)

    def translate(numbers: Any) -> Any:
        numbered.translate(numbers, translated)
        return translated

    return numbered.distinct().view(flat.dtype), translate


def _translate_by_table(flat: Any, distinct: Any, numbers: Any) -> Any:
    table = np.zeros(distinct[-1] + 1, numbers.dtype)
    table[distinct] = numbers
    return _replaced(flat, table)


def _replaced(flat: Any, table: Any) -> Any:
    replaced = new_array(np, flat.shape, table.dtype)
    native.replace_labels(as_signed(flat), 0, table, replaced)
    return replaced


def _fits_table(flat: Any) -> int:
    """Return the rows of a table of labels, or 0 if one is negative or far too large."""
    # A few of them tell quickly of most that are too large.
    for some in (flat[:: -(-len(flat) // SAMPLE)], flat):
        low, high = extremes(some)
        if low < 0 or high >= len(flat):
            return 0
    return high + 1


def _distinct_on_gpu(flat: Any) -> Any:
    xp = library_at(flat)
    distinct = distinct_labels(current_gpu(), flat)
    if distinct is not None:
        return distinct
    if rows := _fits_table(flat):
        sizes = count_labels(current_gpu(), as_signed(flat), -1, rows)
        return xp.flatnonzero(sizes).astype(flat.dtype)
    return xp.unique(flat)


def _translate_on_gpu(flat: Any, distinct: Any, numbers: Any) -> Any:
    translated = translate_labels(current_gpu(), flat, distinct, numbers)
    if translated is not None:
        return translated
    xp, last = library_at(flat), int(distinct[-1])
    if int(distinct[0]) >= 0 and last < len(flat):
        labels = as_signed(flat)
        table = xp.zeros(last + 1, labels.dtype)
        assign_rows(table, distinct.astype(np.int64), numbers.astype(labels.dtype))
        return replace_labels(current_gpu(), labels, -1, table).astype(numbers.dtype, copy=False)
    return numbers[xp.searchsorted(distinct, flat)]
