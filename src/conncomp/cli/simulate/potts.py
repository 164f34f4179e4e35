"""``conncomp simulate potts``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click
import numpy as np

from conncomp.cli._options import closed_axes, periodic_option
from conncomp.cli._picture import plot_scan
from conncomp.cli._report import Row
from conncomp.cli.simulate._common import (
    Finished,
    Settings,
    as_plain,
    border_in_words,
    parse_number_or_critical,
    parse_numbers,
    plot_observables,
    run_model,
    shown,
    simulation_options,
)
from conncomp.models import Estimate, Measurements, Potts, Summary
from conncomp.models.potts import UPDATES

# Of each observable of a `Summary`, what it is called in tables and pictures.
NAMES = {
    "energy": "energy a site",
    "specific_heat": "specific heat",
    "magnetisation": "magnetisation",
    "susceptibility": "susceptibility",
    "squared_magnetisation": "m^2",
    "binder_ratio": "<m^4>/<m^2>^2",
    "energy_time": "tau of energy",
    "magnetisation_time": "tau of m^2",
}
# Of each probability of a `WrappingSummary`, likewise; along each axis apart from these.
WRAPPING_NAMES = {
    "any_axis": "wraps along any axis",
    "all_axes": "wraps along all axes",
    "cross": "wraps in full rank",
}


@click.command()
@simulation_options
@click.option("--q", metavar="Q", type=int, default=2, show_default=True, help="How many states.")
@click.option(
    "--beta",
    metavar="B|critical",
    callback=parse_number_or_critical,
    help="The inverse temperature. Default: the critical one.",
)
@click.option(
    "--temperatures",
    metavar="A:B:N",
    callback=parse_numbers(":", [float, float, int], "A:B:N, two temperatures and how many"),
    help="N temperatures from A to B, side by side. They are kT in the units of J; as equal spins "
    "have the energy -J here, and others 0, those of the Ising convention are twice as high.",
)
@click.option("--coupling", metavar="J", type=float, default=1.0, show_default=True)
@periodic_option("all")
@click.option("--start", type=click.Choice(["hot", "cold"]), default="hot", show_default=True)
@click.option(
    "--update",
    type=click.Choice(UPDATES),
    default=UPDATES[0],
    show_default=True,
    help="The kind of updates: one of wolff flips one cluster; the others are sweeps.",
)
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
@click.option(
    "--clusters", is_flag=True, help="Measure sizes of clusters, too, which makes m^2 more exact."
)
@click.option("--wrapping", is_flag=True, help="Measure the probabilities that clusters wrap, too.")
def potts(
    settings: Settings,
    q: int,
    beta: str | float | None,
    temperatures: tuple[float, float, int] | None,
    coupling: float,
    periodic: bool | list[bool] | list[int],
    start: str,
    update: str,
    tile: list[int] | None,
    p_flip: float | None,
    clusters: bool,
    wrapping: bool,
) -> None:
    """Simulate the Potts model; of two states, the default, it is the Ising model.

    It prints means with their errors, from bins and by jackknife, and integrated autocorrelation
    times in updates. Components are the clusters that the next update draws.
    """
    settings.check()
    if beta is not None and temperatures is not None:
        raise click.UsageError("--beta and --temperatures exclude each other.")
    betas, lattices = _betas(beta, temperatures, settings.replicas)

    def build() -> Potts:
        return Potts(
            settings.shape,
            q,
            betas,
            coupling=coupling,
            periodic=closed_axes(periodic, len(settings.shape), "lattice"),
            replicas=lattices,
            seed=settings.seed,
            start=start,
            device=settings.device,
        )

    options = {"update": update, "tile": tile, "p_flip": p_flip}
    options |= {"clusters": clusters, "wrapping": wrapping}
    finished = run_model(settings, build, options)
    with finished.stage("statistics"):
        summaries = finished.run.summarise()[::-1]  # by temperature
    if settings.plot is not None:
        with finished.stage("plot"):
            _draw(settings.plot, finished, summaries)
    facts: list[Row] = []
    if update in ("swendsen-wang", "metropolis"):
        facts.append(finished.speed_row("spins"))
    if not all(summary.enough for summary in summaries):
        facts.append(("beware", "fewer than 100 autocorrelation times: errors may be too small"))
    finished.show(
        _model_row(finished.run.parameters),
        [as_plain(summary) for summary in summaries],
        _table(summaries),
        facts=facts,
    )


def _betas(
    beta: str | float | None,
    temperatures: tuple[float, float, int] | None,
    replicas: int | None,
) -> tuple[Any, int | None]:
    """Return the inverse temperatures, and how many lattices run side by side."""
    if temperatures is None:
        return "critical" if beta is None else beta, replicas
    first, last, count = temperatures
    if not (0 < first < math.inf and 0 < last < math.inf and 1 <= count <= 1 << 16):
        raise ValueError(
            f"--temperatures {first:g}:{last:g}:{count} must be two temperatures above 0, and from "
            f"1 to {1 << 16} of them"
        )
    lowest = min(first, last)
    if math.isinf(1 / lowest):
        raise ValueError(
            f"--temperatures {first:g}:{last:g}:{count} has {lowest:g}, of which no number is the "
            "inverse; choose a higher one"
        )
    betas = np.repeat(1 / np.linspace(first, last, count), replicas or 1)
    return betas, len(betas)


def _draw(path: Path, finished: Finished[Measurements], summaries: list[Summary]) -> None:
    run, model = finished.run, _model_row(finished.run.parameters)
    if len(summaries) > 1:
        observables = _observables(summaries)
        plot_scan(path, [1 / summary.beta for summary in summaries], observables, model[1])
        return
    series = {
        NAMES["energy"]: run.series.energy / run.series.lattice.sites,
        NAMES["magnetisation"]: run.series.magnetisation,
    }
    plot_observables(finished, model, series)


def _model_row(parameters: dict[str, Any]) -> Row:
    q = parameters["q"]
    kind = "Ising model" if q == 2 else f"Potts model of {q} states"
    lengths = " x ".join(map(str, parameters["shape"]))
    return "model", f"{kind}, {lengths}, {border_in_words(parameters['periodic'])}"


def _observables(summaries: list[Summary]) -> dict[str, list[Estimate]]:
    """Return by name what was estimated at each temperature."""
    observables = {name: [getattr(s, key) for s in summaries] for key, name in NAMES.items()}
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
