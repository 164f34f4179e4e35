"""Which neighbours are connected: the link rules, as kernels take them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Links(NamedTuple):
    """A link rule, but for the array that it reads.

    `value_type` says how values are compared: "u1" to "u8" for integers of any sign and bools,
    "f2", "f4" or "f8". `limit` is the difference allowed by "within", or the threshold of "above".
    `bonds` are, for each axis of the lattice, the offset of its bonds from the array's first byte,
    and its bits of a byte.
    """

    rule: str  # "equal", "above", "within" or "bonds": a struct of ``core/links.h``
    value_type: str
    background: bytes | None = None  # of its value
    limit: float = 0
    signed: bool = False  # integers, for "within"
    bonds: tuple[tuple[int, int], ...] = ()

    @property
    def transitive(self) -> bool:
        """Whether neighbours linked to a common one are linked."""
        return self.rule in ("equal", "above")


def equal_values(value_type: str, background: bytes | None) -> Links:
    """Return the rule that links equal values."""
    return Links("equal", value_type, background)


def values_above(threshold: float, dtype: np.dtype[Any]) -> Links:
    """Return the rule that links floating-point values above a threshold, one of their numbers."""
    return Links("above", f"f{dtype.itemsize}", limit=threshold)


def values_within(
    value_type: str, background: bytes | None, limit: float, dtype: np.dtype[Any]
) -> Links:
    """Return the rule that links values of `dtype` that differ by at most `limit`, not negative."""
    if limit == 0:
        return equal_values(value_type, background)
    if dtype.kind != "f":
        limit = min(limit, 2 ** (8 * dtype.itemsize) - 1)
    return Links("within", value_type, background, limit, dtype.kind == "i")


def bonds_of_axes(ndim: int) -> Links:
    """Return the rule of bonds that are the bits of a byte, one for each axis from the first."""
    return Links("bonds", "u1", bonds=tuple((0, 1 << axis) for axis in range(ndim)))
