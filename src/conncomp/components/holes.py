"""Filling holes of components."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import INDEX_TYPES, INT32_MAX, as_batch_axes, as_count
from conncomp.components._labels import (
    Background,
    Items,
    Labels,
    as_mask,
    check_items,
    check_mask,
    where_labels_lie,
)
from conncomp.components.selection import assign_rows, replace_rows
from conncomp.components.sizes import count_rows
from conncomp.components.touching import (
    check_touching,
    contact_steps,
    count_contacts,
    neighbourhood_in,
)
from conncomp.grid.labelling import label
from conncomp.kernels.neighbourhood import Neighbourhood


@where_labels_lie
def fill_holes(
    labels: ArrayLike,
    *,
    connectivity: float | None = None,
    max_size: int | None = None,
    background: Background = "auto",
    batch_axes: int = 0,
) -> Labels:
    """Fill the holes of a mask or of labels.

    A hole is a component of the background that does not reach the border of the array. In a mask
    each hole is filled. Among labels one is filled if a single label surrounds it, and takes that
    label; a hole between several labels, or around another component, stays background.

    Parameters
    ----------
    labels : array_like of int or bool
        A mask, or labels as for `component_sizes`, of one dimension or more.
    connectivity : int, optional
        That of objects, as for `label`. Holes have the complementary one, 1 unless that of the
        objects is 1, and otherwise the number of axes, so that no hole leaks between elements.
    max_size : int, optional
        The size of the largest hole to fill; by default all are filled.
    background, batch_axes
        As for `component_sizes`; the background of a mask is False. Each item has a border of its
        own.

    Returns
    -------
    ndarray of bool, int32 or int64
        A mask if `labels` is one, and otherwise labels. Where `labels` lies, and of its library.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As for `component_sizes`, but that `labels` may be of bool; and if it has no dimension,
        `connectivity` does not fit, or `max_size` is no integer or negative.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.fill_holes([[1, 1, 1, 2, 2, 2],
    ...                      [1, 0, 1, 2, 0, 0],
    ...                      [1, 1, 1, 2, 2, 2]])
    array([[1, 1, 1, 2, 2, 2],
           [1, 1, 1, 2, 0, 0],
           [1, 1, 1, 2, 2, 2]])
    """
    largest = None if max_size is None else as_count("max_size", max_size, "elements")
    mask = as_mask(labels)
    if mask is None:
        return _fill_labels(labels, largest, connectivity, False, background, batch_axes)
    check_mask(mask, background)
    shape = mask.shape[as_batch_axes(batch_axes, mask.ndim, "labels") :]
    objects = neighbourhood_in(shape, len(shape) < mask.ndim, connectivity)
    holes = _background_components(mask, _complement(objects), batch_axes)
    filled = _closed_rows(holes, largest)
    filled[:1] = True  # what is no background
    # Without a background every element is looked up.
    table = filled.astype(holes.labels.dtype)
    return cast(Labels, replace_rows(replace(holes, background=-1), table) != 0)


def _fill_labels(labels: Any, largest: int | None, *neighbours: Any) -> Labels:
    items, objects = check_touching(labels, *neighbours)
    xp, empty, num_labels = items.xp, items.background, items.all_rows
    inside = items.labels != empty
    holes = _background_components(inside, _complement(objects), len(items.batch))
    rows = num_labels + holes.all_rows
    dtype = INDEX_TYPES[max(rows, items.labels.size) > INT32_MAX]
    closed = _closed_rows(holes, largest)
    # Labels and holes as components of one array, whose numbers are those of rows of one table.
    numbers = xp.where(closed, num_labels + xp.arange(len(closed)), empty).astype(dtype)
    placed = replace(holes, labels=holes.labels.astype(dtype, copy=False), dtype=dtype)
    labels_and_holes = xp.where(inside, items.labels, replace_rows(placed, numbers))
    labels_and_holes = labels_and_holes.astype(dtype, copy=False)
    steps = contact_steps(_complement(objects), items.shape, one_kind=True)
    pairs, _ = count_contacts(labels_and_holes, empty, rows, items.count, steps)
    pairs = xp.asarray(pairs)
    surrounding = pairs[(pairs[:, 0] < num_labels) & (pairs[:, 1] >= num_labels)]
    owners = xp.full(rows, empty, dtype)
    owners[:num_labels] = xp.arange(num_labels) % max(items.rows, 1)
    label_of_pair, hole_of_pair = surrounding[:, 0] % max(items.rows, 1), surrounding[:, 1]
    assign_rows(owners, hole_of_pair, label_of_pair.astype(dtype))
    shared_holes = xp.flatnonzero(xp.bincount(hole_of_pair, minlength=rows) > 1)
    assign_rows(owners, shared_holes, dtype.type(empty))
    return replace_rows(replace(items, labels=labels_and_holes), owners)


def _complement(objects: Neighbourhood) -> Neighbourhood:
    """Return the neighbourhood of holes."""
    reach = len(objects.periodic) if objects.connectivity == 1 else 1
    return objects._replace(connectivity=reach)


def _background_components(inside: Any, neighbourhood: Neighbourhood, batch_axes: int) -> Items:
    """Label what is not inside; what is has the label 0."""
    reach = neighbourhood.connectivity
    components = label(inside, background=1, connectivity=reach, batch_axes=batch_axes)
    return check_items(components, 0, batch_axes)


def _closed_rows(holes: Items, largest: int | None) -> NDArray[np.bool_]:
    """Return which do not reach the border of their item, and are not too large."""
    xp, array = holes.xp, holes.labels
    closed: NDArray[np.bool_] = xp.ones(holes.all_rows, bool)
    for axis in range(len(holes.batch), array.ndim):
        for side in (slice(1), slice(-1, None)):
            assign_rows(closed, array[(slice(None),) * axis + (side,)].reshape(-1), False)
    if largest is not None:
        closed &= count_rows(holes) <= min(largest, holes.length)
    return closed
