"""``conncomp simulate xy``."""

from __future__ import annotations

from typing import Any

from conncomp.cli.simulate._common import Settings
from conncomp.cli.simulate._vectors import run_vectors, vector_command
from conncomp.models import XY


@vector_command
def xy(settings: Settings, **given: Any) -> None:
    """Simulate the XY model: spins that are unit vectors in a plane, by clusters.

    It prints means with their errors, from bins and by jackknife, and integrated autocorrelation
    times in updates. Components are the clusters that the next update draws.
    """
    run_vectors(XY, settings, **given)
