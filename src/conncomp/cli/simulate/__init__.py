"""``conncomp simulate``: a command for each model."""

from __future__ import annotations

import click

from conncomp.cli._command import GroupOfLater, Later


@click.group(cls=GroupOfLater)
def simulate() -> None:
    """Simulate models of statistical physics by the clusters of their links."""


SUMMARIES = {
    "cahn-hilliard": "Simulate the equation of Cahn and Hilliard: a mixture that separates into "
    "two phases.",
    "clock": "Simulate the clock model: spins of q directions in a plane, by clusters.",
    "glass": "Simulate Ising spin glasses of several sizes, temperatures and samples.",
    "heisenberg": "Simulate the classical Heisenberg model: spins that are unit vectors in space, "
    "by clusters.",
    "ising": "Simulate the Ising model on lattices such as the triangular, honeycomb or diamond "
    "one.",
    "kawasaki": "Simulate the Ising model with Kawasaki dynamics: neighbouring spins change "
    "places.",
    "on": "Simulate the O(n) model: spins that are unit vectors of n components, 4 to 8, by "
    "clusters.",
    "percolation": "Draw configurations of percolation, and measure their clusters.",
    "potts": "Simulate the Potts model; of two states, the default, it is the Ising model.",
    "xy": "Simulate the XY model: spins that are unit vectors in a plane, by clusters.",
}
for name, summary in SUMMARIES.items():
    of_spins = name in ("clock", "heisenberg", "ising", "on", "potts", "xy")
    module = "spins" if of_spins else name.replace("-", "_")
    simulate.add_command(Later(f"conncomp.cli.simulate.{module}", name, summary))
