"""With which probabilities spins are exchanged, as the kernels draw them: digit by digit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.models._probabilities import CERTAIN, DECIMAL, tabulated

DIGITS = 64


def acceptances(
    temperatures: NDArray[np.float64], coupling: float, coordination: int
) -> NDArray[np.uint8]:
    """Return ``acceptance`` of ``kernels/core/kawasaki.h``, for each replica."""
    losses = range(1, coordination)

    def digits(temperature: float) -> list[int]:
        return _digits([_acceptance(temperature, coupling, loss) for loss in losses])

    return tabulated(temperatures, digits, np.uint8)


@lru_cache(maxsize=1 << 16)
def _acceptance(temperature: float, coupling: float, loss: int) -> int:
    """Return 3/4 exp(-4 J loss / T) as 64 bits."""
    exact: Callable[[float], Any] = DECIMAL.create_decimal_from_float
    exponent = DECIMAL.divide(DECIMAL.multiply(exact(-coupling), 4 * loss), exact(temperature))
    return int(DECIMAL.multiply(DECIMAL.exp(exponent), 3 * CERTAIN // 4))


def _digits(probabilities: Sequence[int]) -> list[int]:
    """Return their binary digits, the highest first: bit k is of number k."""
    return [
        sum((p >> place & 1) << k for k, p in enumerate(probabilities))
        for place in reversed(range(DIGITS))
    ]
