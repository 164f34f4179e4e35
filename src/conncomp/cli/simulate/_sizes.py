"""Several sizes in one command, and a folder that keeps them: runs, tables and plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from conncomp.cli._picture import Known, plot_curves_of_sizes
from conncomp.cli._report import Row
from conncomp.cli.simulate._common import (
    Finished,
    Settings,
    SettingsOfSizes,
    as_plain,
    doubt_rows,
    facts_of,
    shown,
)
from conncomp.cli.simulate._places import temperature_in_words
from conncomp.models.checkpoint import OtherSimulationError
from conncomp.models.results import Estimate
from conncomp.models.simulation import check_output

Curves = dict[str, dict[str, list[tuple[float, float, float]]]]
Observables = dict[str, list[Estimate]]


def run_sizes(
    settings: SettingsOfSizes, run: Callable[[Settings], Finished[Any]]
) -> list[Finished[Any]]:
    """Run each of the sizes that settings have; of a single one, the settings keep the plot."""
    shapes, folder = settings.shape, settings.folder
    _check(settings, shapes)
    finished = []
    for shape in shapes:
        own = _of_size(settings, shape)
        try:
            finished.append(run(own))
        except OtherSimulationError as error:
            if folder is None or own.output is None:
                raise
            kept = f"{Path(error.path).name} and {own.output.name}"
            raise click.ClickException(
                f"{error.path}: {error.reason}; give --folder another one than {folder}, or remove "
                f"what is there of this size, {kept}, to begin anew"
            ) from error
    if len(shapes) == 1:
        [one] = finished
        return [replace(one, settings=replace(one.settings, plot=settings.plot))]
    return finished


def show_sizes(
    finished: list[Finished[Any]],
    settings: SettingsOfSizes,
    in_words: Callable[[dict[str, Any]], str],
    observables_of: Callable[[list[Any]], Observables],
    known: Known,
    drawn: Callable[[Curves], Curves] = lambda curves: curves,
) -> None:
    """Draw the plot, if it is wanted, and print the report, by size and temperature."""
    last = finished[-1]
    for each in finished[:-1]:
        for stage, seconds in each.stage.seconds.items():
            last.stage.seconds[stage] = last.stage.seconds.get(stage, 0.0) + seconds
    with last.stage("statistics"):
        summaries = {size_of(each): each.run.summarise() for each in finished}
        observables = {size: observables_of(each) for size, each in summaries.items()}
    parameters = last.run.parameters
    model = in_words({**parameters, "shape": [", ".join(summaries)]})
    if settings.plot is not None:
        with last.stage("plot"):
            curves = drawn(_curves(summaries, observables))
            plot_curves_of_sizes(settings.plot, curves, model, known)
    rows: list[Row] = []
    plain = []
    for size, of_size in summaries.items():
        plain += [{"shape": size, **as_plain(summary)} for summary in of_size]
        temperatures = (temperature_in_words(summary.beta) for summary in of_size)
        columns = [map(shown, estimates) for estimates in observables[size].values()]
        rows += zip([size] * len(of_size), temperatures, *columns, strict=True)
    names = next(iter(observables.values()))
    if settings.folder is not None:
        settings = replace(settings, output=settings.folder)
    shapes = [each.settings.shape for each in finished]
    run = replace(last.run, parameters={**parameters, "shape": shapes})
    replace(last, settings=settings, run=run).show(
        model, plain, [("size", "temperature", *names), *rows], facts=doubt_rows(summaries)
    )


def size_of(finished: Finished[Any]) -> str:
    """Return the lengths of a run, as users give them."""
    return "x".join(map(str, finished.settings.shape))


def _check(settings: SettingsOfSizes, shapes: Sequence[Sequence[int]]) -> None:
    """Raise if options exclude each other, or what is to be written cannot be."""
    settings.check()
    files = {name: getattr(settings, name) for name in ("output", "picture", "film", "checkpoint")}
    given = [f"--{name}" for name, path in files.items() if path is not None]
    if len(shapes) > 1 and given:
        raise click.UsageError(
            f"{given[0]} is for one --shape; --folder keeps series and checkpoints of several."
        )
    if len({tuple(shape) for shape in shapes}) < len(shapes):
        raise click.UsageError("--shape has a size twice.")
    if settings.folder is None:
        return
    settings.folder.mkdir(parents=True, exist_ok=True)
    for shape in shapes:
        size = _of_size(settings, list(shape))
        assert size.output is not None
        check_output(size.output, size.force)


def _of_size(settings: SettingsOfSizes, shape: list[int]) -> Settings:
    """Return the settings of one size, with what a folder keeps of it."""
    own = replace(settings, shape=shape, plot=None)
    if settings.folder is None:
        return own
    name = "x".join(map(str, shape))
    output, checkpoint = (settings.folder / f"{name}.{kind}" for kind in ("h5", "checkpoint"))
    # The series beside a checkpoint is of this command, which replaces it as it goes on.
    force = settings.force or checkpoint.exists()
    if own.thermalise is None:  # as before, where there is a checkpoint: more sweeps go on from it
        given = facts_of(checkpoint).get("thermalise")
        own = replace(own, thermalise=given if isinstance(given, int) else None)
    return replace(own, force=force, output=output, checkpoint=checkpoint)


def _curves(summaries: Mapping[str, list[Any]], observables: Mapping[str, Observables]) -> Curves:
    """Return curves of temperature, value and error by observable and size."""
    curves: Curves = {}
    for size, by_name in observables.items():
        for name, estimates in by_name.items():
            curves.setdefault(name, {})[size] = [
                (1 / summary.beta, *estimate)
                for summary, estimate in zip(summaries[size], estimates, strict=True)
                if summary.beta
            ]
    return curves
