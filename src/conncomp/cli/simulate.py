"""``conncomp simulate``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np

import conncomp
from conncomp._optional import optional
from conncomp.cli._device import stages_on
from conncomp.cli._options import closed_axes, json_option, periodic_option, threads_option
from conncomp.cli._output import check_distinct, output_file
from conncomp.cli._picture import need_matplotlib, plot_scan, plot_series
from conncomp.cli._report import Row, Stages, show, speed_row, timing_row
from conncomp.models import Estimate, Measurements, Potts, Simulation, Summary
from conncomp.models import simulate as simulate_model
from conncomp.models.potts import UPDATES
from conncomp.models.simulation import check_output

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


def _parse_numbers(
    separator: str, kinds: Sequence[Callable[[str], Any]], wanted: str
) -> Callable[..., list[Any] | None]:
    """Return a click callback for numbers of these kinds, or for any number of one kind."""

    def parse(
        context: click.Context, option: click.Parameter, text: str | None
    ) -> list[Any] | None:
        if text is None:
            return None
        words = text.split(separator)
        each = kinds if len(kinds) > 1 else list(kinds) * len(words)
        try:
            return [kind(word) for kind, word in zip(each, words, strict=True)]
        except ValueError:
            shown = repr(text if len(text) <= 40 else f"{text[:37]}...")
            raise click.BadParameter(f"{shown} is not {wanted}.", context, option) from None

    return parse


def _parse_beta(
    context: click.Context, option: click.Parameter, text: str | None
) -> str | float | None:
    if text == "critical":
        return text
    numbers = _parse_numbers(":", [float], "a number or 'critical'")(context, option, text)
    return None if numbers is None else float(numbers[0])


@click.group()
def simulate() -> None:
    """Simulate models of statistical physics by the clusters of their links."""


@simulate.command()
@click.option(
    "--shape",
    metavar="LxL...",
    required=True,
    callback=_parse_numbers("x", [int], "lengths such as 64x64"),
    help="The lengths of the lattice's one to four axes.",
)
@click.option("--q", metavar="Q", type=int, default=2, show_default=True, help="How many states.")
@click.option(
    "--beta",
    metavar="B|critical",
    callback=_parse_beta,
    help="The inverse temperature. Default: the critical one.",
)
@click.option(
    "--temperatures",
    metavar="A:B:N",
    callback=_parse_numbers(":", [float, float, int], "A:B:N, two temperatures and how many"),
    help="N temperatures from A to B, side by side. They are kT in the units of J; as equal spins "
    "have the energy -J here, and others 0, those of the Ising convention are twice as high.",
)
@click.option("--coupling", metavar="J", type=float, default=1.0, show_default=True)
@periodic_option("all")
@click.option(
    "--replicas", metavar="R", type=click.IntRange(1), help="So many lattices at each temperature."
)
@click.option("--seed", metavar="N", type=int, default=0, show_default=True)
@click.option("--start", type=click.Choice(["hot", "cold"]), default="hot", show_default=True)
@click.option(
    "--sweeps",
    metavar="N",
    type=int,
    required=True,
    help="How many updates to measure: sweeps, or clusters of wolff.",
)
@click.option("--update", type=click.Choice(UPDATES), default=UPDATES[0], show_default=True)
@click.option(
    "--tile",
    metavar="LxL...",
    callback=_parse_numbers("x", [int], "lengths such as 32x32"),
    help="Of few-cluster: one site in each tile chooses a cluster.",
)
@click.option(
    "--p-flip", metavar="P", type=float, help="Of few-cluster: how probably a cluster flips."
)
@click.option(
    "--thermalise",
    metavar="N",
    type=int,
    help="How many updates to make first. Default: a tenth of --sweeps.",
)
@click.option("--measure-every", metavar="N", type=int, default=1, show_default=True)
@click.option("--clusters", is_flag=True, help="Measure sizes of clusters, too: more exact m^2.")
@click.option(
    "-o",
    "--output",
    metavar="FILE.h5",
    callback=output_file(".h5", ".hdf5"),
    help="Write the series and the parameters.",
)
@click.option(
    "--plot",
    metavar="FILE.png",
    callback=output_file(".png"),
    help="Draw the observables by temperature, or as they went if there is one temperature.",
)
@click.option("--force", is_flag=True, help="Replace files that are there.")
@click.option(
    "--checkpoint",
    metavar="FILE",
    callback=output_file(),
    help="Keep the simulation here, and go on from there if it was killed.",
)
@click.option("--checkpoint-every", metavar="SECONDS", type=float, default=600.0, show_default=True)
@click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="Where to simulate; spins are the same on both.",
)
@threads_option
@json_option
def potts(
    shape: list[int],
    q: int,
    beta: str | float | None,
    temperatures: tuple[float, float, int] | None,
    coupling: float,
    periodic: bool | list[bool] | list[int],
    replicas: int | None,
    seed: int,
    start: str,
    sweeps: int,
    update: str,
    tile: list[int] | None,
    p_flip: float | None,
    thermalise: int | None,
    measure_every: int,
    clusters: bool,
    output: Path | None,
    plot: Path | None,
    force: bool,
    checkpoint: Path | None,
    checkpoint_every: float,
    device: str,
    as_json: bool,
) -> None:
    """Simulate the Potts model; of two states, the default, it is the Ising model.

    It prints means with their errors, from bins and by jackknife, and integrated autocorrelation
    times in updates.
    """
    check_distinct((output, plot, checkpoint))
    if beta is not None and temperatures is not None:
        raise click.UsageError("--beta and --temperatures exclude each other.")
    optional("emcee.autocorr", "models")  # not only when all is done
    if plot is not None:
        need_matplotlib()
        check_output(plot, force)
    betas, lattices = _betas(beta, temperatures, replicas)
    stage = Stages()
    with stages_on(device, stage)("starting"):
        model = Potts(
            shape,
            q,
            betas,
            coupling=coupling,
            periodic=closed_axes(periodic, len(shape), "lattice"),
            replicas=lattices,
            seed=seed,
            start=start,
            device=device,
        )
    begin = perf_counter()
    run = simulate_model(
        model,
        sweeps,
        update=update,
        tile=tile,
        p_flip=p_flip,
        thermalise=sweeps // 10 if thermalise is None else thermalise,
        measure_every=measure_every,
        clusters=clusters,
        output=output,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
        progress=True,
        force=force,
    )
    stage.seconds["simulating"] = perf_counter() - begin
    with stage("statistics"):
        summaries = run.summarise()[::-1]  # by temperature
    if plot is not None:
        with stage("picture"):
            _draw(plot, run, summaries)
    report: dict[str, Any] = {
        "model": run.parameters,
        "device": device,
        "threads": conncomp.get_num_threads(),
        "summaries": [_as_json(summary) for summary in summaries],
        "seconds": stage.seconds,
        "written": {"series": output, "picture": plot, "checkpoint": checkpoint},
    }
    show(report, _facts(report, summaries), _table(summaries), as_json=as_json, names=1)


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
    betas = np.repeat(1 / np.linspace(first, last, count), replicas or 1)
    return betas, len(betas)


def _draw(path: Path, run: Simulation[Measurements], summaries: list[Summary]) -> None:
    title = _model_row(run.parameters)[1]
    if len(summaries) > 1:
        observables = {name: [getattr(s, key) for s in summaries] for key, name in NAMES.items()}
        plot_scan(path, [1 / summary.beta for summary in summaries], observables, title)
        return
    rows = len(run.updates)
    series = {
        NAMES["energy"]: run.series.energy.reshape(rows, -1) / run.series.lattice.sites,
        NAMES["magnetisation"]: run.series.magnetisation.reshape(rows, -1),
    }
    plot_series(path, run.updates, series, title)


def _model_row(parameters: dict[str, Any]) -> Row:
    q, closed = parameters["q"], parameters["periodic"]
    kind = "Ising model" if q == 2 else f"Potts model of {q} states"
    lengths = " x ".join(map(str, parameters["shape"]))
    axes = ", ".join(str(k) for k, closes in enumerate(closed) if closes)
    border = "periodic" if all(closed) else f"periodic along {axes}" if axes else "open"
    return "model", f"{kind}, {lengths}, {border}"


def _facts(report: dict[str, Any], summaries: list[Summary]) -> list[Row]:
    parameters, seconds = report["model"], report["seconds"]
    updates = parameters["thermalise"] + parameters["sweeps"]
    rows: list[Row] = [
        _model_row(parameters),
        (
            "updates",
            f"{updates:,} of {parameters['update']}, the first {parameters['thermalise']:,} to "
            "thermalise",
        ),
        ("replicas", f"{parameters['replicas']:,}"),
        ("seed", str(parameters["seed"])),
        timing_row(seconds),
    ]
    if parameters["update"] in ("swendsen-wang", "metropolis"):
        spins = math.prod(parameters["shape"]) * parameters["replicas"] * updates
        speed = spins / seconds["simulating"]
        rows.append(speed_row(speed, "spins", report["threads"], report["device"]))
    if not all(summary.enough for summary in summaries):
        rows.append(("beware", "fewer than 100 autocorrelation times: errors may be too small"))
    return rows + [(name, str(path)) for name, path in report["written"].items() if path]


def _table(summaries: list[Summary]) -> list[Row]:
    """Return a line for each temperature or, of one temperature, a line for each observable."""
    columns = {
        "temperature": [f"{1 / s.beta:.6g}" if s.beta else "inf" for s in summaries],
        "beta": [f"{summary.beta:.6g}" for summary in summaries],
        **{name: [_shown(getattr(s, key)) for s in summaries] for key, name in NAMES.items()},
    }
    if len(summaries) == 1:
        return [
            ("observable", "value ± error"),
            *((name, cell) for name, [cell] in columns.items()),
        ]
    return [tuple(columns), *zip(*columns.values(), strict=True)]


def _shown(estimate: Estimate) -> str:
    """Return a value with as many digits as its error has, which has two.

    Examples
    --------
    >>> _shown(Estimate(-1.414213, 0.00123)), _shown(Estimate(1234.5, 67.8))
    ('-1.4142 ± 0.0012', '1234 ± 68')
    """
    value, error = estimate
    if not (math.isfinite(value) and 0 < error < math.inf):
        return f"{value:.6g}" if math.isfinite(value) else "-"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def _as_json(summary: Summary) -> dict[str, Any]:
    """Return a dict without NaN, which JSON has not."""

    def plain(value: Any) -> Any:
        if isinstance(value, Estimate):
            return {name: plain(number) for name, number in value._asdict().items()}
        return value if math.isfinite(value) else None

    return {name: plain(value) for name, value in summary._asdict().items()}
