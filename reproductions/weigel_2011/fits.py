"""Laws that Weigel fits to times, and what he concludes from them."""

from __future__ import annotations

from math import log2, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Shortest paths through critical clusters of the Ising model grow as distance to this power.
D_MIN = 1.08


class Sum(NamedTuple):
    """y = first * u + second * v, with the root mean square of the relative deviations."""

    first: float
    second: float
    deviation: float


def sum_of_terms(
    u: NDArray[np.float64], v: NDArray[np.float64], y: NDArray[np.float64]
) -> Sum | None:
    """Fit y = first * u + second * v, with equal weight for equal relative deviations.

    None if there are fewer than three points.
    """
    if len(y) < 3:
        return None
    matrix = np.stack([u, v], axis=1) / y[:, np.newaxis]
    terms, *_ = np.linalg.lstsq(matrix, np.ones_like(y), rcond=None)
    deviation = float(np.sqrt(np.mean((matrix @ terms - 1) ** 2)))
    return Sum(float(terms[0]), float(terms[1]), deviation)


def levels(length: int, tile: int) -> float:
    """Return how many levels sewing has: a doubling each, and one across periodic borders."""
    return log2(length / tile) + 1


def blocks_at_work(ratio: float) -> float:
    """Return how many blocks work at once, from the ratio a / b of equation 21: equation 22.

    >>> round(blocks_at_work(426.4))
    110
    """
    return (25 + 8 * ratio + sqrt(25 + 16 * ratio)) / 32


def best_tile_of_sewing(local: float, sewing: float) -> float:
    """Return the best tile for times a site of local * B**D_MIN and sewing / B: equation 24."""
    return float((sewing / (D_MIN * local)) ** (1 / (D_MIN + 1)))


def best_tile_of_relaxation(local: float, relaxation: float, length: int) -> float:
    """Return the best tile for times a site of local * B**D_MIN, and of relaxation: equation 26.

    The latter is relaxation * L**D_MIN / B**(D_MIN + 1).
    """
    ratio = relaxation * (D_MIN + 1) / (local * D_MIN)
    return float((ratio * length**D_MIN) ** (1 / (2 * D_MIN + 1)))
