"""``conncomp simulate on``."""

from __future__ import annotations

from typing import Any

import click

from conncomp.cli.simulate._common import Settings
from conncomp.cli.simulate._vectors import run_vectors, vector_command
from conncomp.models import ON


@vector_command
@click.option(
    "--n", metavar="N", type=int, default=4, show_default=True, help="How many components."
)
def on(settings: Settings, **given: Any) -> None:
    """Simulate the O(n) model: spins that are unit vectors of n components, 4 to 8, by clusters.

    It prints means with their errors, from bins and by jackknife, and integrated autocorrelation
    times in updates. Components are the clusters that the next update draws.
    """
    run_vectors(ON, settings, **given)
