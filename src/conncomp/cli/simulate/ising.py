"""``conncomp simulate ising``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conncomp.cli._options import option
from conncomp.cli._report import Row
from conncomp.cli._rules import command, excludes
from conncomp.cli.simulate._clusters import (
    TurningSettings,
    coupling_option,
    field_option,
    run_clusters,
    update_option,
)
from conncomp.cli.simulate._common import SIZES, number_or_critical_option
from conncomp.cli.simulate._places import (
    Range,
    inverse_temperatures,
    lattice_option,
    place_in_words,
    range_option,
    values_of,
)
from conncomp.models import Ising
from conncomp.models.spins.updates import ON_EDGES as UPDATES


@dataclass(frozen=True)
class Settings(TurningSettings):
    """What the user chose of the Ising model."""

    temperature: str | float | None = number_or_critical_option(
        "kT in units of J. Default: the critical one, where it is known.", "T|critical"
    )
    temperatures: Range | None = range_option(
        "N temperatures from A to B, side by side.", "two temperatures"
    )
    beta: float | None = option("The inverse temperature, instead of the temperature.", "B")
    betas: Range | None = range_option("N inverse temperatures from A to B, side by side.")
    coupling: float = coupling_option(
        "The energy of a bond is -J between equal spins, and J between others. An antiferromagnet "
        "has one below 0."
    )
    field: float = field_option("The energy of a spin is -H if it is up, and H if not.")
    lattice: str | None = lattice_option("square")
    update: str = update_option(UPDATES)


@command(Settings, *SIZES, excludes("--temperature", "--temperatures", "--beta", "--betas"))
def ising(settings: Settings) -> None:
    """Simulate the Ising model on lattices such as the triangular, honeycomb or diamond one.

    Energies and temperatures are those of -J sum of s_i s_j - H sum of s_i, with spins of ±1. It
    prints means with their errors, from bins and by jackknife, and integrated autocorrelation times
    in updates.
    Components are the clusters that the next update draws; a picture has the sites of a cell of the
    lattice side by side.
    """
    several = _several(settings.temperatures, settings.betas)
    others = {}
    if several is not None:
        side_by_side = np.repeat(several, settings.replicas or 1)
        others = {"beta": side_by_side, "replicas": len(side_by_side)}
    run_clusters(Ising, settings, _model_row, others)


def _several(temperatures: Range | None, betas: Range | None) -> ArrayLike | None:
    """Return the inverse temperatures that are side by side, if any are."""
    if temperatures is not None:
        return inverse_temperatures(temperatures)
    if betas is None:
        return None
    values = values_of("--betas", betas)
    if min(values) < 0:
        raise ValueError(f"--betas {betas[0]:g}:{betas[1]:g}:{betas[2]} must not be negative")
    return values


def _model_row(parameters: dict[str, Any]) -> Row:
    kind = "antiferromagnet" if parameters["coupling"] < 0 else "model"
    field = f", field {parameters['field']:g}" if parameters.get("field") else ""
    return "model", f"Ising {kind}, {place_in_words(parameters)}{field}"
