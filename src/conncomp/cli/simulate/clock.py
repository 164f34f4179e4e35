"""``conncomp simulate clock``."""

from __future__ import annotations

from typing import Any

import click

from conncomp.cli.simulate._common import Settings
from conncomp.cli.simulate._vectors import run_vectors, vector_command
from conncomp.models import Clock


@vector_command
@click.option("--q", metavar="Q", type=int, required=True, help="How many directions.")
def clock(settings: Settings, **given: Any) -> None:
    """Simulate the clock model: spins of q directions in a plane, by clusters.

    It prints means with their errors, from bins and by jackknife, and integrated autocorrelation
    times in updates. Components are the clusters that the next update draws.
    """
    run_vectors(Clock, settings, **given)
