"""Ranges of temperatures and the like, A:B:N, whose values are simulated side by side."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click
import numpy as np
from numpy.typing import NDArray

from conncomp.cli.simulate._common import parse_numbers

MOST_POINTS = 1 << 16
Range = tuple[float, float, int]
_Command = TypeVar("_Command", bound=Callable[..., Any])


def range_option(
    name: str, help_: str, wanted: str = "two numbers"
) -> Callable[[_Command], _Command]:
    """Return an option for a range; `wanted` says what A and B are."""
    wanted = f"A:B:N, {wanted} and how many"
    return click.option(
        name, metavar="A:B:N", callback=parse_numbers(":", [float, float, int], wanted), help=help_
    )


def values_of(option: str, several: Range) -> list[float]:
    """Return the values of a range that an option gave.

    >>> values_of("--fractions", (0.25, 0.75, 3))
    [0.25, 0.5, 0.75]
    """
    first, last, count = several
    if not (math.isfinite(last - first) and 1 <= count <= MOST_POINTS):
        raise ValueError(
            f"{option} {first:g}:{last:g}:{count} must be two numbers, and from 1 to {MOST_POINTS} "
            "of them"
        )
    return [float(value) for value in np.linspace(first, last, count)]


def temperatures_of(several: Range) -> NDArray[np.float64]:
    """Return the temperatures of ``--temperatures``, which have inverses."""
    first, last, count = several
    given = f"--temperatures {first:g}:{last:g}:{count}"
    if not (0 < first < math.inf and 0 < last < math.inf and 1 <= count <= MOST_POINTS):
        raise ValueError(
            f"{given} must be two temperatures above 0, and from 1 to {MOST_POINTS} of them"
        )
    lowest = min(first, last)
    if math.isinf(1 / lowest):
        raise ValueError(
            f"{given} has {lowest:g}, of which no number is the inverse; choose a higher one"
        )
    return np.linspace(first, last, count)


def inverse_temperatures(several: Range) -> NDArray[np.float64]:
    """Return the inverses of the temperatures of ``--temperatures``.

    >>> inverse_temperatures((1.0, 4.0, 2)).tolist()
    [1.0, 0.25]
    """
    return np.asarray(1 / temperatures_of(several))
