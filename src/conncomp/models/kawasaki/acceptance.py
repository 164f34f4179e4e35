"""With which probabilities spins are exchanged, as the kernels draw them: digit by digit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from conncomp.models._probabilities import CERTAIN, DECIMAL

DIGITS = 64


@lru_cache(maxsize=1 << 16)
def acceptance(temperature: float, coupling: float, loss: int) -> int:
    """Return 3/4 exp(-4 J loss / T) as 64 bits."""
    exact: Callable[[float], Any] = DECIMAL.create_decimal_from_float
    exponent = DECIMAL.divide(DECIMAL.multiply(exact(-coupling), 4 * loss), exact(temperature))
    return int(DECIMAL.multiply(DECIMAL.exp(exponent), 3 * CERTAIN // 4))


def digits(probabilities: Sequence[int]) -> list[int]:
    """Return their binary digits, the highest first: bit k is of number k."""
    return [
        sum((p >> place & 1) << k for k, p in enumerate(probabilities))
        for place in reversed(range(DIGITS))
    ]
