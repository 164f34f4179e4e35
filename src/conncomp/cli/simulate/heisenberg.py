"""``conncomp simulate heisenberg``."""

from __future__ import annotations

from typing import Any

from conncomp.cli.simulate._common import Settings
from conncomp.cli.simulate._vectors import run_vectors, vector_command
from conncomp.models import Heisenberg


@vector_command
def heisenberg(settings: Settings, **given: Any) -> None:
    """Simulate the classical Heisenberg model: spins that are unit vectors in space, by clusters.

    It prints means with their errors, from bins and by jackknife, and integrated autocorrelation
    times in updates. Components are the clusters that the next update draws.
    """
    run_vectors(Heisenberg, settings, **given)
