"""What follows from moments: arrays with a row for each component, then an axis of powers each."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.components._labels import library_at


def centroids_of(moments: Any) -> Any:
    """Return the centroids, as first moments over those of order 0."""
    units = np.eye(moments.ndim - 1, dtype=int).tolist()
    first = library_at(moments).stack([moments[(slice(None), *unit)] for unit in units], axis=1)
    return first / sizes_of(moments)[:, None]


def sizes_of(moments: Any) -> Any:
    """Return the moments of order 0."""
    return moments[(slice(None), *(0,) * (moments.ndim - 1))]


def normalized(central: Any, spacing: tuple[float, ...]) -> Any:
    """Return central moments over powers of the size, NaN those of order below 2."""
    xp, ndim, powers = library_at(central), len(spacing), central.shape[-1]
    orders = np.indices((powers,) * ndim).sum(axis=0)
    sizes = sizes_of(central)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = sizes ** (1 / ndim)
        # Whole powers of negative sizes, as weights may make, are numbers.
        units = [
            min(spacing) ** order * sizes ** (1 + order // ndim) * root ** (order % ndim)
            for order in range(2, orders.max() + 1)
        ]
        unknown = xp.full_like(sizes, np.nan)
        moments = xp.stack([unknown, unknown, *units], axis=1)[:, xp.asarray(orders)]
        xp.divide(central, moments, out=moments)
    return moments


def hu(moments: Any) -> Any:
    """Return Hu's seven invariants of normalized moments.

    As in M. K. Hu, "Visual pattern recognition by moment invariants", 1962.
    """
    a, b = moments[:, 3, 0] + moments[:, 1, 2], moments[:, 2, 1] + moments[:, 0, 3]
    c, d = moments[:, 3, 0] - 3 * moments[:, 1, 2], 3 * moments[:, 2, 1] - moments[:, 0, 3]
    both, total = moments[:, 1, 1], moments[:, 2, 0] + moments[:, 0, 2]
    difference = moments[:, 2, 0] - moments[:, 0, 2]
    e, f = a * (a**2 - 3 * b**2), b * (3 * a**2 - b**2)
    invariants = [
        total,
        difference**2 + 4 * both**2,
        c**2 + d**2,
        a**2 + b**2,
        c * e + d * f,
        difference * (a**2 - b**2) + 4 * both * a * b,
        d * e - c * f,
    ]
    return library_at(moments).stack(invariants, axis=1)
