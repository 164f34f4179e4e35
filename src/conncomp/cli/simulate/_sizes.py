"""Several sizes in one command, and a folder that keeps them: options, runs, tables and plots."""

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
    as_plain,
    doubt_rows,
    facts_of,
    shown,
)
from conncomp.models import Estimate, Summary
from conncomp.models.checkpoint import OtherSimulationError
from conncomp.models.simulation import check_output

Curves = dict[str, dict[str, list[tuple[float, float, float]]]]

folder_option = click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep series and a checkpoint of each size there, and go on from what is there.",
)


def run_sizes(
    settings: Settings, folder: Path | None, run: Callable[[Settings], Finished[Any]]
) -> list[Finished[Any]]:
    """Run each of the sizes that settings have; of a single one, the settings keep the plot."""
    shapes: list[list[int]] = settings.shape  # type: ignore[assignment]
    _check(settings, shapes, folder)
    finished = []
    for shape in shapes:
        own = _of_size(settings, shape, folder)
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
    settings: Settings,
    folder: Path | None,
    in_words: Callable[[dict[str, Any]], Row],
    observables_of: Callable[[list[Summary]], dict[str, list[Estimate]]],
    known: Known,
) -> None:
    """Draw the plot, if it is wanted, and print the report, by size and temperature."""
    last = with_all_times(finished)
    with last.stage("statistics"):
        summaries = {size_of(each): each.run.summarise() for each in finished}
        observables = {size: observables_of(each) for size, each in summaries.items()}
    model = in_words({**last.run.parameters, "shape": [", ".join(summaries)]})
    if settings.plot is not None:
        with last.stage("plot"):
            curves = _curves(summaries, observables)
            plot_curves_of_sizes(settings.plot, curves, model[1], known)
    rows: list[Row] = []
    plain = []
    for size, each in summaries.items():
        plain += [{"shape": size, **as_plain(summary)} for summary in each]
        columns = [map(shown, estimates) for estimates in observables[size].values()]
        rows += zip([size] * len(each), map(_temperature, each), *columns, strict=True)
    names = next(iter(observables.values()))
    of_all(finished, settings, folder).show(
        model, plain, [("size", "temperature", *names), *rows], facts=doubt_rows(summaries)
    )


def size_of(finished: Finished[Any]) -> str:
    """Return the lengths of a run, as users give them."""
    return _size(finished.settings.shape)


def with_all_times(finished: list[Finished[Any]]) -> Finished[Any]:
    """Return the last run, whose stages have the times of all."""
    last = finished[-1]
    for each in finished[:-1]:
        for stage, seconds in each.stage.seconds.items():
            last.stage.seconds[stage] = last.stage.seconds.get(stage, 0.0) + seconds
    return last


def of_all(finished: list[Finished[Any]], settings: Settings, folder: Path | None) -> Finished[Any]:
    """Return the last size's run, as that of all sizes in a report."""
    last = finished[-1]
    shapes = [each.settings.shape for each in finished]
    written = settings if folder is None else replace(settings, output=folder)
    parameters = {**last.run.parameters, "shape": shapes}
    return replace(last, settings=written, run=replace(last.run, parameters=parameters))


def _check(settings: Settings, shapes: Sequence[Sequence[int]], folder: Path | None) -> None:
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
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for shape in shapes:
        size = _of_size(settings, list(shape), folder)
        assert size.output is not None
        check_output(size.output, size.force)


def _of_size(settings: Settings, shape: list[int], folder: Path | None) -> Settings:
    """Return the settings of one size, with what a folder keeps of it."""
    own = replace(settings, shape=shape, plot=None)
    if folder is None:
        return own
    name = _size(shape)
    output, checkpoint = folder / f"{name}.h5", folder / f"{name}.checkpoint"
    # The series beside a checkpoint is of this command, which replaces it as it goes on.
    force = settings.force or checkpoint.exists()
    if own.thermalise is None:
        own = replace(own, thermalise=_thermalised(checkpoint))
    return replace(own, force=force, output=output, checkpoint=checkpoint)


def _thermalised(checkpoint: Path) -> int | None:
    """Return by how many updates a checkpoint was thermalised: more sweeps go on from it."""
    given = facts_of(checkpoint).get("thermalise")
    return given if isinstance(given, int) else None


def _size(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def _temperature(summary: Summary) -> str:
    return f"{1 / summary.beta:.6g}" if summary.beta else "inf"


def _curves(
    summaries: Mapping[str, list[Summary]], observables: Mapping[str, dict[str, list[Estimate]]]
) -> Curves:
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
