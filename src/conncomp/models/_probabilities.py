"""Probabilities as 64 bits, the same on every machine."""

from __future__ import annotations

from decimal import Context, Decimal
from math import ldexp

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
