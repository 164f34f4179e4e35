"""How strong bonds are, as the kernels of vector spins take it."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.vector_spins import STRENGTH
from conncomp.models._probabilities import DECIMAL

# Of ``core/vector_spins.h``: a strength is factor 2**-(27 + shift), of 32 digits.
_UNITS, _DIGITS, _LEAST_SHIFT, _MOST_SHIFT = 27, 32, -23, 31
# beta |J| has to stay below this, so that shifts suffice.
MOST = 9e7


def strengths_of(betas: NDArray[np.float64], coupling: float) -> NDArray[Any]:
    """Return ``BondStrength`` for each inverse temperature, which `MOST` bounds."""
    return np.array([_strength(beta, abs(coupling)) for beta in betas.tolist()], STRENGTH)


@lru_cache(maxsize=1 << 16)
def _strength(beta: float, coupling: float) -> tuple[int, int]:
    exact = DECIMAL.create_decimal_from_float
    product = DECIMAL.multiply(DECIMAL.multiply(exact(beta), exact(coupling)), 2)
    strength = DECIMAL.divide(product, DECIMAL.ln(Decimal(2)))
    shift = _MOST_SHIFT
    while shift > _LEAST_SHIFT and _factor(strength, shift) >> _DIGITS:
        shift -= 1
    return _factor(strength, shift), shift


def _factor(strength: Decimal, shift: int) -> int:
    return int(DECIMAL.multiply(strength, 1 << _UNITS + shift))
