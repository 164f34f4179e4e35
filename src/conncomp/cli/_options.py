"""The options of commands: fields of a dataclass, whose names and types tell most of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click

import conncomp
from conncomp._memory import parse_bytes

Parse = Callable[[str], Any]


def option(help_: str | None = None, metavar: str | None = None, *names: str, **more: Any) -> Any:
    """Return a field of a command's options, which is an option; `more` are arguments of click.

    It is named as the field is, with hyphens, and its type is that of the field: a flag for bool,
    choices for a Literal, given several times for a tuple. `least` and `most` bound a number. Texts
    are parsed by `type`. Those of a higher rank stand behind others, of derived classes, too.
    """
    return field(kw_only=True, metadata={"help": help_, "metavar": metavar, "names": names, **more})


def argument(metavar: str, **more: Any) -> Any:
    return field(kw_only=True, metadata={"metavar": metavar, **more})


def parameters_of(options: type) -> list[click.Parameter]:
    """Return the options and arguments that the fields of a class are."""
    hints = get_type_hints(options)
    declared = sorted(fields(options), key=lambda each: each.metadata.get("rank", 0))
    return [_parameter(each, hints[each.name]) for each in declared]


def _parameter(each: Field[Any], hint: Any) -> click.Parameter:
    given = dict(each.metadata)
    if "names" not in given:
        return click.Argument([each.name], **given)
    names = given.pop("names") or (f"--{each.name.replace('_', '-')}",)
    given.pop("rank", None)
    kind = get_args(hint)[0] if get_origin(hint) in (Union, UnionType) else hint
    bounds = given.pop("least", None), given.pop("most", None)
    if "type" in given:
        pass
    elif kind is bool:
        given["is_flag"] = True
    elif get_origin(kind) is Literal:
        given["type"] = click.Choice(get_args(kind))
    elif get_origin(kind) is tuple:
        given["multiple"] = True
    else:
        given["type"] = kind if bounds == (None, None) else click.IntRange(*bounds)
    return click.Option([*names, each.name], **{"show_default": "default" in given, **given})


def typed(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def parsed(parse: Parse, wanted: str = "") -> Parse:
    """Return a type of an option; an error says that a text is not what is wanted, or why."""

    def convert(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            reason = f"{typed(text)} is {wanted}" if wanted else str(error)
            raise click.BadParameter(f"{reason}.") from None

    return convert


def numbers(separator: str, kinds: Sequence[Parse], wanted: str) -> Parse:
    """Return a type of an option for numbers of these kinds, or for any number of one kind."""

    def parse(text: str) -> list[Any]:
        words = text.split(separator)
        each = kinds if len(kinds) > 1 else list(kinds) * len(words)
        return [kind(word) for kind, word in zip(each, words, strict=True)]

    return parsed(parse, wanted)


def _parse_axes(text: str) -> bool | list[bool] | list[int]:
    """Return one answer for all axes, one for each, or the numbers of the axes that close."""
    words = text.lower().replace(" ", "").split(",")
    if words in (["all"], ["none"]):
        return words == ["all"]
    if all(word in ("true", "false") for word in words):
        return [word == "true" for word in words]
    return [int(word) for word in words]


AXES = "not 'all', 'none', axes such as '0,2', or 'true,false,...'"


def axes_option(help_: str, default: str, rank: int = 0) -> Any:
    """Return an option that names axes; `closed_axes` makes one answer for each."""
    return option(help_, "AXES", type=parsed(_parse_axes, AXES), default=default, rank=rank)


def periodic_option(default: str, rank: int = 0) -> Any:
    return axes_option(
        "Axes that close on themselves: all, none, a list such as 0,2, or true,false,true.",
        default,
        rank,
    )


def closed_axes(
    axes: Any, ndim: int, what: str, option: str = "--periodic", separate: Sequence[int] = ()
) -> list[bool]:
    """Return for each axis whether the option names it; those of separate images never close."""
    if isinstance(axes, bool):
        return [axes and k not in separate for k in range(ndim)]
    closed = list(axes)
    if not isinstance(axes[0], bool):
        for axis in axes:
            if not -ndim <= axis < ndim:
                known = f"{option}: the {what} has {ndim} axes"
                raise ValueError(f"{known}, so there is no axis {axis}")
        closed = [k in axes or k - ndim in axes for k in range(ndim)]
    elif len(axes) != ndim:
        raise ValueError(f"{option} has {len(axes)} entries; the {what} has {ndim} axes")
    for k in separate:
        if closed[k]:
            raise ValueError(f"{option}: axis {k} is one of time or channels, and does not close")
    return closed


def _parse_spacing(text: str) -> tuple[float, ...]:
    lengths = tuple(float(word) for word in text.split(","))
    if not all(0 < length < math.inf for length in lengths):
        raise ValueError
    return lengths


def spacing_option(more: str) -> Any:
    return option(
        f"The distance of neighbouring elements along each axis, such as 2,0.5,0.5. {more}",
        "D,D,...",
        type=parsed(
            _parse_spacing, "not a positive, finite number for each axis, such as '2,0.5,0.5'"
        ),
    )


def check_spacing(spacing: Sequence[float] | None, ndim: int) -> None:
    if spacing is not None and len(spacing) != ndim:
        raise ValueError(f"--spacing has {len(spacing)} lengths; the image has {ndim} axes")


def header_option(more: str) -> Any:
    """Return the option that tells whether the first row of a CSV file names the columns."""
    return option(
        f"Whether the first row of CSV and TSV has the names of columns. {more} Default: what "
        "the rows look like; a guess is printed.",
        None,
        "--header/--no-header",
        default=None,
    )


def top_option(what: str) -> Any:
    return option(f"How many of the largest {what} to list.", "K", least=1, default=5)


def memory_option(help_: str) -> Any:
    return option(help_, "SIZE", type=parsed(parse_bytes, "no number of bytes, such as '8G'"))


def join_time_option() -> Any:
    """Return the option by which labels go on from frame to frame."""
    return option(
        "Elements at neighbouring times are neighbours, and labels go on from frame to frame. "
        "Without it, where IN names an axis of time, each time is an image of its own."
    )


def device_option() -> Any:
    return option(
        "Where to label. With cuda, the copies to the GPU and back are timed on their own; the "
        "first labelling compiles kernels, which are kept for later ones.",
        default="cpu",
    )


THREADS = "How many threads to use. Default: one for each processor."


def set_threads(context: click.Context, option: click.Parameter, threads: int | None) -> Any:
    """Set the number of threads, as the callback of an option."""
    if threads is not None:
        conncomp.set_num_threads(threads)
    return threads


def threads_option(rank: int = 0) -> Any:
    return option(THREADS, "N", least=1, most=4096, callback=set_threads, rank=rank)


def json_option(rank: int = 0) -> Any:
    return option("Print one JSON object instead of a table.", None, "--json", rank=rank)


@dataclass(frozen=True)
class Common:
    """The options that most commands have at the end."""

    threads: int | None = threads_option(rank=1)
    as_json: bool = json_option(rank=1)


ANY_PATH = click.Path(exists=True, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def values_of(options: Any, *names: str) -> dict[str, Any]:
    """Return some of the options that a command is given, by their names."""
    return {name: getattr(options, name) for name in names}
