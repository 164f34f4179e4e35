"""``conncomp simulate percolation``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import click
import numpy as np

from conncomp.cli._options import Axes, closed_axes, option
from conncomp.cli._report import Row
from conncomp.cli._rules import command
from conncomp.cli.simulate import _common as common
from conncomp.cli.simulate._places import borders_in_words
from conncomp.models import Percolation
from conncomp.models.percolation.lattices import LATTICES
from conncomp.models.percolation.model import KINDS
from conncomp.models.results import PercolationMeasurements

# Of each observable of a summary, what it is called in tables and pictures.
NAMES = {
    "occupied": "share that is there",
    "clusters": "clusters a site",
    "largest_cluster": "share of the largest cluster",
    "mean_size": "mean size without it",
    "wraps_any": "wraps along any axis",
    "wraps_all": "wraps along all axes",
    "cross": "wraps in full rank",
}


@dataclass(frozen=True, kw_only=True)
class Settings(common.Settings):
    """The options of percolation.

    --kind  Whether sites or bonds are occupied at random.
    --p P|critical  The probability that a site or bond is occupied. Default: the threshold.
    """

    kind: Annotated[str, click.Choice(KINDS)] = KINDS[0]
    p: common.OrCritical | None
    lattice: Annotated[str, click.Choice(LATTICES)] = LATTICES[0]
    periodic: Axes = option(default="all")


@command(Settings, *common.ONE_SIZE)
def percolation(settings: Settings) -> None:
    """Draw configurations of percolation, and measure their clusters.

    An update is a new configuration, so none are thermalised by default. It prints means with their
    errors, and the numbers n_s of clusters of s sites, a site of the lattice.
    """
    settings.check()
    if settings.thermalise is None:
        settings = replace(settings, thermalise=0)

    closed = closed_axes(settings.periodic, len(settings.shape), "lattice")
    p = "critical" if settings.p is None else settings.p
    finished = common.run_model(settings, Percolation, {"p": p, "periodic": closed})
    series, model = finished.run.series, _in_words(finished.run.parameters)
    with finished.stage("statistics"):
        summary = series.summarise()
    drawn = "clusters", "largest_cluster"
    finished.plot(model, {NAMES[k]: getattr(series, k) / series.lattice.sites for k in drawn})
    table: list[Row] = [("observable", "value ± error")]
    table += [(name, common.shown(getattr(summary, key))) for key, name in NAMES.items()]
    table += _size_rows(series)
    finished.show(model, common.as_plain(summary), table, facts=[finished.speed_row("sites")])


def _size_rows(series: PercolationMeasurements) -> list[Row]:
    numbers = series.cluster_numbers
    means = numbers.reshape(-1, numbers.shape[-1]).mean(axis=0)
    return [
        (f"n_s, s from {1 << k} to {(2 << k) - 1}" if k else "n_s, s = 1", f"{means[k]:.4g}")
        for k in np.flatnonzero(means).tolist()
    ]


def _in_words(parameters: dict[str, Any]) -> str:
    lengths, lattice = " x ".join(map(str, parameters["shape"])), parameters["lattice"]
    border = borders_in_words(parameters["periodic"])
    of_lattice = f" of a {lattice} lattice" if lattice != LATTICES[0] else ""
    kind = f"{parameters['kind']}s{of_lattice}"
    return f"percolation of {kind}, {lengths}, {border}, p = {parameters['p']:.8g}"
