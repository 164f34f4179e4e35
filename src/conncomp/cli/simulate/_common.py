"""What the commands of all models share: options, the run with its pictures, and the report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import wraps
from pathlib import Path
from time import perf_counter
from typing import Any, Generic

import click
import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp._arrays import move_from_gpu, on_gpu
from conncomp._optional import optional
from conncomp._text import printable
from conncomp.cli._device import stages_on
from conncomp.cli._options import json_option, threads_option
from conncomp.cli._output import check_distinct, output_file
from conncomp.cli._picture import NOTHING, Known, paint_labels, plot_series
from conncomp.cli._report import Row, Stages, show, speed_row, timing_row
from conncomp.cli._rules import Rule, excludes, needs
from conncomp.cli._rules import command as command_of
from conncomp.cli.simulate._film import Film, film_every
from conncomp.models import Estimate, Model, Simulation
from conncomp.models import simulate as simulate_model
from conncomp.models.checkpoint import Checkpoint
from conncomp.models.protocol import Measured
from conncomp.models.simulation import check_output


def parse_numbers(
    separator: str, kinds: Sequence[Callable[[str], Any]], wanted: str
) -> Callable[..., list[Any] | None]:
    """Return a click callback for numbers of these kinds, or for any number of one kind."""

    def parse(
        context: click.Context, option: click.Parameter, text: str | None
    ) -> list[Any] | None:
        if text is None:
            return None
        words = text.split(separator)
        each = kinds if len(kinds) > 1 else list(kinds) * len(words)
        try:
            return [kind(word) for kind, word in zip(each, words, strict=True)]
        except ValueError:
            raise click.BadParameter(f"{_quoted(text)} is not {wanted}.", context, option) from None

    return parse


def _quoted(text: str) -> str:
    """Return what was typed, in quotes, and its beginning only if it is long."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def parse_number_or_critical(
    context: click.Context, option: click.Parameter, text: str | None
) -> str | float | None:
    """Return what a click option says: a number, or "critical"."""
    if text is None or text == "critical":
        return text
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(
            f"{_quoted(text)} is not a number or 'critical'; several need a run each, or an option "
            "that takes A:B:N.",
            context,
            option,
        ) from None


_parse_shape = parse_numbers("x", [int], "lengths such as 64x64")
OPTIONS = (
    click.option(
        "--shape",
        metavar="LxL...",
        required=True,
        callback=_parse_shape,
        help="The lengths of the lattice's axes.",
    ),
    click.option(
        "--replicas",
        metavar="R",
        type=click.IntRange(1),
        help="How many lattices to simulate side by side, at each of several temperatures.",
    ),
    click.option("--seed", metavar="N", type=int, default=0, show_default=True),
    click.option(
        "--sweeps",
        metavar="N",
        type=int,
        required=True,
        help="How many updates to make after those of --thermalise.",
    ),
    click.option(
        "--thermalise",
        metavar="N",
        type=int,
        help="How many updates to make first. Default: a tenth of --sweeps.",
    ),
    click.option(
        "--measure-every",
        metavar="N",
        type=int,
        default=1,
        show_default=True,
        help="How many updates to make for each measurement.",
    ),
    click.option(
        "-o",
        "--output",
        metavar="FILE.h5",
        callback=output_file(".h5", ".hdf5"),
        help="Write the series and the parameters.",
    ),
    click.option(
        "--plot",
        metavar="FILE.png",
        callback=output_file(".png"),
        help="Draw the observables by temperature or, if there is one temperature, by update.",
    ),
    click.option(
        "--picture",
        metavar="FILE.png",
        callback=output_file(".png"),
        help="Paint the components of the last state of the first lattice; of three axes, those in "
        "the middle plane.",
    ),
    click.option(
        "--film",
        metavar="FILE.gif",
        callback=output_file(".gif"),
        help="Paint the same plane again and again while the simulation goes on, as a GIF.",
    ),
    click.option(
        "--film-every",
        metavar="N",
        type=click.IntRange(1),
        help="How many measurements to make for each frame. Default: as many as make 100 frames.",
    ),
    click.option("--force", is_flag=True, help="Replace files that are there."),
    click.option(
        "--checkpoint",
        metavar="FILE",
        callback=output_file(),
        help="Keep the simulation here, and go on from there if it was killed.",
    ),
    click.option(
        "--checkpoint-every", metavar="SECONDS", type=float, default=600.0, show_default=True
    ),
    click.option(
        "--device",
        type=click.Choice(["cpu", "cuda"]),
        default="cpu",
        show_default=True,
        help="Where to simulate; results are the same on both.",
    ),
    threads_option,
    json_option,
)

KEPT = "--output", "--plot", "--picture", "--film"  # what --force replaces
# A film has no frames of what came before an interruption.
RULES = (needs("--film-every", "--film"), excludes("--film", "--checkpoint"))


