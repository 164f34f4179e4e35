"""What several commands take."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

import conncomp
from conncomp._arguments import shown


def _set_threads(context: click.Context, option: click.Parameter, threads: int | None) -> None:
    if threads is not None:
        conncomp.set_num_threads(threads)


def _parse_axes(
    context: click.Context, option: click.Parameter, text: str
) -> bool | list[bool] | list[int]:
    """Return one answer for all axes, one for each, or the numbers of the axes that close."""
    words = text.lower().replace(" ", "").split(",")
    if words in (["all"], ["none"]):
        return words == ["all"]
    if all(word in ("true", "false") for word in words):
        return [word == "true" for word in words]
    try:
        return [int(word) for word in words]
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not 'all', 'none', axes such as '0,2', or 'true,false,...'.",
            context,
            option,
        ) from None


def axes_option(name: str, default: str, help_: str) -> Callable[[Any], Any]:
    """Return an option that names axes; `closed_axes` makes one answer for each."""
    return click.option(
        name, metavar="AXES", default=default, callback=_parse_axes, show_default=True, help=help_
    )


def periodic_option(default: str) -> Callable[[Any], Any]:
    """Return the option that tells which axes close."""
    return axes_option(
        "--periodic",
        default,
        "Axes that close on themselves: all, none, a list such as 0,2, or true,false,true.",
    )


def closed_axes(
    axes: bool | list[bool] | list[int],
    ndim: int,
    what: str,
    option: str = "--periodic",
    separate: Sequence[int] = (),
) -> list[bool]:
    """Return for each axis whether the option names it; those of separate images never close."""
    if isinstance(axes, bool):
        return [axes and k not in separate for k in range(ndim)]
    closed = _named_axes(axes, ndim, what, option)
    for k in separate:
        if closed[k]:
            raise ValueError(f"{option}: axis {k} is one of time or channels, and does not close")
    return closed


def _named_axes(axes: list[bool] | list[int], ndim: int, what: str, option: str) -> list[bool]:
    if isinstance(axes[0], bool):
        if len(axes) != ndim:
            raise ValueError(f"{option} has {len(axes)} entries; the {what} has {ndim} axes")
        return [bool(closed) for closed in axes]
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise ValueError(f"{option}: the {what} has {ndim} axes, so there is no axis {axis}")
    return [k in axes or k - ndim in axes for k in range(ndim)]


def _parse_spacing(
    context: click.Context, option: click.Parameter, text: str | None
) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        lengths = tuple(float(word) for word in text.split(","))
    except ValueError:
        lengths = ()
    if not lengths or not all(0 < length < math.inf for length in lengths):
        raise click.BadParameter(
            f"{shown(text)} is not a positive, finite number for each axis, such as '2,0.5,0.5'.",
            context,
            option,
        )
    return lengths


def spacing_option(more: str) -> Callable[[Any], Any]:
    """Return the option that tells how far apart elements lie; `more` is what it does."""
    return click.option(
        "--spacing",
        metavar="D,D,...",
        callback=_parse_spacing,
        help=f"The distance of neighbouring elements along each axis, such as 2,0.5,0.5. {more}",
    )


def header_option(more: str) -> Callable[[Any], Any]:
    """Return the option that tells whether the first row of a CSV file names the columns."""
    return click.option(
        "--header/--no-header",
        default=None,
        help=f"Whether the first row of CSV and TSV has the names of columns. {more} Default: what "
        "the rows look like; a guess is printed.",
    )


def top_option(what: str) -> Callable[[Any], Any]:
    """Return the option that tells how many of the largest, components or clusters, to list."""
    return click.option(
        "--top",
        metavar="K",
        type=click.IntRange(min=1),
        default=5,
        show_default=True,
        help=f"How many of the largest {what} to list.",
    )


input_argument = click.argument(
    "input", metavar="IN", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
threads_option = click.option(
    "--threads",
    metavar="N",
    type=click.IntRange(1, 4096),
    callback=_set_threads,
    expose_value=False,
    help="How many threads to use. Default: one for each processor.",
)
join_time_option = click.option(
    "--join-time",
    is_flag=True,
    help="Elements at neighbouring times are neighbours, and labels go on from frame to frame. "
    "Without it, where IN names an axis of time, each time is an image of its own.",
)
device_option = click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="Where to label. With cuda, the copies to the GPU and back are timed on their own; the "
    "first labelling compiles kernels, which are kept for later ones.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of a table."
)
