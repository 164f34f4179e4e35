"""``conncomp simulate cahn-hilliard``."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from conncomp.cli._report import Row
from conncomp.cli.simulate._common import (
    Settings,
    as_plain,
    plot_observables,
    run_model,
    simulation_command,
)
from conncomp.models import CahnHilliard, DomainMeasurements
from conncomp.models.cahn_hilliard.model import DTYPES

# Of each observable of `DomainMeasurements` with one number a lattice, what it is called.
NAMES = {
    "energy": "energy",
    "mean": "mean of the field",
    "interface": "interface faces a cell",
    "domain_size": "domain size",
}
OF_PHASES = {
    "components": "components",
    "largest_component": "largest component",
}
PHASES = "above", "below"


@simulation_command(name="cahn-hilliard")
@click.option("--mobility", metavar="M", type=float, default=1.0, show_default=True)
@click.option("--b", metavar="B", type=float, default=1.0, show_default=True)
@click.option("--u", metavar="U", type=float, default=1.0, show_default=True)
@click.option("--K", "K", metavar="K", type=float, default=1.0, show_default=True)
@click.option("--dx", metavar="DX", type=float, default=1.0, show_default=True)
@click.option(
    "--dt", metavar="DT", type=float, help="The time step. Default: 0.8 of the stable bound."
)
@click.option(
    "--mean",
    metavar="PHI",
    type=float,
    default=0.0,
    show_default=True,
    help="The mean of the first field.",
)
@click.option(
    "--amplitude",
    metavar="A",
    type=float,
    default=0.1,
    show_default=True,
    help="The first field is uniform between PHI - A and PHI + A.",
)
@click.option(
    "--noise",
    metavar="T",
    type=float,
    default=0.0,
    show_default=True,
    help="The temperature of the conserved noise.",
)
@click.option("--dtype", type=click.Choice(DTYPES), default=DTYPES[0], show_default=True)
@click.option(
    "--threshold",
    metavar="PHI",
    type=float,
    default=0.0,
    show_default=True,
    help="Where the field is above, there is one phase; everywhere else, the other one.",
)
def cahn_hilliard(
    settings: Settings,
    mobility: float,
    b: float,
    u: float,
    K: float,
    dx: float,
    dt: float | None,
    mean: float,
    amplitude: float,
    noise: float,
    dtype: str,
    threshold: float,
) -> None:
    """Simulate the equation of Cahn and Hilliard: a mixture that separates into two phases.

    d phi/dt = M lap(-B phi + U phi^3 - K lap phi) on a torus of two or three axes. It prints the
    last measurement, the mean of all lattices. Components are the domains of phi above 0.
    """
    settings.check()

    def build() -> CahnHilliard:
        return CahnHilliard(
            settings.shape,
            mobility=mobility,
            b=b,
            u=u,
            K=K,
            dx=dx,
            dt=dt,
            mean=mean,
            amplitude=amplitude,
            noise=noise,
            dtype=dtype,
            replicas=settings.replicas,
            seed=settings.seed,
            device=settings.device,
        )

    try:
        finished = run_model(settings, build, {"threshold": threshold})
    except FloatingPointError as error:
        raise click.ClickException(str(error)) from None
    parameters = finished.run.parameters
    lengths = " x ".join(map(str, parameters["shape"]))
    model = "model", f"Cahn-Hilliard equation, {lengths} cells, dt = {parameters['dt']:g}"
    if settings.plot is not None:
        with finished.stage("plot"):
            shown = {name: getattr(finished.run.series, key) for key, name in NAMES.items()}
            plot_observables(finished, model, shown)
    last = _last(finished.run.series)
    time = float(finished.run.updates[-1]) * parameters["dt"]
    table: list[Row] = [("observable", f"at time {time:g}")]
    table += [(name, f"{value:.6g}") for name, value in last.items()]
    summaries = {"time": time, **{name: as_plain(value) for name, value in last.items()}}
    finished.show(model, summaries, table, facts=[finished.speed_row("cells")])


def _last(series: DomainMeasurements) -> dict[str, Any]:
    """Return the last measurement, the mean of all replicas, by name."""
    last = {name: float(np.mean(getattr(series, key)[-1])) for key, name in NAMES.items()}
    for key, name in OF_PHASES.items():
        of_phases = getattr(series, key)[-1].reshape(-1, len(PHASES)).mean(axis=0)
        last |= {f"{name} {phase}": float(n) for phase, n in zip(PHASES, of_phases, strict=True)}
    return last
