"""With which probabilities spins change, as the kernels take them: the same on every machine."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from conncomp.models._probabilities import DECIMAL, as_capped, tabulated
from conncomp.models.potts.probabilities import MOST_FLIPS


def level_probabilities(
    betas: NDArray[np.float64], coupling: float, rule: str, kinds: int, whole: bool
) -> NDArray[np.uint64]:
    """Return the probability of each kind of chance, for each replica: see ``GlassUpdate``.

    A level is a bond, two of which differ by four couplings, or half of one.
    """
    of_level = 4 if whole else 2

    def of_beta(beta: float) -> list[int]:
        return [_probability(beta, coupling, rule, of_level * k) for k in range(kinds)]

    return tabulated(betas, of_beta, np.uint64)


# As tempering asks for the same ones in each round, in another order.
@lru_cache(maxsize=1 << 16)
def _probability(beta: float, coupling: float, rule: str, change: int) -> int:
    """Return with which probability a spin loses, or in a heat bath wins, so many couplings."""
    exact = DECIMAL.create_decimal_from_float
    exponent = DECIMAL.multiply(DECIMAL.multiply(exact(-beta), exact(coupling)), change)
    weight = DECIMAL.exp(exponent)
    if rule == "metropolis":
        return as_capped(DECIMAL.multiply(weight, MOST_FLIPS))
    return as_capped(DECIMAL.divide(1, DECIMAL.add(1, weight)))
