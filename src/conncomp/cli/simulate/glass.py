"""``conncomp simulate glass``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Annotated, Any, Literal

import click
import numpy as np

from conncomp.cli._options import Axes, Positive, closed_axes, option
from conncomp.cli._rules import command, excludes, no_effect
from conncomp.cli.simulate import _common as common
from conncomp.cli.simulate._exact import ENERGY_OF_BOND, known_of_glass
from conncomp.cli.simulate._places import Range, Temperatures, temperatures_of
from conncomp.cli.simulate._sizes import Curves, run_sizes, show_sizes, size_of
from conncomp.kernels.updates import LOCAL_RULES
from conncomp.models import SpinGlass
from conncomp.models._arguments import distinct
from conncomp.models.disorder import KINDS
from conncomp.models.results import GlassSeries, OverlapSummary

PAIR = 2  # of copies, by default
# Of observables of an `OverlapSummary`, what they are called in tables and pictures.
NAMES = {
    "correlation_ratio": "xi/L",
    "binder_ratio": "Binder ratio",
    "squared_overlap": "q^2",
    "link_overlap": "link overlap",
}
IDENTITY = {"equilibration_test": "off Katzgraber-Young"}  # of Gaussian couplings
DRAWN = "correlation_ratio", "binder_ratio"


@dataclass(frozen=True, kw_only=True)
class Settings(common.SettingsOfSizes):
    """The options of spin glasses.

    --positive P  Which share of ±J is positive.
    --dilution P  Which share of the bonds is absent.
    --temperatures A:B:N  N temperatures from A to B, side by side.
    --temperature T  One temperature instead.
    --samples N  How many sets of couplings there are of each size.
    --houdayer  Move clusters of pairs of replicas after each sweep.
    --tempering  Whether replicas exchange temperatures. Default: if there are several.
    """

    couplings: Annotated[str, click.Choice(KINDS)] = "pm"
    positive: float | None
    dilution: float | None
    temperatures: Temperatures | None
    temperature: float | None
    samples: Positive = 16
    periodic: Axes = option(default="all")
    update: Annotated[str, click.Choice(LOCAL_RULES)] = LOCAL_RULES[0]
    houdayer: bool
    tempering: bool | None = option("--tempering/--no-tempering", default=None)
    start: Literal["hot", "cold"] = "hot"


@command(
    Settings,
    *common.SIZES,
    excludes("--temperatures", "--temperature"),
    no_effect(
        "is for several --temperatures; leave it out",
        lambda given: (given["temperatures"] or (0, 0, 1))[2] == 1,
        "--tempering",
    ),
)
def glass(settings: Settings) -> None:
    """Simulate Ising spin glasses of several sizes, temperatures and samples.

    Two copies of each sample and temperature run side by side, or --replicas of them, and overlap:
    it prints the correlation length as a share of the length, Binder's ratio, the mean square of
    the overlap and that of links, with errors over samples; with Gaussian couplings what the
    identity of Katzgraber and Young leaves, which is 0 in equilibrium. Components are domains of
    spins that are up.
    """
    betas = _inverses(settings.temperature, settings.temperatures)
    exchanges = len(betas) > 1 if settings.tempering is None else settings.tempering
    copies = settings.replicas or PAIR
    given = {"beta": betas, "temperature": None, "copies": copies, "replicas": None}

    def run(own: common.Settings) -> common.Finished[Any]:
        of_size = {"periodic": closed_axes(settings.periodic, len(own.shape), "lattice"), **given}
        return common.run_model(own, SpinGlass, of_size, overlaps=True, tempering=exchanges)

    finished = run_sizes(settings, run)
    parameters = finished[-1].run.parameters
    is_whole = parameters["couplings"] == "pm" and not parameters["dilution"]
    known = known_of_glass(parameters["positive"], is_whole)

    def drawn(curves: Curves) -> Curves:
        return {NAMES[name]: curves[NAMES[name]] for name in DRAWN} | _energies(finished)

    show_sizes(finished, settings, partial(_in_words, settings), _observables, known, drawn)


def _inverses(one: float | None, several: Range | None) -> Any:
    """Return the inverse temperatures that either option gives."""
    if several is None:
        if one is None:
            raise click.UsageError("Give either --temperatures A:B:N or --temperature T.")
        several = one, one, 1
    return 1 / temperatures_of(several)


def _in_words(settings: Settings, parameters: dict[str, Any]) -> str:
    positive, dilution = settings.positive, settings.dilution
    kind = {"pm": "±J", "gaussian": "Gaussian"}[settings.couplings]
    share = "" if positive is None else f", {positive:g} positive"
    absent = "" if dilution is None else f", {dilution:g} absent"
    sizes, samples = ", ".join(parameters["shape"]), f"{settings.samples:,} samples"
    return f"{kind} spin glass{share}{absent}, {sizes}, {samples}"


def _observables(summaries: list[OverlapSummary]) -> dict[str, list[Any]]:
    names = NAMES if summaries[0].equilibration_test is None else {**NAMES, **IDENTITY}
    return {name: [getattr(each, key) for each in summaries] for key, name in names.items()}


def _energies(finished: list[common.Finished[GlassSeries]]) -> Curves:
    """Return mean energies a bond, with the errors that samples have, by size and temperature."""
    of_sizes = {}
    for each in finished:
        series, samples = each.run.series, each.run.parameters["samples"]
        betas = distinct(series.beta)
        energies = series.energy.mean(axis=0).reshape(samples, len(betas), -1).mean(axis=2)
        energies /= series.lattice.bonds
        errors = energies.std(axis=0, ddof=1) / sqrt(samples) if samples > 1 else 0 * betas
        points = np.stack([1 / betas, energies.mean(axis=0), errors], axis=1).tolist()
        of_sizes[size_of(each)] = [(t, mean, error) for t, mean, error in points]
    return {ENERGY_OF_BOND: of_sizes}
