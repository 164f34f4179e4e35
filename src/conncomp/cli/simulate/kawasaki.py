"""``conncomp simulate kawasaki``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from conncomp.cli._options import option
from conncomp.cli._picture import plot_scan
from conncomp.cli._report import Row
from conncomp.cli._rules import command, excludes
from conncomp.cli.simulate import _common as common
from conncomp.cli.simulate._common import (
    ONE_SIZE,
    Finished,
    arguments_of,
    as_plain,
    as_table,
    number_or_critical_option,
    plot_observables,
    run_model,
    shown,
)
from conncomp.cli.simulate._places import MOST_POINTS, Range, range_option, values_of
from conncomp.models import Kawasaki, jackknife
from conncomp.models.results import Estimate, KawasakiMeasurements

# Of each observable of a `Point`, what it is called in tables and pictures.
NAMES = {
    "energy": "energy a site",
    "components": "components",
    "largest_fraction": "largest component, of the system",
}


class Point(NamedTuple):
    """What was measured at a temperature and a share of spins that are up."""

    temperature: float
    fraction: float
    measurements: int
    energy: Estimate
    components: Estimate
    largest_fraction: Estimate


@dataclass(frozen=True)
class Settings(common.Settings):
    """What the user chose of Kawasaki dynamics."""

    lattice: Literal["bcc", "sc", "square"] = option(
        "bcc is body-centred cubic: --shape counts sites along its primitive vectors.",
        default="bcc",
    )
    temperature: str | float | None = number_or_critical_option(
        "kT in units of J, in the Ising convention. Default: the critical one of --fraction 0.5.",
        "T|critical",
    )
    beta: float | None = option("The inverse temperature, in place of --temperature.", "BETA")
    temperatures: Range | None = range_option("N temperatures from A to B, side by side.")
    fraction: float | None = option("The share of spins that are up. Default: 0.5.", "F")
    fractions: Range | None = range_option(
        "N fractions from A to B, side by side, at each temperature."
    )
    coupling: float = option(None, "J", default=1.0)


@command(
    Settings,
    *ONE_SIZE,
    excludes("--beta", "--temperature", "--temperatures"),
    excludes("--fraction", "--fractions"),
)
def kawasaki(settings: Settings) -> None:
    """Simulate the Ising model with Kawasaki dynamics: neighbouring spins change places.

    It prints means with their errors, from bins and by jackknife, of the energy and of the
    components of the spins that are up. The lengths of --shape are multiples of 4, and the lattice
    is periodic.
    """
    settings.check()
    lattice, coupling, beta = settings.lattice, settings.coupling, settings.beta
    temperature = settings.temperature
    if temperature is None or temperature == "critical":
        temperature = coupling * Kawasaki.critical_temperature(lattice)
    along = [float(temperature)] if beta is None else [beta]
    if settings.temperatures is not None:
        along = values_of("--temperatures", settings.temperatures)
    across = [0.5 if settings.fraction is None else settings.fraction]
    if settings.fractions is not None:
        across = values_of("--fractions", settings.fractions)
    side_by_side = settings.temperatures is not None or settings.fractions is not None
    each = settings.replicas or 1
    if len(along) * len(across) > MOST_POINTS:
        raise ValueError(
            f"--temperatures and --fractions make {len(along) * len(across)} points; choose "
            f"{MOST_POINTS} or fewer"
        )

    def build() -> Kawasaki:
        chosen = np.repeat(along, len(across) * each) if side_by_side else along[0]
        named: dict[str, Any] = {"temperature": None, "beta": None}
        named["temperature" if beta is None else "beta"] = chosen
        named["fraction"] = np.tile(np.repeat(across, each), len(along))
        if side_by_side:
            named["replicas"] = len(along) * len(across) * each
        return Kawasaki(settings.shape, **arguments_of(Kawasaki, settings, **named))

    finished = run_model(settings, build, {})
    with finished.stage("statistics"):
        points = _summarise(finished, len(along) * len(across))
    model = _model_row(finished.run.parameters)
    if settings.plot is not None:
        with finished.stage("plot"):
            _draw(finished, points, model)
    finished.show(
        model,
        [as_plain(point) for point in points],
        _table(points),
        facts=[finished.speed_row("spins")],
    )


def _summarise(finished: Finished[KawasakiMeasurements], points: int) -> list[Point]:
    """Return a `Point` for each, whose replicas are side by side."""
    run = finished.run
    rows = len(run.updates)

    def of_points(values: Any) -> Any:
        return np.asarray(values, float).reshape(rows, points, -1).transpose(1, 0, 2)

    series = {name: of_points(getattr(run.series, name)) for name in NAMES}
    series["energy"] /= run.series.lattice.sites
    temperatures, fractions = (
        np.broadcast_to(run.arrays[name].reshape(-1), series["energy"].shape[2] * points)
        .reshape(points, -1)[:, 0]
        .tolist()
        for name in ("temperature", "fraction")
    )
    return [
        Point(
            temperatures[k],
            fractions[k],
            series["energy"][k].size,
            *(jackknife(lambda mean: mean, series[name][k]) for name in NAMES),
        )
        for k in range(points)
    ]


def _draw(finished: Finished[KawasakiMeasurements], points: list[Point], model: Row) -> None:
    assert finished.settings.plot is not None
    temperatures = {point.temperature for point in points}
    if len(points) > 1 and len(temperatures) == len(points):
        observables = {name: [getattr(p, key) for p in points] for key, name in NAMES.items()}
        at = [point.temperature for point in points]
        plot_scan(finished.settings.plot, at, observables, model[1])
        return
    series = finished.run.series
    shown_series = {name: np.asarray(getattr(series, key)) for key, name in NAMES.items()}
    shown_series[NAMES["energy"]] = series.energy / series.lattice.sites
    plot_observables(finished, model, shown_series)


def _model_row(parameters: dict[str, Any]) -> Row:
    names = {"bcc": "body-centred cubic", "sc": "simple cubic", "square": "square"}
    lengths = " x ".join(map(str, parameters["shape"]))
    return "model", f"Kawasaki dynamics, {names[parameters['lattice']]}, {lengths} sites, periodic"


def _table(points: list[Point]) -> list[Row]:
    """Return a line for each point or, of a single one, a line for each observable."""
    columns = {
        "temperature": [f"{point.temperature:.6g}" for point in points],
        "fraction": [f"{point.fraction:.6g}" for point in points],
        **{name: [shown(getattr(p, key)) for p in points] for key, name in NAMES.items()},
    }
    return as_table(columns)
