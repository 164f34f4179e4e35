"""``conncomp simulate potts``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conncomp.cli._options import numbers, option
from conncomp.cli._report import Row
from conncomp.cli._rules import command, excludes, needs
from conncomp.cli.simulate._clusters import (
    ClusterSettings,
    field_option,
    run_clusters,
    update_option,
)
from conncomp.cli.simulate._common import SIZES, number_or_critical_option
from conncomp.cli.simulate._places import Range, inverse_temperatures, place_in_words, range_option
from conncomp.models import Potts
from conncomp.models.spins.updates import UPDATES


@dataclass(frozen=True)
class Settings(ClusterSettings):
    """What the user chose of the Potts model."""

    q: int = option("How many states.", "Q", default=2)
    beta: str | float | None = number_or_critical_option(
        "The inverse temperature. Default: the critical one.", "B|critical"
    )
    temperatures: Range | None = range_option(
        "N temperatures from A to B, side by side. They are kT in the units of J; as equal spins "
        "have the energy -J here, and others 0, those of the Ising convention are twice as high.",
        "two temperatures",
    )
    field: float = field_option("The energy of a spin of state 0 is -H.")
    update: str = update_option(UPDATES)
    tile: list[int] | None = option(
        "With few-cluster: the lengths of tiles, in each of which one site is chosen.",
        "LxL...",
        type=numbers("x", [int], "not lengths such as 32x32"),
        rank=1,
    )
    p_flip: float | None = option(
        "With few-cluster: the probability that the cluster of a chosen site flips.", "P", rank=1
    )


@command(
    Settings,
    *SIZES,
    excludes("--beta", "--temperatures"),
    needs("--tile --p-flip", "--update few-cluster"),
)
def potts(settings: Settings) -> None:
    """Simulate the Potts model; of two states, the default, it is the Ising model.

    It prints means with their errors, from bins and by jackknife, and integrated autocorrelation
    times in updates. Components are the clusters that the next update draws.
    """
    others: dict[str, Any] = {"beta": "critical" if settings.beta is None else settings.beta}
    if settings.temperatures is not None:
        betas = np.repeat(inverse_temperatures(settings.temperatures), settings.replicas or 1)
        others = {"beta": betas, "replicas": len(betas)}
    tiles: dict[str, Any] = {"tile": settings.tile, "p_flip": settings.p_flip}
    run_clusters(Potts, settings, _model_row, others, **tiles)


def _model_row(parameters: dict[str, Any]) -> Row:
    q = parameters["q"]
    kind = "Ising model" if q == 2 else f"Potts model of {q} states"
    field = f", field {parameters['field']:g}" if parameters.get("field") else ""
    return "model", f"{kind}, {place_in_words(parameters)}{field}"
