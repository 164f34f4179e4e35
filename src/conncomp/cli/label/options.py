"""What ``conncomp label`` is given."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from numpy.typing import NDArray

from conncomp._arguments import shown
from conncomp._memory import parse_bytes
from conncomp.cli._errors import say
from conncomp.cli._output import is_within_zarr
from conncomp.cli._rules import excludes, needs, no_effect
from conncomp.files.hdf5 import is_hdf5
from conncomp.files.label_values import has_fractions
from conncomp.files.slabs import Raw
from conncomp.files.thresholds import WAYS, window_of


@dataclass(frozen=True)
class Options:
    """What the command is given."""

    input: Path
    output: Path | None
    key: str | None
    channel: int | None
    grey: bool
    threshold: int | float | str | None
    background: int | float
    connectivity: int | None
    periodic: bool | list[bool] | list[int]
    top: int | None
    min_size: int | None
    stats: Path | None
    spacing: tuple[float, ...] | None
    picture: Path | None
    device: str
    as_json: bool
    stats_only: bool
    raw: Raw | None
    memory: int | None
    scheduler: str | None
    join_time: bool

    @property
    def is_whole(self) -> bool:
        """Whether the image is read whole."""
        return not (self.has_chunks or self.stats_only)

    @property
    def has_chunks(self) -> bool:
        """Whether the volume, or its labels, are labelled block by block."""
        if self.input.is_dir() or (self.input.is_file() and is_hdf5(self.input)):
            return True
        output = self.output
        return output is not None and (output.suffix.lower() == ".zarr" or is_within_zarr(output))


RULES = (
    excludes("--channel", "--grey"),
    needs("--spacing", "--stats"),
    needs("--raw", "--stats-only"),
    no_effect(
        "is not for volumes in chunks; leave it out",
        lambda given: Options(**given).has_chunks,
        *("--grey", "--stats", "--picture", "--device cuda", "--stats-only"),
    ),
    no_effect(
        "is for threads of this process, and workers of --scheduler have their own; leave one out",
        lambda given: given["scheduler"] is not None,
        *("--memory", "--threads"),
    ),
    no_effect(
        "needs the whole image, and --stats-only has slabs only; leave one out",
        lambda given: given["stats_only"],
        *("--output", "--key", "--channel", "--grey", "--top", "--picture", "--scheduler"),
        "--device cuda",
    ),
    no_effect(
        "is for --stats-only, or labels in Zarr; give both, or leave it out",
        lambda given: Options(**given).is_whole,
        *("--memory", "--scheduler"),
    ),
)


def check_floats(options: Options, values: NDArray[Any]) -> None:
    """Tell on standard error that fractions are labelled, of which hardly two are equal."""
    if options.threshold is None and has_fractions(values):
        say(
            f"{options.input}: holds fractions, of dtype {values.dtype}, and only neighbours of "
            "exactly equal value are connected; give --threshold 0 for what is > 0, or another "
            "threshold, or save labels by .astype(int)"
        )


def finite(number: Any) -> Any:
    """Return what JSON has, a finite number or text."""
    return number if isinstance(number, str) or math.isfinite(number) else str(number)


def number(text: str) -> int | float:
    """Return the number that `text` is; whole ones as int, so that 64-bit values stay exact."""
    try:
        value: int | float = int(text)
    except ValueError:
        value = float(text)
    if abs(value) > sys.float_info.max and "inf" not in text.lower():
        raise ValueError("beyond the range of floating point")
    return value


def parse_threshold(
    context: click.Context, option: click.Parameter, text: str | None
) -> int | float | str | None:
    """Return a threshold, or the name of a way to find one."""
    if text is None or text in WAYS:
        return text
    if text.startswith("local"):
        try:
            return f"local:{window_of(text)}"
        except ValueError as error:
            raise click.BadParameter(f"{error}.", context, option) from None
    try:
        value = number(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise click.BadParameter(
            f"{typed(text)} is neither a number that floating point can hold nor one of "
            f"{', '.join(WAYS)}.",
            context,
            option,
        )
    return value


def check_is_number(threshold: int | float | str | None) -> None:
    """Raise where a threshold is to be found, of what is not read whole."""
    if isinstance(threshold, str):
        raise click.UsageError(f"--threshold {threshold} needs the whole image; give a number.")


def check_background(threshold: int | float | str | None, background: int | float) -> None:
    """Raise where the background is no value of an image that a threshold makes."""
    if threshold is not None and background not in (0, 1):
        raise click.UsageError(
            f"--background {shown(background)}: with --threshold the image has the values "
            "0 and 1 only; choose one of them, or leave one of the options out."
        )


def parse_background(context: click.Context, option: click.Parameter, text: str) -> int | float:
    """Return the value of the background."""
    try:
        return number(text)
    except ValueError:
        raise click.BadParameter(
            f"{typed(text)} is not a number that floating point can hold.", context, option
        ) from None


def parse_memory(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    """Return a number of bytes."""
    try:
        return None if text is None else parse_bytes(text)
    except ValueError:
        raise click.BadParameter(
            f"{typed(text or '')} is no number of bytes, such as '8G'.", context, option
        ) from None


def typed(text: str) -> str:
    """Return what was typed, in quotes, and its beginning only if it is long."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


background_option = click.option(
    "--background",
    metavar="V",
    default="0",
    callback=parse_background,
    show_default=True,
    help="The value that is background; with --threshold, 0 or 1.",
)
connectivity_option = click.option(
    "--connectivity",
    metavar="N",
    type=click.IntRange(min=1),
    help="Along how many axes neighbours may differ: 1 for faces only. Default: all.",
)
