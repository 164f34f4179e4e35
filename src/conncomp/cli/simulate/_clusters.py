"""What the commands of models that clusters update share: options, the run, and the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import click

from conncomp.cli._options import axes_option, option, periodic_option
from conncomp.cli._picture import plot_scan
from conncomp.cli._report import Row
from conncomp.cli.simulate._common import (
    Finished,
    Settings,
    SettingsOfSizes,
    arguments_of,
    as_plain,
    as_table,
    doubt_rows,
    plot_observables,
    run_model,
    shown,
)
from conncomp.cli.simulate._exact import known_of
from conncomp.cli.simulate._places import (
    borders_of,
    lattice_option,
    sites_of_cell,
    temperature_in_words,
)
from conncomp.cli.simulate._sizes import run_sizes, show_sizes
from conncomp.models import Model
from conncomp.models.lattices import LATTICES
from conncomp.models.results import Estimate, Summary

# Of each observable of a `Summary`, what it is called in tables and pictures.
NAMES = {
    "energy": "energy a site",
    "specific_heat": "specific heat",
    "magnetisation": "magnetisation",
    "susceptibility": "susceptibility",
    "squared_magnetisation": "m^2",
    "binder_ratio": "<m^4>/<m^2>^2",
    "helicity_modulus": "helicity modulus",
    "vortices": "vortices a site",
    "correlation_length": "correlation length",
    "correlation_ratio": "correlation length / L",
    "energy_time": "tau of energy",
    "magnetisation_time": "tau of m^2",
}
# Of each probability of a `WrappingSummary`, likewise; along each axis apart from these.
WRAPPING_NAMES = {
    "any_axis": "wraps along any axis",
    "all_axes": "wraps along all axes",
    "cross": "wraps in full rank",
}


def update_option(updates: Sequence[str]) -> Any:
    """Return the option of the kind of updates."""
    return option(
        "The kind of updates: one of wolff flips one cluster; the others are sweeps.",
        type=click.Choice(updates),
        default=updates[0],
        rank=1,
    )


def observe_option(*observables: str) -> Any:
    """Return the option of what else is measured."""
    return option(
        "Measure this, too; again for each. Of structure follows the correlation length.",
        type=click.Choice(observables),
        multiple=True,
        rank=1,
    )


def coupling_option(help_: str | None = None) -> Any:
    """Return the option of the strength of bonds."""
    return option(help_, "J", default=1.0, rank=1)


def field_option(help_: str) -> Any:
    """Return the option of an external field."""
    return option(help_, "H", default=0.0, rank=1)


@dataclass(frozen=True)
class ClusterSettings(SettingsOfSizes):
    """What the user chose of a model that clusters update."""

    coupling: float = coupling_option()
    field: float = option()  # each model says which
    lattice: str | None = lattice_option(None)
    periodic: bool | list[bool] | list[int] = periodic_option("all", rank=1)
    start: Literal["hot", "cold"] = option(default="hot", rank=1)
    update: str = option()  # likewise
    clusters: bool = option("Measure sizes of clusters, too, which makes m^2 more exact.", rank=1)
    wrapping: bool = option("Measure the probabilities that clusters wrap, too.", rank=1)
    observe: tuple[str, ...] = observe_option("structure")


@dataclass(frozen=True)
class TurningSettings(ClusterSettings):
    """The same of a model whose axes may close with the opposite coupling."""

    antiperiodic: bool | list[bool] | list[int] = axes_option(
        "Axes that close on themselves with the opposite coupling; named as those of --periodic.",
        "none",
        rank=1,
    )


def run_clusters(
    model: Any,  # a class
    settings: ClusterSettings,
    in_words: Callable[[dict[str, Any]], Row],
    others: dict[str, Any],
    **updates: Any,
) -> None:
    """Simulate a model of each size, made of the settings and others, and print the report.

    `updates` are further options of updates.
    """
    lattice, antiperiodic = settings.lattice, getattr(settings, "antiperiodic", False)
    chosen = ("update", "clusters", "wrapping", "observe")
    updates |= {name: getattr(settings, name) for name in chosen}
    arguments = arguments_of(model, settings, **others)

    def run(own: Settings) -> Finished[Any]:
        axes = len(own.shape) if lattice is None else len(LATTICES[lattice].vectors)

        def build() -> Model[Any]:
            borders = borders_of(settings.periodic, antiperiodic, axes)
            built: Model[Any] = model(own.shape, periodic=borders, **arguments)
            return built

        return run_model(own, build, updates, sites_of_cell(lattice))

    _show_runs(run_sizes(settings, run), settings, in_words)


def _show_runs(
    finished: list[Finished[Any]],
    settings: SettingsOfSizes,
    in_words: Callable[[dict[str, Any]], Row],
) -> None:
    """Draw the plot, if it is wanted, and print the report, of one size or of several."""
    parameters = finished[0].run.parameters
    if len(finished) > 1:
        show_sizes(finished, settings, in_words, _observables, known_of(parameters))
        return
    [one] = finished
    model = in_words(parameters)
    with one.stage("statistics"):
        summaries = one.run.summarise()
    if one.settings.plot is not None:
        with one.stage("plot"):
            _draw(one, summaries, model)
    facts: list[Row] = []
    if parameters["update"] not in ("wolff", "few-cluster"):
        facts.append(one.speed_row("spins"))
    facts += doubt_rows({"": summaries})
    table = _table(summaries, has_beta=not _are_vectors(one))
    one.show(model, list(map(as_plain, summaries)), table, facts=facts)


def _are_vectors(finished: Finished[Any]) -> bool:
    return finished.run.parameters["model"] not in ("Ising", "Potts")


def _draw(finished: Finished[Any], summaries: list[Summary], model: Row) -> None:
    run, path = finished.run, finished.settings.plot
    assert path is not None
    known = known_of(run.parameters)
    if len(summaries) > 1:
        temperatures = [1 / summary.beta if summary.beta else inf for summary in summaries]
        plot_scan(path, temperatures, _observables(summaries), model[1], known)
        return
    measured = run.series
    length = (
        measured.squared_magnetisation**0.5 if _are_vectors(finished) else measured.magnetisation
    )
    energy = measured.energy / measured.lattice.sites
    series = {NAMES["energy"]: energy, NAMES["magnetisation"]: length}
    plot_observables(finished, model, series, known)


def _observables(summaries: list[Summary]) -> dict[str, list[Estimate]]:
    """Return by name what was estimated at each temperature, and how clusters wrap, if measured."""
    known = [key for key in NAMES if getattr(summaries[0], key) is not None]
    observables = {NAMES[key]: [getattr(summary, key) for summary in summaries] for key in known}
    wrapping = [summary.wrapping for summary in summaries if summary.wrapping is not None]
    if wrapping:
        for axis in range(len(wrapping[0].along)):
            observables[f"wraps along axis {axis}"] = [part.along[axis] for part in wrapping]
        for key, name in WRAPPING_NAMES.items():
            observables[name] = [getattr(part, key) for part in wrapping]
    return observables


def _table(summaries: list[Summary], has_beta: bool) -> list[Row]:
    """Return a line for each temperature or, of one temperature, a line for each observable."""
    columns = {"temperature": [temperature_in_words(summary.beta) for summary in summaries]}
    if has_beta:
        columns["beta"] = [f"{summary.beta:.6g}" for summary in summaries]
    columns |= {name: list(map(shown, each)) for name, each in _observables(summaries).items()}
    return as_table(columns)
