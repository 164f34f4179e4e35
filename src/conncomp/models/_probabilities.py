"""Probabilities as 64 bits, the same on every machine."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from math import ldexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

CERTAIN = 1 << 64  # as a probability

# Exponentials and logarithms of C libraries and of NumPy differ in their last digits, and spins may
# not; decimal ones do not.
DECIMAL = Context(prec=60, traps=[])


def as_fixed_point(p: float) -> int:
    """Return a probability below 1 as 64 bits."""
    return int(ldexp(p, 64))


def as_capped(p: Decimal) -> int:
    """Return a probability as 64 bits: one that is certain as all but 2**-64."""
    return min(int(DECIMAL.multiply(p, CERTAIN)), CERTAIN - 1)


def tabulated(
    numbers: NDArray[np.float64], function: Callable[[float], list[int]], dtype: Any
) -> NDArray[Any]:
    """Return a row for each number, which a function makes once of those that are equal."""
    if numbers.size == 1:  # to sort takes longer than all else of a small update
        return np.array([function(float(numbers[0]))], dtype)
    distinct, places = np.unique(numbers, return_inverse=True)
    return np.array([function(number) for number in distinct.tolist()], dtype)[places]
