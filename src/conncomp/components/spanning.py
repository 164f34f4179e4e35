"""Which opposite faces of an array components join: spanning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._core import native
from conncomp.components._labels import (
    Background,
    check_dimensions,
    check_items,
    where_labels_lie,
)
from conncomp.grid._faces import at_both_faces


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
        Indexed by label, for each item by the item first, then by axis of an item: whether the
        label occurs among the first elements along the axis and among the last ones. False for the
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
    >>> labels = [[1, 0, 2],
    ...           [1, 0, 0],
    ...           [1, 0, 3]]
    >>> conncomp.component_spans(labels)
    array([[False, False],
           [ True, False],
           [False, False],
           [False, False]])
    """
    items = check_items(labels, background, batch_axes)
    ndim = len(items.shape)
    check_dimensions(ndim)
    table = items.all_rows, ndim
    on_cpu = isinstance(items.labels, np.ndarray)
    spans: Any = np.empty(table, bool) if on_cpu else items.xp.zeros(table, bool)
    if on_cpu:
        flat = items.labels.reshape(-1)
        native.find_spans(flat, items.shape, items.background, items.all_rows, spans.reshape(-1))
    elif items.length:
        array = items.labels.reshape(-1, *items.shape)
        for axis in range(ndim):
            spans[:, axis] = at_both_faces(
                items.xp, array, axis + 1, items.all_rows, items.background
            )
    by_item: NDArray[np.bool_] = spans.reshape(*items.batch, items.rows, ndim)
    return by_item
