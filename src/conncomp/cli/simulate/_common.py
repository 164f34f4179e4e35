"""The base of the commands of all models: options, the run with its pictures, the report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Generic, Literal

import click
import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp._array_storage import move_from_gpu
from conncomp._arrays import on_gpu
from conncomp._optional import optional
from conncomp.cli._options import Json, Positive, Threads, numbers, option, parsed
from conncomp.cli._output import check_distinct, output_file
from conncomp.cli._picture import NOTHING, Known, middle_plane, paint_labels, plot_scan, plot_series
from conncomp.cli._report import Row, Stages, show, speed_row, timing_row
from conncomp.cli._rules import excludes, needs
from conncomp.files.access import atomic_path
from conncomp.models import Model
from conncomp.models import simulate as simulate_model
from conncomp.models.checkpoint import Checkpoint
from conncomp.models.protocol import Measured
from conncomp.models.results import Estimate, Simulation
from conncomp.models.simulation import check_output

WRITTEN = "plot", "picture", "film", "checkpoint"
KEPT = "--output", "--plot", "--picture", "--film"  # what --force replaces
# A film has no frames of what came before an interruption.
RULES = (needs("--film-every", "--film"), excludes("--film", "--checkpoint"))
ONE_SIZE = (*RULES, needs("--force", *KEPT), needs("--checkpoint-every", "--checkpoint"))
SIZES = (
    *RULES,
    *(excludes("--folder", name) for name in ("--output", "--checkpoint", "--film")),
    needs("--force", *KEPT, "--folder"),
    needs("--checkpoint-every", "--checkpoint", "--folder"),
)
LENGTHS = numbers("x", [int], "not lengths such as 64x64")


OR_CRITICAL = "not a number or 'critical'; several need a run each, or an option that takes A:B:N"
OrCritical = Annotated[
    str | float, parsed(lambda text: text if text == "critical" else float(text), OR_CRITICAL)
]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of all simulations.

    --shape LxL...  The lengths of the lattice's axes.
    --replicas R  How many lattices to simulate side by side, at each of several temperatures.
    --seed N
    --sweeps N  How many updates to make after those of --thermalise.
    --thermalise N  How many updates to make first. Default: a tenth of --sweeps.
    --measure-every N  How many updates to make for each measurement.
    --output FILE.h5  Write the series and the parameters.
    --plot FILE.png  Draw the observables by temperature or, if there is one temperature, by update.
    --picture FILE.png  Paint the components of the last state of the first lattice; of three axes,
        those in the middle plane.
    --film FILE.gif  Paint the same plane again and again while the simulation goes on, as a GIF.
    --film-every N  How many measurements to make for each frame. Default: as many as make 100
        frames.
    --force  Replace files that are there.
    --checkpoint FILE  Keep the simulation here, and go on from there if it was killed.
    --checkpoint-every SECONDS
    --device  Where to simulate; results are the same on both.
    """

    shape: list[int] = option(type=LENGTHS, required=True)
    replicas: Positive | None
    seed: int = 0
    sweeps: int = option(required=True)
    thermalise: int | None
    measure_every: int = 1
    output: Path | None = option(type=output_file(".h5", ".hdf5"))
    plot: Path | None = option(type=output_file(".png"))
    picture: Path | None = option(type=output_file(".png"))
    film: Path | None = option(type=output_file(".gif"))
    film_every: Positive | None
    force: bool
    checkpoint: Path | None = option(type=output_file())
    checkpoint_every: float = 600.0
    device: Literal["cpu", "cuda"] = "cpu"
    threads: Threads | None
    as_json: Json

    def check(self) -> None:
        """Raise if what is to be written cannot be, before anything long starts."""
        check_distinct((self.output, self.plot, self.picture, self.film, self.checkpoint))
        if self.plot is not None:
            optional("matplotlib.figure")
        for path in (self.plot, self.picture, self.film):
            if path is not None:
                check_output(path, self.force)


