"""The lattice of a model and its temperatures: options, and words for reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from conncomp.cli._options import closed_axes, numbers
from conncomp.models.lattices import LATTICES

NAMES = {"bcc": "body-centred cubic", "fcc": "face-centred cubic"}
MOST_POINTS = 1 << 16


def borders_of(periodic: Any, antiperiodic: Any, axes: int) -> list[bool | str]:
    """Return what a model takes as `periodic`, given what was named."""
    turning = closed_axes(antiperiodic, axes, "lattice", "--antiperiodic")
    closed = closed_axes(periodic, axes, "lattice")
    both = [k for k in range(axes) if turning[k] and closed[k] and periodic is not True]
    if both:
        raise ValueError(f"--periodic and --antiperiodic both name axis {both[0]}; choose one")
    return ["antiperiodic" if turning[k] else closed[k] for k in range(axes)]


def sites_of_cell(lattice: str | None) -> int:
    """Return how many sites there are for each element of the shape."""
    return 1 if lattice is None else len(LATTICES[lattice].sites)


def place_in_words(parameters: dict[str, Any]) -> str:
    """Return where the sites are, of a model with these parameters."""
    lattice, border = parameters.get("lattice"), borders_in_words(parameters["periodic"])
    lengths = " x ".join(map(str, parameters["shape"]))
    if lattice is None:
        return f"{lengths}, {border}"
    cells = "cells" if sites_of_cell(lattice) > 1 else "sites"
    return f"{NAMES.get(lattice, lattice)}, {lengths} {cells}, {border}"


def borders_in_words(periodic: Sequence[bool | str]) -> str:
    """Return which axes close, and how.

    >>> borders_in_words([False, False]), borders_in_words([True, "antiperiodic"])
    ('open', 'periodic along 0, antiperiodic along 1')
    """
    borders = [each if isinstance(each, str) else ("open", "periodic")[each] for each in periodic]
    if len(set(borders)) == 1:
        return borders[0]
    along = {
        kind: ", ".join(str(k) for k, border in enumerate(borders) if border == kind)
        for kind in ("periodic", "antiperiodic")
    }
    return ", ".join(f"{kind} along {axes}" for kind, axes in along.items() if axes)


def range_of(wanted: str) -> Any:
    """Return a type of an option for a range; `wanted` says what A and B are."""
    return numbers(":", [float, float, int], f"not A:B:N, {wanted} and how many")


Range = Annotated[tuple[float, float, int], range_of("two numbers")]
Temperatures = Annotated[tuple[float, float, int], range_of("two temperatures")]


def values_of(
    option: str, several: Range, wanted: str = "numbers", least: float = -math.inf
) -> NDArray[np.float64]:
    """Return the values of a range that an option gave, above the least one.

    >>> values_of("--fractions", (0.25, 0.75, 3)).tolist()
    [0.25, 0.5, 0.75]
    """
    first, last, count = several
    above = least < min(first, last)
    if not (above and math.isfinite(last - first) and 1 <= count <= MOST_POINTS):
        raise ValueError(
            f"{option} {first:g}:{last:g}:{count} must be two {wanted}, and from 1 to "
            f"{MOST_POINTS} of them"
        )
    return np.linspace(first, last, count)


def temperatures_of(several: Range) -> NDArray[np.float64]:
    """Return the temperatures of ``--temperatures``, which have inverses.

    >>> temperatures_of((1.0, 4.0, 2)).tolist()
    [1.0, 4.0]
    """
    temperatures = values_of("--temperatures", several, "temperatures above 0", 0.0)
    first, last, count = several
    lowest = min(first, last)
    if math.isinf(1 / lowest):
        raise ValueError(
            f"--temperatures {first:g}:{last:g}:{count} has {lowest:g}, of which no number is the "
            "inverse; choose a higher one"
        )
    return temperatures


def temperature_in_words(beta: float) -> str:
    """Return the temperature of an inverse."""
    return f"{1 / beta:.6g}" if beta else "inf"
