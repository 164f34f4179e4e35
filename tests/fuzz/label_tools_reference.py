"""The functions of `conncomp.components`, place by place, to compare those with.

An item is an array of labels, masked or not. None as background is none at all; what is masked is
in no component.
"""

from fractions import Fraction
from itertools import pairwise, product
from math import prod

import numpy as np

from ..reference import label_by_flood_fill, list_neighbours


def places(item, background):
    """Return {label: flat C-order indices, ascending} of an item, by ascending labels."""
    hidden, found = np.ma.getmaskarray(item).ravel().tolist(), {}
    for place, value in enumerate(np.ma.getdata(item).ravel().tolist()):
        if not hidden[place] and value != background:
            found.setdefault(value, []).append(place)
    return dict(sorted(found.items()))


def rows_of(labels):
    """Return how long a table by label is: one more than the largest."""
    return 1 + max(np.ma.getdata(labels)[~np.ma.getmaskarray(labels)].tolist(), default=-1)


def items_of(labels, batch_axes):
    """Return the indices of items along the batch axes."""
    return list(np.ndindex(labels.shape[:batch_axes]))


def components_of(labels, batch_axes, background):
    """Yield (index of the item, label, which elements of the item it has), by items and labels."""
    for index in items_of(labels, batch_axes):
        item = labels[index]
        for label, at in places(item, background).items():
            inside = np.zeros(item.size, bool)
            inside[at] = True
            yield index, label, inside.reshape(item.shape)


def without_mask(labels, outside):
    """Return labels as int64, with `outside` where they are masked."""
    hidden = np.ma.getmaskarray(labels)
    return np.where(hidden, outside, np.where(hidden, 0, np.ma.getdata(labels)).astype(np.int64))


def renamed(labels, background, batch_axes, names):
    """Return labels as `names`, of the `places` of an item, has them: {label: its new one}.

    What has no name there is background, or -1 without one.
    """
    outside = -1 if background is None else background
    result = np.full(labels.shape, outside, np.int64)
    for index in items_of(labels, batch_axes):
        found = places(labels[index], background)
        flat = np.full(prod(labels.shape[batch_axes:]), outside)
        for label, name in names(found).items():
            flat[found[label]] = name
        result[index] = flat.reshape(labels.shape[batch_axes:])
    return result


def by_size(found):
    """Return labels, those of the most places first, and of as many the smallest."""
    return sorted(found, key=lambda label: (-len(found[label]), label))


def spans(item, background):
    """Return {label: for each axis whether it is at both ends}."""
    spanned = {}
    for label, at in places(item, background).items():
        coordinates = np.unravel_index(at, item.shape)
        ends = zip(coordinates, item.shape, strict=True)
        spanned[label] = [(x == 0).any() and (x == n - 1).any() for x, n in ends]
    return spanned


def faces(item, inside):
    """Return for each axis how many faces of elements have no element of the component behind."""
    counts = []
    for axis in range(item.ndim):
        lines = np.moveaxis(inside, axis, -1).reshape(-1, item.shape[axis]).tolist()
        counts.append(sum(a != b for line in lines for a, b in pairwise([False, *line, False])))
    return counts


def exact_moments(coordinates):
    """Return the mean of points, shape (n, ndim), and their covariances, as fractions."""
    n, columns = len(coordinates), coordinates.T.tolist()
    means = [Fraction(sum(column), n) for column in columns]
    covariances = [
        [Fraction(sum(x * y for x, y in zip(a, b, strict=True)), n) - s * t
         for b, t in zip(columns, means, strict=True)]
        for a, s in zip(columns, means, strict=True)
    ]  # fmt: skip
    return means, covariances


def filled(item, background, connectivity=None, max_size=None):
    """Return an item in which holes have the label that surrounds them."""
    ndim = item.ndim
    reach = ndim if (connectivity or ndim) == 1 else 1
    outside = -1 if background is None else background
    result = without_mask(item, outside).ravel()
    ground = result == outside  # without a background, what is masked
    holes = label_by_flood_fill(ground.reshape(item.shape), connectivity=reach)
    neighbours = list_neighbours(item.shape, reach, False)
    fillings = {}
    for root, at in places(holes, -1).items():
        axes = zip(np.unravel_index(at, item.shape), item.shape, strict=True)
        if any((x == 0).any() or (x == n - 1).any() for x, n in axes):
            continue
        around = {int(result[j]) for i in at for j in neighbours[i] if not ground[j]}
        if len(around) == 1 and (max_size is None or len(at) <= max_size):
            fillings[root] = at, around.pop()
    for at, label in fillings.values():
        result[at] = label
    return result.reshape(item.shape)


def close_labels(item):
    """Return pairs of labels that have places at most 2 apart along every axis, both ways."""
    pairs = set()
    for step in product(range(-2, 3), repeat=item.ndim):
        here, there = (
            item[
                tuple(
                    slice(max(0, s), max(0, n + min(0, s)))
                    for s, n in zip(moved, item.shape, strict=True)
                )
            ]
            for moved in ([-s for s in step], step)
        )
        pairs |= set(zip(here.ravel().tolist(), there.ravel().tolist(), strict=True))
    return {(a, b) for a, b in pairs if a != b}
