"""Options of where the sites of a model lie, and what reports call that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from conncomp.cli._options import axes_option, closed_axes, periodic_option
from conncomp.models.ising import LATTICES

NAMES = {"bcc": "body-centred cubic", "fcc": "face-centred cubic"}


def lattice_option(default: str | None) -> Callable[[Any], Any]:
    """Return the option that names a lattice."""
    return click.option(
        "--lattice",
        type=click.Choice(list(LATTICES)),
        default=default,
        show_default=default or "hypercubic, of as many axes as there are lengths",
        help="--shape counts its unit cells, along its primitive vectors.",
    )


def place_options(default: str | None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a command ``--lattice``, ``--periodic``, ``--antiperiodic``."""
    options = (
        lattice_option(default),
        periodic_option("all"),
        axes_option(
            "--antiperiodic",
            "none",
            "Axes that close on themselves with the opposite coupling; named as those of "
            "--periodic.",
        ),
    )

    def give(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return give


def borders_of(periodic: Any, antiperiodic: Any, axes: int) -> list[bool | str]:
    """Return what a model takes as `periodic`, given what was named."""
    turning = closed_axes(antiperiodic, axes, "lattice", "--antiperiodic")
    closed = closed_axes(periodic, axes, "lattice")
    both = [k for k in range(axes) if turning[k] and closed[k] and periodic is not True]
    if both:
        raise ValueError(f"--periodic and --antiperiodic both name axis {both[0]}; choose one")
    return [
        "antiperiodic" if turns else closes for turns, closes in zip(turning, closed, strict=True)
    ]


def sites_of_cell(lattice: str | None) -> int:
    """Return how many sites there are for each element of the shape."""
    return 1 if lattice is None else len(LATTICES[lattice].sites)


def place_in_words(parameters: dict[str, Any]) -> str:
    """Return where the sites are, of a model with these parameters."""
    lattice = parameters.get("lattice")
    lengths = " x ".join(map(str, parameters["shape"]))
    borders = [
        border if isinstance(border, str) else "periodic" if border else "open"
        for border in parameters["periodic"]
    ]
    border = borders_in_words(borders)
    if lattice is None:
        return f"{lengths}, {border}"
    cells = "cells" if sites_of_cell(lattice) > 1 else "sites"
    return f"{NAMES.get(lattice, lattice)}, {lengths} {cells}, {border}"


def borders_in_words(borders: Sequence[str]) -> str:
    """Return which axes close, and how.

    >>> borders_in_words(["open", "open"]), borders_in_words(["periodic", "antiperiodic"])
    ('open', 'periodic along 0, antiperiodic along 1')
    """
    if len(set(borders)) == 1:
        return borders[0]
    along = {
        kind: ", ".join(str(k) for k, border in enumerate(borders) if border == kind)
        for kind in ("periodic", "antiperiodic")
    }
    return ", ".join(f"{kind} along {axes}" for kind, axes in along.items() if axes)