@dataclass(frozen=True, kw_only=True)
class SettingsOfSizes(Settings):
    """The same of several sizes; of each, the shape is one of them.

    --shape LxL...  The lengths of the lattice's axes; again for each further size.
    --folder DIR  Keep series and a checkpoint of each size there, and go on from what is there.
    """

    RANK = 2

    shape: Any = option(type=LENGTHS, required=True, multiple=True)
    folder: Path | None = option(type=click.Path(file_okay=False, path_type=Path))


FRAMES, MILLISECONDS = 100, 80
# Frames are thinned out to this, and are in memory, a byte a pixel, until all are there.
LONGEST_SIDE = 800
MOST_FRAMES, MOST_PIXELS = 1000, 1 << 28


def film_every(shape: Sequence[int], measurements: int, every: int | None) -> int:
    """Return how many measurements a frame is for; ValueError if frames are too many.

    >>> film_every((64, 64), 2000, None)
    20
    """
    plane = middle_plane(np.broadcast_to(np.int8(0), shape), LONGEST_SIDE).pixels
    most = min(MOST_FRAMES, MOST_PIXELS // plane.size)
    chosen = max(1, -(-measurements // FRAMES)) if every is None else every
    frames = -(-measurements // chosen)
    if frames > most:
        height, width = plane.shape
        raise ValueError(
            f"--film would have {frames} frames of {width} x {height} pixels, and at most {most} "
            f"are taken; give --film-every {-(-measurements // most)} or more"
        )
    return chosen


class Film:
    """The frames of a film of the first lattice; components that stay keep their colours."""

    def __init__(self, shape: Sequence[int], every: int) -> None:
        self._image = optional("PIL.Image")
        self._shape, self._every, self._calls = shape, every, 0
        self._frames: list[Any] = []

    def __call__(self, model: Model[Any]) -> None:
        """Add a frame, if it is time for one."""
        if self._calls % self._every == 0:
            first = model.labels(numbering="roots").reshape(-1, *self._shape)[0]
            plane = middle_plane(first, LONGEST_SIDE).pixels
            roots = move_from_gpu(plane.copy()) if on_gpu(plane) else plane
            colours = conncomp.colour_components(roots, background=-1)
            self._frames.append(self._image.fromarray(colours).quantize())
        self._calls += 1

    def write(self, path: Path) -> None:
        """Write the film."""
        first, *later = self._frames
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            first.save(
                file, "GIF", save_all=True, append_images=later, duration=MILLISECONDS, loop=0
            )


@dataclass(frozen=True)
class Finished(Generic[Measured]):
    """A simulation that a command has run."""

    settings: Settings
    run: Simulation[Measured]
    stage: Stages = field(default_factory=Stages)  # for the stages that follow
    cell: int = 1  # how many sites there are for each element of the shape

    def show(
        self, model: str, summaries: Any, table: Sequence[Row], *, facts: Sequence[Row] = ()
    ) -> None:
        """Print the report: summaries for JSON, a table for people, and further facts."""
        settings, parameters = self.settings, self.run.parameters
        written = {"series": settings.output, **{name: getattr(settings, name) for name in WRITTEN}}
        by = {"device": settings.device, "threads": conncomp.get_num_threads()}
        found = {"summaries": summaries, "seconds": self.stage.seconds, "written": written}
        updates = parameters["thermalise"] + parameters["sweeps"]
        kind = f" of {parameters['update']}" if "update" in parameters else ""
        made = f"{updates:,}{kind}, the first {parameters['thermalise']:,} to thermalise"
        rows: list[Row] = [("model", model), ("updates", made)]
        rows += [("replicas", f"{parameters['replicas']:,}"), ("seed", str(parameters["seed"]))]
        rows += [timing_row(self.stage.seconds), *facts]
        rows += [(name, str(path)) for name, path in written.items() if path]
        report = {"model": parameters, **by, **found}
        show(report, rows, table, as_json=settings.as_json, names=1)

    def plot(
        self,
        model: str,
        series: Mapping[str, NDArray[Any]],
        known: Known = NOTHING,
        temperatures: Sequence[float] = (),
        estimates: Mapping[str, Any] | None = None,
    ) -> None:
        """Draw observables, if wanted: estimates at several temperatures, or else series.

        Series are of shape (rows,) or (rows, replicas).
        """
        path, updates = self.settings.plot, self.run.updates
        if path is None:
            return
        with self.stage("plot"):
            if len(temperatures) > 1 and estimates is not None:
                plot_scan(path, temperatures, estimates, model, known)
                return
            shaped = {name: values.reshape(len(updates), -1) for name, values in series.items()}
            beta, levels = self.run.arrays.get("beta"), {}
            if beta is not None and len(np.unique(beta)) == 1 and beta.max() > 0:
                at = 1 / beta.reshape(-1)[:1]
                for name, (called, values) in known.curves.items():
                    levels[name] = called, float(values(at)[0])
            plot_series(path, updates, shaped, model, levels)

    def speed_row(self, elements: str) -> Row:
        """Return the row on how many elements were updated in a second."""
        parameters = self.run.parameters
        updates = parameters["thermalise"] + parameters["sweeps"]
        count = math.prod(parameters["shape"]) * self.cell * parameters["replicas"] * updates
        speed = count / self.stage.seconds["simulating"]
        return speed_row(speed, elements, conncomp.get_num_threads(), self.settings.device)


def run_model(
    settings: Settings, model: Any, given: Any, *, cell: int = 1, **options: Any
) -> Finished[Any]:
    """Simulate a model by settings, and write all but the plot.

    Other arguments are `given` to the model, and `options` to `simulate`; `cell` sites are painted
    in a row.
    """
    making = [vars(base)["__init__"] for base in model.__mro__ if "__init__" in vars(base)]
    stage = Stages()
    with stage("starting", device=settings.device):
        simulated = model(**(_arguments(settings, *making) | given))
    painted = (*settings.shape[:-1], settings.shape[-1] * cell)
    film = None
    if settings.film is not None:
        measurements = len(range(0, settings.sweeps, max(1, settings.measure_every)))
        film = Film(painted, film_every(painted, measurements, settings.film_every))
    begin = perf_counter()
    thermalise = settings.sweeps // 10 if settings.thermalise is None else settings.thermalise
    try:
        known = _arguments(settings, model.updater, simulate_model)
        known |= {"thermalise": thermalise, "progress": True, "watch": film, **options}
        run = simulate_model(simulated, **known)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_kept(settings.checkpoint, thermalise + settings.sweeps)) from None
    stage.seconds["simulating"] = perf_counter() - begin
    if film is not None and settings.film is not None:
        with stage("film"):
            film.write(settings.film)
    if settings.picture is not None:
        with stage("picture", device=settings.device):
            first = simulated.labels().reshape(-1, *painted)[0]
            paint_labels(settings.picture, move_from_gpu(first) if on_gpu(first) else first)
    return Finished(settings, run, stage, cell)


def _arguments(settings: Settings, *functions: Callable[..., Any]) -> dict[str, Any]:
    """Return the arguments of functions that settings have, by name."""
    names = {name for function in functions for name in signature(function).parameters}
    return {name: getattr(settings, name) for name in names if hasattr(settings, name)}


def _kept(checkpoint: Path | None, updates: int) -> str:
    """Return what an interrupted simulation of so many updates leaves, and how to go on."""
    done = facts_of(checkpoint).get("updates")
    if done is not None:
        return f"{done:,} of {updates:,} updates are kept in {checkpoint}: the same command goes on"
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
        return list(map(as_plain, value))
    known = isinstance(value, str) or (value is not None and math.isfinite(value))
    return value if known else None


def as_table(columns: Mapping[str, Sequence[str]]) -> list[Row]:
    """Return a line for each entry of columns or, of single entries, a line for each column."""
    if all(len(cells) == 1 for cells in columns.values()):
        return [("observable", "value ± error"), *((name, *cell) for name, cell in columns.items())]
    return [tuple(columns), *zip(*columns.values(), strict=True)]


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
