"""``conncomp simulate ising``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import ArrayLike

from conncomp.cli._report import Row
from conncomp.cli._rules import excludes
from conncomp.cli.simulate._clusters import show_runs, update_options
from conncomp.cli.simulate._common import (
    Finished,
    Settings,
    parse_number_or_critical,
    run_model,
    sizes_command,
)
from conncomp.cli.simulate._places import (
    borders_of,
    place_in_words,
    place_options,
    sites_of_cell,
)
from conncomp.cli.simulate._ranges import Range, inverse_temperatures, range_option, values_of
from conncomp.cli.simulate._sizes import folder_option, run_sizes
from conncomp.models import Ising
from conncomp.models.lattices import LATTICES
from conncomp.models.spins.updates import ON_EDGES as UPDATES


@sizes_command(excludes("--temperature", "--temperatures", "--beta", "--betas"))
@click.option(
    "--temperature",
    metavar="T|critical",
    callback=parse_number_or_critical,
    help="kT in units of J. Default: the critical one, where it is known.",
)
@range_option("--temperatures", "N temperatures from A to B, side by side.", "two temperatures")
@click.option(
    "--beta", metavar="B", type=float, help="The inverse temperature, instead of the temperature."
)
@range_option("--betas", "N inverse temperatures from A to B, side by side.")
@click.option(
    "--coupling",
    metavar="J",
    type=float,
    default=1.0,
    show_default=True,
    help="The energy of a bond is -J between equal spins, and J between others. An antiferromagnet "
    "has one below 0.",
)
@click.option(
    "--field",
    metavar="H",
    type=float,
    default=0.0,
    show_default=True,
    help="The energy of a spin is -H if it is up, and H if not.",
)
@place_options("square")
@update_options(UPDATES)
@folder_option
def ising(
    settings: Settings,
    lattice: str,
    temperature: str | float | None,
    temperatures: Range | None,
    beta: float | None,
    betas: Range | None,
    coupling: float,
    field: float,
    periodic: bool | list[bool] | list[int],
    antiperiodic: bool | list[bool] | list[int],
    start: str,
    update: str,
    clusters: bool,
    wrapping: bool,
    observe: tuple[str, ...],
    folder: Path | None,
) -> None:
    """Simulate the Ising model on lattices such as the triangular, honeycomb or diamond one.

    Energies and temperatures are those of -J sum of s_i s_j - H sum of s_i, with spins of ±1. It
    prints means with their errors, from bins and by jackknife, and integrated autocorrelation times
    in updates.
    Components are the clusters that the next update draws; a picture has the sites of a cell of the
    lattice side by side.
    """
    borders = borders_of(periodic, antiperiodic, len(LATTICES[lattice].vectors))
    several = _several(temperatures, betas)
    side_by_side = None if several is None else np.repeat(several, settings.replicas or 1)

    arguments: dict[str, Any] = {
        "lattice": lattice,
        "temperature": temperature,
        "beta": beta if side_by_side is None else side_by_side,
        "coupling": coupling,
        "field": field,
        "periodic": borders,
        "replicas": settings.replicas if side_by_side is None else len(side_by_side),
        "seed": settings.seed,
        "start": start,
        "device": settings.device,
    }
    options = {"update": update, "clusters": clusters, "wrapping": wrapping, "observe": observe}

    def run(own: Settings) -> Finished[Any]:
        return run_model(
            own, lambda: Ising(own.shape, **arguments), options, sites_of_cell(lattice)
        )

    show_runs(run_sizes(settings, folder, run), settings, folder, _model_row)


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
