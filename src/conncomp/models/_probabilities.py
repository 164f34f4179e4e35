"""Probabilities, temperatures and logarithms as integers, the same on every machine.

Exponentials and logarithms of C libraries and of NumPy differ in their last digits; decimal ones do
not. They are kept, as tempering asks for the same ones in each round.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from functools import cache, lru_cache
from math import frexp, inf, ldexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.lattice import Lattice
from conncomp.kernels.vector_spins import STRENGTH
from conncomp.models.protocol import Floats

CERTAIN = 1 << 64  # as a probability
DECIMAL = Context(prec=60, traps=[])
EXACT: Callable[[float], Any] = DECIMAL.create_decimal_from_float

# How probably Metropolis flips a spin of two states that loses nothing: ``kernels/core/spins.h``.
MOST_FLIPS = Decimal(15) / 16
DIGITS = 64  # of probabilities of exchanges
PLACES, UNIT, FRACTION = 128, 32, 27  # of ``Logarithm`` in ``core/spin_glass.h``
# beta |J| of vectors has to stay below this, so that angles of 16 bits are as good as any.
MOST_STRENGTH = 1e7
# Of ``core/vector_spins.h``: products have so many digits, and exponents of 32 are certain.
_PRODUCT, _CERTAIN, _MOST_RIGHT = 28, 32, 31


def as_fixed_point(p: float) -> int:
    """Return a probability below 1 as 64 bits."""
    return int(ldexp(p, 64))


def _capped(p: Decimal) -> int:
    """Return a probability as 64 bits: one that is certain as all but 2**-64."""
    return min(int(DECIMAL.multiply(p, CERTAIN)), CERTAIN - 1)


def _tabulated(
    numbers: Floats, function: Callable[[float], list[int]], dtype: Any = np.uint64
) -> NDArray[Any]:
    """Return a row for each number, made once for equal ones."""
    if numbers.size == 1:  # to sort takes longer than all else of a small update
        return np.array([function(float(numbers[0]))], dtype)
    distinct, places = np.unique(numbers, return_inverse=True)
    return np.array([function(number) for number in distinct.tolist()], dtype)[places]


@lru_cache(maxsize=1 << 16)
def _weight(beta: float, energy: float, times: int) -> Decimal:
    """Return exp(-beta E) of an energy, so many times."""
    return DECIMAL.exp(DECIMAL.multiply(DECIMAL.multiply(EXACT(-beta), EXACT(energy)), times))


def bond_probabilities(betas: Floats, gain: float) -> NDArray[np.uint64]:
    """Return the probability of a bond that gains an energy, for each replica."""

    def active(beta: float) -> list[int]:
        return [_capped(DECIMAL.subtract(1, _weight(beta, gain, 1)))]

    return _tabulated(betas, active)[:, 0]


def acceptances(betas: Floats, gain: float, lattice: Lattice) -> NDArray[np.uint64]:
    """Return the probabilities by which Metropolis loses bonds, (replicas, bonds)."""
    lost, most = range(2 * lattice.ndim + 1), MOST_FLIPS if lattice.states == 2 else Decimal(1)

    def taken(beta: float) -> list[int]:
        return [_capped(DECIMAL.multiply(_weight(beta, gain, bonds), most)) for bonds in lost]

    return _tabulated(betas, taken)


def level_probabilities(
    betas: Floats, coupling: float, rule: str, kinds: int, whole: bool
) -> NDArray[np.uint64]:
    """Return chances by level, a bond or half of one, for each replica: see ``GlassUpdate``.

    They are those of a spin that loses, or in a heat bath wins, so many couplings.
    """
    of_level = 4 if whole else 2
    changes = range(0, kinds * of_level, of_level)

    def chances(beta: float) -> list[int]:
        weights = [_weight(beta, coupling, change) for change in changes]
        if rule == "metropolis":
            return [_capped(DECIMAL.multiply(weight, MOST_FLIPS)) for weight in weights]
        return [_capped(DECIMAL.divide(1, DECIMAL.add(1, weight))) for weight in weights]

    return _tabulated(betas, chances)


def exchange_digits(temperatures: Floats, coupling: float, coordination: int) -> NDArray[np.uint8]:
    """Return ``acceptance`` of ``core/kawasaki.h``: digits of 3/4 exp(-4 J k / T), bit k - 1."""

    def digits(temperature: float) -> list[int]:
        chances = []
        for loss in range(1, coordination):
            energy = DECIMAL.multiply(EXACT(-coupling), 4 * loss)
            weight = DECIMAL.exp(DECIMAL.divide(energy, EXACT(temperature)))
            chances.append(int(DECIMAL.multiply(weight, 3 * CERTAIN // 4)))
        places = reversed(range(DIGITS))
        return [sum((p >> place & 1) << k for k, p in enumerate(chances)) for place in places]

    return _tabulated(temperatures, digits, np.uint8)


def strengths_of(betas: Floats, coupling: float) -> NDArray[Any]:
    """Return ``BondStrength`` for each inverse temperature, which `MOST_STRENGTH` bounds."""
    return np.array([_bond_strength(beta, abs(coupling)) for beta in betas.tolist()], STRENGTH)


@lru_cache(maxsize=1 << 16)
def _bond_strength(beta: float, coupling: float) -> tuple[int, int, int, int]:
    product = DECIMAL.multiply(DECIMAL.multiply(EXACT(beta), EXACT(coupling)), 2)
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


def temperature_factors(betas: Floats, exponents: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return ``GlassTemperature`` of each replica, whose fields are in units of 2**-exponent."""
    # More than any field, of the least logarithm; and an int64, of the largest one.
    hottest = (1 << UNIT) - 1, 1

    def factor(beta: float, exponent: int) -> tuple[int, int]:
        temperature = inf if beta == 0 else 1 / beta
        if temperature == inf:
            return hottest
        mantissa, power = frexp(temperature)  # half of it is mantissa * 2**(power - 1)
        shift = UNIT - (power - 1 + exponent - FRACTION)
        if shift <= 0:
            return hottest
        number = min(round(ldexp(mantissa, UNIT)), (1 << UNIT) - 1)
        return (0, 0) if shift > 63 else (number, shift)

    pairs = zip(betas.tolist(), exponents.tolist(), strict=True)
    return np.array([factor(*pair) for pair in pairs], np.uint32)


@cache
def logarithm_table() -> NDArray[np.uint32]:
    """Return the table of ``Logarithm``: ln(1 + i / 128) and 1 / (1 + i / 128)."""
    unit, table = Decimal(1 << UNIT), np.empty((PLACES, 2), np.uint32)
    for place in range(PLACES):
        x = DECIMAL.divide(Decimal(PLACES + place), Decimal(PLACES))
        table[place, 0] = round(DECIMAL.multiply(DECIMAL.ln(x), unit))
        table[place, 1] = min(round(DECIMAL.divide(unit, x)), (1 << UNIT) - 1)
    return table
