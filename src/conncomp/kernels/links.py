"""Which neighbours are connected: the link rules, as kernels are told of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Links(NamedTuple):
    """A link rule, but for the array that it reads.

    Attributes
    ----------
    rule : {"equal", "above", "within", "bonds"}
        A struct of ``core/links.h``.
    value_type : str
        How values are compared: "u1" to "u8" for integers, of any sign, and bools; "f2", "f4" or
        "f8".
    background : bytes or None
        The value of the background, of that type; None where there is none.
    limit : float or int
        How much linked values may differ, for "within"; what they are above, for "above".
    signed : bool
        Whether integers are signed, for "within".
    bonds : tuple of (int, int)
        For "bonds" and each axis of the lattice: how many bytes after the first one of the array
        its bonds begin, and the bits of a byte that are of that axis.
    """

    rule: str
    value_type: str
    background: bytes | None = None
    limit: float = 0
    signed: bool = False
    bonds: tuple[tuple[int, int], ...] = ()

    @property
    def transitive(self) -> bool:
        """Whether neighbours that are linked to a common one are linked."""
        return self.rule in ("equal", "above")


def equal_values(value_type: str, background: bytes | None) -> Links:
    """Return the rule that links equal values."""
    return Links("equal", value_type, background)


def values_above(threshold: float, dtype: np.dtype[Any]) -> Links:
    """Return the rule that links values of a float type above a threshold, one of its numbers."""
    return Links("above", f"f{dtype.itemsize}", limit=threshold)


def values_within(
    value_type: str, background: bytes | None, limit: float, dtype: np.dtype[Any]
) -> Links:
    """Return the rule that links values that differ by `limit` at most.

    Parameters
    ----------
    value_type, background
        As of `Links`.
    limit : float or int
        Not negative; for integers a whole number, or infinite.
    dtype : dtype
        Of the values.
    """
    if limit == 0:
        return equal_values(value_type, background)
    if dtype.kind != "f":
        limit = min(limit, 2 ** (8 * dtype.itemsize) - 1)
    return Links("within", value_type, background, limit, dtype.kind == "i")


def joined_by_bonds(bonds: tuple[tuple[int, int], ...]) -> Links:
    """Return the rule that links sites along bonds."""
    return Links("bonds", "u1", bonds=bonds)
