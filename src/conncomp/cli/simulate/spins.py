"""``conncomp simulate`` of models that clusters update: ising, potts, xy, heisenberg, clock, on."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, Literal

import click
import numpy as np
from numpy.typing import ArrayLike

from conncomp.cli._options import Axes, numbers, option
from conncomp.cli._report import Row
from conncomp.cli._rules import Command, command, excludes, needs
from conncomp.cli.simulate import SUMMARIES
from conncomp.cli.simulate import _common as common
from conncomp.cli.simulate._exact import known_of
from conncomp.cli.simulate._places import (
    Range,
    Temperatures,
    borders_of,
    place_in_words,
    sites_of_cell,
    temperature_in_words,
    temperatures_of,
    values_of,
)
from conncomp.cli.simulate._sizes import run_sizes, show_sizes
from conncomp.models import ON, XY, Clock, Heisenberg, Ising, Model, Potts
from conncomp.models.lattices import LATTICES
from conncomp.models.results import Estimate, Summary
from conncomp.models.spins.updates import OF_VECTORS, ON_EDGES, UPDATES

# Of each observable of a `Summary`, what it is called in tables and pictures.
NAMES = {
    "energy": "energy a site",
    "specific_heat": "specific heat",
    "magnetisation": "magnetisation",
    "susceptibility": "susceptibility",
    "squared_magnetisation": "m^2",
    "binder_ratio": "<m^4>/<m^2>^2",
    "helicity_modulus": "helicity modulus",
    "vortices": "vortices a site",
    "correlation_length": "correlation length",
    "correlation_ratio": "correlation length / L",
    "energy_time": "tau of energy",
    "magnetisation_time": "tau of m^2",
}
# Of each probability of a `WrappingSummary`, likewise; along each axis apart from these.
WRAPPING_NAMES = {
    "any_axis": "wraps along any axis",
    "all_axes": "wraps along all axes",
    "cross": "wraps in full rank",
}


HYPERCUBIC = "hypercubic, of as many axes as there are lengths"
Lattice = Annotated[str, click.Choice(list(LATTICES))]


@dataclass(frozen=True, kw_only=True)
class Settings(common.SettingsOfSizes):
    """The options of a model that clusters update.

    --coupling J
    --lattice  --shape counts its unit cells, along its primitive vectors.
    --update  The kind of updates: one of wolff flips one cluster; the others are sweeps.
    --clusters  Measure sizes of clusters, too, which makes m^2 more exact.
    --wrapping  Measure the probabilities that clusters wrap, too.
    --observe  Measure this, too; again for each. Of structure follows the correlation length.
    """

    RANK = 1

    coupling: float = 1.0
    field: float = 0.0
    lattice: Lattice | None = option(show_default=HYPERCUBIC)
    periodic: Axes = option(default="all")
    start: Literal["hot", "cold"] = "hot"
    update: str  # each model has its own
    clusters: bool
    wrapping: bool
    observe: tuple[str, ...] = option(type=click.Choice(["structure"]), multiple=True)


@dataclass(frozen=True, kw_only=True)
class PottsSettings(Settings):
    """The options of the Potts model.

    --q Q  How many states.
    --beta B|critical  The inverse temperature. Default: the critical one.
    --temperatures A:B:N  N temperatures from A to B, side by side. They are kT in the units of J;
        as equal spins have the energy -J here, and others 0, those of the Ising convention are
        twice as high.
    --field H  The energy of a spin of state 0 is -H.
    --tile LxL...  With few-cluster: the lengths of tiles, in each of which one site is chosen.
    --p-flip P  With few-cluster: the probability that the cluster of a chosen site flips.
    """

    q: int = 2
    beta: common.OrCritical | None
    temperatures: Temperatures | None
    update: Annotated[str, click.Choice(UPDATES)] = UPDATES[0]
    tile: list[int] | None = option(type=numbers("x", [int], "not lengths such as 32x32"), rank=1)
    p_flip: float | None = option(rank=1)


@dataclass(frozen=True, kw_only=True)
class TurningSettings(Settings):
    """The options of a model whose axes may close with the opposite coupling.

    --antiperiodic AXES  Axes that close on themselves with the opposite coupling; named as those of
        --periodic.
    --temperature T|critical  kT in units of J. Default: the critical one, where it is known.
    --temperatures A:B:N  N temperatures from A to B, side by side.
    """

    antiperiodic: Axes = option(default="none", rank=1)
    temperature: common.OrCritical | None
    temperatures: Temperatures | None


@dataclass(frozen=True, kw_only=True)
class IsingSettings(TurningSettings):
    """The options of the Ising model.

    --beta B  The inverse temperature, instead of the temperature.
    --betas A:B:N  N inverse temperatures from A to B, side by side.
    --coupling J  The energy of a bond is -J between equal spins, and J between others. An
        antiferromagnet has one below 0.
    --field H  The energy of a spin is -H if it is up, and H if not.
    """

    beta: float | None
    betas: Range | None
    lattice: Lattice = "square"
    update: Annotated[str, click.Choice(ON_EDGES)] = ON_EDGES[0]


@dataclass(frozen=True, kw_only=True)
class VectorSettings(TurningSettings):
    """The options of spins that are vectors.

    --field H  The energy of a spin is -H times its first component.
    """

    update: Annotated[str, click.Choice(OF_VECTORS)] = OF_VECTORS[0]
    observe: tuple[Literal["structure", "helicity_modulus", "vortices"], ...]


@dataclass(frozen=True, kw_only=True)
class ClockSettings(VectorSettings):
    """The options of the clock model.

    --q Q  How many directions.
    """

    q: int = option(required=True)


@dataclass(frozen=True, kw_only=True)
class OnSettings(VectorSettings):
    """The options of the O(n) model.

    --n N  How many components.
    """

    n: int = 4


@command(
    PottsSettings,
    *common.SIZES,
    excludes("--beta", "--temperatures"),
    needs("--tile --p-flip", "--update few-cluster"),
)
def potts(settings: PottsSettings) -> None:
    """Simulate the Potts model; of two states, the default, it is the Ising model.

    It prints means with their errors, from bins and by jackknife, and integrated autocorrelation
    times in updates. Components are the clusters that the next update draws.
    """
    _run(Potts, settings, beta="critical" if settings.beta is None else settings.beta)


ONE_SCALE = excludes("--temperature", "--temperatures", "--beta", "--betas")


@command(IsingSettings, *common.SIZES, ONE_SCALE)
def ising(settings: IsingSettings) -> None:
    """Simulate the Ising model on lattices such as the triangular, honeycomb or diamond one.

    Energies and temperatures are those of -J sum of s_i s_j - H sum of s_i, with spins of ±1. It
    prints means with their errors, from bins and by jackknife, and integrated autocorrelation times
    in updates. Components are the clusters that the next update draws; a picture has the sites of a
    cell of the lattice side by side.
    """
    others: dict[str, Any] = {}
    if settings.betas is not None:
        first, last, count = settings.betas
        values = values_of("--betas", settings.betas)
        if min(values) < 0:
            raise ValueError(f"--betas {first:g}:{last:g}:{count} must not be negative")
        others = _side_by_side(settings, "beta", values)
    _run(Ising, settings, **others)


def _of_vectors(model: type[Model[Any]], settings: Any = VectorSettings) -> Command:
    """Return the command of a model of spins that are vectors."""

    def run(settings: Any) -> None:
        _run(model, settings)

    name = model.__name__.lower()
    run.__doc__ = f"""{SUMMARIES[name]}

    It prints means with their errors, from bins and by jackknife, and integrated autocorrelation
    times in updates. Components are the clusters that the next update draws.
    """
    rules = *common.SIZES, excludes("--temperature", "--temperatures")
    return command(settings, *rules, name=name)(run)


clock, on = _of_vectors(Clock, ClockSettings), _of_vectors(ON, OnSettings)
heisenberg, xy = _of_vectors(Heisenberg), _of_vectors(XY)


def _side_by_side(settings: Settings, name: str, values: ArrayLike) -> dict[str, Any]:
    """Return arguments by which replicas of several temperatures run together."""
    each = np.repeat(values, settings.replicas or 1)
    return {name: each, "replicas": len(each)}


def _run(model: Any, settings: PottsSettings | TurningSettings, **others: Any) -> None:
    """Simulate a model of each size, with other arguments than settings have, and report it."""
    lattice, antiperiodic = settings.lattice, getattr(settings, "antiperiodic", False)
    if settings.temperatures is not None:
        others |= _side_by_side(settings, "temperature", temperatures_of(settings.temperatures))

    def run(own: common.Settings) -> common.Finished[Any]:
        axes = len(own.shape) if lattice is None else len(LATTICES[lattice].vectors)
        given = {"periodic": borders_of(settings.periodic, antiperiodic, axes), **others}
        return common.run_model(own, model, given, cell=sites_of_cell(lattice))

    finished = run_sizes(settings, run)
    parameters = finished[0].run.parameters
    if len(finished) > 1:
        show_sizes(finished, settings, _in_words, _observables, known_of(parameters))
        return
    [one] = finished
    with one.stage("statistics"):
        summaries = one.run.summarise()
    observables, measured = _observables(summaries), one.run.series
    has_vectors = parameters["model"] not in ("Ising", "Potts")
    length = measured.squared_magnetisation**0.5 if has_vectors else measured.magnetisation
    energy = measured.energy / measured.lattice.sites
    series = {NAMES["energy"]: energy, NAMES["magnetisation"]: length}
    at = [1 / summary.beta if summary.beta else inf for summary in summaries]
    model = _in_words(parameters)
    one.plot(model, series, known_of(parameters), at, observables)
    facts: list[Row] = []
    if parameters["update"] not in ("wolff", "few-cluster"):
        facts.append(one.speed_row("spins"))
    facts += common.doubt_rows({"": summaries})
    # A line for each temperature or, of one temperature, a line for each observable.
    columns = {"temperature": [temperature_in_words(summary.beta) for summary in summaries]}
    if not has_vectors:
        columns["beta"] = [f"{summary.beta:.6g}" for summary in summaries]
    columns |= {name: list(map(common.shown, each)) for name, each in observables.items()}
    one.show(model, list(map(common.as_plain, summaries)), common.as_table(columns), facts=facts)


def _observables(summaries: list[Summary]) -> dict[str, list[Estimate]]:
    """Return by name what was estimated at each temperature, and how clusters wrap, if measured."""
    known = [key for key in NAMES if getattr(summaries[0], key) is not None]
    observables = {NAMES[key]: [getattr(summary, key) for summary in summaries] for key in known}
    wrapping = [summary.wrapping for summary in summaries if summary.wrapping is not None]
    if wrapping:
        for axis in range(len(wrapping[0].along)):
            observables[f"wraps along axis {axis}"] = [part.along[axis] for part in wrapping]
        for key, name in WRAPPING_NAMES.items():
            observables[name] = [getattr(part, key) for part in wrapping]
    return observables


def _in_words(parameters: dict[str, Any]) -> str:
    model = {"Clock": "clock", "ON": "O(n)"}.get(parameters["model"], parameters["model"])
    kind = f"{model} model"
    if model == "Potts":
        kind = "Ising model" if parameters["q"] == 2 else f"Potts model of {parameters['q']} states"
    elif model == "Ising" and parameters["coupling"] < 0:
        kind = "Ising antiferromagnet"
    else:
        kind += "".join(f" of {name} = {parameters[name]}" for name in "qn" if name in parameters)
    field = f", field {parameters['field']:g}" if parameters.get("field") else ""
    return f"{kind}, {place_in_words(parameters)}{field}"
