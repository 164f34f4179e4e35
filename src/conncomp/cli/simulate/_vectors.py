"""What the commands of spins that are vectors share."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import click
import numpy as np

from conncomp.cli._picture import plot_scan
from conncomp.cli._report import Row
from conncomp.cli._rules import excludes
from conncomp.cli.simulate._clusters import update_options, wrapping_of
from conncomp.cli.simulate._common import (
    Finished,
    Settings,
    as_plain,
    doubt_rows,
    parse_number_or_critical,
    plot_observables,
    run_model,
    shown,
    sizes_command,
)
from conncomp.cli.simulate._exact import known_of
from conncomp.cli.simulate._places import (
    borders_of,
    place_in_words,
    place_options,
    sites_of_cell,
)
from conncomp.cli.simulate._ranges import Range, range_option, temperatures_of
from conncomp.cli.simulate._sizes import folder_option, run_sizes, show_sizes
from conncomp.models import Summary, VectorMeasurements
from conncomp.models.lattices import LATTICES
from conncomp.models.spins.updates import OF_VECTORS as UPDATES
from conncomp.models.vectors.model import VectorModel

# Of each observable of a `Summary`, what it is called in tables and pictures.
NAMES = {
    "energy": "energy a site",
    "specific_heat": "specific heat",
    "magnetisation": "magnetisation",
    "squared_magnetisation": "m^2",
    "susceptibility": "susceptibility",
    "binder_ratio": "<m^4>/<m^2>^2",
    "helicity_modulus": "helicity modulus",
    "vortices": "vortices a site",
    "correlation_length": "correlation length",
    "correlation_ratio": "correlation length / L",
    "energy_time": "tau of energy",
    "magnetisation_time": "tau of m^2",
}


def vector_command(function: Callable[..., None]) -> click.Command:
    """Return a command with the options of a simulation of spins that are vectors."""
    options = (
        click.option(
            "--temperature",
            metavar="T|critical",
            callback=parse_number_or_critical,
            help="kT in units of J. Default: the critical one, where it is known.",
        ),
        range_option("--temperatures", "N temperatures from A to B, side by side.", "two of them"),
        click.option("--coupling", metavar="J", type=float, default=1.0, show_default=True),
        click.option(
            "--field",
            metavar="H",
            type=float,
            default=0.0,
            show_default=True,
            help="The energy of a spin is -H times its first component.",
        ),
        place_options(None),
        update_options(UPDATES, ("structure", "helicity_modulus", "vortices")),
        folder_option,
    )
    for option in reversed(options):
        function = option(function)
    return sizes_command(excludes("--temperature", "--temperatures"))(function)


def run_vectors(
    make: Callable[..., VectorModel],
    settings: Settings,
    temperatures: Range | None,
    update: str,
    clusters: bool,
    wrapping: bool,
    observe: tuple[str, ...],
    folder: Path | None,
    **arguments: Any,
) -> None:
    """Simulate a model, of the class that is given, as `vector_command` say; print the report."""
    lattice = arguments["lattice"]
    closed, turning = arguments.pop("periodic"), arguments.pop("antiperiodic")
    side_by_side: dict[str, Any] = {"replicas": settings.replicas}
    if temperatures is not None:
        each = np.repeat(temperatures_of(temperatures), settings.replicas or 1)
        arguments["temperature"] = each
        side_by_side = {"replicas": len(each)}

    given = {"seed": settings.seed, "device": settings.device, **arguments, **side_by_side}
    options = {"update": update, "clusters": clusters, "wrapping": wrapping, "observe": observe}

    def run(own: Settings) -> Finished[VectorMeasurements]:
        axes = len(own.shape) if lattice is None else len(LATTICES[lattice].vectors)

        def build() -> VectorModel:
            return make(own.shape, periodic=borders_of(closed, turning, axes), **given)

        return run_model(own, build, options, sites_of_cell(lattice))

    finished = run_sizes(settings, folder, run)
    if len(finished) == 1:
        _show(finished[0])
        return
    known = known_of(finished[0].run.parameters)
    show_sizes(finished, settings, folder, _model_row, _observables, known)


def _model_row(parameters: dict[str, Any]) -> Row:
    kind = {"Clock": "clock model", "ON": "O(n) model"}.get(
        parameters["model"], f"{parameters['model']} model"
    )
    size = "".join(f" of {name} = {parameters[name]}" for name in ("q", "n") if name in parameters)
    field = f", field {parameters['field']:g}" if parameters.get("field") else ""
    return "model", f"{kind}{size}, {place_in_words(parameters)}{field}"


def _show(finished: Finished[VectorMeasurements]) -> None:
    parameters = finished.run.parameters
    model = _model_row(parameters)
    with finished.stage("statistics"):
        summaries = finished.run.summarise()
    observables = _observables(summaries)
    path = finished.settings.plot
    if path is not None:
        with finished.stage("plot"):
            temperatures = [1 / summary.beta if summary.beta else inf for summary in summaries]
            if len(summaries) > 1:
                plot_scan(path, temperatures, observables, model[1], known_of(parameters))
            else:
                plot_observables(finished, model, _series(finished.run.series))
    facts: list[Row] = []
    if parameters["update"] != "wolff":
        facts.append(finished.speed_row("spins"))
    facts += doubt_rows({"": summaries})
    table = _table(summaries, observables)
    finished.show(model, [as_plain(summary) for summary in summaries], table, facts=facts)


def _series(series: VectorMeasurements) -> dict[str, Any]:
    squares = series.squared_magnetisation
    return {
        NAMES["energy"]: series.energy / series.lattice.sites,
        NAMES["magnetisation"]: squares**0.5,
    }


def _observables(summaries: list[Summary]) -> dict[str, list[Any]]:
    """Return by name what was estimated at each temperature."""
    estimated = [key for key in NAMES if getattr(summaries[0], key) is not None]
    named = {NAMES[key]: [getattr(summary, key) for summary in summaries] for key in estimated}
    return named | wrapping_of(summaries)


def _table(summaries: list[Summary], observables: dict[str, list[Any]]) -> list[Row]:
    """Return a line for each temperature or, of one temperature, a line for each observable."""
    cells = {name: list(map(shown, estimates)) for name, estimates in observables.items()}
    temperatures = [f"{1 / summary.beta:.6g}" if summary.beta else "inf" for summary in summaries]
    if len(summaries) > 1:
        return [("temperature", *cells), *zip(temperatures, *cells.values(), strict=True)]
    rows = [("temperature", temperatures[0]), *((name, cell) for name, [cell] in cells.items())]
    return [("observable", "value ± error"), *rows]
