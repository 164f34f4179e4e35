"""``conncomp simulate glass``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import click
import numpy as np

from conncomp.cli._options import closed_axes, periodic_option
from conncomp.cli._picture import Known, plot_curves_of_sizes
from conncomp.cli._report import Row
from conncomp.cli._rules import excludes, no_effect
from conncomp.cli.simulate._common import (
    Finished,
    Settings,
    as_plain,
    doubt_rows,
    run_model,
    shown,
    sizes_command,
)
from conncomp.cli.simulate._exact import ENERGY_OF_BOND, known_of_glass
from conncomp.cli.simulate._ranges import Range, inverse_temperatures, range_option
from conncomp.cli.simulate._sizes import (
    Curves,
    folder_option,
    of_all,
    run_sizes,
    size_of,
    with_all_times,
)
from conncomp.kernels.spin_glass import RULES
from conncomp.models import GlassSeries, OverlapSummary, SpinGlass
from conncomp.models._arguments import distinct
from conncomp.models.disorder import KINDS

PAIR = 2  # of copies, by default
# Of observables of an `OverlapSummary`, what they are called in tables and pictures.
NAMES = {
    "correlation_ratio": "xi/L",
    "binder_ratio": "Binder ratio",
    "squared_overlap": "q^2",
    "link_overlap": "link overlap",
}
DRAWN = "correlation_ratio", "binder_ratio"


@sizes_command(
    excludes("--temperatures", "--temperature"),
    no_effect(
        "is for several --temperatures; leave it out",
        lambda given: (given["temperatures"] or (0, 0, 1))[2] == 1,
        "--tempering",
    ),
)
@click.option("--couplings", type=click.Choice(KINDS), default="pm", show_default=True)
@click.option("--positive", metavar="P", type=float, help="Which share of ±J is positive.")
@click.option("--dilution", metavar="P", type=float, help="Which share of the bonds is absent.")
@range_option("--temperatures", "N temperatures from A to B, side by side.", "two temperatures")
@click.option("--temperature", metavar="T", type=float, help="One temperature instead.")
@click.option(
    "--samples",
    metavar="N",
    type=click.IntRange(1),
    default=16,
    show_default=True,
    help="How many sets of couplings there are of each size.",
)
@periodic_option("all")
@click.option("--update", type=click.Choice(RULES), default=RULES[0], show_default=True)
@click.option(
    "--houdayer", is_flag=True, help="Move clusters of pairs of replicas after each sweep."
)
@click.option(
    "--tempering/--no-tempering",
    default=None,
    help="Whether replicas exchange temperatures. Default: if there are several.",
)
@click.option("--start", type=click.Choice(["hot", "cold"]), default="hot", show_default=True)
@folder_option
def glass(
    settings: Settings,
    couplings: str,
    positive: float | None,
    dilution: float | None,
    temperatures: Range | None,
    temperature: float | None,
    samples: int,
    periodic: bool | list[bool] | list[int],
    update: str,
    houdayer: bool,
    tempering: bool | None,
    start: str,
    folder: Path | None,
) -> None:
    """Simulate Ising spin glasses of several sizes, temperatures and samples.

    Two copies of each sample and temperature run side by side, or --replicas of them, and overlap:
    it prints the correlation length as a share of the length, Binder's ratio, the mean square of
    the overlap and that of links, with errors over samples; with Gaussian couplings what the
    identity of Katzgraber and Young leaves, which is 0 in equilibrium. Components are domains of
    spins that are up.
    """
    betas = _inverses(temperature, temperatures)
    exchanges = len(betas) > 1 if tempering is None else tempering
    options = {"houdayer": houdayer, "overlaps": True, "tempering": exchanges}
    arguments: dict[str, Any] = {
        "beta": betas,
        "samples": samples,
        "copies": settings.replicas or PAIR,
        "update": update,
        "positive": positive,
        "dilution": dilution,
        "start": start,
        "seed": settings.seed,
        "device": settings.device,
    }

    def run(own: Settings) -> Finished[Any]:
        closed = closed_axes(periodic, len(own.shape), "lattice")

        def build() -> SpinGlass:
            return SpinGlass(own.shape, couplings, periodic=closed, **arguments)

        return run_model(own, build, options)

    finished = run_sizes(settings, folder, run)
    model = _in_words(couplings, positive, dilution, list(map(size_of, finished)), samples)
    _show(finished, settings, folder, model)


def _inverses(one: float | None, several: Range | None) -> Any:
    """Return the inverse temperatures that either option gives."""
    if several is not None:
        return inverse_temperatures(several)
    if one is None:
        raise click.UsageError("Give either --temperatures A:B:N or --temperature T.")
    return inverse_temperatures((one, one, 1))


def _in_words(
    couplings: str,
    positive: float | None,
    dilution: float | None,
    sizes: Sequence[str],
    samples: int,
) -> Row:
    kind = {"pm": "±J", "gaussian": "Gaussian"}[couplings]
    share = "" if positive is None else f", {positive:g} positive"
    absent = "" if dilution is None else f", {dilution:g} absent"
    return "model", f"{kind} spin glass{share}{absent}, {', '.join(sizes)}, {samples:,} samples"


def _show(
    finished: list[Finished[GlassSeries]], settings: Settings, folder: Path | None, model: Row
) -> None:
    """Draw the plot, if it is wanted, and print the report, by size and temperature."""
    last = with_all_times(finished)
    with last.stage("statistics"):
        summaries = {size_of(each): each.run.summarise() for each in finished}
    if settings.plot is not None:
        with last.stage("plot"):
            curves = _curves(summaries) | _energies(finished)
            plot_curves_of_sizes(settings.plot, curves, model[1], _known(last.run.parameters))
    plain, rows = [], []
    for size, of_size in summaries.items():
        for summary in of_size:
            plain.append({"shape": size, **as_plain(summary)})
            cells = [getattr(summary, name) for name in NAMES]
            if summary.katzgraber_young is not None:
                cells.append(summary.katzgraber_young)
            rows.append((size, f"{1 / summary.beta:.6g}", *map(shown, cells)))
    left = [summary.katzgraber_young for of_size in summaries.values() for summary in of_size]
    identity = ("off Katzgraber-Young",) if any(off is not None for off in left) else ()
    of_all(finished, settings, folder).show(
        model,
        plain,
        [("size", "temperature", *NAMES.values(), *identity), *rows],
        facts=doubt_rows(summaries),
    )


def _curves(
    summaries: dict[str, list[OverlapSummary]],
) -> Curves:
    return {
        NAMES[name]: {
            size: [(1 / summary.beta, *getattr(summary, name)) for summary in of_size]
            for size, of_size in summaries.items()
        }
        for name in DRAWN
    }


def _energies(
    finished: list[Finished[GlassSeries]],
) -> Curves:
    """Return mean energies a bond, with the errors that samples have, by size and temperature."""
    of_sizes = {}
    for each in finished:
        series, samples = each.run.series, each.run.parameters["samples"]
        betas = distinct(series.beta)
        energies = series.energy.mean(axis=0).reshape(samples, len(betas), -1).mean(axis=2)
        energies /= series.lattice.bonds
        errors = energies.std(axis=0, ddof=1) / sqrt(samples) if samples > 1 else 0 * betas
        points = np.stack([1 / betas, energies.mean(axis=0), errors], axis=1).tolist()
        of_sizes[size_of(each)] = [(t, mean, error) for t, mean, error in points]
    return {ENERGY_OF_BOND: of_sizes}


def _known(parameters: Mapping[str, Any]) -> Known:
    is_whole = parameters["couplings"] == "pm" and not parameters["dilution"]
    return known_of_glass(parameters["positive"], is_whole)
