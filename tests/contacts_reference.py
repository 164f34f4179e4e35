"""Contacts of labels by loops over elements and steps."""

from itertools import product

import numpy as np


def contacts_by_loops(labels, background, connectivity=None, periodic=False):
    """Return {pair: [contacts, faces along each axis]}, looking at each element and each step."""
    ndim, shape = labels.ndim, labels.shape
    closed = np.broadcast_to(periodic, ndim)
    steps = [step for step in product((-1, 0, 1), repeat=ndim) if step < (0,) * ndim]
    steps = [step for step in steps if sum(map(abs, step)) <= (connectivity or ndim)]
    counted = {}
    for at in np.ndindex(shape):
        for step in steps:
            to = [place + move for place, move in zip(at, step, strict=True)]
            if not all(
                is_closed or 0 <= place < length
                for place, length, is_closed in zip(to, shape, closed, strict=True)
            ):
                continue
            to = tuple(place % length for place, length in zip(to, shape, strict=True))
            first, second = sorted((int(labels[at]), int(labels[to])))
            if first == second or background in (first, second):
                continue
            entry = counted.setdefault((first, second), [0, *[0] * ndim])
            entry[0] += 1
            if sum(map(abs, step)) == 1:
                entry[1 + np.flatnonzero(step)[0]] += 1
    return counted


def check_contacts(touching, expected, spacing):
    """Compare `Contacts` with what the loops give."""
    pairs = sorted(expected)
    np.testing.assert_array_equal(
        touching.pairs, np.array(pairs, np.int64).reshape(-1, 2), strict=True
    )
    np.testing.assert_array_equal(
        touching.counts, np.array([expected[pair][0] for pair in pairs], np.int64), strict=True
    )
    face = [np.prod(np.delete(spacing, axis)) for axis in range(len(spacing))]
    areas = [np.dot(expected[pair][1:], face) for pair in pairs]
    np.testing.assert_allclose(touching.areas, np.array(areas, float), rtol=1e-12, strict=True)
