"""What the commands of `Potts` and `Ising` share: options of their updates, and the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from typing import Any

import click

from conncomp.cli._picture import plot_scan
from conncomp.cli._report import Row
from conncomp.cli.simulate._common import (
    Finished,
    Settings,
    as_plain,
    doubt_rows,
    plot_observables,
    shown,
)
from conncomp.cli.simulate._exact import known_of
from conncomp.cli.simulate._sizes import show_sizes
from conncomp.models import Estimate, Measurements, Summary

# Of each observable of a `Summary`, what it is called in tables and pictures.
NAMES = {
    "energy": "energy a site",
    "specific_heat": "specific heat",
    "magnetisation": "magnetisation",
    "susceptibility": "susceptibility",
    "squared_magnetisation": "m^2",
    "binder_ratio": "<m^4>/<m^2>^2",
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


def update_options(
    updates: Sequence[str], observables: Sequence[str] = ("structure",)
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a command options of the start and of these updates.

    `observables` are what they can measure besides.
    """
    options = (
        click.option(
            "--start", type=click.Choice(["hot", "cold"]), default="hot", show_default=True
        ),
        click.option(
            "--update",
            type=click.Choice(updates),
            default=updates[0],
            show_default=True,
            help="The kind of updates: one of wolff flips one cluster; the others are sweeps.",
        ),
        click.option(
            "--clusters",
            is_flag=True,
            help="Measure sizes of clusters, too, which makes m^2 more exact.",
        ),
        click.option(
            "--wrapping", is_flag=True, help="Measure the probabilities that clusters wrap, too."
        ),
        click.option(
            "--observe",
            type=click.Choice(observables),
            multiple=True,
            help="Measure this, too; again for each. Of structure follows the correlation length.",
        ),
    )

    def give(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return give


def show_runs(
    finished: list[Finished[Any]],
    settings: Settings,
    folder: Path | None,
    in_words: Callable[[dict[str, Any]], Row],
) -> None:
    """Draw the plot, if it is wanted, and print the report, of one size or of several."""
    if len(finished) == 1:
        show_summaries(finished[0], in_words(finished[0].run.parameters))
        return
    known = known_of(finished[0].run.parameters)
    show_sizes(finished, settings, folder, in_words, _observables, known)


def show_summaries(finished: Finished[Measurements], model: Row) -> None:
    """Draw the plot, if it is wanted, and print the report, by temperature."""
    with finished.stage("statistics"):
        summaries = finished.run.summarise()
    if finished.settings.plot is not None:
        with finished.stage("plot"):
            _draw(finished, summaries, model)
    facts: list[Row] = []
    if finished.run.parameters["update"] not in ("wolff", "few-cluster"):
        facts.append(finished.speed_row("spins"))
    facts += doubt_rows({"": summaries})
    plain = [as_plain(summary) for summary in summaries]
    finished.show(model, plain, _table(summaries), facts=facts)


def _draw(finished: Finished[Measurements], summaries: list[Summary], model: Row) -> None:
    run, path = finished.run, finished.settings.plot
    assert path is not None
    known = known_of(run.parameters)
    if len(summaries) > 1:
        temperatures = [1 / summary.beta if summary.beta else inf for summary in summaries]
        plot_scan(path, temperatures, _observables(summaries), model[1], known)
        return
    series = {
        NAMES["energy"]: run.series.energy / run.series.lattice.sites,
        NAMES["magnetisation"]: run.series.magnetisation,
    }
    plot_observables(finished, model, series, known)


def _observables(summaries: list[Summary]) -> dict[str, list[Estimate]]:
    """Return by name what was estimated at each temperature."""
    known = [key for key in NAMES if getattr(summaries[0], key) is not None]
    observables = {NAMES[key]: [getattr(summary, key) for summary in summaries] for key in known}
    return observables | wrapping_of(summaries)


def wrapping_of(summaries: list[Summary]) -> dict[str, list[Estimate]]:
    """Return by name how clusters wrap at each temperature, where that was measured."""
    observables: dict[str, list[Estimate]] = {}
    wrapping = [summary.wrapping for summary in summaries if summary.wrapping is not None]
    if wrapping:
        for axis in range(len(wrapping[0].along)):
            observables[f"wraps along axis {axis}"] = [part.along[axis] for part in wrapping]
        for key, name in WRAPPING_NAMES.items():
            observables[name] = [getattr(part, key) for part in wrapping]
    return observables


def _table(summaries: list[Summary]) -> list[Row]:
    """Return a line for each temperature or, of one temperature, a line for each observable."""
    columns = {
        "temperature": [f"{1 / s.beta:.6g}" if s.beta else "inf" for s in summaries],
        "beta": [f"{summary.beta:.6g}" for summary in summaries],
        **{name: [shown(one) for one in each] for name, each in _observables(summaries).items()},
    }
    if len(summaries) == 1:
        return [
            ("observable", "value ± error"),
            *((name, cell) for name, [cell] in columns.items()),
        ]
    return [tuple(columns), *zip(*columns.values(), strict=True)]
