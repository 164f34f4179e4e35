"""``conncomp simulate``: a command for each model."""

from __future__ import annotations

import click

from conncomp.cli.simulate.cahn_hilliard import cahn_hilliard
from conncomp.cli.simulate.kawasaki import kawasaki
from conncomp.cli.simulate.percolation import percolation
from conncomp.cli.simulate.potts import potts


@click.group()
def simulate() -> None:
    """Simulate models of statistical physics by the clusters of their links."""


simulate.add_command(cahn_hilliard)
simulate.add_command(kawasaki)
simulate.add_command(percolation)
simulate.add_command(potts)
