"""``conncomp simulate potts``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from conncomp.cli._options import closed_axes, periodic_option
from conncomp.cli._report import Row
from conncomp.cli._rules import excludes, needs
from conncomp.cli.simulate._clusters import show_runs, update_options
from conncomp.cli.simulate._common import (
    Finished,
    Settings,
    parse_number_or_critical,
    parse_numbers,
    run_model,
    sizes_command,
)
from conncomp.cli.simulate._places import (
    lattice_option,
    place_in_words,
    sites_of_cell,
)
from conncomp.cli.simulate._ranges import Range, inverse_temperatures, range_option
from conncomp.cli.simulate._sizes import folder_option, run_sizes
from conncomp.models import Potts
from conncomp.models.lattices import LATTICES
from conncomp.models.spins.updates import UPDATES


@sizes_command(
    excludes("--beta", "--temperatures"), needs("--tile --p-flip", "--update few-cluster")
)
@click.option("--q", metavar="Q", type=int, default=2, show_default=True, help="How many states.")
@click.option(
    "--beta",
    metavar="B|critical",
    callback=parse_number_or_critical,
    help="The inverse temperature. Default: the critical one.",
)
@range_option(
    "--temperatures",
    "N temperatures from A to B, side by side. They are kT in the units of J; as equal spins "
    "have the energy -J here, and others 0, those of the Ising convention are twice as high.",
    "two temperatures",
)
@click.option("--coupling", metavar="J", type=float, default=1.0, show_default=True)
@click.option(
    "--field",
    metavar="H",
    type=float,
    default=0.0,
    show_default=True,
    help="The energy of a spin of state 0 is -H.",
)
@lattice_option(None)
@periodic_option("all")
@update_options(UPDATES)
@click.option(
    "--tile",
    metavar="LxL...",
    callback=parse_numbers("x", [int], "lengths such as 32x32"),
    help="With few-cluster: the lengths of tiles, in each of which one site is chosen.",
)
@click.option(
    "--p-flip",
    metavar="P",
    type=float,
    help="With few-cluster: the probability that the cluster of a chosen site flips.",
)
@folder_option
def potts(
    settings: Settings,
    q: int,
    beta: str | float | None,
    temperatures: Range | None,
    coupling: float,
    field: float,
    lattice: str | None,
    periodic: bool | list[bool] | list[int],
    start: str,
    update: str,
    tile: list[int] | None,
    p_flip: float | None,
    clusters: bool,
    wrapping: bool,
    observe: tuple[str, ...],
    folder: Path | None,
) -> None:
    """Simulate the Potts model; of two states, the default, it is the Ising model.

    It prints means with their errors, from bins and by jackknife, and integrated autocorrelation
    times in updates. Components are the clusters that the next update draws.
    """
    betas, lattices = _betas(beta, temperatures, settings.replicas)
    arguments: dict[str, Any] = {
        "coupling": coupling,
        "field": field,
        "lattice": lattice,
        "replicas": lattices,
        "seed": settings.seed,
        "start": start,
        "device": settings.device,
    }
    options: dict[str, Any] = {"update": update, "tile": tile, "p_flip": p_flip}
    options |= {"clusters": clusters, "wrapping": wrapping, "observe": observe}

    def run(own: Settings) -> Finished[Any]:
        axes = len(own.shape) if lattice is None else len(LATTICES[lattice].vectors)

        def build() -> Potts:
            closed = closed_axes(periodic, axes, "lattice")
            return Potts(own.shape, q, betas, periodic=closed, **arguments)

        return run_model(own, build, options, sites_of_cell(lattice))

    show_runs(run_sizes(settings, folder, run), settings, folder, _model_row)


def _betas(
    beta: str | float | None,
    temperatures: Range | None,
    replicas: int | None,
) -> tuple[Any, int | None]:
    """Return the inverse temperatures, and how many lattices run side by side."""
    if temperatures is None:
        return "critical" if beta is None else beta, replicas
    betas = np.repeat(inverse_temperatures(temperatures), replicas or 1)
    return betas, len(betas)


def _model_row(parameters: dict[str, Any]) -> Row:
    q = parameters["q"]
    kind = "Ising model" if q == 2 else f"Potts model of {q} states"
    field = f", field {parameters['field']:g}" if parameters.get("field") else ""
    return "model", f"{kind}, {place_in_words(parameters)}{field}"
