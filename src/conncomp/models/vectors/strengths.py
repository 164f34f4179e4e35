"""How strong bonds are, as the kernels of vector spins take it."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.vector_spins import STRENGTH
from conncomp.models._probabilities import DECIMAL

# beta |J| has to stay below this, so that angles of 16 bits are as good as any.
MOST = 1e7
# Of ``core/vector_spins.h``: products have so many digits, and exponents of 32 are certain.
_PRODUCT, _CERTAIN, _MOST_RIGHT = 28, 32, 31


def strengths_of(betas: NDArray[np.float64], coupling: float) -> NDArray[Any]:
    """Return ``BondStrength`` for each inverse temperature, which `MOST` bounds."""
    return np.array([_strength(beta, abs(coupling)) for beta in betas.tolist()], STRENGTH)


@lru_cache(maxsize=1 << 16)
def _strength(beta: float, coupling: float) -> tuple[int, int, int, int]:
    exact = DECIMAL.create_decimal_from_float
    product = DECIMAL.multiply(DECIMAL.multiply(exact(beta), exact(coupling)), 2)
    strength = DECIMAL.divide(product, DECIMAL.ln(Decimal(2)))
    if strength >= _CERTAIN:
        # Products at which bonds are certain are alike.
        above = int(strength).bit_length() - _CERTAIN.bit_length()
        return _scaled(strength, 26 - above), (1 << _PRODUCT - above) - 1, 4 + above, 0
    right = _MOST_RIGHT
    while right > 0 and _scaled(strength, 27 + right) >> 32:
        right -= 1
    return _scaled(strength, 27 + right), (1 << _PRODUCT + 1) - 1, 3, right


def _scaled(strength: Decimal, digits: int) -> int:
    return int(DECIMAL.multiply(strength, DECIMAL.power(2, digits)))