SHAPES = click.option(
    "--shape",
    metavar="LxL...",
    required=True,
    multiple=True,
    callback=lambda *given: [_parse_shape(*given[:2], text) for text in given[2]],
    help="The lengths of the lattice's axes; again for each further size.",
)


@dataclass(frozen=True)
class Settings:
    """What the user chose by `OPTIONS`, under their names."""

    shape: list[int]
    replicas: int | None
    seed: int
    sweeps: int
    thermalise: int | None
    measure_every: int
    output: Path | None
    plot: Path | None
    picture: Path | None
    film: Path | None
    film_every: int | None
    force: bool
    checkpoint: Path | None
    checkpoint_every: float
    device: str
    as_json: bool

    def check(self) -> None:
        """Raise if what is to be written cannot be, before anything long starts."""
        check_distinct((self.output, self.plot, self.picture, self.film, self.checkpoint))
        if self.plot is not None:
            optional("matplotlib.figure")
        for path in (self.plot, self.picture, self.film):
            if path is not None:
                check_output(path, self.force)


def simulation_command(
    *rules: list[Rule], name: str | None = None
) -> Callable[[Callable[..., None]], click.Command]:
    """Return a decorator that makes a command, which has the options of all simulations."""
    own = (needs("--force", *KEPT), needs("--checkpoint-every", "--checkpoint"))
    return lambda function: command_of(*RULES, *own, *rules, name=name)(
        _with_settings(function, OPTIONS)
    )


def sizes_command(*rules: list[Rule]) -> Callable[[Callable[..., None]], click.Command]:
    """Return such a decorator for several sizes: the shape is one of a list of lists."""
    own = (
        *(excludes("--folder", name) for name in ("--output", "--checkpoint", "--film")),
        needs("--force", *KEPT, "--folder"),
        needs("--checkpoint-every", "--checkpoint", "--folder"),
    )
    return lambda function: command_of(*RULES, *own, *rules)(
        _with_settings(function, (SHAPES, *OPTIONS[1:]))
    )


def _with_settings(
    command: Callable[..., None], options: Sequence[Callable[..., Any]]
) -> Callable[..., None]:
    @wraps(command)
    def call(**arguments: Any) -> None:
        chosen = {each.name: arguments.pop(each.name) for each in fields(Settings)}
        command(Settings(**chosen), **arguments)

    for option in reversed(options):
        call = option(call)
    return call


@dataclass(frozen=True)
class Finished(Generic[Measured]):
    """A simulation that a command has run."""

    settings: Settings
    run: Simulation[Measured]
    stage: Stages = field(default_factory=Stages)  # for the stages that follow
    cell: int = 1  # how many sites there are for each element of the shape

    def show(
        self, model: Row, summaries: Any, table: Sequence[Row], *, facts: Sequence[Row] = ()
    ) -> None:
        """Print the report: summaries for JSON, a table for people, and further facts."""
        settings, parameters = self.settings, self.run.parameters
        report: dict[str, Any] = {
            "model": parameters,
            "device": settings.device,
            "threads": conncomp.get_num_threads(),
            "summaries": summaries,
            "seconds": self.stage.seconds,
            "written": {
                "series": settings.output,
                "plot": settings.plot,
                "picture": settings.picture,
                "film": settings.film,
                "checkpoint": settings.checkpoint,
            },
        }
        updates = parameters["thermalise"] + parameters["sweeps"]
        kind = f" of {parameters['update']}" if "update" in parameters else ""
        rows: list[Row] = [
            model,
            ("updates", f"{updates:,}{kind}, the first {parameters['thermalise']:,} to thermalise"),
            ("replicas", f"{parameters['replicas']:,}"),
            ("seed", str(parameters["seed"])),
            timing_row(self.stage.seconds),
            *facts,
            *((name, str(path)) for name, path in report["written"].items() if path),
        ]
        show(report, rows, table, as_json=settings.as_json, names=1)

    def speed_row(self, elements: str) -> Row:
        """Return the row on how many elements were updated in a second."""
        parameters = self.run.parameters
        updates = parameters["thermalise"] + parameters["sweeps"]
        count = math.prod(parameters["shape"]) * self.cell * parameters["replicas"] * updates
        speed = count / self.stage.seconds["simulating"]
        return speed_row(speed, elements, conncomp.get_num_threads(), self.settings.device)


