"""``conncomp simulate`` of spins that are vectors: clock, heisenberg, on and xy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conncomp.cli._options import option
from conncomp.cli._report import Row
from conncomp.cli._rules import Command, command, excludes
from conncomp.cli.simulate._clusters import (
    TurningSettings,
    field_option,
    observe_option,
    run_clusters,
    update_option,
)
from conncomp.cli.simulate._common import SIZES, number_or_critical_option
from conncomp.cli.simulate._places import Range, place_in_words, range_option, temperatures_of
from conncomp.models import ON, XY, Clock, Heisenberg, Model
from conncomp.models.spins.updates import OF_VECTORS as UPDATES


@dataclass(frozen=True)
class Settings(TurningSettings):
    """What the user chose of spins that are vectors."""

    temperature: str | float | None = number_or_critical_option(
        "kT in units of J. Default: the critical one, where it is known.", "T|critical"
    )
    temperatures: Range | None = range_option(
        "N temperatures from A to B, side by side.", "two of them"
    )
    field: float = field_option("The energy of a spin is -H times its first component.")
    update: str = update_option(UPDATES)
    observe: tuple[str, ...] = observe_option("structure", "helicity_modulus", "vortices")


@dataclass(frozen=True)
class ClockSettings(Settings):
    """What the user chose of the clock model."""

    q: int = option("How many directions.", "Q", required=True)


@dataclass(frozen=True)
class OnSettings(Settings):
    """What the user chose of the O(n) model."""

    n: int = option("How many components.", "N", default=4)


def _command(model: type[Model[Any]], summary: str, settings: Any = Settings) -> Command:
    """Return the command of a model."""

    def run(settings: Any) -> None:
        others = {}
        if settings.temperatures is not None:
            each = np.repeat(temperatures_of(settings.temperatures), settings.replicas or 1)
            others = {"temperature": each, "replicas": len(each)}
        run_clusters(model, settings, _model_row, others)

    run.__doc__ = f"""{summary}

    It prints means with their errors, from bins and by jackknife, and integrated autocorrelation
    times in updates. Components are the clusters that the next update draws.
    """
    exclusive = excludes("--temperature", "--temperatures")
    return command(settings, *SIZES, exclusive, name=model.__name__.lower())(run)


def _model_row(parameters: dict[str, Any]) -> Row:
    kind = {"Clock": "clock model", "ON": "O(n) model"}.get(
        parameters["model"], f"{parameters['model']} model"
    )
    size = "".join(f" of {name} = {parameters[name]}" for name in ("q", "n") if name in parameters)
    field = f", field {parameters['field']:g}" if parameters.get("field") else ""
    return "model", f"{kind}{size}, {place_in_words(parameters)}{field}"


clock = _command(
    Clock,
    "Simulate the clock model: spins of q directions in a plane, by clusters.",
    ClockSettings,
)
heisenberg = _command(
    Heisenberg,
    "Simulate the classical Heisenberg model: spins that are unit vectors in space, by clusters.",
)
on = _command(
    ON,
    "Simulate the O(n) model: spins that are unit vectors of n components, 4 to 8, by clusters.",
    OnSettings,
)
xy = _command(XY, "Simulate the XY model: spins that are unit vectors in a plane, by clusters.")
