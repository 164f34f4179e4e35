"""``conncomp simulate kawasaki``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from conncomp.cli._rules import command, excludes
from conncomp.cli.simulate import _common as common
from conncomp.cli.simulate._places import MOST_POINTS, Range, values_of
from conncomp.models import Kawasaki, jackknife
from conncomp.models.results import Estimate, KawasakiMeasurements, Simulation

# Of each observable of a `Point`, what it is called in tables and pictures.
NAMES = {
    "energy": "energy a site",
    "components": "components",
    "largest_fraction": "largest component, of the system",
}


class Point(NamedTuple):
    """Means at one temperature and share of spins that are up."""

    temperature: float
    fraction: float
    measurements: int
    energy: Estimate
    components: Estimate
    largest_fraction: Estimate


@dataclass(frozen=True, kw_only=True)
class Settings(common.Settings):
    """The options of Kawasaki dynamics.

    --lattice  bcc is body-centred cubic: --shape counts sites along its primitive vectors.
    --temperature T|critical  kT in units of J, in the Ising convention. Default: the critical one
        of --fraction 0.5.
    --beta BETA  The inverse temperature, in place of --temperature.
    --temperatures A:B:N  N temperatures from A to B, side by side.
    --fraction F  The share of spins that are up. Default: 0.5.
    --fractions A:B:N  N fractions from A to B, side by side, at each temperature.
    --coupling J
    """

    lattice: Literal["bcc", "sc", "square"] = "bcc"
    temperature: common.OrCritical | None
    beta: float | None
    temperatures: Range | None
    fraction: float | None
    fractions: Range | None
    coupling: float = 1.0


@command(
    Settings,
    *common.ONE_SIZE,
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
    beta, temperature = settings.beta, settings.temperature
    if temperature is None or temperature == "critical":
        temperature = settings.coupling * Kawasaki.critical_temperature(settings.lattice)
    along: Any = [float(temperature)] if beta is None else [beta]
    if settings.temperatures is not None:
        along = values_of("--temperatures", settings.temperatures)
    across: Any = [0.5 if settings.fraction is None else settings.fraction]
    if settings.fractions is not None:
        across = values_of("--fractions", settings.fractions)
    count, each = len(along) * len(across), settings.replicas or 1
    if count > MOST_POINTS:
        raise ValueError(
            f"--temperatures and --fractions make {count} points; choose {MOST_POINTS} or fewer"
        )

    named: dict[str, Any] = {"temperature": None, "beta": None}
    named["fraction"] = np.tile(np.repeat(across, each), len(along))
    one = along[0]
    if settings.temperatures is not None or settings.fractions is not None:
        one, named["replicas"] = np.repeat(along, len(across) * each), count * each
    named["temperature" if beta is None else "beta"] = one
    finished = common.run_model(settings, Kawasaki, named)
    with finished.stage("statistics"):
        points = _summarise(finished, count)
    lengths = " x ".join(map(str, finished.run.parameters["shape"]))
    lattice = {"bcc": "body-centred cubic", "sc": "simple cubic"}.get(settings.lattice, "square")
    model = f"Kawasaki dynamics, {lattice}, {lengths} sites, periodic"
    series = {NAMES[key]: values for key, values in _series(finished.run).items()}
    observables = {name: [getattr(p, key) for p in points] for key, name in NAMES.items()}
    at = [point.temperature for point in points]
    temperatures = at if len(set(at)) == len(points) else []
    finished.plot(model, series, temperatures=temperatures, estimates=observables)
    at_points = "temperature", "fraction"
    columns = {key: [f"{getattr(point, key):.6g}" for point in points] for key in at_points}
    columns |= {name: list(map(common.shown, each)) for name, each in observables.items()}
    facts = [finished.speed_row("spins")]
    finished.show(model, list(map(common.as_plain, points)), common.as_table(columns), facts=facts)


def _series(run: Simulation[KawasakiMeasurements]) -> dict[str, Any]:
    """Return the observables that have `NAMES`, of shape (rows,) or (rows, replicas)."""
    series = {key: np.asarray(getattr(run.series, key), float) for key in NAMES}
    series["energy"] /= run.series.lattice.sites
    return series


def _summarise(finished: common.Finished[KawasakiMeasurements], points: int) -> list[Point]:
    """Return a `Point` for each, whose replicas are side by side."""
    run = finished.run
    shape = len(run.updates), points, -1
    series = [each.reshape(shape).transpose(1, 0, 2) for each in _series(run).values()]
    replicas = points * series[0].shape[2]
    temperatures, fractions = (
        np.broadcast_to(run.arrays[name].reshape(-1), replicas).reshape(points, -1)[:, 0].tolist()
        for name in ("temperature", "fraction")
    )
    return [
        Point(t, share, each[0].size, *(jackknife(lambda mean: mean, values) for values in each))
        for t, share, *each in zip(temperatures, fractions, *series, strict=True)
    ]