def run_model(
    settings: Settings,
    build: Callable[[], Model[Measured]],
    options: Mapping[str, Any],
    cell: int = 1,
) -> Finished[Measured]:
    """Build the model and simulate it, with what is to be written of it but for the plot.

    The settings were checked. Pictures have the `cell` sites of each element side by side.
    """
    stage = Stages()
    timed = stages_on(settings.device, stage)
    with timed("starting"):
        model = build()
    painted = (*settings.shape[:-1], settings.shape[-1] * cell)
    film = None
    if settings.film is not None:
        measurements = len(range(0, settings.sweeps, max(1, settings.measure_every)))
        every = film_every(painted, measurements, settings.film_every)
        film = Film(painted, every)
    begin = perf_counter()
    thermalise = settings.sweeps // 10 if settings.thermalise is None else settings.thermalise
    try:
        run = simulate_model(
            model,
            settings.sweeps,
            thermalise=thermalise,
            measure_every=settings.measure_every,
            output=settings.output,
            checkpoint=settings.checkpoint,
            checkpoint_every=settings.checkpoint_every,
            progress=True,
            force=settings.force,
            watch=film,
            **options,
        )
    except KeyboardInterrupt:
        kept = _kept(settings.checkpoint, thermalise + settings.sweeps)
        click.echo(f"conncomp: interrupted; {kept}", err=True)
        raise SystemExit(130) from None
    stage.seconds["simulating"] = perf_counter() - begin
    if film is not None and settings.film is not None:
        with stage("film"):
            film.write(settings.film)
    if settings.picture is not None:
        with timed("picture"):
            first = model.labels().reshape(-1, *painted)[0]
            paint_labels(settings.picture, move_from_gpu(first) if on_gpu(first) else first)
    return Finished(settings, run, stage, cell)


def _kept(checkpoint: Path | None, updates: int) -> str:
    """Return what an interrupted simulation of so many updates leaves, and how to go on."""
    done = facts_of(checkpoint).get("updates")
    if done is not None:
        path = printable(str(checkpoint))
        return f"{done:,} of {updates:,} updates are kept in {path}: the same command goes on"
    given = click.get_current_context().params
    several = "folder" in given and len(given["shape"]) > 1
    option = "--folder DIR" if several else "--checkpoint FILE"
    return f"nothing is kept: with {option} it goes on where it ended"


def facts_of(checkpoint: Path | None) -> dict[str, Any]:
    """Return the facts of a checkpoint; none if there is none, or it cannot be read."""
    try:
        if checkpoint is not None:
            with Checkpoint(checkpoint) as held:
                return held.facts
    except (OSError, ValueError):
        pass  # is an error when the run reads it
    return {}


def plot_observables(
    finished: Finished[Any],
    model: Row,
    series: Mapping[str, NDArray[Any]],
    known: Known = NOTHING,
) -> None:
    """Draw series, of shape (rows,) or (rows, replicas), as they went."""
    assert finished.settings.plot is not None
    updates = finished.run.updates
    shaped = {name: values.reshape(len(updates), -1) for name, values in series.items()}
    beta = finished.run.arrays.get("beta")
    levels = {}
    if beta is not None and len(np.unique(beta)) == 1 and beta.max() > 0:
        at = 1 / beta.reshape(-1)[:1]
        levels = {
            name: (called, float(values(at)[0])) for name, (called, values) in known.curves.items()
        }
    plot_series(finished.settings.plot, updates, shaped, model[1], levels)


def border_in_words(periodic: Sequence[bool]) -> str:
    """Return which axes are periodic.

    >>> border_in_words([True, True]), border_in_words([False, True])
    ('periodic', 'periodic along 1')
    """
    axes = ", ".join(str(k) for k, closes in enumerate(periodic) if closes)
    return "periodic" if all(periodic) else f"periodic along {axes}" if axes else "open"


def shown(estimate: Estimate) -> str:
    """Return a value with as many digits as its error has, which has two.

    >>> shown(Estimate(-1.414213, 0.00123)), shown(Estimate(1234.5, 67.8))
    ('-1.4142 ± 0.0012', '1234 ± 68')
    """
    value, error = estimate
    if not (math.isfinite(value) and 0 < error < math.inf):
        return f"{value:.6g}" if math.isfinite(value) else "-"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def as_plain(value: Any) -> Any:
    """Return estimates, in tuples or alone, as dicts without NaN, which JSON has not."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: as_plain(part) for name, part in value._asdict().items()}
    if isinstance(value, tuple):
        return [as_plain(part) for part in value]
    if isinstance(value, str):
        return value
    return value if value is not None and math.isfinite(value) else None


MOST_DOUBTS = 6  # that are printed


def doubt_rows(summaries: Mapping[str, Sequence[Any]]) -> list[Row]:
    """Return rows on what speaks against equilibrium, of summaries by size, or by ""."""
    several = sum(map(len, summaries.values())) > 1
    found = []
    for size, of_size in summaries.items():
        for summary in of_size:
            temperature = f"T = {1 / summary.beta if summary.beta else math.inf:.6g}"
            where = ", ".join(filter(None, (size, temperature)))
            found += [f"{where}: {text}" if several else text for text in summary.doubts]
    rows: list[Row] = [("beware", text) for text in found[:MOST_DOUBTS]]
    if len(found) > MOST_DOUBTS:
        rows.append(("beware", f"and {len(found) - MOST_DOUBTS} more, which --json has"))
    return rows
