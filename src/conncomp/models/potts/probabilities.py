"""With which probabilities updates join equal spins and change a spin, as 64 bits."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.lattice import Lattice
from conncomp.models._probabilities import DECIMAL, as_capped, tabulated

# How probably Metropolis flips a spin of two states that loses nothing: ``kernels/core/spins.h``.
MOST_FLIPS = Decimal(15) / 16


def bond_probabilities(betas: NDArray[np.float64], coupling: float) -> NDArray[np.uint64]:
    """Return with which probability a bond between equal spins is active, for each replica."""
    return tabulated(betas, lambda beta: [_bond_probability(beta, coupling)], np.uint64)[:, 0]


def acceptances(
    betas: NDArray[np.float64], coupling: float, lattice: Lattice
) -> NDArray[np.uint64]:
    """Return with which probability Metropolis takes a state that loses so many satisfied bonds.

    Of shape (replicas, 2 ndim + 1).
    """
    lost = range(2 * lattice.ndim + 1)

    def of_beta(beta: float) -> list[int]:
        return [_acceptance(beta, coupling, bonds, lattice.states) for bonds in lost]

    return tabulated(betas, of_beta, np.uint64)


# As tempering asks for the same ones in each round, in another order.
@lru_cache(maxsize=1 << 16)
def _bond_probability(beta: float, coupling: float) -> int:
    """Return 1 - exp(-beta J) as 64 bits."""
    return as_capped(DECIMAL.subtract(1, _weight(beta, coupling, 1)))


@lru_cache(maxsize=1 << 16)
def _acceptance(beta: float, coupling: float, bonds: int, states: int) -> int:
    """Return exp(-beta J bonds) as 64 bits, or 15/16 of it where there are two states."""
    weight = _weight(beta, coupling, bonds)
    return as_capped(DECIMAL.multiply(weight, MOST_FLIPS) if states == 2 else weight)


def _weight(beta: float, coupling: float, bonds: int) -> Decimal:
    exact = DECIMAL.create_decimal_from_float
    exponent = DECIMAL.multiply(exact(-beta), exact(coupling))
    return DECIMAL.exp(DECIMAL.multiply(exponent, bonds))
