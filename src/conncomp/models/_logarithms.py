"""Temperatures and logarithms as integers, the same on every machine.

See ``Logarithm`` and ``GlassTemperature`` of ``kernels/core/spin_glass.h``.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from math import frexp, inf, ldexp

import numpy as np
from numpy.typing import NDArray

from conncomp.models._probabilities import DECIMAL

PLACES, UNIT, DIGITS = 128, 32, 27  # of ``Logarithm`` in ``core/spin_glass.h``


def temperature_factors(
    betas: NDArray[np.float64], exponents: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """Return ``GlassTemperature`` of each replica, whose fields are in units of 2**-exponent."""
    # More than any field, of the least logarithm; and an int64, of the largest one.
    hottest = (1 << UNIT) - 1, 1

    def factor(beta: float, exponent: int) -> tuple[int, int]:
        temperature = inf if beta == 0 else 1 / beta
        if temperature == inf:
            return hottest
        mantissa, power = frexp(temperature)  # half of it is mantissa * 2**(power - 1)
        shift = UNIT - (power - 1 + exponent - DIGITS)
        if shift <= 0:
            return hottest
        number = min(round(ldexp(mantissa, UNIT)), (1 << UNIT) - 1)
        return (0, 0) if shift > 63 else (number, shift)

    pairs = zip(betas.tolist(), exponents.tolist(), strict=True)
    return np.array([factor(*pair) for pair in pairs], np.uint32)


@cache
def logarithm_table() -> NDArray[np.uint32]:
    """Return the table of ``Logarithm``: ln(1 + i / 128) and 1 / (1 + i / 128)."""
    unit = Decimal(1 << UNIT)
    table = np.empty((PLACES, 2), np.uint32)
    for place in range(PLACES):
        x = DECIMAL.divide(Decimal(PLACES + place), Decimal(PLACES))
        table[place, 0] = round(DECIMAL.multiply(DECIMAL.ln(x), unit))
        table[place, 1] = min(round(DECIMAL.divide(unit, x)), (1 << UNIT) - 1)
    return table
