"""``conncomp simulate cahn-hilliard``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import click
import numpy as np

from conncomp.cli._report import Row
from conncomp.cli._rules import command
from conncomp.cli.simulate import _common as common
from conncomp.models import CahnHilliard
from conncomp.models.cahn_hilliard.model import DTYPES
from conncomp.models.results import DomainMeasurements

# Of each observable of `DomainMeasurements` with one number a lattice, what it is called.
NAMES = {
    "energy": "energy",
    "mean": "mean of the field",
    "interface": "interface faces a cell",
    "domain_size": "domain size",
}
OF_PHASES = {"components": "components", "largest_component": "largest component"}
PHASES = "above", "below"


@dataclass(frozen=True, kw_only=True)
class Settings(common.Settings):
    """The options of the equation; most are arguments of `CahnHilliard`.

    --mobility M
    --b B
    --u U
    --K K
    --dx DX
    --dt DT  The time step. Default: 0.8 of the stable bound.
    --mean PHI  The mean of the first field.
    --amplitude A  The first field is uniform between PHI - A and PHI + A.
    --noise T  The temperature of the conserved noise.
    --threshold PHI  Where the field is above, there is one phase; everywhere else, the other one.
    """

    mobility: float = 1.0
    b: float = 1.0
    u: float = 1.0
    K: float = 1.0
    dx: float = 1.0
    dt: float | None
    mean: float = 0.0
    amplitude: float = 0.1
    noise: float = 0.0
    dtype: Annotated[str, click.Choice(DTYPES)] = DTYPES[0]
    threshold: float = 0.0


@command(Settings, *common.ONE_SIZE, name="cahn-hilliard")
def cahn_hilliard(settings: Settings) -> None:
    """Simulate the equation of Cahn and Hilliard: a mixture that separates into two phases.

    d phi/dt = M lap(-B phi + U phi^3 - K lap phi) on a torus of two or three axes. It prints the
    last measurement, the mean of all lattices. Components are the domains of phi above 0.
    """
    settings.check()
    try:
        finished = common.run_model(settings, CahnHilliard, {})
    except FloatingPointError as error:
        raise click.ClickException(str(error)) from None
    parameters = finished.run.parameters
    lengths = " x ".join(map(str, parameters["shape"]))
    model = f"Cahn-Hilliard equation, {lengths} cells, dt = {parameters['dt']:g}"
    finished.plot(model, {name: getattr(finished.run.series, key) for key, name in NAMES.items()})
    last = _last(finished.run.series)
    time = float(finished.run.updates[-1]) * parameters["dt"]
    table: list[Row] = [("observable", f"at time {time:g}")]
    table += [(name, f"{value:.6g}") for name, value in last.items()]
    summaries = {"time": time, **{name: common.as_plain(value) for name, value in last.items()}}
    finished.show(model, summaries, table, facts=[finished.speed_row("cells")])


def _last(series: DomainMeasurements) -> dict[str, Any]:
    """Return the last measurement, the mean of all replicas, by name."""
    last = {name: float(np.mean(getattr(series, key)[-1])) for key, name in NAMES.items()}
    for key, name in OF_PHASES.items():
        of_phases = getattr(series, key)[-1].reshape(-1, len(PHASES)).mean(axis=0)
        last |= {f"{name} {phase}": float(n) for phase, n in zip(PHASES, of_phases, strict=True)}
    return last
